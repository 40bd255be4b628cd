// Package kv is the store of fence/store as a service over HTTP, and its
// client.
//
//	PUT    /v1/kv/KEY   keeps the request's body under the key: 204
//	DELETE /v1/kv/KEY   removes the key: 204, also when it was not there
//	POST   /v1/seal     makes the token the highest: a new leader's first call: 204
//	GET    /v1/kv/KEY   the value; Ringleader-Written-By is the token it came with
//	GET    /v1/status   the highest token, and what became of the calls that need one
//	GET    /healthz     200, or 500 when the store is broken
//
// The first three need a fencing token in the header Ringleader-Token; a GET
// may have one, to read as the leader. Package fencehttp defines the header and the
// refusals. Other errors, as problem JSON and with nothing changed:
//
//	400 not a valid key       404 no such key           405 another method
//	413 a value over 1 MiB    507 no space on the disk  500 the disk failed
//
// A key is the rest of the path, percent-decoded: 1 to 512 bytes of UTF-8
// without control characters. Slashes are part of it and dots mean nothing.
//
// It has no users and no passwords. It listens on loopback unless told
// otherwise, and refuses the requests that other sites make in a browser.
package kv
