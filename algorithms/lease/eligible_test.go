package lease_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// heedful is a nomination of node 1 that refuses a Campaign while it is not eligible,
// as the real ones do.
type heedful struct{ barred, resigned bool }

func (n *heedful) Step(_ time.Time, ev algorithms.Event) algorithms.Output {
	switch ev := ev.(type) {
	case algorithms.Eligible:
		n.barred = !ev.OK
	case algorithms.Resign:
		n.resigned = true
	case algorithms.Campaign:
		n.resigned = n.resigned && n.barred
	}
	return algorithms.Output{Leader: steptest.Leads(1, 1)}
}

// "It ends a resignation, in the nomination too", although that was told of a back-off
// when the operator called.
func TestCampaignInABackOff(t *testing.T) {
	inner := &heedful{}
	r := around(t, 1, nil, inner)
	r.Start(0, 1, 2, 3)
	says := func(words string) bool {
		return slices.ContainsFunc(steptest.Texts(r.Last.Why), func(why string) bool {
			return strings.Contains(why, words)
		})
	}
	for range 100 { // 2 says yes to each PRE_VOTE, and nothing to a REQUEST_VOTE
		for _, m := range r.Last.Send {
			if ask, ok := m.Body.(proto.PreVote); ok && m.To == 2 {
				r.Step(0, r.From(2, 0, proto.PreVoteReply{Incarnation: ask.Incarnation, Nonce: ask.Nonce}))
				break
			}
		}
		if r.Fire(); says("lease.back-off(3, ") {
			break
		}
	}
	if !inner.barred {
		t.Fatal("three claims failed, and there is no back-off")
	}
	r.Step(0, algorithms.Resign{})
	r.Step(0, algorithms.Campaign{Reason: "back"})
	if !inner.resigned {
		t.Fatal("the nomination took a Campaign in a back-off")
	}
	r.Step(promise+time.Second, algorithms.Timeout{})
	if inner.resigned || inner.barred {
		t.Errorf("after the back-off: %+v, %v", inner, steptest.Texts(r.Last.Why))
	}
}
