package node

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// SetEligible says, for one cause, whether this node may lead. It may while no
// cause speaks against it; each cause is independent of the others, and named by
// whoever watches it: "health", "operator". why is for people, and stands in
// records, in Status and in what the others are told; it should name the cause:
// "memory is low: 3 % free". It is ignored when ok.
//
// A node that may not lead does not stand and does not win; if it leads, it
// resigns and hands over to the best node that may. It votes and follows as ever.
// Once no cause is left it stands again, when it comes to that: it does not call
// an election by itself unless nobody leads, or it outranks the leader and
// pre-empts.
//
// SetEligible may be called from any goroutine, before Run too, and as often as
// one likes: saying again what holds already costs nothing. It never blocks; the
// Machine hears of it in its next Step, and of changes that follow each other
// quickly only the last. Whoever changes his mind often should wait until he is
// sure, since each change of a leader's costs an election.
func (n *Node) SetEligible(cause string, ok bool, why string) {
	n.bars.set(cause, ok, bar{why: why})
}

// KeepFromStanding is SetEligible(cause, false, why) for a cause that does not make a
// sitting leader resign, as when a whole cluster shall not elect: this node does
// not stand anew. SetEligible(cause, true, "") ends it.
func (n *Node) KeepFromStanding(cause, why string) {
	n.bars.set(cause, false, bar{why: why, keep: true})
}

// StandAside is SetEligible(cause, false, why) for a cause that bears a moment: a leader
// leads on while it looks for a successor that could win, as with Resign. SetEligible itself
// ends a leadership at once, and asks nobody: where the best node cannot win nobody leads
// until others notice. It does not block either; found is closed when the search is over.
// SetEligible(cause, true, "") ends both.
func (n *Node) StandAside(cause, why string) (found <-chan struct{}) {
	done := make(chan struct{})
	if !n.leadsByVotes() {
		n.SetEligible(cause, false, why)
		close(done)
		return done
	}
	n.KeepFromStanding(cause, why)
	go func() {
		defer close(done)
		n.giveWay(context.Background(), 0, why)
		n.bars.insist(cause)
	}()
	return done
}

// bar is what keeps this node from leading, for one cause.
type bar struct {
	why  string
	keep bool // a sitting leader goes on
}

// barsBox merges the causes, and holds what the Machine has not heard yet.
type barsBox struct {
	wake chan struct{} // has one element if there may be something to hear

	mu    sync.Mutex
	bars  map[string]bar
	heard algorithms.Eligible // by the Machine
}

func newBarsBox() barsBox {
	return barsBox{
		wake: make(chan struct{}, 1), bars: map[string]bar{},
		heard: algorithms.Eligible{OK: true},
	}
}

func (b *barsBox) set(cause string, ok bool, now bar) {
	b.mu.Lock()
	if now.why == "" {
		now.why = cause
	}
	was, stood := b.bars[cause]
	changed := ok == stood || !ok && was != now
	if ok {
		delete(b.bars, cause)
	} else {
		b.bars[cause] = now
	}
	b.mu.Unlock()
	if changed {
		b.signal()
	}
}

// insist has a cause that keeps this node from standing end its leadership too.
func (b *barsBox) insist(cause string) {
	b.mu.Lock()
	if now, stands := b.bars[cause]; stands {
		b.bars[cause] = bar{why: now.why}
	}
	b.mu.Unlock()
	b.signal()
}

// signal says that there may be something to hear.
func (b *barsBox) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take is what holds now, ok false if the Machine has heard it.
func (b *barsBox) take() (ev algorithms.Eligible, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ev = algorithms.Eligible{OK: len(b.bars) == 0, Keep: len(b.bars) > 0}
	var why []string
	for _, cause := range slices.Sorted(maps.Keys(b.bars)) {
		why = append(why, b.bars[cause].why)
		ev.Keep = ev.Keep && b.bars[cause].keep
	}
	ev.Why = strings.Join(why, "; ")
	ok = ev != b.heard
	b.heard = ev
	return ev, ok
}
