package node

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// SetEligible tells the Node whether, as far as one cause is concerned, this node may lead. The node may lead
// while no cause speaks against it. The causes, such as "health" and "operator", are independent of each
// other. The text why is for people: it appears in records, in Status and in what the other nodes are told.
// It should name the cause, as in "memory is low: 3 % free". SetEligible ignores why if ok is true.
//
// A node that may not lead does not stand in elections and does not win. If it leads, it resigns and hands
// over to the best node that may lead. It still votes and follows. Once no cause is left it may stand again,
// but it calls an election only if nobody leads, or if it ranks above the leader and pre-empts.
//
// SetEligible may be called from any goroutine, also before Run. Repeating the same value costs
// nothing. It never blocks. The Machine gets the result in its next Step; of several quick changes
// it gets only the last. Each change on a leader costs an election, so a caller should be sure
// before it calls.
func (n *Node) SetEligible(cause string, ok bool, why string) {
	n.causes.set(cause, ok, ineligibility{why: why})
}

// KeepFromStanding is SetEligible(cause, false, why) for a cause that does not make a present leader resign,
// as when a whole cluster is paused: this node does not stand in elections, but if it leads, it goes on
// leading. SetEligible(cause, true, "") ends it. It may be called from any goroutine and never blocks.
func (n *Node) KeepFromStanding(cause, why string) {
	n.causes.set(cause, false, ineligibility{why: why, keep: true})
}

// StandAside is SetEligible(cause, false, why) for a cause that can wait a moment: a leader leads on while it
// looks for a successor that could win, as with Resign. SetEligible itself ends a leadership at once without
// asking anybody; if the best node cannot win, nobody leads until others notice. StandAside does not block;
// the channel found is closed when the search is over. SetEligible(cause, true, "") ends the cause, as
// always. StandAside may be called from any goroutine.
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
		n.causes.insist(cause)
	}()
	return done
}

// ineligibility is one cause for which this node may not lead.
type ineligibility struct {
	why  string
	keep bool // a node that leads goes on leading
}

// ineligibleBox merges the causes, and remembers what the Machine was last told.
type ineligibleBox struct {
	wake chan struct{} // has one element if there may be something new for the Machine

	mu     sync.Mutex
	causes map[string]ineligibility
	heard  algorithms.Eligible // what the Machine was last told
}

func newIneligibleBox() ineligibleBox {
	return ineligibleBox{
		wake: make(chan struct{}, 1), causes: map[string]ineligibility{},
		heard: algorithms.Eligible{OK: true},
	}
}

func (b *ineligibleBox) set(cause string, ok bool, now ineligibility) {
	b.mu.Lock()
	if now.why == "" {
		now.why = cause
	}
	was, stood := b.causes[cause]
	changed := ok == stood || !ok && was != now
	if ok {
		delete(b.causes, cause)
	} else {
		b.causes[cause] = now
	}
	b.mu.Unlock()
	if changed {
		signal(b.wake)
	}
}

// insist makes a cause, which so far only keeps this node from becoming a candidate, also end its
// leadership.
func (b *ineligibleBox) insist(cause string) {
	b.mu.Lock()
	if now, stands := b.causes[cause]; stands {
		b.causes[cause] = ineligibility{why: now.why}
	}
	b.mu.Unlock()
	signal(b.wake)
}

// signal puts an element into wake, unless wake has one already: this wakes the Node's goroutine.
func signal(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// take returns the merged causes; ok is false if the Machine knows them already.
func (b *ineligibleBox) take() (ev algorithms.Eligible, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ev = algorithms.Eligible{OK: len(b.causes) == 0, Keep: len(b.causes) > 0}
	var why []string
	for _, cause := range slices.Sorted(maps.Keys(b.causes)) {
		why = append(why, b.causes[cause].why)
		ev.Keep = ev.Keep && b.causes[cause].keep
	}
	ev.Why = strings.Join(why, "; ")
	ok = ev != b.heard
	b.heard = ev
	return ev, ok
}
