package rounds_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// "Nobody led for 700 ms" was told since node 1 had stepped down, which followed node 3 since. That had led since long
// before its first record, by a clock that no messages compare with the others.
func TestNobodyWasWithoutALeaderBesideOneWhoseLogBeginsLater(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee = "bully", "best-effort"
	v.callAndLead(1, 500, 1)
	v.follow(1, 1000, 3, 1)
	v.callAndLead(2, 1700, 1)
	v.add(1, 1900, trace.Record{Term: 1, Event: "timeout", Leader: 3})
	v.seq["n3life0"] = 5
	v.add(3, 2300, trace.Record{Term: 1, Event: "timeout", Leader: 3})
	if in := v.last(); in.Former != 1 || in.Leader != 2 || in.Leaderless != 0 || !in.AtLeast() {
		t.Errorf("%v: %+v", in.Leaderless, in)
	}
}
