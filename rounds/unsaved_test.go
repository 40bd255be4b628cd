package rounds_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// "Started again" was all that was said of a node whose data directory was emptied between two of its processes. It is
// said that nothing is saved where a process before it had saved its vote or its term, by its records, also where the
// record of the start itself is missing; and of each process until something is saved again.
func TestStartedAgainWithNothingSaved(t *testing.T) {
	because := func(event string, term uint64, code string, args ...uint64) trace.Record {
		told := trace.Reason{Code: code}
		for _, n := range args {
			told.Args = append(told.Args, trace.Arg{Number: n})
		}
		return trace.Record{Event: event, Term: term, Reasons: []trace.Reason{told}}
	}
	lost := because("start", 0, "lease.lost", 2)
	for name, c := range map[string]struct {
		guarantee   string
		first, then trace.Record
		want        rounds.Saved
	}{
		"a vote":                   {"lease", because("receive", 1, "lease.vote", 3, 1), lost, rounds.Votes},
		"its own vote":             {"lease", because("receive", 1, "lease.candidate", 1), lost, rounds.Votes},
		"that all had never voted": {"lease", because("receive", 0, "lease.unvoted", 0), lost, rounds.Votes},
		"what others told of it":   {"lease", because("receive", 4, "lease.readmit", 2, 4), lost, rounds.Votes},
		"no vote yet":              {"lease", because("receive", 0, "lease.yes", 3, 1), lost, ""},
		"a vote that is there": {
			"lease", because("receive", 1, "lease.vote", 3, 1), trace.Record{Event: "start"}, "",
		},
		"a term": {
			"best-effort", trace.Record{Event: "peers", Term: 1}, trace.Record{Event: "start"}, rounds.Terms,
		},
		"a term, by what it adopts": {
			"best-effort",
			trace.Record{Event: "peers", Term: 1},
			because("receive", 2, "nomination.adopt", 2, 0),
			rounds.Terms,
		},
		"a term that is there": {
			"best-effort", trace.Record{Event: "peers", Term: 1}, because("receive", 2, "nomination.adopt", 2, 1), "",
		},
		"no term yet": {"best-effort", trace.Record{Event: "start"}, trace.Record{Event: "start"}, ""},
	} {
		v := newVoters()
		v.guarantee = c.guarantee
		v.add(1, 10, c.first)
		for life := range 2 {
			v.life[1]++
			v.add(1, 1000+life, c.then)
		}
		for i, l := range v.b.History().Groups[0].Nodes[0].Lives[1:] {
			told := rounds.Saved("")
			if l.Unsaved != nil {
				told = l.Unsaved.What
			}
			if told != c.want {
				t.Errorf("%s, again %d: %q, want %q", name, i+1, told, c.want)
			}
		}
	}
}

// A second process under the id of a node that runs on has a disk of its own, which lost nothing.
func TestAnotherProcessWithNothingSavedBeside(t *testing.T) {
	v := newVoters()
	v.add(1, 10, trace.Record{Term: 1, Event: "receive", Reasons: []trace.Reason{{
		Code: "lease.vote", Args: []trace.Arg{{Number: 3}, {Number: 1}},
	}}})
	v.life[1]++
	v.add(1, 1000, trace.Record{Event: "start", Reasons: []trace.Reason{{Code: "lease.lost", Args: []trace.Arg{{}}}}})
	v.life[1]--
	v.add(1, 2000, trace.Record{Term: 1, Event: "timeout"})
	for _, l := range v.b.History().Groups[0].Nodes[0].Lives {
		if l.Unsaved != nil {
			t.Errorf("%+v", *l.Unsaved)
		}
	}
}
