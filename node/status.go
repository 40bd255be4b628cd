package node

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// Status is the state of a Node at one moment.
type Status struct {
	ID          proto.NodeID
	Incarnation proto.Incarnation
	// Running is true from the end of the first Step until Run returns.
	Running bool
	Role    trace.Role
	// Leader is the belief about the leader; it is "nobody" once its Until has passed. Its Term is
	// the node's own.
	Leader    algorithms.Leader
	Guarantee algorithms.Guarantee
	// Alive is the last opinion of the failure detector, in the order of ids.
	Alive []proto.Peer
	// Gone are the processes that left Alive and are not back, in the order of ids: the last 100 that left.
	Gone []Gone
	// Since is when Leader became the belief, by the wall clock: another leader, another term of the same one, or
	// nobody after a leader. It is zero before the first leader.
	Since time.Time
	// Ineligible says why this node is not eligible; "" when it is.
	Ineligible string
	// Store is what the Machine knows of its store; nil if leadership stands on none.
	Store *algorithms.StoreState
	// Lent is how many leases of this node are lent and have neither ended nor been returned: see
	// Lend.
	Lent int
	// Voters is the node's list of voters and its state, for a Machine whose leaders have leases;
	// see algorithms.VoterState.
	Voters algorithms.VoterState
	// LastTick is when the Node's goroutine was last known to work, by the local clock: the present time
	// while the goroutine waits for an event, otherwise the time when it took the present event.
	LastTick time.Time
	// Split is the latest news of a split brain, nil for none. SplitAt is when it came.
	Split    *trace.Split
	SplitAt  time.Time
	Counters Counters
}

// Counters count from the creation of the Node.
type Counters struct {
	Steps        uint64 // events that the Machine took
	Saves        uint64 // states that were saved
	Received     uint64 // messages the Machine took
	Sent         uint64 // messages given to the Transport
	Overflowed   uint64 // messages dropped because too many waited
	Misaddressed uint64 // messages dropped because they were not for this node
	Splits       uint64 // split brains that were recovered from, here or by another node
	// TwoLed is how long two nodes led at the same time, summed over Splits.
	TwoLed time.Duration
}

// Status returns the present state of the Node. It may be called from any goroutine. It does not wait for the
// Node's goroutine, so it answers even if that goroutine hangs.
func (n *Node) Status() Status {
	now := time.Now()
	n.mu.Lock()
	n.endLoans()
	s := n.status
	s.Lent = len(n.loans.out)
	// A loop that hangs cannot say that its lease ran out: the clock says it. It is read
	// under the lock: who is told so is not told otherwise of the same term later.
	if n.ranOut(s.Leader) {
		s.Leader, s.Since = nobody(s.Leader.Term), time.Time{}
	}
	s.Gone = n.gone.sorted()
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

// publish makes the result of a Step visible to Status and Watch. The result ineligible says that the reason
// why this node is not eligible changed. The result lapsed says that the Step renewed a lease of this node
// too late.
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
		n.gone.view(n.status.Alive, ev, time.Now())
		n.status.Alive = slices.Clone(ev.Alive)
	case algorithms.PeerProvenDead:
		n.gone.proof(n.status.Alive, proto.Peer{ID: ev.ID, Incarnation: ev.Incarnation}, true, time.Now())
	case algorithms.PeerHeardAgain:
		n.gone.proof(n.status.Alive, proto.Peer{ID: ev.ID, Incarnation: ev.Incarnation}, false, time.Now())
	}
	ineligible = n.status.Ineligible != out.Ineligible
	n.status.Ineligible, n.status.Voters, n.status.Store = out.Ineligible, out.Voters, out.Store
	for _, s := range out.Splits {
		told := n.cfg.Recorder.Split(s)
		n.status.Split, n.status.SplitAt = &told, time.Now()
		if s.Stage == algorithms.Recovered {
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

// ranOut reports whether the belief l has ended because its Until has passed. The caller holds
// n.mu.
func (n *Node) ranOut(l algorithms.Leader) bool {
	return !l.Until.IsZero() && !n.cfg.Now().Before(l.Until)
}

// lapses reports whether l renews this node's own lease after the lease has ended: the Step that renews it
// began in time, but took too long. Such a renewal must not count, since callers may have been told that the
// lease is over. The caller holds n.mu.
func (n *Node) lapses(l algorithms.Leader) bool {
	was := n.status.Leader
	return l.ID == n.cfg.ID && l.Leadership() == was.Leadership() && !l.Until.Equal(was.Until) && n.ranOut(was)
}

// end sets the belief to "nobody", because Run ends, and tells all work to stop. It returns whether the Node
// led until now.
func (n *Node) end() (led bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.over = true
	close(n.ended) // under the lock, so that a Watch sees all of the end or none
	if led = n.leadership != nil; led {
		n.leadership.end(ErrStopped)
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
