package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// ward is a cluster whose nodes can be made ill: node n is while the file n is in dir. Their
// checks may take as long as a busy machine needs to start a shell, and only a loop that
// stands still for seconds speaks against a node.
type ward struct {
	e2e
	dir string
}

func newWard(t *testing.T, args ...string) ward {
	t.Helper()
	return ward{newE2E(t, "bully", 3, slices.Concat(calm, []string{
		"--health-interval", "50ms", "--health-timeout", "20s", "--health-rise", "1",
		"--health-fall", "2", "--health-hold-down", "300ms",
	}, args)...), t.TempDir()}
}

func (w ward) file(id proto.NodeID) string { return filepath.Join(w.dir, id.String()) }

func (w ward) ill(id proto.NodeID)  { w.check(os.WriteFile(w.file(id), nil, 0o600)) }
func (w ward) cure(id proto.NodeID) { w.check(os.Remove(w.file(id))) }

// start starts all nodes with a health command, in which FILE stands for the node's
// file.
func (w ward) start(command string) {
	w.Helper()
	for _, n := range w.Nodes() {
		w.check(w.Start(n.ID, "--health-cmd", strings.ReplaceAll(command, "FILE", w.file(n.ID))))
	}
}

// "An unhealthy leader resigns, an unhealthy node does not stand, and does not flap
// back at once": a command that begins to fail, one that hangs, one that floods.
func TestUnhealthyLeader(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ command, want string }{
		"fails": {
			"[ ! -e FILE ] || { echo no database; exit 3; }",
			"unhealthy: command ended with code 3: no database",
		},
		"hangs":  {"[ ! -e FILE ] || { trap '' TERM; sleep 600; }", "unhealthy: command did not end within 2s"},
		"floods": {"[ ! -e FILE ] || yes", "unhealthy: command did not end within 2s: y"},
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"--voters", "1-3", "--lease", "2500ms"}
			if name != "fails" {
				args = append(args, "--health-timeout", "2s")
			}
			w := newWard(t, args...)
			w.start(c.command)
			first := w.leads(3)
			w.ill(3)
			next := w.leads(2)
			if next.Term <= first.Term {
				t.Errorf("term %d after term %d", next.Term, first.Term)
			}
			w.status(3, func(s httpapi.Status) bool {
				ill := slices.ContainsFunc(s.Checks, func(c httpapi.Check) bool { return c.Name == "command" && !c.OK })
				return s.Ineligible == c.want && ill && s.Healthy
			})
			w.says(3, asked{1}, "Node 3 does not stand for election: "+c.want)
			resigned := w.record("node 3 resigning", time.Time{}, func(r trace.Record) bool {
				return r.Node == 3 && r.LeaderChange == trace.Resigned
			})
			if resigned.Ineligible != c.want {
				t.Errorf("node 3 resigned because of %q, want %q", resigned.Ineligible, c.want)
			}
			cured := time.Now()
			w.cure(3)
			w.leads(3)
			again := w.beganToLead(3, next.Term+1)
			if held := again.Time.Sub(cured); held < 300*time.Millisecond {
				t.Errorf("it led again after %v", held)
			}
		})
	}
}

// The same by HTTP, and without voters.
func TestUnhealthyByHTTP(t *testing.T) {
	w := newWard(t)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if _, err := os.Stat(filepath.Join(w.dir, r.URL.Path)); err == nil {
			http.Error(rw, "no database", http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	for _, n := range w.Nodes() {
		w.check(w.Start(n.ID, "--health-http", fmt.Sprintf("%s/%v", server.URL, n.ID)))
	}
	w.leads(3)
	w.ill(3)
	w.leads(2)
	const want = "unhealthy: http answered 503 Service Unavailable: no database"
	w.says(3, asked{3}, want)
	w.cure(3)
	w.leads(3)
}

// A node that is unhealthy from the start never leads. When all are unhealthy nobody
// leads, and why-not says so; when one is well again it does.
func TestUnhealthyFromTheStart(t *testing.T) {
	w := newWard(t, "--voters", "1-3", "--lease", "2500ms")
	w.ill(3)
	w.start("[ ! -e FILE ]")
	w.leads(2)
	for _, id := range []proto.NodeID{2, 1} {
		w.ill(id)
	}
	w.leads(0)
	for _, id := range []proto.NodeID{1, 2, 3} {
		w.logs(id, `"ineligible":"unhealthy: command ended with code 1"`)
	}
	w.says(2, asked{1},
		"Nobody leads", "Node 2 does not stand for election: unhealthy: command ended with code 1.",
		"Nodes 1 and 3 do not stand for election either: unhealthy: command ended with code 1.",
	)
	for _, r := range w.Records() {
		if r.Node == 3 && r.Role == trace.Leading {
			t.Errorf("node 3 leads term %d", r.Term)
		}
	}
	w.cure(1)
	w.leads(1)
}

// "When nobody else can lead, a node that is held down does": all were ill, and are well
// again, and would each be held back for ten minutes. Once one leads the others stay back.
func TestHeldBackAndNeeded(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"with voters": {"--voters", "1-3", "--lease", "2500ms"}, "without": nil,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWard(t, append([]string{"--health-hold-down", "10m"}, args...)...)
			w.start("[ ! -e FILE ]")
			w.leads(3)
			for _, id := range []proto.NodeID{3, 2, 1} {
				w.ill(id)
				w.status(id, func(s httpapi.Status) bool { return s.Ineligible != "" })
			}
			w.leads(0)
			for _, id := range []proto.NodeID{1, 2, 3} {
				w.cure(id)
			}
			w.logs(w.agreed().Leader, "nobody else could lead: held back no more")
		})
	}
}

// "What slows a node for a second keeps it from leading for about as long": nodes that are
// stopped again and again, under the profile fast, elect a leader once that is over,
// although whatever else fails holds a node back for ten minutes.
func TestStarvedNodes(t *testing.T) {
	e := newE2E(t, "bully", 3, "--profile", "fast", "--voters", "1-3",
		"--health-interval", "10ms", "--health-hold-down", "10m")
	for _, n := range e.Nodes() {
		e.check(e.Start(n.ID))
	}
	e.leads(3)
	for round := range 12 {
		for _, n := range e.Nodes() {
			e.check(e.Pause(n.ID))
		}
		time.Sleep(300 * time.Millisecond) // as long as the machine takes the processor away
		for i := range e.Nodes() {
			e.check(e.Resume(e.Nodes()[(i+round)%3].ID))
			time.Sleep(20 * time.Millisecond) // they wake one after the other
		}
	}
	e.agreed()
}
