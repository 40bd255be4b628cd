// Package httpapi answers questions about a node over HTTP, and asks them.
//
//	GET /healthz     200 while the election loop ticks, else 503 with the reason
//	GET /readyz      200 while gossip runs too, else 503 with the reason
//	GET /leader      200 on the leader, 503 elsewhere with who leads
//	GET /v1/status   the node as it sees itself
//	GET /v1/members  the processes it believes alive
//	GET /v1/events   each change of who leads, in order, as server-sent events; goes
//	                 on after the Last-Event-ID, and says how many it missed
//	GET /version     what the program was built from
//
// HEAD and OPTIONS are answered with the same code as GET, since load balancers
// probe with them. Every answer is JSON, but for the events. Nothing of this changes
// a node, so every
// other method is refused.
//
// What changes a node is a POST, with {"to": ID, "cluster": BOOL, "reason": TEXT},
// each where it applies:
//
//	POST /v1/transfer  another leads: ID, or without "to" the best one that would
//	POST /v1/resign    this node, the leader, steps down and stands aside
//	POST /v1/pause     this node does not lead; with cluster, no node elects
//	POST /v1/resume    the end of that
//
// 200 when it is done; 400 for what is no order, or not of this verb; 401 without the token, from
// elsewhere than the node's own machine; 403 for another site's page in a browser;
// 409 when it cannot be, and nothing changed, with what to do next; 503 when nobody leads; 504 when it
// took too long and may still come.
//
// Who leads is no permission to act as the leader: whoever is told so may be told too
// late. A process outside of the node that acts as the leader borrows its lease:
//
//	POST   /v1/lease      the leader lends its lease; 409 elsewhere, with who leads, and 503
//	                      where nobody does; with {"renews": ID} in place of a lease before
//	DELETE /v1/lease/ID   gives a lease back before its end: 204, or 404 if it has ended
//
// The answer has valid_for_ms, how long the lease is lent. WHO ASKS COUNTS THAT BY ITS OWN
// CLOCK FROM BEFORE IT SENT THE QUESTION, and by one that goes on in suspend. The voters
// know of the loan before the answer leaves. Until it has ended or was given back no other
// node leads, whatever becomes of this one: so a leader that is killed, or told to
// hand over, meanwhile is replaced up to a promise later. Both are guarded like the
// orders.
//
// What it does not promise: an answer is what one node believes at that moment.
// With the guarantee "best-effort" two nodes may answer 200 to /leader at once.
package httpapi
