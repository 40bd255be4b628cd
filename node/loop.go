package node

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// loop feeds the Machine until ctx is done or a Step cannot be carried out.
func (n *Node) loop(ctx context.Context) error {
	n.timer = time.NewTimer(0)
	n.timer.Stop()
	defer n.timer.Stop()

	if ctx.Err() != nil {
		return nil
	}
	err := n.step(algorithms.Start{Saved: n.cfg.Saved})
	for err == nil && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-n.timer.C:
			err = n.timeout()
		case m := <-n.inbox:
			err = n.receive(m)
		case <-n.peers.wake:
			err = n.takeView()
		case p := <-n.gone:
			err = n.takeProof(p)
		case term := <-n.idle:
			n.draining--
			err = n.step(algorithms.Idle{Term: term})
		case <-n.bars.wake:
			err = n.takeBars()
		case ev := <-n.reconciling.done:
			err = n.step(ev)
		case ev := <-n.fenced:
			err = n.takeFenced(ev)
		case a := <-n.asks:
			if err = n.obey(a); err == nil {
				close(a.carriedOut)
			}
		}
	}
	return err
}

// takeBars tells the Machine what speaks against this node, if that is new.
func (n *Node) takeBars() error {
	if ev, ok := n.bars.take(); ok {
		return n.step(ev)
	}
	return nil
}

// obey carries an operator's wish out, after all that was said before it.
func (n *Node) obey(a ask) error {
	if err := n.takeBars(); err != nil {
		return err
	}
	switch {
	case a.event == nil:
		return nil
	case a.end != nil && n.transfer != nil:
		a.end <- algorithms.TransferEnd{Refused: algorithms.Refusing{}.UnderWay(0).String()}
		return nil
	case a.end != nil:
		n.transfer = a.end
	case a.lend != nil:
		n.loans.asking = append(n.loans.asking, a.lend)
	}
	return n.step(a.event)
}

// receive hands a message to the Machine.
func (n *Node) receive(m proto.Message) error {
	return n.step(algorithms.Receive{Message: m, At: n.cfg.Recorder.Receipt(m, time.Now())})
}

// takeView hands the latest opinion to the Machine, after the messages that
// wait: what a process said, it said before it died.
func (n *Node) takeView() error {
	ev, ok := n.peers.take()
	for range len(n.inbox) {
		if err := n.receive(<-n.inbox); err != nil {
			return err
		}
	}
	if !ok {
		return nil
	}
	return n.step(ev)
}

// timeout tells the Machine that its deadline passed, after all that waits: it
// concludes something from silence, and what has come is none. A node that got no
// processor for a while would otherwise depose a leader whose word it holds.
func (n *Node) timeout() error {
	if err := n.takeView(); err != nil {
		return err
	}
	if n.deadline.IsZero() || n.deadline.After(n.cfg.Now()) {
		n.arm(n.deadline) // it is another now
		return nil
	}
	return n.step(algorithms.Timeout{})
}

// takeProof hands the proof of a death, or that it was none, to the Machine, after the
// messages that wait: what a process said, it said before it died.
func (n *Node) takeProof(p fate) error {
	for range len(n.inbox) {
		if err := n.receive(<-n.inbox); err != nil {
			return err
		}
	}
	if !p.dead {
		return n.step(algorithms.Heard{ID: p.ID, Session: p.Session})
	}
	return n.step(algorithms.Gone{ID: p.ID, Session: p.Session})
}

// step takes one event through the Machine and carries out what it returns. The
// order is the contract of algorithms.Output.
func (n *Node) step(ev algorithms.Event) error {
	n.work.begin()
	defer n.work.end()
	out := n.cfg.Machine.Step(n.clock.read(n.cfg.Now()), ev)
	if out.Save != nil {
		if err := n.cfg.Store.Save(*out.Save); err != nil {
			return fmt.Errorf("%w: %w", ErrStore, err)
		}
	}
	wall := time.Now() // saving took a while; this is when the Step takes effect
	n.cfg.Recorder.Stamp(wall, ev, &out)
	for _, m := range out.Send {
		n.cfg.Transport.Send(m)
	}
	n.arm(out.Deadline)
	n.reconcile(out.Reconcile)
	if out.Transfer != nil && n.transfer != nil {
		n.transfer <- *out.Transfer // has room for one
		n.transfer = nil
	}
	ineligible, lapsed := n.publish(ev, out)
	if ineligible && n.cfg.Ineligible != nil {
		n.cfg.Ineligible(out.Ineligible)
	}
	n.lent(out.Lent)
	if n.cfg.Recovery != nil && (out.Recovery != nil || n.recovers) {
		n.cfg.Recovery(out.Recovery)
	}
	n.recovers = out.Recovery != nil
	n.aim(out.Fence)
	if len(out.Send) > 0 {
		runtime.Gosched() // the messages leave before their record is written
	}
	rec, ok := n.cfg.Recorder.Record(wall, ev, out)
	if ok && n.cfg.Record != nil {
		n.cfg.Record(rec)
	}
	if lapsed {
		return n.step(algorithms.Lapsed{Term: out.Leader.Term})
	}
	return nil
}

// arm replaces the deadline. A timer that was stopped or reset never delivers
// its former value.
func (n *Node) arm(deadline time.Time) {
	n.deadline = deadline
	if deadline.IsZero() {
		n.timer.Stop()
		return
	}
	n.timer.Reset(deadline.Sub(n.cfg.Now()))
}

// clock keeps the promise that a Machine's time never goes back.
type clock struct{ last time.Time }

// read is now, or the reading before when that was later.
func (c *clock) read(now time.Time) time.Time {
	if now.After(c.last) {
		c.last = now
	}
	return c.last
}
