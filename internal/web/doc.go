// Package web has what the two HTTP services, of a node and of the storage, share: they limit slow
// clients, end in order, and send answers.
package web
