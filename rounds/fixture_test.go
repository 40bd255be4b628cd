package rounds_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// The logs in testdata are of real clusters: `go test ./rounds -run Record
// -record` runs them anew (a minute; the one that is cut needs root on Linux).
// Then `-rewrite` writes what is told of them, which is to be read.
var record = flag.Bool("record", false, "run the clusters again and keep their logs")

// fixtures are what is done to each cluster once all its nodes agree.
var fixtures = []struct {
	name, algorithm, level string
	nodes                  int
	network                bool // of its own, to be cut
	act                    func(*rig)
	voters                 bool // a majority of the nodes makes a leader
}{
	{"bully-kill", "bully", "debug", 5, false, func(r *rig) {
		r.killLeader()
	}, false},
	{"bully-restart", "bully", "debug", 5, false, func(r *rig) {
		leader := r.killLeader()
		r.start(leader)
		r.follow(leader)
	}, false},
	{"bully-kill-info", "bully", "info", 5, false, func(r *rig) {
		r.killLeader()
		r.killLeader()
	}, false},
	{"bully-pause", "bully", "debug", 5, false, func(r *rig) {
		leader := r.leader()
		r.must(r.c.Pause(leader))
		r.agreed(r.others(leader)...)
		r.must(r.c.Resume(leader))
		r.follow(leader)
	}, false},
	{"bully-cut", "bully", "debug", 5, true, func(r *rig) {
		leader := r.leader()
		r.must(r.net.cut(leader))
		r.agreed(r.others(leader)...)
		r.must(r.net.heal(leader))
		r.follow(leader)
	}, false},
	{"bully-rolling", "bully", "info", 3, false, rolling, false},
	{"ring-kill", "ring", "debug", 5, false, func(r *rig) {
		r.killLeader()
	}, false},
	{"ring-restart", "ring", "debug", 5, false, func(r *rig) {
		leader := r.killLeader()
		r.start(leader)
		r.agreed()
	}, false},
	{"ring-pause", "ring", "debug", 5, false, func(r *rig) {
		leader := r.leader()
		r.must(r.c.Pause(leader))
		r.agreed(r.others(leader)...)
		r.must(r.c.Resume(leader))
		r.agreed()
	}, false},
	{"ring-rolling", "ring", "info", 3, false, rolling, false},
	{"office-kill", "bully", "debug", 5, false, func(r *rig) {
		r.killLeader()
	}, true},
	{"office-ring-kill", "ring", "info", 5, false, func(r *rig) {
		r.killLeader()
	}, true},
	{"office-pause", "bully", "debug", 5, false, func(r *rig) {
		leader := r.leader()
		r.must(r.c.Pause(leader))
		r.agreed(r.others(leader)...)
		r.must(r.c.Resume(leader))
		r.agreed()
	}, true},
	{"office-cut", "bully", "debug", 5, true, func(r *rig) {
		leader := r.leader()
		r.must(r.net.cut(leader))
		r.agreed(r.others(leader)...)
		r.must(r.net.heal(leader))
		r.agreed()
	}, true},
	{"office-no-quorum", "bully", "info", 3, false, func(r *rig) {
		r.killLeader()
		r.kill(r.leader())
		for _, last := range r.others(0) {
			_, err := r.c.WaitLeader(r.ctx, 0, last)
			r.must(err)
			r.asked(last)
		}
	}, true},
}

// rolling restarts every node in turn, as an upgrade does.
func rolling(r *rig) {
	for _, n := range r.c.Nodes() {
		r.must(r.c.Terminate(n.ID))
		_, err := r.c.WaitExit(r.ctx, n.ID)
		r.must(err)
		r.agreed(r.others(n.ID)...)
		r.start(n.ID)
		r.agreed()
	}
}

// rig is a real cluster under test.
type rig struct {
	t     *testing.T
	ctx   context.Context
	c     *testcluster.Cluster
	net   *network
	lines []string // of lives that are over
	dead  map[proto.NodeID]bool
	lives map[proto.NodeID]bool // those that were started again
	level string
}

func TestRecord(t *testing.T) {
	if !*record {
		return // the logs are there; this makes new ones
	}
	binary := filepath.Join(t.TempDir(), "ringleader")
	if out, err := exec.Command("go", "build", "-o", binary, "../cmd/node").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, f := range fixtures {
		t.Run(f.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			r := &rig{t: t, ctx: ctx, level: f.level, dead: map[proto.NodeID]bool{}, lives: map[proto.NodeID]bool{}}
			cfg := testcluster.Config{
				Binary: binary, Nodes: f.nodes, Algorithm: f.algorithm,
				Args: []string{"--log-level", f.level, "--cluster", "demo"},
			}
			if f.voters {
				cfg.Args = append(cfg.Args, "--voters", fmt.Sprintf("1-%d", f.nodes))
			}
			if f.network {
				r.net = newNetwork(t, f.nodes)
				cfg.Hosts = r.net.hosts()
			}
			var err error
			r.c, err = testcluster.New(cfg)
			r.must(err)
			defer func() { r.must(r.c.Close()) }()
			r.must(r.c.StartAll())
			r.settled(f.algorithm, f.voters)
			f.act(r)
			r.quiet()
			r.must(r.keep(filepath.Join("testdata", f.name+".log")))
		})
	}
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// settled waits until all agree and nothing more will happen by itself.
func (r *rig) settled(algorithm string, voters bool) {
	if algorithm == "bully" && !voters {
		nodes := r.c.Nodes()
		r.follow(nodes[len(nodes)-1].ID)
		return
	}
	r.agreed()
}

// quiet waits until the nodes that run have received all that they were sent,
// which shows at level debug; not for long, since what was sent to a paused or
// cut-off node may be lost.
func (r *rig) quiet() {
	if r.level != "debug" {
		return
	}
	ctx, cancel := context.WithTimeout(r.ctx, 3*time.Second)
	defer cancel()
	_ = r.c.Wait(ctx, func() bool { // some are lost
		received := map[string]bool{}
		var sent []string
		for _, rec := range r.c.Records() {
			received[fmt.Sprint(rec.MsgID, ">", rec.Node)] = true
			for _, s := range rec.Sent {
				_, to, id, err := trace.SentID(s)
				if err == nil && slices.Contains(r.others(0), to) && !r.lives[to] {
					sent = append(sent, fmt.Sprint(id, ">", to))
				}
			}
		}
		return !slices.ContainsFunc(sent, func(key string) bool { return !received[key] })
	})
}

func (r *rig) leader() proto.NodeID { return r.agreed().Leader }

func (r *rig) agreed(ids ...proto.NodeID) testcluster.Belief {
	r.t.Helper()
	if len(ids) == 0 {
		ids = r.others(0)
	}
	b, err := r.c.WaitAgreed(r.ctx, ids...)
	r.must(err)
	return b
}

func (r *rig) follow(leader proto.NodeID) {
	r.t.Helper()
	_, err := r.c.WaitLeader(r.ctx, leader, r.others(0)...)
	r.must(err)
}

// others are the nodes that run, but for one.
func (r *rig) others(but proto.NodeID) []proto.NodeID {
	var ids []proto.NodeID
	for _, n := range r.c.Nodes() {
		if n.ID != but && !r.dead[n.ID] {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

func (r *rig) killLeader() proto.NodeID {
	leader := r.leader()
	r.kill(leader)
	r.agreed()
	return leader
}

func (r *rig) kill(id proto.NodeID) {
	_, err := r.c.Kill(id)
	r.must(err)
	r.dead[id] = true
}

// asked waits until a node that is alone has asked the voters since it lost its
// leader.
func (r *rig) asked(id proto.NodeID) {
	r.must(r.c.Wait(r.ctx, func() bool {
		asked := false
		for _, rec := range r.c.Records() {
			if rec.Node == uint64(id) {
				asks := slices.ContainsFunc(rec.Reasons, func(told trace.Reason) bool {
					kind := catalog.Reason(told.Code)
					if kind == nil {
						return false
					}
					_, stands := algorithms.Decided[algorithms.Stands](kind)
					return stands
				})
				asked = rec.Leader == 0 && (asked || asks)
			}
		}
		return asked
	}))
}

func (r *rig) start(id proto.NodeID) {
	r.lines = append(r.lines, r.c.Log(id))
	delete(r.dead, id)
	r.lives[id] = true
	r.must(r.c.Start(id))
}

// keep writes everything that the nodes wrote, node after node, as a person
// would who gathers the files.
func (r *rig) keep(path string) error {
	for _, n := range r.c.Nodes() {
		r.lines = append(r.lines, r.c.Log(n.ID))
	}
	return os.WriteFile(path, []byte(strings.Join(r.lines, "\n")+"\n"), 0o644)
}
