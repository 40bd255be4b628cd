package rounds_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// outranks is the code of a reason that one node, its only argument, ranks below who gives it.
func outranks(t *testing.T) string {
	for _, k := range catalog.Reasons() {
		v, ok := algorithms.Decided[algorithms.Verdict](k)
		if ok && v == algorithms.Outranks(0, algorithms.Self) && strings.Count(k.Sentence, "%") == 1 && k.Rule != "" {
			return k.Code
		}
	}
	t.Fatal("no reason outranks anybody")
	return ""
}

// "An unknown code in a record is shown as it is and decides nothing": nor does one whose
// arguments are not those of its kind, whatever the sentence says.
func TestUnknownCode(t *testing.T) {
	for _, told := range []trace.Reason{{Code: "later.than-this"}, {Code: outranks(t)}} {
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

// "What the reasons with the codes … decided: this version of ringleader does not know them": records that a
// later version wrote are not told as if they said nothing.
func TestUnknownCodesAreSaid(t *testing.T) {
	records := fixture(t, "bully-kill")
	for i := range records {
		records[i].Reasons = make([]trace.Reason, len(records[i].Why))
		for j := range records[i].Reasons {
			records[i].Reasons[j].Code = fmt.Sprintf("later.%d", j)
		}
	}
	g := build(records)
	const version = "this version of ringleader does not know "
	for _, r := range g.Rounds {
		said := strings.Join(r.Unknown, "\n")
		if !strings.Contains(said, version) || strings.Contains(said, "no record of term") {
			t.Errorf("of term %d is said:\n%s", r.Term, said)
		}
	}
	if all := strings.Join(g.Unknown, "\n"); !strings.Contains(all, "does not know the reasons with the codes later.") {
		t.Errorf("of the cluster is said:\n%s", all)
	}
}

// Nor is a code without a sentence left out.
func TestCodeWithoutASentence(t *testing.T) {
	s := newScript()
	s.add(3, 0, trace.Record{
		Term: 1, Event: "receive", Leader: 3, Reasons: []trace.Reason{{Code: "later.than-this"}},
	})
	if why := s.b.History().Groups[0].Rounds[0].Steps[0].Why; !slices.Equal(why, []string{"(later.than-this)"}) {
		t.Errorf("it is shown as %q", why)
	}
}

// A record with codes is decided by them, whatever its sentence says.
func TestCodesDecide(t *testing.T) {
	s := newScript()
	s.add(3, 0, trace.Record{
		Term: 1, Event: "receive", Leader: 3, Why: []string{"some other words"},
		Reasons: []trace.Reason{{Code: outranks(t), Args: []trace.Arg{{Number: 2}}}},
	})
	v := s.b.History().Groups[0].Rounds[0].Verdicts
	if len(v) != 1 || v[0].Loser != 2 || v[0].Over != 3 || v[0].Why != "some other words" || v[0].Rule == "" {
		t.Errorf("verdicts %+v", v)
	}
}

// "The call of node 1 was suppressed" by a record of five seconds after the election, in which the leader had resigned
// and another node asked who leads: an answer to what was sent when all followed decided nothing. One to what was sent
// before did. "1 loses to 3", in the election that node 2 won: what node 1 decides when it has lost that leader is
// about the next election.
func TestAnswersAfterTheElectionDecideNothing(t *testing.T) {
	follow := trace.Record{Term: 1, Event: "timeout", Leader: 3}
	call := trace.Record{Term: 1, Event: "timeout", Sent: []string{"ELECTION>3#2:1"}}
	for want, steps := range [][]trace.Record{{follow, call}, {call, follow}} {
		s := newScript()
		s.add(3, 0, trace.Record{Term: 1, Event: "timeout", Leader: 3, Alive: []uint64{2, 3}})
		s.add(2, 10, steps[0])
		s.add(2, 20, steps[1])
		s.add(3, 6000, trace.Record{
			Term: 1, Event: "receive", From: 2, Msg: "ELECTION", MsgID: "2:1", Leader: 3,
			Why: []string{"2 ranks below this node -> say OK"}, Reasons: []trace.Reason{{
				Code: outranks(t), Args: []trace.Arg{{Number: 2}},
			}},
		})
		s.add(2, 7000, trace.Record{
			Term: 1, Event: "peers", Alive: []uint64{2, 4}, Evidence: "heartbeat-missed 3",
			Reasons: []trace.Reason{{Code: outranks(t), Args: []trace.Arg{{Number: 4}}}},
		})
		r := s.b.History().Groups[0].Rounds[0]
		if len(r.Verdicts) != want || r.Aftermath == len(r.Steps) {
			t.Errorf("%+v: %d steps of %d, verdicts %+v", steps, r.Aftermath, len(r.Steps), r.Verdicts)
		}
	}
}

// What the former release said is told with codes that there are.
func TestFormerCodes(t *testing.T) {
	for _, code := range rounds.FormerCodes() {
		if catalog.Reason(code) == nil {
			t.Errorf("no reason has the code %s", code)
		}
	}
}

// "Because memory leak, will restart it later: node 3 was asked": nobody could see where the operator's words end.
func TestQuoted(t *testing.T) {
	for text, want := range map[string]string{
		"paused by 10.0.0.7 because a leak, node 3":  `paused by 10.0.0.7 because "a leak, node 3"`,
		`asked by 10.0.0.7 because a "new" disk`:     `asked by 10.0.0.7 because "a \"new\" disk"`,
		`asked by 10.0.0.7 because "a new disk"`:     `asked by 10.0.0.7 because "a new disk"`,
		"unhealthy: killed by 9 because of its size": "unhealthy: killed by 9 because of its size",
		"told to stop by SIGTERM":                    "told to stop by SIGTERM",
		"nobody leads because of that":               "nobody leads because of that",
	} {
		if got := rounds.Quoted(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
