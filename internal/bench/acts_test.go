package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/proto"
)

func works(node proto.NodeID, process string, from, until time.Duration) act {
	return act{node: node, process: process, from: from, until: until}
}

func may(node proto.NodeID, from, until time.Duration) act {
	return act{node: node, from: from, until: until}
}

// "At most one leader at a time": of functions at work, and of leases that are lent to who
// stands beside a node.
func TestClashes(t *testing.T) {
	for _, c := range []struct {
		name  string
		acts  []act
		count int
	}{
		{"nothing", nil, 0},
		{"one after the other", []act{works(1, "a", 1, 5), works(2, "b", 5, 9)}, 0},
		{"two nodes work", []act{works(2, "b", 4, 9), works(1, "a", 1, 5)}, 1},
		{"one within the other", []act{works(1, "a", 1, 9), works(2, "b", 4, 5)}, 1},
		{"two functions of one node", []act{works(1, "a", 1, 5), works(1, "b", 4, 9)}, 1},
		{"the lease that was lent outlives the leader", []act{may(1, 1, 5), works(2, "b", 4, 9)}, 1},
		{"two leases", []act{may(1, 1, 5), may(2, 4, 9)}, 1},
		{"a lease that was over when its holder heard of it", []act{works(1, "a", 1, 9), may(2, 8, 3)}, 0},
		{"a node works, and says that it leads", []act{works(1, "a", 1, 9), may(1, 2, 12)}, 0},
		{"two beside one", []act{works(1, "a", 1, 9), may(2, 2, 4), may(3, 5, 6)}, 2},
	} {
		if found := clashes(c.acts); len(found) != c.count {
			t.Errorf("%s: %v, want %d", c.name, found, c.count)
		}
	}
}

func TestJoined(t *testing.T) {
	got := joined([]act{may(1, 3, 6), may(2, 4, 5), may(1, 1, 4), may(1, 8, 9)})
	if want := []act{may(1, 1, 6), may(2, 4, 5), may(1, 8, 9)}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// "The longest time without a leader while a connected majority existed."
func TestGaps(t *testing.T) {
	always := []moment{{0, true}}
	for _, c := range []struct {
		name      string
		functions []act
		moments   []moment
		want      []gap
	}{
		{"nobody ever", nil, always, []gap{{0, 100}}},
		{"nobody could", nil, []moment{{0, false}}, nil},
		{"one after the other", []act{works(1, "a", 0, 40), works(2, "b", 45, 100)}, always, []gap{{40, 45}}},
		{"the first begins late, the last ends early", []act{works(1, "a", 10, 90)}, always, []gap{{0, 10}, {90, 100}}},
		{"two at once", []act{works(1, "a", 0, 60), works(2, "b", 50, 100)}, always, nil},
		{
			"nobody could for a part",
			[]act{works(1, "a", 0, 40), works(2, "b", 80, 100)},
			[]moment{{0, true}, {50, false}, {70, true}},
			[]gap{{40, 50}, {70, 80}},
		},
		{
			"a moment that changes nothing",
			[]act{works(1, "a", 0, 40), works(2, "b", 80, 100)},
			[]moment{{0, true}, {50, true}},
			[]gap{{40, 80}},
		},
	} {
		if got := gaps(c.functions, c.moments, 100); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A leader is possible where some node that may stand reaches a majority directly.
func TestAble(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(s *state, p *prover)
		want   bool
	}{
		{"nothing", func(*state, *prover) {}, true},
		{"two are away", func(s *state, _ *prover) { s.away[1], s.away[2] = 1, 1 }, true},
		{"three are away", func(s *state, _ *prover) { s.away[1], s.away[2], s.away[3] = 1, 1, 1 }, false},
		{"a star", func(s *state, p *prover) { s.dropped[nil] = starLinks(p) }, true},
		{"a star whose middle is away", func(s *state, p *prover) {
			s.dropped[nil], s.away[1] = starLinks(p), 1
		}, false},
		{"a star whose middle may not lead", func(s *state, p *prover) {
			s.dropped[nil], s.aside[1] = starLinks(p), 1
		}, false},
		{"one way is no link", func(s *state, p *prover) {
			s.dropped[nil] = slices.Concat(p.into(1), p.into(2), p.into(3))
		}, false},
	} {
		p := &prover{state: newState(5)}
		c.change(&p.state, p)
		if got := p.state.able(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// starLinks are the links that a star with node 1 in the middle does not have.
func starLinks(p *prover) (links []testcluster.Link) {
	for _, a := range p.state.ids {
		for _, b := range p.state.ids {
			if a > 1 && b > 1 && a != b {
				links = append(links, testcluster.Link{From: a, To: b})
			}
		}
	}
	return links
}

// A function says when it was at work, and a process that is killed has said it too.
func TestFunction(t *testing.T) {
	if dir := os.Getenv("BENCH_FUNCTION"); dir != "" {
		t.Fatal(function{Dir: dir}.run())
	}
	before := now()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(self, "-test.run", "TestFunction")
	cmd.Env = append(os.Environ(), "BENCH_FUNCTION="+dir, "RINGLEADER_ID=3", "RINGLEADER_TERM=7")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for acts := []act(nil); len(acts) == 0 || acts[0].until == acts[0].from; {
		<-tick.C
		if acts, err = functionsIn(dir); err != nil {
			t.Fatal(err)
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // says that it was killed
	after := now()
	files, err := filepath.Glob(dir + "/3-7-*")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	acts, err := functionsIn(dir)
	if err != nil || len(acts) != 1 {
		t.Fatal(acts, err)
	}
	a := acts[0]
	if a.from < before || a.until <= a.from || a.until > after {
		t.Errorf("%v, between %v and %v", a, before, after)
	}
	a.from, a.until, a.process = 0, 0, ""
	if want := (act{node: 3, term: 7}); !reflect.DeepEqual(a, want) {
		t.Errorf("%v, want %v", a, want)
	}
}
