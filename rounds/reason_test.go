package rounds_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// "An unknown code in a record is shown as it is and decides nothing": nor does one whose
// arguments are not those of its kind, whatever the sentence says.
func TestUnknownCode(t *testing.T) {
	for _, told := range []trace.Reason{{Code: "bully.later"}, {Code: "bully.below"}} {
		s := newScript()
		s.add(3, 0, trace.Record{
			Term: 1, Event: "receive", Leader: 3,
			Why: []string{"2 ranks below this node -> say OK"}, Reasons: []trace.Reason{told},
		})
		r := s.b.History().Groups[0].Rounds[0]
		if want := "2 ranks below this node -> say OK (" + told.Code + ")"; r.Steps[0].Why[0] != want {
			t.Errorf("%s is shown as %q", told.Code, r.Steps[0].Why[0])
		}
		if len(r.Verdicts) > 0 {
			t.Errorf("%s decides %+v", told.Code, r.Verdicts)
		}
	}
}

// A record with codes is decided by them, whatever its sentence says.
func TestCodesDecide(t *testing.T) {
	s := newScript()
	s.add(3, 0, trace.Record{
		Term: 1, Event: "receive", Leader: 3, Why: []string{"some other words"},
		Reasons: []trace.Reason{{Code: "bully.below", Args: []trace.Arg{{Number: 2}}}},
	})
	v := s.b.History().Groups[0].Rounds[0].Verdicts
	if len(v) != 1 || v[0].Loser != 2 || v[0].Over != 3 || v[0].Why != "some other words" || v[0].Rule == "" {
		t.Errorf("verdicts %+v", v)
	}
}
