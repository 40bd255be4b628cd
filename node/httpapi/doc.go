// Package httpapi answers questions about a node over HTTP, and asks them.
//
//	GET /healthz     200 while the election loop ticks, else 503 with the reason
//	GET /readyz      200 while gossip runs too, else 503 with the reason
//	GET /leader      200 on the leader, 503 elsewhere with who leads
//	GET /v1/status   the node as it sees itself
//	GET /v1/members  the processes it believes alive
//	GET /version     what the program was built from
//
// HEAD and OPTIONS are answered with the same code as GET, since load balancers
// probe with them. Every answer is JSON. Nothing here changes a node, so every
// other method is refused.
//
// What it does not promise: an answer is what one node believes at that moment.
// With the guarantee "best-effort" two nodes may answer 200 to /leader at once.
package httpapi
