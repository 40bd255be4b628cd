package node

import (
	"context"
	"errors"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// Store is the service outside the cluster on which leadership stands, if the Machine is one of package
// algorithms/store.
type Store interface {
	// Ask carries out one ask and returns the answer; the Node sets the answer's Number. It returns an error if
	// there is no answer. The Node calls Ask from a goroutine of its own, one call at a time. Ask must return
	// soon after ctx is done: the Node waits for it before the next ask and before it ends.
	Ask(ctx context.Context, ask algorithms.Ask) (algorithms.Answered, error)
	// Changed returns a channel that receives a value when the entries in the store may have changed.
	// It should have room for one value.
	Changed() <-chan struct{}
}

// errNoStore says that the Machine asks a store, and that the node has none.
var errNoStore = errors.New("this node has no store")

// noStore is the Store of a Node without one.
type noStore struct{}

func (noStore) Ask(context.Context, algorithms.Ask) (algorithms.Answered, error) {
	return algorithms.Answered{}, errNoStore
}

func (noStore) Changed() <-chan struct{} { return nil }

// question is an ask that the Store works at. It belongs to the Node's goroutine.
type question struct {
	ask  algorithms.Ask
	stop context.CancelFunc
	over chan struct{} // closed when the Store has returned
}

// askStore makes the Store work at what the Machine wants now: it begins an ask, lets the present one go on, or
// ends it.
func (n *Node) askStore(want *algorithms.Ask) {
	if n.question != nil && (want == nil || n.question.ask.Number != want.Number) {
		n.question.stop()
		n.question = nil
	}
	if want == nil || n.question != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	before := n.lastQuestion
	n.question = &question{ask: *want, stop: stop, over: make(chan struct{})}
	n.lastQuestion = n.question
	go n.question.run(ctx, n, before)
}

// run waits until the ask before has ended, asks the Store, and tells the Node's goroutine the answer,
// unless ctx is done.
func (q *question) run(ctx context.Context, n *Node, before *question) {
	defer close(q.over)
	if before != nil {
		<-before.over
	}
	if ctx.Err() != nil {
		return
	}
	answer, err := n.cfg.Store.Ask(ctx, q.ask)
	if err != nil {
		answer = algorithms.Answered{Failed: err.Error()}
	}
	answer.Number = q.ask.Number
	select {
	case n.answers <- answer:
	case <-ctx.Done():
	}
}

// takeAnswer gives an answer of the Store to the Machine.
func (n *Node) takeAnswer(ev algorithms.Answered) error {
	if n.question == nil || n.question.ask.Number != ev.Number {
		return nil // it was called back when it had just been answered
	}
	n.question.stop()
	n.question = nil
	return n.step(ev)
}

// leaveStoreTime is how long a Node that ends waits until its entry is removed from the Store.
const leaveStoreTime = time.Second

// awaitStore waits until the Store has answered the ask that is open, but not for long. So a Node that
// ends removes its entry first.
func (n *Node) awaitStore() (err error) {
	bound := time.NewTimer(leaveStoreTime)
	defer bound.Stop()
	for err == nil && n.question != nil {
		select {
		case ev := <-n.answers:
			err = n.takeAnswer(ev)
		case <-bound.C:
			return nil
		}
	}
	return err
}

// endAsking ends the open ask, and waits until it has ended.
func (n *Node) endAsking() {
	n.askStore(nil)
	if n.lastQuestion != nil {
		<-n.lastQuestion.over
	}
}
