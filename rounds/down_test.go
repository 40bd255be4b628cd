package rounds_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// "Voter 1 down or paused", and it was cut off until it was started again, or it was well for the first third of that
// time, with nothing to write. Or it had been started again long before it wrote a word: at level info the start need
// not be a record. The process says then when it was up.
func TestWroteNothingUntilTheNextProcess(t *testing.T) {
	for want, c := range map[string]struct {
		level string
		again func(v *voters)
	}{
		"too few to elect for at least 2.89 s of the 4 s": {
			"debug",
			func(v *voters) { v.start(1, 4000) },
		},
		"too few to elect for at least 2.88 s of the 4 s": {
			"info",
			func(v *voters) {
				v.life[1]++
				v.add(1, 4000, trace.Record{Event: "timeout", Term: 1})
			},
		},
		"too few to elect for at least 1.88 s of the 4 s": {
			"info",
			func(v *voters) {
				v.greet(1, 3000)
				v.add(1, 4000, trace.Record{Event: "timeout", Term: 1})
			},
		},
	} {
		v := newVoters()
		v.level = c.level
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		v.lose(2, 1000, "link-closed 3, dial-refused 3", 1, 2)
		v.miss(2, 1100, 3)
		v.add(1, 1110, trace.Record{Event: "timeout", Term: 1})
		v.ask(2, 1120, 2)
		c.again(v)
		v.lead(2, 5000, 2)
		want = "voter 3 ended, 1 without a sign of life here: 1 of 3 remains, " + want
		if in := v.last(); in.Why != want {
			t.Errorf("%q, want %q: %+v", in.Why, want, in)
		}
	}
}
