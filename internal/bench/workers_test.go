package bench

import (
	"encoding/json"
	"testing"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/internal/bench/history"
	"github.com/ringleader-dev/ringleader/proto"
)

// StopMidway stops a worker "after it has looked at the node and before it writes": one that has
// yet to seal the storage with its token would write nothing any more.
func TestLookedOnceSealed(t *testing.T) {
	w := &Workers{news: make(chan struct{})}
	l := &workerLife{pending: map[int]history.Call{}}
	hear := func(s said) {
		line, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		w.hear(l, line)
	}
	token := fence.Token{Term: 2, Leader: 1, Incarnation: proto.Incarnation{1}}
	for _, c := range []struct {
		says   said
		looked bool
	}{
		{said{Leads: token, Heard: 1}, false},
		{said{Number: 1, Call: &history.Call{Kind: history.Seal, Token: token}}, false},
		{said{Number: 1, Call: &history.Call{
			Kind: history.Seal, Token: token, Ended: 3, Outcome: history.Done,
		}}, false},
		{said{Returned: 4}, false},
		{said{Leads: token, Heard: 5}, true},
		{said{Number: 2, Call: &history.Call{Kind: history.Put, Token: token}}, false},
		{said{Leads: fence.Token{Term: 3, Leader: 1, Incarnation: token.Incarnation}, Heard: 6}, false},
	} {
		if hear(c.says); l.looked != c.looked {
			t.Errorf("after %+v: looked %v", c.says, l.looked)
		}
	}
}
