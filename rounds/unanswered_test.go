package rounds_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// "Voter 2 without a sign of life here" was told from a question on that it had answered at once, where its log is
// missing: the answer came as soon as one that was on its way. Whether it changed anything does not matter.
func TestAnsweredAtOnceWithoutALog(t *testing.T) {
	const lost = "the lease of node 3 ended"
	for name, c := range map[string]struct {
		answer *trace.Record
		want   string
	}{
		"none":          {nil, "voters 1 and 2 without a sign of life here: 1 of 3 remains"},
		"a refusal":     {&trace.Record{Why: []string{"2 says no, just started"}}, lost},
		"one as before": {&trace.Record{}, lost},
	} {
		v := newVoters()
		v.lead(3, 10, 1)
		v.expire(3, 1000, 1)
		v.ask(3, 1100, 2)
		if rec := c.answer; rec != nil {
			rec.Term, rec.Round, rec.Event, rec.From, rec.Msg, rec.MsgID = 1, 2, "receive", 2, "PRE_VOTE_REPLY", "2:9"
			v.add(3, 1150, *rec)
		}
		v.add(3, 5000, trace.Record{Event: "timeout", Term: 1})
		if in := v.last(); in.Why != c.want {
			t.Errorf("%s: %q, want %q: %+v", name, in.Why, c.want, in)
		}
	}
}
