package rounds_test

import (
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// "Node 3 stopped answering" was all that was told of an outage of seconds: the network had fallen apart, all wrote on,
// and none of them saw a majority of the voters.
func TestAnOutageInWhichNoVoterSawAMajority(t *testing.T) {
	const silent = "node 3 stopped answering (no answer to heartbeats)"
	for cut, want := range map[bool]string{
		true: silent + ", and no voter saw more than 1 of 3 for 4 s of the 5.01 s", false: silent,
	} {
		v := newVoters()
		v.level = "info"
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		view := func(node uint64, ms int, evidence string, alive ...uint64) {
			rec := trace.Record{Event: "peers", Term: 1, Alive: alive, Evidence: evidence}
			if ms < 1000 {
				rec.Leader, rec.Token, rec.ValidUntil = 3, 1, atMS(1000)
			}
			v.add(node, ms, rec)
		}
		for node := uint64(1); node <= 3; node++ {
			view(node, 30, "joined", 1, 2, 3)
		}
		v.add(1, 900, trace.Record{
			Event: "peers", Term: 1, Round: 2, Evidence: "heartbeat-missed 3", Alive: []uint64{1, 2}, Leader: 3,
			Token: 1, ValidUntil: atMS(1000), Why: []string{"leader 3 is gone -> call an election of term 2"},
		})
		view(3, 950, "heartbeat-missed 1, heartbeat-missed 2", 3)
		v.expire(3, 1000, 1)
		if cut {
			view(2, 1900, "heartbeat-missed 1, heartbeat-missed 3", 2)
			view(1, 2000, "heartbeat-missed 2", 1)
		}
		for ms := 2100; ms < 6000; ms += 300 {
			v.add(1, ms, trace.Record{Event: "timeout", Term: 1})
			v.add(2, ms+1, trace.Record{Event: "timeout", Term: 1})
			v.add(3, ms+2, trace.Record{Event: "timeout", Term: 1})
		}
		view(1, 6000, "link-up 2", 1, 2)
		view(2, 6000, "link-up 1", 1, 2)
		v.ask(1, 6001, 2)
		v.lead(1, 6010, 2)
		v.add(3, 6100, trace.Record{Event: "timeout", Term: 1})
		if in := v.last(); in.Why != want || in.Held() != strings.Contains(want, "saw") {
			t.Errorf("cut %v: %q, want %q: %+v", cut, in.Why, want, in)
		}
	}
}
