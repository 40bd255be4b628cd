package sim

import (
	"bytes"
	"container/heap"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/bully"
	"github.com/ringleader-dev/ringleader/algorithms/chubby"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/algorithms/office"
	"github.com/ringleader-dev/ringleader/algorithms/raft"
	"github.com/ringleader-dev/ringleader/proto"
)

// changesFrom is the seed of the first run with other lists.
var changesFrom = flag.Uint64("changes-from", 0, "the seed of the first run with other lists")

// "At most one lease, with any restarts of nodes with other lists": an operator restarts
// nodes with lists that differ by one voter from what they had, among crashes, partitions
// and lost messages. In the first mode it follows the documented procedure, one change
// after the other, and somebody leads at the end; in the second it does not.
func TestVotersAreChangedAmongFaults(t *testing.T) {
	t.Parallel()
	machines := map[string]func(algorithms.Config) algorithms.Machine{
		"bully": func(c algorithms.Config) algorithms.Machine {
			return office.New(c, func(c algorithms.Config) algorithms.Machine { return bully.New(c) })
		},
		"chubby": chubby.New,
		"raft":   func(c algorithms.Config) algorithms.Machine { return raft.New(c) },
	}
	runs := 400
	if testing.Short() {
		runs = 40
	}
	for name, create := range machines {
		for _, follows := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/procedure_%v", name, follows), func(t *testing.T) {
				changes := 0
				for n := range uint64(runs) {
					w := newChanging(*changesFrom+n, create)
					changes += w.run(follows)
					if w.wrong != "" {
						t.Fatalf("seed %d: %s", *changesFrom+n, w.wrong)
					}
				}
				t.Logf("%d runs, lists up to version %d in the sum", runs, changes)
				if changes < runs/4 {
					t.Errorf("%d lists were committed in %d runs: the test shows nothing", changes, runs)
				}
			})
		}
	}
}

const (
	changeDelta   = 20 * time.Millisecond
	changePromise = 600 * time.Millisecond
	changeNodes   = 7
)

// changing is a cluster whose voters are changed. Time is that of all its clocks.
type changing struct {
	*rand.Rand
	create  func(algorithms.Config) algorithms.Machine
	now     time.Time
	events  changeQueue
	nodes   [changeNodes + 1]changingNode // by id
	side    [changeNodes + 1]int          // of the partition
	loss    float64
	lives   int
	highest uint64 // version that was committed
	goal    []proto.NodeID
	minds   [2][]proto.NodeID // of two operators
	wrong   string
}

type changingNode struct {
	voters  []proto.NodeID // that its process has, or had
	disk    algorithms.State
	session proto.Session
	machine algorithms.Machine // nil while it is down
	leader  algorithms.Leader
	wakes   int // how many deadlines were set
}

type changeEvent struct {
	at    time.Time
	order int
	do    func()
}

type changeQueue []changeEvent

func (q changeQueue) Len() int { return len(q) }
func (q changeQueue) Less(i, j int) bool {
	return q[i].at.Before(q[j].at) || q[i].at.Equal(q[j].at) && q[i].order < q[j].order
}
func (q changeQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *changeQueue) Push(e any)   { *q = append(*q, e.(changeEvent)) }
func (q *changeQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func newChanging(seed uint64, create func(algorithms.Config) algorithms.Machine) *changing {
	w := &changing{
		Rand: rand.New(rand.NewPCG(seed, 1)), create: create,
		now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	w.goal = []proto.NodeID{1, 2, 3, 4, 5}[:3+w.IntN(3)]
	for _, id := range w.goal {
		w.start(id, w.goal)
	}
	return w
}

func (w *changing) after(d time.Duration, do func()) {
	w.lives++
	heap.Push(&w.events, changeEvent{w.now.Add(d), w.lives, do})
}

// start starts a process, if its disk allows it to have these voters.
func (w *changing) start(id proto.NodeID, voters []proto.NodeID) {
	n := &w.nodes[id]
	_, err := lease.VotersFrom(n.disk.Voters, proto.ListVoters(voters))
	if err != nil && slices.Contains(voters, id) || n.machine != nil {
		return
	}
	w.lives++
	n.voters, n.leader = slices.Clone(voters), algorithms.Leader{}
	n.session = proto.Session{byte(id), byte(w.lives), byte(w.lives >> 8), 1}
	n.machine = w.create(algorithms.Config{
		Self: id, Session: n.session, Delta: changeDelta, Promise: changePromise, Voters: n.voters, Seed: w.Uint64(),
	})
	w.step(id, algorithms.Start{Saved: n.disk})
	w.look()
}

func (w *changing) crash(id proto.NodeID) {
	n := &w.nodes[id]
	if n.machine == nil {
		return
	}
	dead := n.session
	n.machine, n.leader = nil, algorithms.Leader{}
	for other := range w.nodes {
		if w.nodes[other].machine != nil && w.side[other] == w.side[id] && w.IntN(4) > 0 {
			w.after(changeDelta, func() { w.step(proto.NodeID(other), algorithms.Gone{ID: id, Session: dead}) })
		}
	}
	w.after(2*changeDelta, w.look)
}

// look tells each who is alive on its side, as far as their lists allow a link.
func (w *changing) look() {
	for id := range w.nodes {
		if w.nodes[id].machine == nil {
			continue
		}
		var alive []proto.Peer
		for other, o := range w.nodes {
			if o.machine != nil && w.linked(proto.NodeID(id), proto.NodeID(other)) {
				alive = append(alive, proto.Peer{ID: proto.NodeID(other), Session: o.session})
			}
		}
		w.step(proto.NodeID(id), algorithms.PeersChanged{Alive: alive})
	}
}

func (w *changing) linked(one, other proto.NodeID) bool {
	d, _ := proto.ListVoters(w.nodes[one].voters).Distance(proto.ListVoters(w.nodes[other].voters))
	return d <= proto.OneVoter && w.side[one] == w.side[other]
}

func (w *changing) step(id proto.NodeID, ev algorithms.Event) {
	n := &w.nodes[id]
	if n.machine == nil || w.wrong != "" {
		return
	}
	out := n.machine.Step(w.now, ev)
	if out.Save != nil {
		n.disk = *out.Save
	}
	if out.Voters.Committed {
		w.highest = max(w.highest, out.Voters.Version)
	}
	for _, m := range slices.Clone(out.Send) {
		if w.Float64() < w.loss {
			continue
		}
		w.after(time.Duration(w.Int64N(int64(changeDelta))), func() {
			if w.linked(m.From, m.To) {
				w.step(m.To, algorithms.Receive{Message: m})
			}
		})
	}
	was := n.leader
	n.leader = out.Leader
	if was.ID == id && out.Leader.Epoch() != was.Epoch() {
		w.after(0, func() { w.step(id, algorithms.Idle{Term: was.Term}) })
	}
	w.atMostOne()
	n.wakes++
	if wake, machine := n.wakes, n.machine; !out.Deadline.IsZero() {
		w.after(max(out.Deadline.Sub(w.now), 0), func() {
			if n.wakes == wake && n.machine == machine {
				w.step(id, algorithms.Timeout{})
			}
		})
	}
}

// atMostOne is the promise.
func (w *changing) atMostOne() {
	var leaders []string
	for id, n := range w.nodes {
		if n.machine != nil && n.leader.ID == proto.NodeID(id) && w.now.Before(n.leader.Until) {
			leaders = append(leaders, fmt.Sprintf("node %d, term %d, voters %v", id, n.leader.Term, n.voters))
		}
	}
	if len(leaders) > 1 {
		w.wrong = fmt.Sprintf("two leases at once: %q", leaders)
	}
}

func (w *changing) until(d time.Duration) {
	for end := w.now.Add(d); len(w.events) > 0 && !w.events[0].at.After(end); {
		e := heap.Pop(&w.events).(changeEvent)
		w.now = e.at
		e.do()
	}
}

// next is the list with one voter more or less; it keeps at least two.
func (w *changing) next(list []proto.NodeID) []proto.NodeID {
	id := proto.NodeID(1 + w.IntN(changeNodes))
	if i := slices.Index(list, id); i >= 0 {
		if len(list) == 2 {
			return list
		}
		return slices.Delete(slices.Clone(list), i, i+1)
	}
	return slices.Sorted(slices.Values(append(slices.Clone(list), id)))
}

func (w *changing) run(follows bool) (committed int) {
	w.until(3 * time.Second)
	for range 60 {
		switch w.IntN(6) {
		case 0:
			w.loss = []float64{0, 0, 0.1, 0.3}[w.IntN(4)]
		case 1: // a partition, or its end
			for id := range w.side {
				w.side[id] = w.IntN(2)
			}
			if w.IntN(2) == 0 {
				clear(w.side[:])
			}
			w.look()
		case 2:
			w.crash(proto.NodeID(1 + w.IntN(changeNodes)))
		default:
			w.operate(follows)
		}
		w.until(time.Duration(w.Int64N(int64(2 * time.Second))))
	}
	if !follows {
		return int(w.highest)
	}
	w.loss = 0
	clear(w.side[:])
	for range 40 { // all is well, and the change under way is finished
		for id := range w.nodes {
			if id > 0 {
				w.restart(proto.NodeID(id), w.goal)
			}
		}
		w.look()
		w.until(5 * time.Second)
		if w.wrong != "" || slices.ContainsFunc(w.nodes[:], func(n changingNode) bool { return n.leader.ID != 0 }) {
			return int(w.highest)
		}
	}
	w.wrong = fmt.Sprintf("nobody leads at the end: %+v", w.nodes)
	return 0
}

// operate restarts one node. By the procedure all get the same list, and the next one only
// when every node of this one knows that it is committed.
func (w *changing) operate(follows bool) {
	id := proto.NodeID(1 + w.IntN(changeNodes))
	if !follows {
		w.disagree(id)
		return
	}
	goal := proto.ListVoters(w.goal)
	done := true
	for _, v := range w.goal {
		saved := w.nodes[v].disk.Voters
		done = done && saved.List == goal && saved.Committed
	}
	if done {
		w.goal = w.next(w.goal)
	}
	w.restart(id, w.goal)
}

// disagree restarts a node as two operators do who know nothing of each other, and of the
// procedure: each has a list of its own in mind, one voter from what some node has.
func (w *changing) disagree(id proto.NodeID) {
	if mine := w.IntN(2); w.minds[mine] == nil || w.IntN(10) == 0 {
		of := w.nodes[w.goal[w.IntN(len(w.goal))]]
		list, err := proto.ParseIDRanges(strings.Split(string(of.disk.Voters.List), ","))
		if err == nil {
			w.minds[mine] = w.next(list)
		}
	}
	list := w.minds[w.IntN(2)]
	if list == nil {
		return
	}
	n := &w.nodes[id]
	w.crash(id)
	w.start(id, list)
	if n.machine == nil { // it was refused: then as it was
		w.start(id, n.voters)
	}
}

// restart restarts a node that has not these voters, or is down.
func (w *changing) restart(id proto.NodeID, voters []proto.NodeID) {
	n := &w.nodes[id]
	if n.machine != nil && slices.Equal(n.voters, voters) {
		return
	}
	if !slices.Contains(voters, id) { // who is no voter any more is stopped
		w.crash(id)
		return
	}
	if _, err := lease.VotersFrom(n.disk.Voters, proto.ListVoters(voters)); err != nil {
		n.disk = algorithms.State{} // it was none for some lists, and begins anew
	}
	w.crash(id)
	w.start(id, voters)
}

// Who votes for whom, and what is a majority, are rules that are needed: without one of them
// two lead at once. The source without the rule exists only for the compiler, which runs the
// test above anew. Of the rules about what a node may start with no run shows that: those that
// remain cover for them.
func TestEachRuleOfVotingIsNeeded(t *testing.T) {
	t.Parallel()
	file, err := filepath.Abs("../lease/voters.go")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for rule, change := range map[string][3]string{
		"A voter gives no new vote to a node with an earlier list": {
			"return p.misled || !other.Is(p.VoterSet()) && other.Version <= p.list.state.Version", "return p.misled",
			"1600", // of some 2,000 runs of each algorithm one shows it
		},
		"It needs a majority of the list before": {
			"(p.list.before == nil || c.Of(p.list.before))", "true", "0",
		},
	} {
		if bytes.Count(source, []byte(change[0])) != 1 {
			t.Fatalf("%q is not once in the source", change[0])
		}
		dir := t.TempDir()
		mutant, overlay := filepath.Join(dir, "voters.go"), filepath.Join(dir, "overlay.json")
		replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{file: mutant}})
		if err != nil {
			t.Fatal(err)
		}
		for path, content := range map[string][]byte{
			mutant: bytes.Replace(source, []byte(change[0]), []byte(change[1]), 1), overlay: replaced,
		} {
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out, _ := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-run",
			"TestVotersAreChangedAmongFaults/.*/procedure_false", ".", "-changes-from", change[2]).CombinedOutput()
		if !bytes.Contains(out, []byte("two leases at once")) {
			t.Errorf("without %q no run breaks the promise:\n%s", rule, out)
		}
	}
}
