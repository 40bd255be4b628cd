package node

import (
	"context"
	"errors"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// Fencer stops other processes, or confirms that they have stopped.
type Fencer interface {
	// Fence makes one attempt. It returns nil only if the process has stopped,
	// and in any case says in a few words what came of it. It is called from a
	// goroutine of its own, one at a time, and returns soon after ctx is done:
	// the Node waits for it before it makes the next attempt, and before it ends.
	Fence(ctx context.Context, f algorithms.Fence) (detail string, err error)
}

// errNoFencer: the Machine wants somebody fenced and there is nobody to do it.
var errNoFencer = errors.New("this node has no fence agent")

// noFencer confirms nothing.
type noFencer struct{}

func (noFencer) Fence(context.Context, algorithms.Fence) (string, error) {
	return "", errNoFencer
}

// shot is the attempt under way. It belongs to the Node's goroutine.
type shot struct {
	fence algorithms.Fence
	stop  context.CancelFunc
	over  chan struct{} // closed when the Fencer has returned
}

// aim lets the Fencer be at what the Machine wants: it goes on with that, begins
// it, or ends it.
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

// run makes the attempt once the one before has ended, and tells the Machine,
// unless it is called back.
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

// takeFenced hands what came of the attempt to the Machine.
func (n *Node) takeFenced(ev algorithms.Fenced) error {
	if n.shot == nil || n.shot.fence != ev.Fence {
		return nil // it was called back when it had just ended
	}
	n.shot.stop()
	n.shot = nil
	return n.step(ev)
}

// callBack ends the attempt under way and waits for its end.
func (n *Node) callBack() {
	n.aim(nil)
	if n.lastShot != nil {
		<-n.lastShot.over
	}
}
