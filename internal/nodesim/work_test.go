package nodesim

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/node"
	"github.com/ringleader-dev/ringleader/proto"
)

// work is what users of all processes do, and when: the functions that they gave to
// Lead, and what they were permitted to do from outside.
type work struct {
	w *world

	mu      sync.Mutex
	spans   []*span
	stored  proto.Term // the highest token that the storage has seen
	holder  proto.Incarnation
	calmed  map[proto.Incarnation]proto.Term // processes whose function ended of itself in a term
	running map[*process]int
}

// span is a time during which somebody acts as the leader.
type span struct {
	p        *process
	term     proto.Term
	what     string
	from, to time.Time // to is zero while it lasts
}

func newWork(w *world) *work {
	return &work{
		w: w, calmed: map[proto.Incarnation]proto.Term{}, running: map[*process]int{},
	}
}

// work is the function given to Lead: it writes to a storage now and then. When it is told
// to stop it still has something to do, for no longer than its lease runs.
func (p *process) work(ctx context.Context, lease node.Lease) error {
	s := p.w.work.begin(p, lease.Term())
	defer s.end()
	until := lease.Until()
	pause, last := s.plan()
	bored := time.After(last)
	for {
		if !p.gate.pass() {
			return nil
		}
		if u := lease.Until(); !u.IsZero() {
			until = u
		}
		if ctx.Err() == nil {
			p.w.work.write(p, lease.Term())
		}
		select {
		case <-time.After(pause):
		case <-bored:
			s.calm()
			return nil
		case <-ctx.Done():
			return s.drain(until)
		}
	}
}

// drain goes on for a while, within the lease as it was last known.
func (a *acting) drain(until time.Time) error {
	left := until.Sub(a.p.now())
	if left > 0 {
		time.Sleep(a.take(left))
	}
	a.p.gate.pass()
	return nil
}

// acting is one run of a function.
type acting struct {
	*work
	dice dice
	p    *process
	term proto.Term
}

func (k *work) begin(p *process, term proto.Term) *acting {
	p.gate.pass()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.running[p]++
	a := &acting{work: k, p: p, term: term, dice: newDice(k.w.options.seed, 4<<56|p.birth()<<32|uint64(term))}
	if !p.gate.isDead() {
		k.open(p, term, "works")
	}
	k.w.note("%v works in term %d", p, term)
	return a
}

func (k *work) open(p *process, term proto.Term, what string) *span {
	s := &span{p: p, term: term, what: what, from: time.Now()}
	k.spans = append(k.spans, s)
	return s
}

func (a *acting) end() {
	a.p.gate.pass()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running[a.p]--
	for _, s := range a.spans {
		if s.p == a.p && s.term == a.term && s.to.IsZero() && s.what == "works" {
			s.to = time.Now()
		}
	}
	if !a.p.gate.isDead() {
		a.w.note("%v works no more in term %d", a.p, a.term)
	}
}

// plan draws how often the function acts, and how long it lasts if nothing ends it.
func (a *acting) plan() (pause, last time.Duration) {
	last = time.Hour
	if a.dice.IntN(12) == 0 {
		last = a.dice.N(5 * time.Second)
	}
	return 10*time.Millisecond + a.dice.N(100*time.Millisecond), last
}

// take draws how much of what is left of a lease a function takes to end.
func (a *acting) take(left time.Duration) time.Duration {
	left = left * 98 / 100 // its clock may run slow
	if a.dice.IntN(2) == 0 {
		return a.dice.N(left/20 + 1)
	}
	return a.dice.N(left + 1)
}

// calm says that the function ended of itself: Lead need not call it again in this term.
func (a *acting) calm() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calmed[a.p.incarnation] = a.term
}

// write is a write to a storage that compares tokens.
func (k *work) write(p *process, term proto.Term) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case term < k.stored:
	case term == k.stored && p.incarnation != k.holder:
		k.w.violate("one-holder-a-token", fmt.Sprintf("%v writes with token %d of another process", p, term))
	default:
		k.stored, k.holder = term, p.incarnation
	}
}

// suspend ends what a process does that is paused, goOn begins it again, and over ends it
// for good.
func (k *work) suspend(p *process) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.spans {
		if s.p == p && s.to.IsZero() && s.what == "works" {
			s.to, s.what = time.Now(), "was paused"
		}
	}
}

func (k *work) goOn(p *process) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.spans {
		if s.p == p && s.what == "was paused" {
			s.what = "worked"
			k.open(p, s.term, "works")
		}
	}
}

func (k *work) over(p *process) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.spans {
		if s.p == p && s.to.IsZero() && s.what == "works" {
			s.to = time.Now()
		}
		if s.p == p && s.what == "was paused" {
			s.what = "worked"
		}
	}
}

// works reports whether a function of the process runs, or ended of itself in this term.
func (k *work) works(p *process, term proto.Term) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.running[p] > 0 || k.calmed[p.incarnation] == term
}

// borrow asks a process for its lease, as one outside does, which then acts as the leader
// whatever becomes of the node: until the loan ends by its own clock, or it gives it back.
func (k *work) borrow(p *process, patience time.Duration, slow float64, back time.Duration) {
	asked := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	loan, err := p.node.Lend(ctx)
	if err != nil || p.gate.isDead() {
		return
	}
	may := time.Duration(float64(loan.For)*(1+slow)) - time.Since(asked)
	if may <= 0 {
		return
	}
	k.mu.Lock()
	k.w.note("%v lends its lease of term %d for %v", p, loan.Term, may)
	s := k.open(p, loan.Term, "borrowed")
	k.mu.Unlock()
	time.Sleep(min(back, may))
	k.mu.Lock()
	s.to = time.Now()
	k.mu.Unlock()
	if back < may && p.gate.pass() {
		p.node.Return(loan.ID)
	}
}
