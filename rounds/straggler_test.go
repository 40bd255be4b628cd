package rounds_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// "A living node never followed": it was dead when others first followed the winner, whose log is missing, and started
// again long after.
func TestDeadBeforeALoglessWinner(t *testing.T) {
	v := newVoters()
	v.ask(1, 0, 1)
	v.lead(1, 10, 1)
	v.follow(2, 20, 1, 1)
	v.add(2, 950, trace.Record{Term: 2, Event: "receive", From: 3, Msg: "REQUEST_VOTE", MsgID: "3:1"})
	v.expire(1, 1000, 1)
	v.follow(1, 1510, 3, 2)
	v.add(1, 9000, trace.Record{Term: 2, Event: "timeout", Leader: 3, Token: 2})
	v.start(2, 8000)
	v.add(2, 9500, trace.Record{Event: "timeout"})
	g := v.b.History().Groups[0]
	if len(g.Rounds) != 2 || len(g.Rounds[1].LeftBehind) != 1 || len(g.Findings) > 0 {
		t.Errorf("%+v, found %+v", g.Rounds[len(g.Rounds)-1].LeftBehind, g.Findings)
	}
}
