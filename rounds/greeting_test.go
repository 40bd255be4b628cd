package rounds_test

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// "No finding on a healthy run": at level info a process writes no record of its start, but it says when it is up. One
// that began after a leader had stopped cannot know of it, and may lead the same term where there are no voters.
func TestBeganAfterTheLeader(t *testing.T) {
	for _, up := range []int{900, 1900} {
		s := newScript()
		s.add(2, -100, trace.Record{
			Term: 3, Event: "timeout", Leader: 2, Why: []string{"no higher node is alive -> lead term 3"},
			Sent: []string{"COORDINATOR>1#2:1"},
		})
		s.add(1, -99, trace.Record{
			Term: 3, Event: "receive", From: 2, Msg: "COORDINATOR", MsgID: "2:1", Leader: 2,
			Why: []string{"2 leads term 3 -> follow it"},
		})
		s.add(1, 0, trace.Record{
			Term: 4, Event: "peers", Alive: []uint64{1}, Evidence: "link-closed 2, dial-refused 2", Leader: 1,
			Why: []string{"leader 2 is gone -> call an election of term 4", "no higher node is alive -> lead term 4"},
		})
		s.add(1, 1600, trace.Record{
			Term: 4, Event: "resign", Why: []string{"asked to resign -> step down, nobody is there to take over"},
		})
		s.incarnation, s.seq[2] = "bbbbbbbb", 0
		s.b.Up(trace.Greeting{
			Time: s.zero.Add(time.Duration(up) * time.Millisecond), Cluster: "c", Node: 2, Incarnation: s.incarnation,
		})
		s.add(2, 2400, trace.Record{
			Term: 4, Event: "timeout", Leader: 2,
			Why: []string{
				"no leader was heard of -> call an election of term 4", "no higher node is alive -> lead term 4",
			},
		})
		g := s.b.History().Groups[0]
		if found := len(g.Findings) > 0; found != (up < 1600) {
			t.Errorf("up after %d ms: %+v", up, g.Findings)
		}
	}
}
