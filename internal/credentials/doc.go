// Package credentials keeps what a node proves itself with, and makes it.
//
// The credentials of a node are one directory. Its files have the names that secrets of Kubernetes have:
//
//	tls.crt      the node's certificate, and what lies between it and ca.crt
//	tls.key      its private key
//	ca.crt       the authorities whose certificates the node believes
//	revoked.crl  the certificates that an authority took back; need not be there
//	gossip.key   the keys of gossip, the one to seal with first
//	api.token    who may ask for what over HTTP; need not be there
//
// A certificate names the node and its cluster in a URI, ringleader:///CLUSTER/node/ID. Host names and addresses in
// it are for browsers and curl alone: between nodes a machine may have any address.
//
// Files that hold secrets may be read by their owner alone, or as ReadSecret says. They are read again while the node
// runs: see Keeper.Reload.
package credentials
