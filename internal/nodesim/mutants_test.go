package nodesim

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/overlay"
)

// mutant is the tree without one of its rules.
type mutant struct {
	rule    string // that is taken out
	patches []patch
	breaks  string // what users then see
	// What the schedules are that find it: so many at most, of an algorithm, "" for any,
	// with these kinds of faults.
	within    int
	algorithm string
	faults    string
}

// patch is a change of one file. old must be in it, once.
type patch struct{ file, old, new string }

var mutants = []mutant{
	{
		"work that was told to stop begins again when the lease is renewed after all",
		[]patch{{"node/leadership.go", "if !t.extend(l) && t.continues() {", "if !t.extend(l) && false {"}},
		"leaders-work", 200, "", "stall,freeze",
	},
	{
		"a living process resets what it ends",
		[]patch{{"node/tcp/transport.go", "_ = l.SetLinger(0)", "_ = l"}},
		"one-works", 300, "", "shield,long-promise",
	},
	{
		"the links stay open until the leader's work has ended",
		// Alone it is covered by the rule before: what a living process resets proves nothing.
		[]patch{
			{"node/tcp/transport.go", "\tt.holds.Wait()\n", ""},
			{"node/tcp/transport.go", "_ = l.SetLinger(0)", "_ = l"},
		},
		"one-works", 200, "", "leave",
	},
	{
		"a state that a crash of ours cannot have left is damaged",
		[]patch{{
			"node/statefile/log.go", "if err != nil && unfinished(data, at, first, last+1) {",
			"if _ = first; err != nil {",
		}},
		"saved-is-kept", 100, "", "damage,crash",
	},
	{
		"a voter that is back without its disk saves the first vote of its term",
		[]patch{{"node/statefile/file.go", "f.saved.Vote.ID != 0 && ", ""}},
		"ends-for-a-cause", 100, "", "lose-disk,crash",
	},
	{
		"voters are not released before what was lent has ended",
		[]patch{{"node/leadership.go", "if !n.awaitLoans(t.term) {", "if false {"}},
		"one-works", 100, "", "leave,transfer,bar",
	},
	{
		"the proof of a death does not end what the process has lent",
		[]patch{{"algorithms/lease/lend.go", "\tif lent {\n", "\tif false {\n"}},
		"one-works", 100, "", "crash",
	},
	{
		"a voter without a vote may have lost it, and votes for nobody before it knows",
		[]patch{{"algorithms/lease/step.go", "if !m.unvoted || m.state.Promise > 0 {", "if true {"}},
		"one-works", 100, "bully", "lose-pivot,crash",
	},
	{
		"with Raft too",
		[]patch{{"algorithms/lease/step.go", "if !m.unvoted || m.state.Promise > 0 {", "if true {"}},
		"one-works", 100, "raft", "lose-pivot,crash",
	},
	{
		"voters that differ by more than one are refused at the start, and give way where they are seen",
		[]patch{
			{
				"algorithms/lease/voters.go", `case saved.List == "":`,
				`case saved.List == "" || distance == proto.OtherVoters:`,
			},
			{
				"membership/view.go", "case proto.OtherVoters:", "case proto.OtherVoters:\n\t\treturn false",
			},
			// New voters that hear nothing of the others' votes would wait for ever.
			{"algorithms/lease/step.go", "if !m.unvoted || m.state.Promise > 0 {", "if true {"},
		},
		"one-works", 100, "", "grow,crash",
	},
	{
		"only a node that a majority would vote for is handed the leadership",
		[]patch{{"algorithms/lease/transfer.go", "case !m.enough(&s.yes):", "case false:"}},
		"topology-stays-led", 100, "bully", "shape",
	},
}

// TestLongEachRuleIsNeeded takes out one rule at a time, and looks for a random schedule in which
// users see that it is missing.
func TestLongEachRuleIsNeeded(t *testing.T) {
	for _, m := range mutants {
		t.Run(strings.ReplaceAll(m.rule, " ", "_"), func(t *testing.T) {
			t.Parallel()
			program := m.build(t)
			hunt := exec.CommandContext(t.Context(), program, "-test.run", "^TestSchedules$",
				"-seeds", fmt.Sprint(m.within), "-first", m.breaks, "-algorithm", m.algorithm, "-faults", m.faults)
			hunt.Env = append(os.Environ(), "GOMAXPROCS=1")
			out, err := hunt.CombinedOutput()
			found, ok := strings.CutPrefix(lineWith(string(out), foundMark), foundMark)
			if !ok {
				t.Fatalf("%d schedules did not break %s: %v\n%s", m.within, m.breaks, err, tail(out))
			}
			t.Log(found)
		})
	}
}

// build builds this package's tests on top of the patched files, and returns the program.
func (m mutant) build(t *testing.T) string {
	t.Helper()
	sources := overlay.New(t)
	for _, p := range m.patches {
		sources.Replace(m.rule, filepath.Join("..", "..", p.file), p.old, p.new)
	}
	program, args := sources.Build("test", "-c", "-vet=off", "-ldflags=-s -w", ".")
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

func lineWith(text, prefix string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, prefix) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func tail(out []byte) []byte { return out[max(0, len(out)-1000):] }
