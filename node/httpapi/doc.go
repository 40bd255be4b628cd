// Package httpapi answers questions about a node over HTTP. It also has the client that asks such questions.
//
//	GET /healthz     200 while the election loop ticks, else 503 with the reason
//	GET /readyz      200 while gossip runs too, and the node's certificate has not expired, else
//	                 503 with the reason
//	GET /leader      200 on the leader, 503 elsewhere with who leads
//	GET /v1/status   the node as it sees itself, and whom it lost: when, and by which evidence
//	GET /v1/members  the processes it believes alive
//	GET /v1/events   each change of who leads, in order, as server-sent events; goes
//	                 on after the Last-Event-ID, and says how many it missed
//	GET /version     what the program was built from
//
// HEAD and OPTIONS are answered with the same code as GET, since load balancers probe
// with them. Every answer but the events is JSON. None of these requests changes a node, so
// every other method is refused.
//
// A POST changes a node. Its body is {"to": ID, "cluster": BOOL, "reason": TEXT}; each field
// may be missing:
//
//	POST /v1/transfer   another leads: ID, or without "to" the best one that would
//	POST /v1/resign     this node, the leader, steps down and stands aside
//	POST /v1/pause      this node does not lead; with cluster, no node elects
//	POST /v1/resume     ends a resignation or a pause
//	POST /v1/elections  this node calls an election; a leader that has a lease stays
//
// The keys with which a node encrypts its gossip are changed by fingerprint:
//
//	POST /v1/keys       {"do": "list"}, {"do": "add", "key": BASE64},
//	                    {"do": "use", "fingerprint": HEX} or "remove"; the answer has the
//	                    fingerprints of all keys, the one that seals first, and no key
//
// The answer is
//
//	200  when it is done
//	400  for a body that is no request, or has fields that this path does not take
//	401  with a wrong token, or without one from elsewhere than the node's own machine
//	403  for a page of another site in a browser, or with a token that may only read
//	409  when it cannot be done now: nothing changed, and the answer says what to do next
//	429  after too many wrong tokens from one address; Retry-After says for how long
//	503  when nobody leads
//	504  when it took too long; it may still happen
//
// A node with credentials serves HTTPS and nothing else: who speaks plain HTTP is told so, with 400. Then every
// path needs a token, also from the node's own machine, but for /healthz and /readyz: these say without one
// whether the node is well, and nothing about others. A token of the role read may ask; one of the role operate may
// change the node, too.
//
// The answer that a node leads is no permission to act as the leader, since it may come too
// late. Another process that wants to act as the leader borrows the node's lease:
//
//	POST   /v1/lease      the leader lends its lease; 409 elsewhere, with who leads, and 503
//	                      if nobody does; with {"renews": ID} it replaces an earlier loan
//	DELETE /v1/lease/ID   gives a lease back before its end: 204, or 404 if it has ended
//
// The answer has valid_for_ms, how long the lease is lent. THE CLIENT COUNTS THAT TIME BY ITS OWN CLOCK, FROM
// A MOMENT BEFORE IT SENT THE REQUEST. The clock must go on in suspend. The voters know of the loan before
// the answer leaves. Until the loan has ended or was given back no other node leads, whatever happens to this
// one. So it may take longer, by the duration of a promise, to replace a leader that is killed or told to
// hand over during a loan. A client may borrow a lease if it may change the node.
//
// The package does not promise that an answer is right: it is what one node believes at that
// moment. With the guarantee "best-effort" two nodes may answer 200 to /leader at once.
package httpapi
