package node

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// loop gives events to the Machine until ctx is done or a Step cannot be carried out.
func (n *Node) loop(ctx context.Context) error {
	n.timer = time.NewTimer(0)
	n.timer.Stop()
	defer n.timer.Stop()

	if ctx.Err() != nil {
		return nil
	}
	changed := n.cfg.Store.Changed()
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
		case p := <-n.liveness:
			err = n.takeProof(p)
		case term := <-n.workStopped:
			n.draining--
			err = n.step(algorithms.WorkStopped{Term: term})
		case <-n.causes.wake:
			err = n.takeEligible()
		case ev := <-n.reconciling.done:
			err = n.step(ev)
		case ev := <-n.fenced:
			err = n.takeFenced(ev)
		case ev := <-n.answers:
			err = n.takeAnswer(ev)
		case <-changed:
			err = n.step(algorithms.StoreChanged{})
		case a := <-n.asks:
			if err = n.apply(a); err == nil {
				close(a.carriedOut)
			}
		}
	}
	return err
}

// takeEligible tells the Machine the reasons why this node may not lead, if they have changed.
func (n *Node) takeEligible() error {
	if ev, ok := n.causes.take(); ok {
		return n.step(ev)
	}
	return nil
}

// apply carries out an operator's request, after all earlier calls of SetEligible and
// KeepFromStanding.
func (n *Node) apply(a ask) error {
	if err := n.takeEligible(); err != nil {
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

// receive gives a message to the Machine.
func (n *Node) receive(m *proto.Message) error {
	return n.step(algorithms.Receive{Message: *m, At: n.cfg.Recorder.Receipt(*m, time.Now())})
}

// takeView gives the latest opinion about the peers to the Machine, after the messages that wait: a process
// that the view lacks sent its messages before it died.
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

// timeout tells the Machine that its deadline has passed, after all events that wait. The Machine draws
// conclusions from silence, and a message that waits is no silence. Without this order, a node that got no
// processor for a while would depose a leader whose message it has received.
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

// takeProof gives the proof of a death, or its withdrawal, to the Machine, after the messages that
// wait: the process sent them before it died.
func (n *Node) takeProof(p *liveness) error {
	for range len(n.inbox) {
		if err := n.receive(<-n.inbox); err != nil {
			return err
		}
	}
	if !p.dead {
		return n.step(algorithms.PeerHeardAgain{ID: p.ID, Incarnation: p.Incarnation})
	}
	return n.step(algorithms.PeerProvenDead{ID: p.ID, Incarnation: p.Incarnation})
}

// step gives one event to the Machine and carries out what the Machine returns, in the order that
// algorithms.Output demands.
func (n *Node) step(ev algorithms.Event) error {
	n.work.begin()
	defer n.work.end()
	out := n.cfg.Machine.Step(n.clock.read(n.cfg.Now()), ev)
	if out.Save != nil {
		if err := n.cfg.Disk.Save(*out.Save); err != nil {
			return fmt.Errorf("%w: %w", ErrDisk, err)
		}
	}
	wall := n.readWall() // saving took a while; this is when the Step takes effect
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
	n.askStore(out.Ask)
	if len(out.Send) > 0 {
		runtime.Gosched() // the messages leave before their record is written
	}
	rec, ok := n.cfg.Recorder.Record(wall, ev, out)
	if ok && n.cfg.Record != nil {
		n.cfg.Record(rec)
	}
	if out.End != "" {
		return fmt.Errorf("%w: %s", ErrEnd, out.End)
	}
	if lapsed {
		return n.step(algorithms.LeaseExpired{Term: out.Leader.Term})
	}
	return nil
}

// closely is how long the reading of two clocks may take at most, so that they can be compared.
const closely = 100 * time.Microsecond

// readWall reads the machine's wall clock. If somebody set it, the next record and a line of the log tell by how much.
func (n *Node) readWall() time.Time {
	before := n.cfg.Now()
	wall, set := n.cfg.Wall()
	took := n.cfg.Now().Sub(before)
	if by := n.cfg.Recorder.SetClock(set); by != 0 {
		direction := "forward"
		if by < 0 {
			direction = "back"
		}
		n.cfg.Logger.Info().Msgf("somebody set the clock of this machine %s by %v; leases do not depend on it",
			direction, by.Abs().Round(time.Millisecond))
	}
	if took <= closely {
		n.cfg.Recorder.ClockAhead(wall.Sub(before) - took/2)
	}
	return wall
}

// arm sets the timer. A timer that was stopped or reset never fires for its earlier deadline.
func (n *Node) arm(deadline time.Time) {
	n.deadline = deadline
	if deadline.IsZero() {
		n.timer.Stop()
		return
	}
	n.timer.Reset(deadline.Sub(n.cfg.Now()))
}

// clock makes sure that the time that a Machine gets never goes back.
type clock struct{ last time.Time }

// read returns now, or the reading before if that was later.
func (c *clock) read(now time.Time) time.Time {
	if now.After(c.last) {
		c.last = now
	}
	return c.last
}
