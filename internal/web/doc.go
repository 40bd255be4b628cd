// Package web is what our two HTTP services, a node's and the storage's, do alike:
// bear slow clients, end, and answer.
package web
