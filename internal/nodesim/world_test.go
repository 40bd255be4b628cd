package nodesim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/node/statefile"
	"github.com/ringleader-dev/ringleader/node/tcp"
	"github.com/ringleader-dev/ringleader/proto"
)

// world is one run of one schedule, in a bubble of its own. But for note, violate and what
// processes call it belongs to the scheduler's goroutine.
type world struct {
	options  options
	verbose  bool
	dice     dice
	network  *network
	machines []*machine
	work     *work
	plan     []event
	healed   bool
	undo     []func() // what mends the faults that still last
	idle     map[*process]idling
	lost     map[proto.NodeID]bool // whose disk was lost, ever
	bare     []gap                 // times without a leader at work, once there was one
	led      time.Time             // when one was last seen at work
	// said is told of each message, as it is sent and as it is received; nil for none.
	said func(m proto.Message, leaves bool)

	mu         sync.Mutex
	log        []string
	hints      map[string]int
	violations []violation
}

// violation is a promise that was broken.
type violation struct{ name, detail string }

// event is something that the scheduler does at a time.
type event struct {
	at time.Time
	do func()
}

// idling is since when a leader leads with none of its functions running.
type idling struct {
	term  proto.Term
	since time.Time
}

// gap is a time without a leader at work.
type gap struct{ from, to time.Time }

func newWorld(o options) *world {
	w := &world{
		options: o, dice: newDice(o.seed, 1), network: newNetwork(o.seed),
		hints: map[string]int{}, idle: map[*process]idling{}, lost: map[proto.NodeID]bool{},
	}
	w.work = newWork(w)
	for i := range o.nodes {
		id := proto.NodeID(i + 1)
		w.machines = append(w.machines, &machine{
			id: id, disk: newDisk(o.seed<<8 | uint64(id)), voters: o.voters,
			drift: (w.dice.Float64()*2 - 1) * o.drift,
		})
	}
	return w
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, fmt.Sprintf("%9.4f ", time.Since(dawn).Seconds())+fmt.Sprintf(format, args...))
}

// hint notes something that may explain a violation.
func (w *world) hint(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hints[what]++
}

// noteProof notes what a process takes for proof, and whether it is.
func (w *world) noteProof(p *process, e tcp.Evidence) {
	lives := ""
	if q := w.machines[e.Peer-1].seen.Load(); q != nil && q.incarnation == e.Incarnation && !q.gate.isDead() {
		lives = ", which lives"
		if q.leaves.Load() {
			lives = ", which is being ended"
		}
		w.hint("false proof" + lives)
	}
	w.note("%v has proof: %v%s", p, e, lives)
}

// violate notes the first violation of a name.
func (w *world) violate(name, detail string) {
	w.mu.Lock()
	known := func(v violation) bool { return v.name == name }
	isNew := !slices.ContainsFunc(w.violations, known)
	if isNew {
		w.violations = append(w.violations, violation{name, detail})
	}
	w.mu.Unlock()
	if isNew {
		w.note("VIOLATION of %s: %s", name, detail)
	}
}

// at plans something for a moment that long from now.
func (w *world) at(wait time.Duration, do func()) {
	w.plan = append(w.plan, event{time.Now().Add(wait), do})
	slices.SortStableFunc(w.plan, func(a, b event) int { return a.at.Compare(b.at) })
}

// lookEach is how often users look whether the leader works.
const lookAfter = 50 * time.Millisecond

// pass lets time pass, and does what is planned; it returns early once done says so.
func (w *world) pass(span time.Duration, done func() bool) {
	end := time.Now().Add(span)
	for time.Now().Before(end) {
		next := time.Now().Add(lookAfter)
		if len(w.plan) > 0 && w.plan[0].at.Before(next) {
			next = w.plan[0].at
		}
		time.Sleep(time.Until(next))
		synctest.Wait()
		for len(w.plan) > 0 && !w.plan[0].at.After(time.Now()) {
			do := w.plan[0].do
			w.plan = w.plan[1:]
			do()
			synctest.Wait()
		}
		w.attend()
		if done != nil && done() {
			return
		}
	}
}

// attend sees to processes that ended by themselves, and looks at those that lead.
func (w *world) attend() {
	anybody := false
	for _, m := range w.machines {
		p := m.process
		if p == nil || p.gate.isPaused() {
			continue
		}
		select {
		case err := <-p.failed:
			w.bury(p, err)
			continue
		default:
		}
		if p.node == nil {
			continue
		}
		if st := p.node.Status(); st.Leader.ID == m.id {
			works := w.work.works(p, st.Leader.Term)
			anybody = anybody || works
			w.lookAt(p, st.Leader.Term, works)
		} else {
			delete(w.idle, p)
		}
	}
	if anybody {
		if now := time.Now(); !w.led.IsZero() && now.Sub(w.led) > 2*lookAfter {
			w.bare = append(w.bare, gap{w.led, now})
		}
		w.led = time.Now()
	}
}

// lookAt checks that a leader's function runs, if it wants to.
func (w *world) lookAt(p *process, term proto.Term, works bool) {
	now, was := time.Now(), w.idle[p]
	if works {
		delete(w.idle, p)
		return
	}
	if was.term != term {
		w.idle[p] = idling{term, now}
		return
	}
	if patience := w.options.promise + time.Second; now.Sub(was.since) > patience {
		w.violate("leaders-work", fmt.Sprintf("%v leads term %d for %v, and its function does not run",
			p, term, now.Sub(was.since)))
	}
}

// bury sees to a process that ended by itself: its program closes what is open, and
// somebody starts it again.
func (w *world) bury(p *process, err error) {
	w.note("%v ends by itself: %v", p, err)
	m := p.machine
	damaged := errors.Is(err, statefile.ErrCorrupt)
	switch {
	case errors.Is(err, statefile.ErrTermBack), errors.Is(err, statefile.ErrState):
		w.violate("ends-for-a-cause", fmt.Sprintf("%v has saved what may not be saved: %v", p, err))
	case damaged && !w.lost[m.id]:
		w.violate("ends-for-a-cause", fmt.Sprintf("%v ends, and nobody touched its disk: %v", p, err))
	case damaged:
		m.disk.lose()
		m.saved.set(algorithms.State{}, algorithms.State{})
	case errors.Is(err, lease.ErrVoters):
		m.voters = w.options.voters
	}
	wait := w.dice.N(w.options.promise / 2)
	w.end(p, runFirst, false, func() { w.at(wait, func() { w.start(m) }) })
}

// end ends a process in an orderly way, in the background; then does what comes after.
func (w *world) end(p *process, order int, resign bool, after func()) {
	done := make(chan struct{})
	if p.node == nil || p.links == nil { // it never started
		p.machine.process = nil
		after()
		return
	}
	go func() {
		defer close(done)
		p.stop(order, resign)
	}()
	var look func()
	look = func() {
		select {
		case <-done:
			if p.machine.process == p {
				w.note("%v has ended", p)
				p.kill()
			}
			after()
		default:
			if p.machine.process == p {
				w.at(20*time.Millisecond, look)
			}
		}
	}
	w.at(time.Millisecond, look)
}

func (w *world) start(m *machine) {
	if m.process == nil {
		w.launch(m)
	}
}

// ended is told of each process that the kernel has cleaned up after.
func (w *world) ended(p *process) {
	w.work.over(p)
	delete(w.idle, p)
}

// leader is the machine whose process leads as its users see it, nil for none.
func (w *world) leader() *machine {
	for _, m := range w.machines {
		p := m.process
		if p == nil || p.node == nil || p.gate.isPaused() {
			continue
		}
		if st := p.node.Status(); st.Leader.ID == m.id {
			return m
		}
	}
	return nil
}

// heardBy are the processes that gossip brings news of to p: those that any path leads to
// and back.
func (w *world) heardBy(p *process) map[proto.NodeID]*process {
	w.network.mu.Lock()
	defer w.network.mu.Unlock()
	heard := map[proto.NodeID]*process{p.machine.id: p}
	for frontier := []*process{p}; len(frontier) > 0; frontier = frontier[1:] {
		from := frontier[0].machine.id
		for _, m := range w.machines {
			q := m.seen.Load()
			if q == nil || q.gate.isPaused() || heard[m.id] != nil {
				continue
			}
			if w.network.open(path{from, m.id}) && w.network.open(path{m.id, from}) {
				heard[m.id] = q
				frontier = append(frontier, q)
			}
		}
	}
	delete(heard, p.machine.id)
	return heard
}

// checkRestored checks what a process finds on its disk: what was acknowledged, or what
// was being saved when the last process ended.
func (w *world) checkRestored(m *machine, found algorithms.State) {
	kept := &m.saved
	kept.mu.Lock()
	acked, asking := kept.acked, kept.asking
	kept.mu.Unlock()
	if found != acked && found != asking {
		w.violate("saved-is-kept", fmt.Sprintf("n%d saved %+v and finds %+v", m.id, acked, found))
	}
	kept.set(found, algorithms.State{})
}

// checkOverlaps checks that at no instant two processes act as leaders.
func (w *world) checkOverlaps() {
	w.work.mu.Lock()
	defer w.work.mu.Unlock()
	spans := w.work.spans
	now := time.Now()
	for _, s := range spans {
		if s.to.IsZero() {
			s.to = now
		}
	}
	slices.SortStableFunc(spans, func(a, b *span) int { return a.from.Compare(b.from) })
	for i, a := range spans {
		for _, b := range spans[i+1:] {
			if !b.from.Before(a.to) {
				break
			}
			end := a.to
			if b.to.Before(end) {
				end = b.to
			}
			if both := end.Sub(b.from); a.p != b.p && both > time.Microsecond {
				w.violate("one-works", fmt.Sprintf("%v in term %d and %v in term %d both work for %v from %.4f",
					a.p, a.term, b.p, b.term, both, b.from.Sub(dawn).Seconds()))
				return
			}
		}
	}
}

// finish ends all processes, and waits until none of their goroutines is left.
func (w *world) finish() {
	var all []*process
	for _, m := range w.machines {
		if p := m.process; p != nil {
			p.resume()
			p.kill()
			all = append(all, p)
		}
	}
	for _, p := range all {
		<-p.over
	}
	time.Sleep(time.Hour) // what was killed before has ended too
}

func (w *world) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.log, "\n")
}

func ids(of []proto.NodeID) string {
	slices.SortFunc(of, cmp.Compare[proto.NodeID])
	return strings.Trim(fmt.Sprint(of), "[]")
}
