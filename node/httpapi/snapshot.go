package httpapi

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// Source knows the node.
type Source interface {
	// Snapshot is the node now. It is called once a request, from any
	// goroutine, and must not wait for the election loop: it has to answer
	// while the loop hangs.
	Snapshot() Snapshot
}

// Snapshot is a node at one moment.
type Snapshot struct {
	Self      proto.NodeID
	Session   proto.Session
	Cluster   string
	Algorithm string
	Guarantee algorithms.Guarantee
	// Running is true while the election loop has started and not ended.
	Running bool
	// LastTick is when the loop last showed a sign of life.
	LastTick time.Time
	// Leader is nobody once the belief has ended by itself; its Until is not told.
	Leader algorithms.Leader
	// Lent is how many leases the node has lent that are not over.
	Lent int
	// Gossiping is true while the node takes part in the gossip, alone or not.
	Gossiping bool
	// Ineligible is why the node does not stand for election, "" when it would.
	Ineligible string
	// Recovery is why this voter votes for nobody, "" when it would.
	Recovery string
	// Unfenced is why the node does not take an office that a majority granted it; nil
	// for no reason.
	Unfenced *Unfenced
	// Checks are the health checks and what they say.
	Checks []Check
	// Voters are the configured voters; empty without an office.
	Voters []proto.NodeID
	// VoterState is how far that list has come.
	VoterState algorithms.VoterState
	// Watched are the other voters whose death this node would prove at once.
	Watched []proto.NodeID
	// Split is the last news of a split brain, SplitAt when it came; nil for none.
	Split   *trace.Split
	SplitAt time.Time
	// Members are the processes believed alive, this one among them, by id.
	Members []Member
	// Counters are named in snake_case.
	Counters map[string]uint64
}

// Unfenced says that a former leader was not confirmed to have stopped.
type Unfenced struct {
	For proto.Term // the office that waits for it
	Why string
}

// staleAfter is how old the loop's last sign of life may be. It gives one each
// second, and a disk may keep it for a few.
const staleAfter = 5 * time.Second

// sick is why the node is not healthy, "" when it is.
func (s Snapshot) sick(now time.Time) string {
	if !s.Running {
		return "the election loop is not running"
	}
	if age := now.Sub(s.LastTick); age > staleAfter {
		return fmt.Sprintf("the election loop last ticked %v ago: it waits for the disk, "+
			"or the process was paused", age.Round(time.Second))
	}
	return ""
}

// unready is why the node is not ready, "" when it is. A leader is not needed:
// nodes that waited for one before they are let in would wait for ever.
func (s Snapshot) unready(now time.Time) string {
	if why := s.sick(now); why != "" {
		return why
	}
	if !s.Gossiping {
		return "gossip is not running"
	}
	return ""
}

// leadership is the node's answer to who leads. A node whose loop hangs knows
// nobody: it cannot have heard what happened since.
func (s Snapshot) leadership(now time.Time) Leadership {
	nobody := algorithms.Leader{Term: s.Leader.Term}
	if why := s.sick(now); why != "" {
		a := s.believed(nobody)
		a.Reason = why
		return a
	}
	if s.Leader.ID == 0 {
		a := s.believed(nobody)
		a.Reason = s.leaderless()
		return a
	}
	return s.believed(s.Leader)
}

// believed is the answer to who leads when that is l.
func (s Snapshot) believed(l algorithms.Leader) Leadership {
	a := Leadership{
		Self: s.Self, Term: l.Term, Guarantee: s.Guarantee, Algorithm: s.Algorithm,
	}
	if l.ID == 0 {
		return a
	}
	a.Leader, a.IsLeader = l.ID, l.ID == s.Self
	for _, m := range s.Members {
		if m.ID == a.Leader {
			a.LeaderAddr = m.ElectionAddr
		}
	}
	return a
}

// confirmed says whether a leader has confirmed the voters; nil where there are none.
func (s Snapshot) confirmed() *bool {
	if len(s.Voters) == 0 {
		return nil
	}
	return new(s.VoterState.Committed)
}

// leaderless is why nobody leads, as far as this node can tell: which voters a
// majority lacks, or nothing better.
func (s Snapshot) leaderless() string {
	var missing []string
	for _, v := range s.Voters {
		alive := func(m Member) bool { return m.ID == v }
		if !slices.ContainsFunc(s.Members, alive) {
			missing = append(missing, v.String())
		}
	}
	if alive, need := len(s.Voters)-len(missing), len(s.Voters)/2+1; alive < need && len(missing) > 0 {
		return fmt.Sprintf("no quorum: %d of %d voters are alive to this node, %d are needed; missing: %s",
			alive, len(s.Voters), need, strings.Join(missing, ", "))
	}
	if s.Unfenced != nil && s.Unfenced.For > s.Leader.Term { // nobody has led since
		return "no leader is known: " + s.Unfenced.Why
	}
	if s.Recovery != "" {
		return "no leader is known, and this node does not vote: " + s.Recovery
	}
	if s.Ineligible != "" {
		return "no leader is known, and this node does not stand: " + s.Ineligible
	}
	return "no leader is known"
}

func (s Snapshot) status(now time.Time) Status {
	st := Status{
		Leadership: s.leadership(now), Role: "looking", Session: s.Session.String(),
		Cluster: s.Cluster, Healthy: s.sick(now) == "", LastTick: s.LastTick,
		NotReady: s.unready(now), Alive: make([]proto.NodeID, 0, len(s.Members)),
		Counters: s.Counters, Voters: s.Voters, Watched: s.Watched,
		VotersConfirmed: s.confirmed(), VotersVersion: s.VoterState.Version,
		Ineligible: s.Ineligible, Recovery: s.Recovery, Checks: s.Checks,
		Split: s.Split, SplitAt: s.SplitAt, Lent: s.Lent,
	}
	st.Ready = st.NotReady == ""
	switch st.Leader {
	case 0:
	case s.Self:
		st.Role = "leader"
	default:
		st.Role = "follower"
	}
	for _, m := range s.Members {
		st.Alive = append(st.Alive, m.ID)
	}
	return st
}
