package sim

import (
	"bytes"
	"container/heap"
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/internal/highest"
	"github.com/ringleader-dev/ringleader/internal/long"
	"github.com/ringleader-dev/ringleader/internal/overlay"
	"github.com/ringleader-dev/ringleader/proto"
)

// changesFrom is the seed of the first run with other lists.
var changesFrom = flag.Uint64("changes-from", 0, "the seed of the first run with other lists")

// "At most one lease, with any restarts of nodes with other lists": an operator restarts
// nodes with lists that differ by one voter from what they had, among crashes, partitions,
// lost messages and lost disks. In the first mode it follows the documented procedure, one
// change after the other, and somebody leads at the end; in the second it does not. Nor do
// two ever win one term.
func TestVotersAreChangedAmongFaults(t *testing.T) {
	t.Parallel()
	runs := long.Runs(t, 40, 400)
	for name, create := range changed {
		for _, follows := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/procedure_%v", name, follows), func(t *testing.T) {
				changes := 0
				for n := range uint64(runs) {
					w := newChanging(*changesFrom+n, 2+int(n%4), create)
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

func TestLongVotersAreChangedAmongFaults(t *testing.T) { TestVotersAreChangedAmongFaults(t) }

// changed are Machines of each way to lead by votes: by those that an algorithm counts
// itself, and by those of a lease around one.
var changed = func() map[string]func(algorithms.Config) algorithms.Machine {
	all := map[string]func(algorithms.Config) algorithms.Machine{
		"nominated": func(c algorithms.Config) algorithms.Machine { return lease.New(c, highest.New) },
	}
	for _, e := range catalog.All() {
		if e.OwnLease {
			all[e.Name] = e.New
		}
	}
	return all
}()

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
	won     map[proto.Term]proto.Incarnation
	goal    []proto.NodeID
	before  []proto.NodeID    // the goal before
	minds   [2][]proto.NodeID // of two operators
	wrong   string
}

type changingNode struct {
	voters      []proto.NodeID // that its process has, or had
	disk        algorithms.State
	incarnation proto.Incarnation
	machine     algorithms.Machine // nil while it is down
	leader      algorithms.Leader
	wakes       int  // how many deadlines were set
	stopped     bool // its process is, and misses these events:
	missed      []algorithms.Event
	voted       bool // once, as what was saved said
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

// newChanging is a cluster of the voters from 1 to size.
func newChanging(seed uint64, size int, create func(algorithms.Config) algorithms.Machine) *changing {
	w := &changing{
		Rand: rand.New(rand.NewPCG(seed, 1)), create: create, won: map[proto.Term]proto.Incarnation{},
		now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	w.goal = []proto.NodeID{1, 2, 3, 4, 5, 6, 7}[:size]
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
	if err != nil && slices.Contains(voters, id) || n.machine != nil || w.strange(voters) {
		return
	}
	w.lives++
	n.voters, n.leader = slices.Clone(voters), algorithms.Leader{}
	n.incarnation = proto.Incarnation{byte(id), byte(w.lives), byte(w.lives >> 8), 1}
	n.machine = w.create(algorithms.Config{
		Self: id, Incarnation: n.incarnation, Delta: changeDelta, Promise: changePromise,
		Voters: n.voters, Seed: w.Uint64(),
	})
	w.step(id, algorithms.Start{Saved: n.disk})
	w.look()
}

// strange reports whether the cluster has voted, and none of these voters knows of that:
// they would found another one. "Give nodes that start with empty disks one and the same
// list", that of the cluster.
func (w *changing) strange(voters []proto.NodeID) bool {
	founded := slices.ContainsFunc(w.nodes[:], func(n changingNode) bool { return n.voted })
	return founded && !slices.ContainsFunc(voters, func(v proto.NodeID) bool { return w.nodes[v].disk.Vote.Term > 0 })
}

// saved reports whether something is saved of what a voter voted or promised.
func (n *changingNode) saved() bool { return n.disk.Vote.Term > 0 || n.disk.Promise > 0 }

// loseDisk wipes the disk of a process that is down, one at a time: until it votes again no
// other is lost.
func (w *changing) loseDisk(id proto.NodeID) {
	for other := range w.nodes {
		if n := &w.nodes[other]; n.voted && !n.saved() {
			return
		}
	}
	was := w.nodes[id].disk
	w.nodes[id].disk = algorithms.State{}
	if slices.ContainsFunc(w.nodes[:], func(n changingNode) bool { return n.voters != nil && w.strange(n.voters) }) {
		w.nodes[id].disk = was
	}
}

// stuck reports whether a lost disk would leave nobody to lead: two voters become three, and
// only one is left that may vote.
func (w *changing) stuck() bool { return !w.done() && len(w.before) == 2 && len(w.goal) == 3 }

func (w *changing) crash(id proto.NodeID) {
	n := &w.nodes[id]
	if n.machine == nil {
		return
	}
	dead := n.incarnation
	n.machine, n.leader, n.stopped, n.missed = nil, algorithms.Leader{}, false, nil
	for other := range w.nodes {
		if w.nodes[other].machine != nil && w.side[other] == w.side[id] && w.IntN(4) > 0 {
			w.after(changeDelta, func() {
				w.step(proto.NodeID(other), algorithms.PeerProvenDead{ID: id, Incarnation: dead})
			})
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
				alive = append(alive, proto.Peer{ID: proto.NodeID(other), Incarnation: o.incarnation})
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
	if n.stopped {
		n.missed = append(n.missed, ev)
		return
	}
	out := n.machine.Step(w.now, ev)
	if out.Save != nil {
		n.disk = *out.Save
		n.voted = n.voted || n.saved()
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
	if was.ID == id && out.Leader.Leadership() != was.Leadership() {
		w.after(0, func() { w.step(id, algorithms.WorkStopped{Term: was.Term}) })
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
			if was, ok := w.won[n.leader.Term]; ok && was != n.incarnation {
				w.wrong = fmt.Sprintf("two leaders of term %d: nodes %d and %d, the latter with voters %v",
					n.leader.Term, was[0], id, n.voters)
				return
			}
			w.won[n.leader.Term] = n.incarnation
			leaders = append(leaders, fmt.Sprintf("node %d, term %d, voters %v", id, n.leader.Term, n.voters))
		}
	}
	if len(leaders) > 1 {
		w.wrong = fmt.Sprintf("two leases at once: %q", leaders)
	}
}

func (w *changing) until(d time.Duration) {
	end := w.now.Add(d)
	for len(w.events) > 0 && !w.events[0].at.After(end) {
		e := heap.Pop(&w.events).(changeEvent)
		w.now = e.at
		e.do()
	}
	w.now = end
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
			id := proto.NodeID(1 + w.IntN(changeNodes))
			w.crash(id)
			if w.IntN(3) == 0 && (!follows || !w.stuck()) {
				w.loseDisk(id)
				if other := w.nodes[1+w.IntN(changeNodes)].voters; !follows && slices.Contains(other, id) {
					w.start(id, other)
				}
			}
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
	w.wrong = "nobody leads at the end:"
	for id, n := range w.nodes {
		w.wrong += fmt.Sprintf("\nnode %d, runs: %v, voters %v, %+v", id, n.machine != nil, n.voters, n.disk.Voters)
	}
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
	if w.done() {
		w.before, w.goal = w.goal, w.next(w.goal)
	}
	w.restart(id, w.goal)
}

// done reports whether each voter of the goal knows that it is committed.
func (w *changing) done() bool {
	goal := proto.ListVoters(w.goal)
	return !slices.ContainsFunc(w.goal, func(v proto.NodeID) bool {
		saved := w.nodes[v].disk.Voters
		return saved.List != goal || !saved.Committed
	})
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
	if !slices.Contains(voters, id) { // who is no voter any more is stopped, in the end
		if w.done() {
			w.crash(id)
		} else if slices.Contains(w.before, id) {
			w.start(id, w.before)
		}
		return
	}
	if _, err := lease.VotersFrom(n.disk.Voters, proto.ListVoters(voters)); err != nil {
		n.disk = algorithms.State{} // it was none for some lists, and begins anew
	}
	w.crash(id)
	w.start(id, voters)
}

// What a wrong order of starts, cuts and lost disks would lead to, if a rule were missing.
func TestOneLeadsWhateverVotersAreGiven(t *testing.T) {
	ids := func(to proto.NodeID) []proto.NodeID { return []proto.NodeID{1, 2, 3, 4, 5, 6, 7}[:to] }
	for name, c := range map[string]struct {
		size int
		do   func(w *changing)
	}{
		"1 and 2 cannot commit 1-3 after 1-4 alone, or 3 and 4 did not know what 1 forgot": {4, func(w *changing) {
			w.have(ids(3), 1, 2)
			w.apart(4) // which may lead
			w.apart(1, 2)
			w.elect(3)
			w.empty(ids(4), 1)
			w.apart(2)
			w.elect(6)
		}},
		"1 and 3 cannot commit 1-3 after 1-2, nor 1 alone, or 2 did not know what 1 forgot": {2, func(w *changing) {
			w.have(ids(3), 1, 3)
			w.elect(2)
			w.apart(2)
			w.elect(3)
			w.empty(ids(2), 1)
			w.apart(3)
			w.elect(6)
		}},
		"3 has a later list than 1 is started with, and knows of no list after that": {4, func(w *changing) {
			w.apart(4)
			w.have(ids(5), 1, 2, 3, 5)
			w.apart(3, 4)
			w.have(ids(6), 1, 2, 5, 6)
			w.elect(3)
			w.empty(ids(4), 1)
			w.apart(2, 5, 6)
			w.elect(6)
		}},
		"1 and 2 do not know that 3 helped 4, under the list before": {5, func(w *changing) {
			w.have(ids(4), 1, 2)
			w.apart(1, 2)
			w.elect(3)
			w.empty(ids(4), 3)
			w.apart(4, 5)
			w.elect(6)
		}},
		"1 and 3 with 1-3, and 2 and 4 with 1,2,4, are not both what follows 1-4": {4, func(w *changing) {
			w.apart(1, 3)
			w.have(ids(3), 1, 3)
			w.have([]proto.NodeID{1, 2, 4}, 2, 4)
			w.elect(3)
		}},
		"1 and 2 cannot have 1-3 after 1-5, for 3 to 5 are a majority too": {5, func(w *changing) {
			w.have(ids(3), 1, 2)
			w.apart(1, 2)
			w.elect(3)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for algorithm, create := range changed {
				for seed := range uint64(4) {
					w := newChanging(seed, c.size, create)
					w.until(3 * time.Second)
					if c.do(w); w.wrong != "" {
						t.Errorf("%s, seed %d: %s", algorithm, seed, w.wrong)
						break
					}
				}
			}
		})
	}
}

// have restarts nodes with a list, one after the other.
func (w *changing) have(voters []proto.NodeID, ids ...proto.NodeID) {
	for _, id := range ids {
		w.crash(id)
		w.start(id, voters)
		if n := &w.nodes[id]; n.machine == nil { // it was refused: then as it was
			w.start(id, n.voters)
		}
		w.until(3 * time.Second)
	}
}

// empty restarts a node with a list, and nothing on its disk.
func (w *changing) empty(voters []proto.NodeID, id proto.NodeID) {
	w.crash(id)
	w.loseDisk(id)
	w.start(id, voters)
}

// elect lets n terms go by.
func (w *changing) elect(n int) {
	for range n {
		w.until(3 * time.Second)
		for id := range proto.NodeID(len(w.nodes)) {
			if w.nodes[id].leader.ID == id {
				w.crash(id)
				w.start(id, w.nodes[id].voters)
			}
		}
	}
	w.until(3 * time.Second)
}

// apart cuts these nodes from all others, and no others from each other.
func (w *changing) apart(ids ...proto.NodeID) {
	clear(w.side[:])
	for _, id := range ids {
		w.side[id] = 1
	}
	w.look()
	w.until(3 * time.Second)
}

// Who votes for whom, what is a majority, who may be started with which list and what counts of
// what others tell are rules that are needed: without one of them two lead at once, or win one
// term. The source without the rule exists only for the compiler, which runs the test above anew.
// That a node moves on only from a committed list, and that an earlier list gets no vote, hardly
// any run shows, since nodes whose lists differ by two exchange no votes.
func TestLongEachRuleOfVotingIsNeeded(t *testing.T) {
	t.Parallel()
	for rule, m := range map[string]struct{ file, was, is string }{
		"A leader needs a majority of the list before": {
			"voters.go", "(m.list.before == nil || c.Of(m.list.before))", "true",
		},
		"A list is committed by a majority of it": {
			"voters.go", "!m.have(&s.same) || ", "",
		},
		"A list is committed by a majority of the list before": {
			"voters.go",
			"(before == nil || len(m.voters) == 1 || same.Of(before))", "(before == nil || len(before) > 0)",
		},
		"A node moves on to a list that differs by one voter": {
			"voters.go",
			"case distance == proto.OneVoter && saved.Committed:",
			"case distance != proto.SameVoters && saved.Committed:",
		},
		"A meeting of its list tells a voter of which nothing is saved": {
			"rejoin.go", "len(m.toldOf(m.voters)) >= m.voters.Meeting() &&", "len(m.toldOf(m.voters)) > 0 &&",
		},
		"A meeting of the list before tells it as well": {
			"rejoin.go",
			"(before == nil || len(m.toldOf(before)) >= before.Meeting())", "(before == nil || len(before) > 0)",
		},
		"Only those count that have the same list, or one of an earlier version": {
			"rejoin.go", "return has.Version < own.Version || has.Is(own)", "return own == own || has == own",
		},
	} {
		sources := overlay.New(t)
		sources.Replace(rule, "../../algorithms/lease/"+m.file, m.was, m.is)
		program, args := sources.Build("test", "-c", "-vet=off", ".")
		if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		cmd := exec.CommandContext(t.Context(), program, "-test.failfast", "-test.run", "TestOneLeads")
		out, _ := cmd.CombinedOutput()
		if !bytes.Contains(out, []byte("two lea")) {
			t.Errorf("without %q no run breaks the promise:\n%s", rule, out)
		}
	}
}
