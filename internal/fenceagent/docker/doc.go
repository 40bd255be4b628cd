// Package docker is a fence agent for nodes in containers: it finds the
// container of a node by its labels, kills it, and confirms that it has stopped.
// It speaks to the engine's socket itself, so that it also works in a container
// that holds nothing but one static binary.
//
// # What it does not promise
//
// By itself it does not tell one process of a container from the next: a node that
// was started again in the meantime, without that being known, is killed, too. It
// reaches one engine; a container of another host is not found, and nothing is
// confirmed.
package docker
