package node

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// Status is a Node at one moment.
type Status struct {
	ID      proto.NodeID
	Session proto.Session
	// Running is true from the end of the first Step until Run returns.
	Running bool
	Role    trace.Role
	// Leader is the belief about the leader, "nobody" once its Until passed.
	// Its Term is the node's own.
	Leader    algorithms.Leader
	Guarantee algorithms.Guarantee
	// Alive is the last opinion of the failure detector, in the order of ids.
	Alive []proto.Peer
	// Ineligible is why this node does not stand for election, "" when it would.
	Ineligible string
	// Lent is how many leases this node has lent that have neither ended nor been given
	// back: see Lend.
	Lent int
	// Voters are the node's, of a Machine whose leaders have leases, and how far they have
	// come; see algorithms.VoterState.
	Voters algorithms.VoterState
	// LastTick is when the loop was last known to go on, by the local clock:
	// now while it waits for an event, else when it took the present one.
	LastTick time.Time
	// Split is the last news of a split brain, SplitAt when it came; nil for none.
	Split    *trace.Split
	SplitAt  time.Time
	Counters Counters
}

// Counters count since the Node was made.
type Counters struct {
	Steps        uint64 // events the Machine took
	Saves        uint64 // states made durable
	Received     uint64 // messages the Machine took
	Sent         uint64 // messages given to the Transport
	Overflowed   uint64 // messages dropped because too many waited
	Misaddressed uint64 // messages dropped because they were not for this node
	Splits       uint64 // split brains that were mended, here or by another node
	// TwoLed is for how long two led at once, of all those.
	TwoLed time.Duration
}

// Status is the Node now. It does not wait for the loop, so it answers while
// the loop hangs.
func (n *Node) Status() Status {
	now := time.Now()
	n.mu.Lock()
	n.endLoans()
	s := n.status
	s.Lent = len(n.loans.out)
	// A loop that hangs cannot say that its lease ran out: the clock says it. It is read
	// under the lock: who is told so is not told otherwise of the same term later.
	if n.ranOut(s.Leader) {
		s.Leader = nobody(s.Leader.Term)
	}
	n.mu.Unlock()
	s.Alive = slices.Clone(s.Alive)
	if s.Running {
		s.LastTick = now.Add(-n.Busy())
	}
	s.Counters.Overflowed = n.overflowed.count.Load()
	s.Counters.Misaddressed = n.misaddressed.count.Load()
	s.Role = trace.RoleOf(s.ID, s.Leader)
	return s
}

// publish shows a Step to Status and Watch, and returns whether it changed why
// this node does not stand, and whether it renewed a lease of this node too late.
func (n *Node) publish(ev algorithms.Event, out algorithms.Output) (ineligible, lapsed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.over {
		return false, false
	}
	n.status.Running = true
	n.status.Counters.Steps++
	n.status.Counters.Sent += uint64(len(out.Send))
	if out.Save != nil {
		n.status.Counters.Saves++
	}
	switch ev := ev.(type) {
	case algorithms.Receive:
		n.status.Counters.Received++
	case algorithms.PeersChanged:
		n.status.Alive = slices.Clone(ev.Alive)
	}
	ineligible = n.status.Ineligible != out.Ineligible
	n.status.Ineligible, n.status.Voters = out.Ineligible, out.Voters
	for _, s := range out.Splits {
		told := n.cfg.Recorder.Split(s)
		n.status.Split, n.status.SplitAt = &told, time.Now()
		if s.Stage == algorithms.Mended {
			n.status.Counters.Splits++
			n.status.Counters.TwoLed += s.Overlap
		}
	}
	if lapsed = n.lapses(out.Leader); lapsed {
		out.Leader = nobody(out.Leader.Term)
	}
	n.believe(out.Leader, successorIn(out))
	return ineligible, lapsed
}

// ranOut reports whether a belief has ended by itself. The caller holds n.mu.
func (n *Node) ranOut(l algorithms.Leader) bool {
	return !l.Until.IsZero() && !n.cfg.Now().Before(l.Until)
}

// lapses reports whether l renews this node's own lease when that has run out: the Step
// began in time, and took too long. "It keeps to its lease, and never renews after that":
// others may have been told that it is over. The caller holds n.mu.
func (n *Node) lapses(l algorithms.Leader) bool {
	was := n.status.Leader
	return l.ID == n.cfg.ID && l.Epoch() == was.Epoch() && !l.Until.Equal(was.Until) && n.ranOut(was)
}

// end withdraws what the Node says, since it is over, tells all work to stop, and reports
// whether the Node led until now.
func (n *Node) end() (led bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.over = true
	close(n.ended) // under the lock, so that a Watch sees all of the end or none
	if led = n.tenure != nil; led {
		n.tenure.end(ErrStopped)
	}
	n.status.Running = false
	n.believe(nobody(n.status.Leader.Term), 0)
	for ch, stop := range n.watchers {
		stop()
		n.unwatch(ch)
	}
	return led
}

func nobody(term proto.Term) algorithms.Leader { return algorithms.Leader{Term: term} }
