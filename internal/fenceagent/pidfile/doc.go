// Package pidfile is a fence agent for processes of the same machine: a node
// writes a file that names its process, and the agent kills the process that the
// file names, if it still is that one.
//
// A process id alone says little: it is given to another process later. So the
// file also tells when the process started, in which boot of which machine, in
// which namespace of process ids, and which session of which node it is.
//
// # What it does not promise
//
// It stops the node's process, not what that process started. The file must be
// written before the process does any work, by whoever keeps a second process of
// the same node from starting; package statefile's lock does.
package pidfile
