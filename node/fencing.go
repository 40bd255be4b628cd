package node

import (
	"context"
	"errors"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// Fencer stops other processes, or confirms that they have stopped.
type Fencer interface {
	// Fence makes one attempt. It returns nil only if the process has stopped. The text detail describes the
	// result in a few words, also if there is an error. The Node calls Fence from a goroutine of its own, one
	// call at a time. Fence must return soon after ctx is done: the Node waits for it before the next attempt
	// and before it ends.
	Fence(ctx context.Context, f algorithms.Fence) (detail string, err error)
}

// errNoFencer says that the Machine wants a process fenced, and that the node has no Fencer.
var errNoFencer = errors.New("this node has no fence agent")

// noFencer is the Fencer of a Node without one. It confirms nothing.
type noFencer struct{}

func (noFencer) Fence(context.Context, algorithms.Fence) (string, error) {
	return "", errNoFencer
}

// shot is an attempt to fence a process. It belongs to the Node's goroutine.
type shot struct {
	fence algorithms.Fence
	stop  context.CancelFunc
	over  chan struct{} // closed when the Fencer has returned
}

// aim makes the Fencer do what the Machine wants now: it begins an attempt, continues the present one,
// or cancels it.
func (n *Node) aim(want *algorithms.Fence) {
	if n.shot != nil && (want == nil || n.shot.fence != *want) {
		n.shot.stop()
		n.shot = nil
	}
	if want == nil || n.shot != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	before := n.lastShot
	n.shot = &shot{fence: *want, stop: stop, over: make(chan struct{})}
	n.lastShot = n.shot
	go n.shot.run(ctx, n, before)
}

// run waits until the earlier attempt, before, has ended, and then makes its own attempt. It tells the Node's
// goroutine the result, unless ctx is done.
func (s *shot) run(ctx context.Context, n *Node, before *shot) {
	defer close(s.over)
	if before != nil {
		<-before.over
	}
	if ctx.Err() != nil {
		return
	}
	detail, err := n.cfg.Fencer.Fence(ctx, s.fence)
	if err != nil && detail == "" {
		detail = err.Error()
	}
	select {
	case n.fenced <- algorithms.Fenced{Fence: s.fence, OK: err == nil, Detail: detail}:
	case <-ctx.Done():
	}
}

// takeFenced gives the result of the attempt to the Machine.
func (n *Node) takeFenced(ev algorithms.Fenced) error {
	if n.shot == nil || n.shot.fence != ev.Fence {
		return nil // it was called back when it had just ended
	}
	n.shot.stop()
	n.shot = nil
	return n.step(ev)
}

// callBack cancels the present attempt and waits until it has ended.
func (n *Node) callBack() {
	n.aim(nil)
	if n.lastShot != nil {
		<-n.lastShot.over
	}
}
