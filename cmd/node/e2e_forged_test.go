package main

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/internal/daemon"
	"github.com/ringleader-dev/ringleader/node/tcp"
	"github.com/ringleader-dev/ringleader/proto"
)

// "A forged, replayed or absurd term": whoever speaks for a voter that is down moves no
// term and no vote by it, and stands in the record. The leader goes on.
func TestForgedTerms(t *testing.T) {
	const promise = 10 * time.Minute // it is not renewed while this test looks
	e := newE2E(t, "bully", 3, append([]string{"--voters", "1-3", "--lease", promise.String()}, calm...)...)
	e.keeps(1, 2)
	e.check(e.Start(1))
	e.check(e.Start(2))
	before := e.agreed(1, 2)
	follower := 3 - before.Leader

	entry, err := catalog.Lookup("bully")
	e.check(err)
	incarnation := proto.NewIncarnation()
	forger, err := tcp.Listen(tcp.Config{
		Cluster: "ringleader", ID: 3, Incarnation: incarnation, Bind: "127.0.0.1:0",
		Algorithm: daemon.Settings{
			Algorithm: entry.WithLease(), Voters: quorum.Voters{1, 2, 3}, Promise: promise,
		}.ElectionLabel(),
		Voters:  "1-3",
		Kinds:   catalog.Kinds(),
		Receive: func(proto.Message) {}, Log: zerolog.Nop(),
	})
	e.check(err)
	defer forger.Close()
	forger.SetPeers([]tcp.Peer{{ID: follower, Addr: e.Node(follower).Election}})
	claim := proto.RequestVote{Incarnation: incarnation, Nonce: 1}
	replayed := proto.Vote{Incarnation: proto.Incarnation{7}, Nonce: 1} // to a process that is no more
	seq := uint64(0)
	say := func(term proto.Term, body proto.Body) {
		seq++
		forger.Send(proto.Message{From: 3, To: follower, Term: term, Seq: seq, Body: body})
	}
	say(before.Term, replayed)
	say(before.Term, claim) // the term is another's
	say(before.Term+1, claim)
	say(before.Term+1<<21, claim)
	say(before.Term+1<<21, nomination.Coordinator{Leader: proto.Peer{ID: 3}})
	e.logs(follower, "is absurdly far above")
	e.logs(follower, "REQUEST_VOTE")
	if b := e.agreed(1, 2); b != before {
		t.Errorf("%+v lead, it was %+v before the forger", b, before)
	}
	if vote := e.saved(follower).Vote; vote.ID != before.Leader || vote.Term != before.Term {
		t.Errorf("saved a vote for %v in term %d, want %v in %d", vote.ID, vote.Term, before.Leader, before.Term)
	}
}
