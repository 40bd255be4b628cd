//go:build realtruth

package truth_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// plan says what a run is of.
type plan struct {
	Seed      uint64 `json:"seed"`
	Algorithm string `json:"algorithm"`
	Nodes     int    `json:"nodes"`
	Voters    bool   `json:"voters"` // a majority of the nodes makes a leader, under a lease
	Level     string `json:"level"`
	Mood      mood   `json:"mood"`
	Acts      int    `json:"acts"` // at most
}

// mood says which acts there may be.
type mood string

// manyActs is how many acts a run has at most.
const manyActs = 6

const (
	calm     mood = "calm"     // none
	operated mood = "operated" // only those of an operator: stops, restarts, hand-overs
	healthy  mood = "healthy"  // these, and kills
	mixed    mood = "mixed"    // all
)

func (p plan) String() string {
	voters := "without voters"
	if p.Voters {
		voters = "with voters"
	}
	return fmt.Sprintf("seed %d: %d nodes, %s %s, level %s, %s", p.Seed, p.Nodes, p.Algorithm, voters, p.Level, p.Mood)
}

// pause is the longest time between two acts: shorter where there are few.
func (p plan) pause() time.Duration {
	if p.Acts < manyActs {
		return time.Second
	}
	return 2500 * time.Millisecond
}

// drawPlan draws what a run is of.
func drawPlan(t *testing.T, seed uint64, acts int) plan {
	t.Helper()
	kinds := strings.Split(*flagKinds, ",")
	kind, err := catalog.Lookup(kinds[seed%uint64(len(kinds))])
	if err != nil {
		t.Fatal(err)
	}
	d := rand.New(rand.NewPCG(seed, 0))
	p := plan{Seed: seed, Algorithm: kind.Name, Nodes: 3 + 2*d.IntN(2), Acts: acts}
	p.Voters = kind.NeedsVoters() || d.IntN(2) == 0
	p.Level = []string{"info", "debug"}[d.IntN(2)]
	p.Mood = []mood{mixed, mixed, mixed, mixed, mixed, healthy, healthy, healthy, operated, calm}[d.IntN(10)]
	return p
}

// rig is a real cluster under test.
type rig struct {
	t      *testing.T
	ctx    context.Context
	c      *testcluster.Cluster
	d      *rand.Rand
	story  *story
	with   *rand.Rand           // draws with which settings a node is started again
	due    map[uint64]time.Time // when a node that is stopped is to go on
	aside  bool                 // a node has resigned
	outage bool                 // there was one
}

// perform runs a cluster, and does to it what the seed draws. The logs and the story are in dir then.
func perform(t *testing.T, p plan, dir string) *story {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	args := []string{"--log-level", p.Level, "--cluster", "truth"}
	if p.Voters {
		args = append(args, "--voters", fmt.Sprintf("1-%d", p.Nodes))
	}
	c, err := testcluster.New(testcluster.Config{Binary: program, Nodes: p.Nodes, Algorithm: p.Algorithm, Args: args})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{
		t: t, ctx: ctx, c: c, d: rand.New(rand.NewPCG(p.Seed, 1)), story: &story{Plan: p}, due: map[uint64]time.Time{},
		with: rand.New(rand.NewPCG(p.Seed, 2)),
	}
	defer func() { r.must(c.Close()) }()
	w := watch(ctx, c.Nodes())
	for _, id := range c.IDs() {
		r.start(uint64(id))
	}
	_, err = c.WaitAgreed(ctx)
	r.must(err)
	for range p.Acts {
		r.wait(r.between(100*time.Millisecond, p.pause()))
		r.act()
	}
	r.wait(r.between(100*time.Millisecond, p.pause()))
	r.stopAll()
	w.finish(r.story)
	r.must(c.SaveLogs(dir))
	r.nameProcesses()
	r.story.save(t, filepath.Join(dir, storyFile))
	return r.story
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) between(low, high time.Duration) time.Duration {
	return low + time.Duration(r.d.Int64N(int64(high-low)))
}

// wait lets time pass. Nodes that are stopped go on when they are due.
func (r *rig) wait(d time.Duration) {
	end := time.Now().Add(d)
	for {
		until, first := end, uint64(0)
		for node, due := range r.due {
			if due.Before(until) {
				until, first = due, node
			}
		}
		select {
		case <-time.After(time.Until(until)):
		case <-r.ctx.Done():
			r.t.Fatal(r.ctx.Err())
		}
		if first == 0 {
			return
		}
		r.goOn(first)
	}
}

// running returns the present process of a node; nil if none runs.
func (r *rig) running(node uint64) *process {
	own := r.story.processesOf(node)
	if len(own) == 0 || !own[len(own)-1].Until.IsZero() {
		return nil
	}
	return own[len(own)-1]
}

// nodes returns the nodes that run and are not stopped, those that are stopped, and those that are dead.
func (r *rig) nodes() (up, stopped, dead []uint64) {
	for _, id := range r.c.IDs() {
		node := uint64(id)
		switch _, stops := r.due[node]; {
		case stops:
			stopped = append(stopped, node)
		case r.running(node) != nil:
			up = append(up, node)
		default:
			dead = append(dead, node)
		}
	}
	return up, stopped, dead
}

// leader returns the node that some running node names as the leader, or any that runs.
func (r *rig) leader(up []uint64) uint64 {
	for id, b := range r.c.Beliefs(r.c.IDs()...) {
		if b.Leader == id && slices.Contains(up, uint64(id)) {
			return uint64(id)
		}
	}
	return up[r.d.IntN(len(up))]
}

// act does one thing that the mood allows.
func (r *rig) act() {
	up, _, dead := r.nodes()
	if r.story.Plan.Mood == calm {
		return
	}
	if len(up) == 0 || len(dead) > 0 && r.d.IntN(3) == 0 {
		if len(dead) > 0 {
			r.start(dead[r.d.IntN(len(dead))])
		}
		return
	}
	target := up[r.d.IntN(len(up))]
	if r.d.IntN(5) < 3 {
		target = r.leader(up)
	}
	what := map[mood][]string{
		operated: {"terminate", "terminate", "transfer", "resign"},
		healthy:  {"kill", "kill", "kill", "outage", "terminate", "transfer", "resign"},
		mixed:    {"kill", "kill", "stop", "stop", "stop", "outage", "terminate", "transfer", "resign"},
	}[r.story.Plan.Mood]
	switch word := what[r.d.IntN(len(what))]; word {
	case "kill":
		r.kill(target)
	case "stop":
		r.stop(target, r.between(200*time.Millisecond, 4*time.Second))
	case "terminate":
		r.terminate(target)
	case "outage":
		r.lose(up)
	default:
		r.request(word, target, up)
	}
}

// lose takes so many nodes away that no majority is left, for some seconds.
func (r *rig) lose(up []uint64) {
	if r.outage || len(up) < r.story.Plan.Nodes {
		return
	}
	r.outage = true
	away := up[:r.story.Plan.Nodes/2+1]
	r.d.Shuffle(len(up), func(i, j int) { up[i], up[j] = up[j], up[i] })
	stops := r.story.Plan.Mood == mixed && r.d.IntN(2) == 0
	length := r.between(2200*time.Millisecond, 2*time.Second+2*r.story.Plan.pause())
	for _, node := range away {
		if stops {
			r.stop(node, length)
		} else {
			r.kill(node)
		}
		r.wait(r.between(0, 200*time.Millisecond))
	}
	r.wait(length)
	for _, node := range away {
		if r.running(node) == nil {
			r.start(node)
		}
	}
}

// note adds what was done.
func (r *rig) note(what string, node, to uint64, at time.Time, err error) {
	a := act{At: at.Round(0), Done: time.Now().Round(0), What: what, Node: node, To: to}
	if err != nil {
		a.Error = err.Error()
	}
	r.story.Acts = append(r.story.Acts, a)
}

// start starts a node. Some that ran before are started with another setting than by default, with which they work.
func (r *rig) start(node uint64) {
	kind, err := catalog.Lookup(r.story.Plan.Algorithm)
	r.must(err)
	preempt, at := kind.Preempt, time.Now()
	if len(r.story.processesOf(node)) > 0 && r.with.IntN(4) == 0 {
		preempt = !preempt
	}
	r.must(r.c.Start(proto.NodeID(node), fmt.Sprintf("--preempt=%v", preempt)))
	r.story.Processes = append(r.story.Processes, &process{Node: node, From: at.Round(0), Preempt: preempt})
	r.note("start", node, 0, at, nil)
}

func (r *rig) kill(node uint64) {
	at, err := r.c.Kill(proto.NodeID(node))
	r.must(err)
	r.ended(node, at, true)
	r.note("kill", node, 0, at, nil)
}

// ended notes that a process has ended.
func (r *rig) ended(node uint64, at time.Time, killed bool) {
	p := r.running(node)
	p.Until, p.Gone, p.Killed = at.Round(0), time.Now().Round(0), killed
	if last := len(p.Pauses) - 1; last >= 0 && p.Pauses[last].Until.IsZero() {
		p.Pauses[last].Until = p.Gone
	}
	delete(r.due, node)
}

func (r *rig) stop(node uint64, d time.Duration) {
	at := time.Now()
	r.must(r.c.Pause(proto.NodeID(node)))
	p := r.running(node)
	p.Pauses = append(p.Pauses, span{From: at.Round(0)})
	r.due[node] = at.Add(d)
	r.note("stop", node, 0, at, nil)
}

func (r *rig) goOn(node uint64) {
	at := time.Now()
	r.must(r.c.Resume(proto.NodeID(node)))
	p := r.running(node)
	p.Pauses[len(p.Pauses)-1].Until = time.Now().Round(0)
	delete(r.due, node)
	r.note("continue", node, 0, at, nil)
}

func (r *rig) terminate(node uint64) {
	at := time.Now()
	r.must(r.c.Terminate(proto.NodeID(node)))
	_, err := r.c.WaitExit(r.ctx, proto.NodeID(node))
	r.must(err)
	r.ended(node, at, false)
	r.note("terminate", node, 0, at, nil)
}

// request asks a node to hand over. It may refuse. A node that resigned stands aside, so only one does.
func (r *rig) request(what string, node uint64, up []uint64) {
	verb, order := httpapi.Transfer, httpapi.Order{}
	if to := up[r.d.IntN(len(up))]; what == "transfer" && r.d.IntN(2) == 0 {
		order.To = proto.NodeID(to)
	}
	if what == "resign" {
		verb = httpapi.Resign
		if r.aside {
			return
		}
		r.aside = true
	}
	at := time.Now()
	_, err := httpapi.Client{Addr: r.c.Node(proto.NodeID(node)).HTTP}.Do(r.ctx, verb, order)
	r.note(what, node, uint64(order.To), at, err)
}

// stopAll lets all nodes go on, and stops them gracefully.
func (r *rig) stopAll() {
	_, stopped, _ := r.nodes()
	for _, node := range stopped {
		r.goOn(node)
	}
	up, _, _ := r.nodes()
	at := time.Now()
	r.story.Stop = at.Round(0)
	for _, node := range up {
		r.must(r.c.Terminate(proto.NodeID(node)))
	}
	for _, node := range up {
		code, err := r.c.WaitExit(r.ctx, proto.NodeID(node))
		killed := code == 128+int(syscall.SIGTERM) && !r.wrote(node) // it had just begun, and took no signals yet
		if err != nil || code != 0 && !killed {
			r.must(errors.Join(err, fmt.Errorf("node %d ended with %d", node, code)))
		}
		r.ended(node, at, killed)
	}
}

// wrote reports whether the present process of the node wrote a record.
func (r *rig) wrote(node uint64) bool {
	p := r.running(node)
	return slices.ContainsFunc(r.c.Records(), func(rec trace.Record) bool {
		return rec.Node == node && !p.From.After(rec.Time)
	})
}

// nameProcesses notes the incarnation of each process that wrote records.
func (r *rig) nameProcesses() {
	for _, rec := range r.c.Records() {
		own := r.story.processesOf(rec.Node)
		for _, p := range slices.Backward(own) {
			if !p.From.After(rec.Time) {
				p.Incarnation = rec.Incarnation
				break
			}
		}
	}
}
