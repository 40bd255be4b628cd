package nodesim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/proto"
)

// options are what a seed draws before it draws faults.
type options struct {
	seed      uint64
	entry     catalog.Entry
	nodes     int
	voters    []proto.NodeID
	latency   time.Duration // that is planned for
	heartbeat time.Duration
	misses    int
	patience  time.Duration
	promise   time.Duration
	drift     float64 // of each clock, at most
	length    time.Duration
	faults    int
	only      []string // the kinds of faults; none means all
	shape     bool     // a fixed topology, and nothing else
	grows     bool     // some are started with another list of voters
	rolls     bool     // a voter is added, as it should be
}

// algorithms that are simulated: two that nominate, under a lease, and those with leases
// of their own.
var algorithmsHere = []string{"bully", "raft", "ring", "chubby"}

// draw draws options: the algorithm where it is "", and unless kinds of faults are named,
// whether there is a fixed topology, other lists of voters, and a long promise.
func draw(seed uint64, only string, kinds []string) options {
	dice := newDice(seed, 0)
	name := algorithmsHere[dice.IntN(len(algorithmsHere))]
	if only != "" {
		name = only
	}
	entry, err := catalog.Lookup(name)
	if err != nil {
		panic(err)
	}
	o := options{
		seed: seed, entry: entry.WithLease(), nodes: 3 + 2*dice.IntN(2),
		latency: 30 * time.Millisecond, heartbeat: 140 * time.Millisecond, misses: 4, // of profile lan
		patience: time.Second, promise: 2 * time.Second, drift: 0.009, faults: 3 + dice.IntN(10),
	}
	// A promise far above the limits of links.
	if long := dice.IntN(3) == 0; len(kinds) == 0 && long || slices.Contains(kinds, "long-promise") {
		o.patience, o.promise = 500*time.Millisecond, 8*time.Second
	}
	o.length = 12 * o.promise
	o.only = slices.DeleteFunc(slices.Clone(kinds), func(k string) bool {
		return slices.Contains([]string{"shape", "grow", "roll", "long-promise"}, k)
	})
	form := dice.IntN(8)
	o.shape = len(kinds) == 0 && form == 0 || slices.Contains(kinds, "shape")
	o.grows = len(kinds) == 0 && form == 1 || slices.Contains(kinds, "grow")
	o.rolls = len(kinds) == 0 && form == 2 || slices.Contains(kinds, "roll")
	if o.shape || o.grows || o.rolls {
		o.nodes = 5
	}
	if o.shape {
		o.length = 2 * time.Minute
	}
	for id := range o.nodes {
		o.voters = append(o.voters, proto.NodeID(id+1))
	}
	if o.grows || o.rolls {
		o.voters = slices.Clip(o.voters[:3])
	}
	return o
}

// run runs a schedule and returns what it broke.
func (w *world) run() []violation {
	o := w.options
	for _, m := range w.machines[:min(o.nodes, len(o.voters))] {
		w.at(w.dice.N(50*time.Millisecond), func() { w.start(m) })
	}
	w.pass(2*o.promise+4*time.Second, nil)
	if o.shape {
		w.fixTopology()
	} else {
		w.drawFaults()
		w.pass(o.length, nil)
		w.heal()
	}
	w.checkOverlaps()
	w.finish()
	return w.violations
}

// faults are what may happen to a cluster, each as often as its weight says.
var faults = []struct {
	name   string
	weight int
	strike func(*world)
}{
	{"crash", 2, (*world).crash},
	{"crash-again", 1, (*world).crashAgain},
	{"lose-power", 1, (*world).losePower},
	{"lose-disk", 1, (*world).loseDisk},
	{"lose-pivot", 1, (*world).losePivot},
	{"damage", 1, (*world).damage},
	{"fill-disk", 1, (*world).fillDisk},
	{"freeze", 2, (*world).freeze},
	{"freeze-some", 1, (*world).freezeSome},
	{"stall", 2, (*world).stall},
	{"cut-off", 2, (*world).cutOff},
	{"cut-one-way", 1, (*world).cutOneWay},
	{"cut-pair", 1, (*world).cutPair},
	{"split", 1, (*world).split},
	{"shield", 2, (*world).shield},
	{"leave", 2, (*world).leave},
	{"transfer", 1, (*world).transfer},
	{"bar", 1, (*world).bar},
}

// drawFaults plans faults, of those kinds that the options name, until everything heals.
func (w *world) drawFaults() {
	var kinds []func(*world)
	for _, f := range faults {
		if len(w.options.only) == 0 || slices.Contains(w.options.only, f.name) {
			kinds = append(kinds, slices.Repeat([]func(*world){f.strike}, f.weight)...)
		}
	}
	if w.options.grows {
		w.at(w.dice.N(w.options.length/2), w.grow)
	}
	if w.options.rolls {
		w.at(w.dice.N(w.options.length/2), w.roll)
	}
	if w.dice.IntN(2) == 0 {
		w.at(0, w.lend)
	}
	for range w.options.faults {
		kind := kinds[w.dice.IntN(len(kinds))]
		w.at(w.dice.N(w.options.length), func() { kind(w) })
	}
}

// lend has somebody outside ask a process for its lease, now and then.
func (w *world) lend() {
	if m := w.target(); m.process != nil && m.process.links != nil {
		p, o := m.process, w.options
		slow, back := w.dice.Float64()*o.drift, w.dice.N(2*o.promise)
		go w.work.borrow(p, o.promise, slow, back)
	}
	if !w.healed {
		w.at(w.dice.N(w.options.promise), w.lend)
	}
}

// heal ends all faults and demands a leader that works.
func (w *world) heal() {
	w.note("everything heals")
	w.healed = true
	for _, undo := range w.undo {
		undo()
	}
	w.undo = nil
	for _, m := range w.machines {
		changing := w.options.grows || w.options.rolls
		if p := m.process; changing && p != nil && !slices.Equal(p.settings.Voters, w.options.voters) {
			p.kill()
		}
		m.voters = w.options.voters
		if slices.Contains(w.options.voters, m.id) {
			w.start(m)
		}
	}
	calm := time.Time{}
	bound := 5*w.options.promise + 30*time.Second
	leads := false
	w.pass(bound, func() bool {
		if time.Since(w.led) > 2*lookAfter || w.led.IsZero() {
			calm = time.Time{}
			return false
		}
		if calm.IsZero() {
			calm = time.Now()
		}
		leads = time.Since(calm) > w.options.promise
		return leads
	})
	if !leads {
		w.violate("somebody-leads", fmt.Sprintf("nobody works for %v, %v after all has healed",
			w.options.promise, bound))
	}
}

// for a while is how faults last: what ends one is done then, or when all heals.
func (w *world) forAWhile(span time.Duration, undo func()) {
	done := false
	once := func() {
		if !done {
			done = true
			undo()
		}
	}
	w.undo = append(w.undo, once)
	w.at(span, once)
}

// span draws how long a fault lasts.
func (w *world) span() time.Duration {
	p, patience := w.options.promise, w.options.patience
	switch w.dice.IntN(4) {
	case 0:
		return w.dice.N(p / 3)
	case 1:
		return p/2 + w.dice.N(p/2)
	case 2:
		return p + w.dice.N(2*p)
	default:
		return 5*patience + w.dice.N(3*patience)
	}
}

// target draws a machine: often the leader's.
func (w *world) target() *machine {
	if leader := w.leader(); leader != nil && w.dice.IntN(2) == 0 {
		return leader
	}
	return w.machines[w.dice.IntN(len(w.machines))]
}

// soon draws how long a supervisor takes to start a process again.
func (w *world) soon() time.Duration {
	if w.dice.IntN(2) == 0 {
		return w.dice.N(20*time.Millisecond) + time.Millisecond
	}
	return w.span()
}

func (w *world) killed(m *machine) {
	if m.process != nil {
		w.note("%v is killed", m.process)
		m.process.kill()
	}
}

func (w *world) crash() {
	m := w.target()
	w.killed(m)
	w.forAWhile(w.soon(), func() { w.revive(m) })
}

// revive starts a machine's process, unless it was not to run yet.
func (w *world) revive(m *machine) {
	if m.lives > 0 {
		w.start(m)
	}
}

// crashAgain kills a process again before it has recovered.
func (w *world) crashAgain() {
	m := w.target()
	w.killed(m)
	w.at(w.dice.N(20*time.Millisecond), func() {
		w.revive(m)
		w.at(w.dice.N(w.options.promise), func() {
			w.killed(m)
			w.forAWhile(w.soon(), func() { w.revive(m) })
		})
	})
}

func (w *world) losePower() {
	m := w.target()
	w.killed(m)
	m.disk.cutPower()
	w.note("n%d loses power", m.id)
	w.forAWhile(w.soon(), func() { w.revive(m) })
}

// mayLose reports whether the disk of one more machine may be lost: promises hold while no
// more than a minority of the voters lose theirs.
func (w *world) mayLose(m *machine) bool {
	if w.options.grows || m.lives == 0 {
		return false
	}
	if w.lost[m.id] {
		return true
	}
	return len(w.lost) < (len(w.options.voters)-1)/2
}

// loseDisk has a voter lose its disk.
func (w *world) loseDisk() {
	if m := w.target(); w.mayLose(m) {
		w.loseDiskOf(m)
	}
}

func (w *world) loseDiskOf(m *machine) {
	w.killed(m)
	w.note("n%d loses its disk", m.id)
	w.lost[m.id] = true
	w.hint("lost disk")
	m.disk.lose()
	m.saved.set(algorithms.State{}, algorithms.State{})
	w.forAWhile(w.soon(), func() {
		w.revive(m)
		if w.dice.IntN(2) == 0 { // and whoever starts it starts it again
			w.at(w.dice.N(w.options.promise), func() {
				w.killed(m)
				w.forAWhile(w.dice.N(20*time.Millisecond), func() { w.revive(m) })
			})
		}
	})
}

// losePivot has a voter lose its disk whose vote decides: the leader has had no more than a
// majority for a while, and is cut off just then.
func (w *world) losePivot() {
	leader := w.leader()
	if leader == nil {
		return
	}
	p, left := w.options.promise, len(w.options.voters)/2 // may be cut from the leader
	var paths []path
	var voter *machine
	for _, i := range w.dice.Perm(len(w.machines)) {
		m := w.machines[i]
		switch {
		case m == leader || !slices.Contains(w.options.voters, m.id):
		case left > 0:
			left--
			paths = append(paths, path{leader.id, m.id}, path{m.id, leader.id})
		case w.mayLose(m):
			voter = m
		}
	}
	if voter == nil {
		return
	}
	span := p + w.dice.N(p)
	w.cutFor(span+p, paths, fmt.Sprintf("n%d to a bare majority", leader.id))
	w.at(span, func() {
		if w.leader() != leader || !w.mayLose(voter) || w.healed {
			return
		}
		w.cutFor(p/2+w.dice.N(p), w.around(leader, true, true), fmt.Sprintf("off n%d", leader.id))
		w.loseDiskOf(voter)
	})
}

// damage wipes a sector of the state of a process that does not run.
func (w *world) damage() {
	m := w.target()
	if !w.mayLose(m) {
		return
	}
	w.killed(m)
	with := []byte{0, 0xff, 'x', ' '}[w.dice.IntN(3)]
	if m.disk.wipe(dataDir+"/state.json", w.dice.IntN(2) == 0, with) {
		w.note("n%d has a sector of %#x", m.id, with)
		w.lost[m.id] = true
		w.hint("damaged disk")
	}
	w.forAWhile(w.soon(), func() { w.revive(m) })
}

func (w *world) fillDisk() {
	m := w.target()
	w.note("n%d's disk fills up, or fails", m.id)
	full := w.dice.IntN(2) == 0
	set := func(to bool) {
		m.disk.mu.Lock()
		defer m.disk.mu.Unlock()
		m.disk.full, m.disk.broken = to && full, to && !full
	}
	set(true)
	w.forAWhile(w.span(), func() { set(false) })
}

func (w *world) freezeFor(m *machine, span time.Duration) {
	p := m.process
	if p == nil || p.gate.isPaused() {
		return
	}
	w.note("%v is paused for %v", p, span)
	p.pause()
	w.forAWhile(span, func() {
		if m.process == p {
			w.note("%v goes on", p)
			p.resume()
		}
	})
}

func (w *world) freeze() { w.freezeFor(w.target(), w.span()) }

// stall keeps the leader from its processor for most of a lease.
func (w *world) stall() {
	m := w.leader()
	if m == nil {
		m = w.target()
	}
	p := w.options.promise
	w.freezeFor(m, p/2+w.dice.N(p/2))
}

// freezeSome pauses several at once.
func (w *world) freezeSome() {
	span := w.span()
	spared := w.leader()
	for _, m := range w.machines {
		if m != spared && w.dice.IntN(4) > 0 {
			w.freezeFor(m, span+w.dice.N(w.options.patience))
		}
	}
}

func (w *world) cutFor(span time.Duration, paths []path, what string) {
	w.note("cut %s for %v", what, span)
	w.network.change(paths, 1)
	w.forAWhile(span, func() {
		w.note("mend %s", what)
		w.network.change(paths, -1)
	})
}

// around are the paths to and from a machine.
func (w *world) around(m *machine, to, from bool) (paths []path) {
	for _, o := range w.machines {
		if o != m && to {
			paths = append(paths, path{o.id, m.id})
		}
		if o != m && from {
			paths = append(paths, path{m.id, o.id})
		}
	}
	return paths
}

func (w *world) cutOff() {
	m := w.target()
	w.cutFor(w.span(), w.around(m, true, true), fmt.Sprintf("off n%d", m.id))
}

func (w *world) cutOneWay() {
	m := w.target()
	to := w.dice.IntN(2) == 0
	w.cutFor(w.span(), w.around(m, to, !to), fmt.Sprintf("one way n%d, into it %v", m.id, to))
}

func (w *world) cutPair() {
	a, b := w.target(), w.machines[w.dice.IntN(len(w.machines))]
	w.cutFor(w.span(), []path{{a.id, b.id}, {b.id, a.id}}, fmt.Sprintf("n%d-n%d", a.id, b.id))
}

func (w *world) split() {
	var off []proto.NodeID
	for _, m := range w.machines {
		if w.dice.IntN(2) == 0 {
			off = append(off, m.id)
		}
	}
	w.cutFor(w.span(), w.between(off), "off "+ids(off))
}

// between are the paths between those machines and all others.
func (w *world) between(off []proto.NodeID) (paths []path) {
	for _, a := range w.machines {
		for _, b := range w.machines {
			if slices.Contains(off, a.id) != slices.Contains(off, b.id) {
				paths = append(paths, path{a.id, b.id})
			}
		}
	}
	return paths
}

// shield puts up a firewall that refuses new connections to a machine. Often it begins with
// a while in which one direction is shut.
func (w *world) shield() {
	m, span := w.target(), 2*w.span()
	if w.dice.IntN(2) == 0 {
		to, shut := w.dice.IntN(2) == 0, w.span()
		span += shut
		w.cutFor(shut, w.around(m, to, !to), fmt.Sprintf("one way n%d, into it %v", m.id, to))
	}
	w.note("a firewall refuses new connections to n%d for %v", m.id, span)
	w.network.firewall(m.id, 1)
	w.forAWhile(span, func() {
		w.note("no firewall before n%d", m.id)
		w.network.firewall(m.id, -1)
	})
}

// leave ends a process in an orderly way, whatever order its program thinks right.
func (w *world) leave() {
	m := w.target()
	p := m.process
	if p == nil || p.gate.isPaused() {
		return
	}
	order, resign := w.dice.IntN(stopOrders), w.dice.IntN(2) == 0
	w.note("%v is told to stop, in order %d, resigns %v", p, order, resign)
	w.end(p, order, resign, func() { w.forAWhile(w.soon(), func() { w.revive(m) }) })
}

func (w *world) transfer() {
	m := w.leader()
	if m == nil {
		return
	}
	p, to := m.process, w.machines[w.dice.IntN(len(w.machines))].id
	w.note("%v is told to hand over to n%d", p, to)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_, _ = p.node.Transfer(ctx, to, "test")
	}()
}

// bar has a node not lead for a while, as when its health fails.
func (w *world) bar() {
	m := w.target()
	p := m.process
	if p == nil || p.node == nil {
		return
	}
	w.note("%v is not to lead", p)
	p.node.StandAside("test", "ill")
	w.forAWhile(w.span(), func() { p.node.SetEligible("test", true, "") })
}

// grow starts some processes with a list of voters that the others do not have.
func (w *world) grow() {
	var all []proto.NodeID
	for _, m := range w.machines {
		all = append(all, m.id)
	}
	w.hint("other voters")
	for _, m := range w.machines {
		known := slices.Contains(w.options.voters, m.id)
		if known && w.dice.IntN(3) > 0 {
			continue
		}
		w.killed(m)
		m.voters = all
		w.note("n%d is to have the voters %s", m.id, ids(all))
		w.at(w.dice.N(100*time.Millisecond), func() { w.start(m) })
	}
}

// roll adds a voter: the new one is started, and the others are started again with it, one
// after the other.
func (w *world) roll() {
	all := append(w.options.voters, proto.NodeID(len(w.options.voters)+1))
	w.options.voters = all
	w.note("the voters are to be %s", ids(all))
	added := w.machines[len(all)-1]
	added.voters = all
	w.start(added)
	for i, id := range all[:len(all)-1] {
		m := w.machines[id-1]
		w.at(time.Duration(i+1)*w.options.promise+w.dice.N(w.options.promise), func() {
			w.killed(m)
			m.voters = all
			w.at(w.dice.N(20*time.Millisecond), func() { w.start(m) })
		})
	}
}

// fixTopology cuts some pairs for good and counts the times without a leader.
func (w *world) fixTopology() {
	for {
		var cut []path
		degree := map[proto.NodeID]int{}
		for i, a := range w.machines {
			for _, b := range w.machines[i+1:] {
				if w.dice.IntN(2) == 0 {
					cut = append(cut, path{a.id, b.id}, path{b.id, a.id})
				} else {
					degree[a.id]++
					degree[b.id]++
				}
			}
		}
		reaches := func(m *machine) bool { return degree[m.id]+1 > len(w.machines)/2 }
		if len(cut) > 0 && slices.ContainsFunc(w.machines, reaches) {
			w.note("cut for good: %v", cut)
			w.network.change(cut, 1)
			break
		}
	}
	w.pass(w.options.length, nil)
	if time.Since(w.led) > 2*lookAfter {
		w.bare = append(w.bare, gap{w.led, time.Now()})
	}
	gaps, longest, sum := 0, time.Duration(0), time.Duration(0)
	for _, g := range w.bare {
		d := g.to.Sub(g.from)
		if d > w.options.promise/4 {
			gaps++
		}
		longest, sum = max(longest, d), sum+d
	}
	if gaps > mostGaps {
		w.violate("topology-stays-led", fmt.Sprintf("%d gaps in %v, the longest %v, in all %v",
			gaps, w.options.length, longest, sum))
	}
}

// mostGaps is how often nobody may lead for long in a topology that does not change.
const mostGaps = 2
