package rounds_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// "Nobody led for at least 4.76 s", where it was 3.56 s: a proof that a former process of the leader had ended came
// late, to a voter that followed the leader on, or began to after that. The leader has no log.
func TestAProofOfAFormerProcessEndsNoLeadership(t *testing.T) {
	for _, followed := range []int{20, 600} { // node 1, which is given the proof at 500
		v := newVoters()
		v.follow(2, 20, 3, 1)
		gone := trace.Record{Event: "gone", About: 3, Detail: "3 n3life0", Term: 1}
		if followed > 500 {
			v.add(1, 500, gone)
		}
		v.follow(1, followed, 3, 1)
		if followed < 500 {
			gone.Leader, gone.Token = 3, 1
			v.add(1, 500, gone)
		}
		v.miss(2, 2500, 3)
		v.miss(1, 2500, 3)
		v.ask(2, 2600, 2)
		v.lead(2, 2610, 2)
		if in := v.last(); in.Ended.Kind == rounds.EndedByProcess {
			t.Errorf("followed at %d: %+v", followed, in)
		}
	}
}
