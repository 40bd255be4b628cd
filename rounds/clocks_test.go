package rounds_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// "Clocks that were compared in one direction only count as exactly right": where all messages go one way, that is said
// of all clocks, if one of them is certainly wrong, or if what the nodes wrote is of other times.
func TestMessagesInOneDirection(t *testing.T) {
	for _, ahead := range []int{0, 3600e3, -3600e3} { // by how much the clock of the sender is ahead, in ms
		s := newScript()
		s.add(3, ahead, trace.Record{
			Term: 1, Event: "timeout", Leader: 3, Why: []string{"no higher node is alive -> lead term 1"},
			Sent: []string{"COORDINATOR>1#3:1", "COORDINATOR>2#3:2"},
		})
		for node := uint64(1); node <= 2; node++ {
			s.add(node, 1, trace.Record{
				Term: 1, Event: "receive", From: 3, Msg: "COORDINATOR", MsgID: fmt.Sprint("3:", node), Leader: 3,
				Why: []string{"3 leads term 1 -> follow it"},
			})
		}
		unknown := strings.Join(s.b.History().Groups[0].Unknown, "\n")
		told := strings.Contains(unknown, "No messages compare the clocks of nodes 1, 2 and 3")
		if told != (ahead != 0) {
			t.Errorf("%d ms ahead: %q", ahead, unknown)
		}
		corrected := strings.Contains(unknown, "but those of node 3 are corrected by the least that messages")
		if corrected != (ahead > 0) { // then they came before they were sent
			t.Errorf("%d ms ahead: %q of times that are corrected", ahead, unknown)
		}
	}
}

// "Suspected, but it was dead": no message compares two clocks, and what both nodes wrote is of the same time by them.
// But one saw the other before that began, as it shows its own start: so the clocks differ.
func TestSeenBeforeItBegan(t *testing.T) {
	for _, began := range []int{40, 54000} { // of node 1, in ms by its own clock
		v := newVoters()
		v.guarantee = "best-effort"
		v.start(2, 0)
		v.add(2, 60, trace.Record{Event: "peers", Alive: []uint64{1, 2}})
		v.start(2, 3000)
		v.add(2, 60000, trace.Record{Term: 3, Event: "timeout", Leader: 2})
		v.start(1, began)
		v.add(1, began+10, trace.Record{Event: "peers", Alive: []uint64{1, 2}})
		v.add(1, 55000, trace.Record{Event: "peers", Alive: []uint64{1}, Evidence: "unreachable 2"})
		group := v.b.History().Groups[0]
		lost := false // node 1 lost sight of the process
		for _, e := range group.Nodes[1].Lives[1].Events {
			lost = lost || e.Ref.Node == 1
		}
		if same := began == 40; lost != same {
			t.Errorf("node 1 began at %d ms: %+v", began, group.Nodes[1].Lives[1].Events)
		}
		unknown := strings.Join(group.Unknown, "\n")
		if told := strings.Contains(unknown, "No messages compare the clocks of nodes 1 and 2"); told != (began != 40) {
			t.Errorf("node 1 began at %d ms: %q", began, unknown)
		}
	}
}
