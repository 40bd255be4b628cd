// Package kv is the store of fence/store as a service over HTTP, and its
// client.
//
//	PUT    /v1/kv/KEY   keeps the request's body under the key: 204
//	DELETE /v1/kv/KEY   removes the key: 204, also when it was not there
//	POST   /v1/seal     makes the token the highest: a new leader's first call: 204
//	GET    /v1/kv/KEY   the value; Ringleader-Written-By is the token that wrote it
//	GET    /v1/status   the highest token, and the results of the calls that need a token
//	GET    /healthz     200, or 500 when the store is broken
//
// The first three need a fencing token in the header Ringleader-Token. A GET
// may have a token, to read as the leader. Package fencehttp defines the header and the
// refusals. Other errors are problem JSON, too, and nothing has changed:
//
//	400 not a valid key       404 no such key           405 another method
//	413 a value over 1 MiB    507 no space on the disk  500 the disk failed
//
// A key is the rest of the path, percent-decoded: 1 to 512 bytes of UTF-8
// without control characters. Slashes are part of the key, and dots have no meaning.
//
// The service has no users and no passwords. It listens on loopback unless told
// otherwise. It refuses requests that a page of another site makes in a browser.
package kv
