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
