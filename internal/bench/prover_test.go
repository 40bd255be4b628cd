package bench

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/bench/history"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/proto"
)

// Two faults at the same time strike different nodes and leave a majority that runs; each
// ends what it began; and while a lost disk is made up for, no other is lost, and no node is
// started with wrong flags, since "a node that saved no list may start with any list".
func TestDraw(t *testing.T) {
	for _, nodes := range []int{3, 5} {
		c, err := testcluster.New(testcluster.Config{Nodes: nodes})
		if err != nil {
			t.Fatal(err)
		}
		p := &prover{
			FencingOptions: FencingOptions{Options: Options{Nodes: nodes}, Promise: time.Second, dir: t.TempDir()},
			nodes:          &Cluster{Cluster: c, Network: &testcluster.Network{}}, state: newState(nodes),
			wiped: map[proto.NodeID]time.Time{}, Workers: &Workers{Storage: &Storage{}},
		}
		dice := rand.New(rand.NewPCG(1, 0))
		for range 2000 {
			faults := p.draw(dice)
			var away []proto.NodeID
			for _, f := range faults {
				away = append(away, f.nodes...)
				if len(f.steps) < 2 || f.kind == "" || f.what == "" {
					t.Fatalf("%+v", f)
				}
				if !slices.IsSortedFunc(f.steps, func(a, b step) int { return int(a.after - b.after) }) {
					t.Fatalf("%s: its steps are not in order", f.text(0))
				}
			}
			slices.Sort(away)
			if len(slices.Compact(slices.Clone(away))) != len(away) ||
				len(faults) > 1 && nodes-len(away) < p.state.majority() {
				t.Fatalf("%s, and %s: %v are away", faults[0].text(0), faults[1].text(0), away)
			}
		}
		p.wiped[1] = time.Now()
		for range 200 {
			for _, f := range p.draw(dice) {
				if f.kind == "wipe a disk" || f.kind == "restart with wrong flags" {
					t.Fatalf("%s, while another is made up for", f.text(0))
				}
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// "A violation prints the evidence (who, when, which fault), the seed and the command to
// repeat."
func TestFencingText(t *testing.T) {
	good := Proof{
		Algorithm: "ring", Seed: 7, Seconds: 50, Faults: map[string]int{"kill": 2, "stall": 1},
		Functions: 4, Refused: 1, IdleS: 3,
		Idle: Idle{
			From: 1, Seconds: 2.5,
			Faults: []string{"   1.000 –   3.000 s  kill: node 1"},
		},
		Verdict: history.Verdict{Linearizable: "yes"}, Control: history.Verdict{Linearizable: "no", Stale: 1},
	}
	r := FencingReport{
		Machine: somewhere, Nodes: 5, Profile: "lan", Promise: 2, Seed: 7, Seconds: 600, Planned: 2, Cuts: true,
		Proofs: []Proof{good, good},
	}
	text := func() string {
		var b strings.Builder
		if err := r.Report().Text(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	said := text()
	for _, want := range []string{
		"  kill                                           4\n",
		"2.50 s, with ring, seed 7, from 1.000 s on\n     1.000 –   3.000 s  kill: node 1",
		"2.5 of 3.0\n", "\nno violation\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	bad := good
	bad.Violations, bad.Kept, bad.Seed = []string{"two at once"}, "/tmp/logs", 8
	r.Proofs = []Proof{good, bad}
	want := "VIOLATED with ring; again: make prove ALGORITHM=ring NODES=5 PROVE=50s SEED=8; logs: /tmp/logs\n" +
		"  two at once\n"
	if said := text(); r.OK() || !strings.HasSuffix(said, want) {
		t.Errorf("no %q in\n%s", want, said)
	}
}
