package rounds_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// "Nobody led for at least 4.76 s", where it was 3.56 s: a proof that a former process of the leader had ended came
// late, to a voter that followed the leader on. The leader has no log.
func TestAProofOfAFormerProcessEndsNoLeadership(t *testing.T) {
	v := newVoters()
	v.follow(1, 20, 3, 1)
	v.follow(2, 20, 3, 1)
	v.add(1, 500, trace.Record{Event: "gone", About: 3, Detail: "3 n3life0", Term: 1, Leader: 3, Token: 1})
	v.miss(2, 2500, 3)
	v.miss(1, 2500, 3)
	v.ask(2, 2600, 2)
	v.lead(2, 2610, 2)
	if in := v.last(); in.Ended.Kind == rounds.EndedByProcess {
		t.Errorf("%+v", in)
	}
}
