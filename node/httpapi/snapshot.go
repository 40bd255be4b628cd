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

// Source knows the state of the node.
type Source interface {
	// Snapshot returns the present state of the node. Any goroutine may call it. The handlers call it once
	// for each request. It must not wait for the election loop, since it has to answer while the loop hangs.
	Snapshot() Snapshot
}

// Snapshot is the state of a node at one moment.
type Snapshot struct {
	Self        proto.NodeID
	Incarnation proto.Incarnation
	Cluster     string
	Algorithm   string
	Guarantee   algorithms.Guarantee
	// Running says that the election loop has started and not ended.
	Running bool
	// LastTick is when the loop last showed a sign of life.
	LastTick time.Time
	// Leader is the believed leader: nobody once the lease has ended. Its Until is not used.
	Leader algorithms.Leader
	// Since is when Leader became the belief; zero if that is not known.
	Since time.Time
	// Lent is how many leases the node has lent that have neither ended nor been returned.
	Lent int
	// Expires is until when the node's certificate is valid; zero if it has none.
	Expires time.Time
	// Refused says why the other nodes would refuse a new link with this node's certificate; "" if they would accept
	// one, or it has no certificate.
	Refused string
	// Gossiping says that the node takes part in the gossip, even if it is alone.
	Gossiping bool
	// Ineligible says why the node is not eligible; "" if it is.
	Ineligible string
	// Store is the store on which leadership stands; nil if it stands on none.
	Store *Store
	// Differ says which settings make other processes of the cluster elect elsewhere than this node.
	Differ []string
	// Unmet are those that this node does not meet.
	Unmet []Unmet
	// Recovery says why this voter votes for nobody; "" if it votes.
	Recovery string
	// Unfenced says which former leader keeps the node from leading although a majority voted for
	// it; nil if none does.
	Unfenced *Unfenced
	// Checks are the health checks with their results.
	Checks []Check
	// Voters are the configured voters; empty if there are none.
	Voters []proto.NodeID
	// VoterState is the state of the list of voters.
	VoterState algorithms.VoterState
	// Watched are the other voters whose death this node could prove at once.
	Watched []proto.NodeID
	// Split is the latest news of a split brain, nil for none. SplitAt is when it came.
	Split   *trace.Split
	SplitAt time.Time
	// Members are the processes believed alive, this one included, in the order of their ids.
	Members []Member
	// Gone are the processes that left Members and are not back, in the order of ids.
	Gone []Gone
	// Counters has the counters by name, in snake_case.
	Counters map[string]uint64
}

// Unfenced says that a former leader was not confirmed to have stopped.
type Unfenced struct {
	For proto.Term // the term that the node cannot lead until the former leader has stopped
	Why string
}

// staleAfter is how old the loop's last sign of life may be. The loop gives one each second,
// and may wait a few seconds for a disk.
const staleAfter = 5 * time.Second

// sick returns why the node is not healthy; "" if it is healthy.
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

// unready returns why the node is not ready; "" if it is ready. A node without a leader may be ready: if
// nodes needed a leader before they get traffic, they could wait for each other for ever.
func (s Snapshot) unready(now time.Time) string {
	if why := s.sick(now); why != "" {
		return why
	}
	if !s.Gossiping {
		return "gossip is not running"
	}
	return s.Refused
}

// leadership returns the answer to the question who leads. If the node's loop hangs, the answer is nobody:
// the node cannot have heard what happened since.
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

// believed returns the answer to the question who leads if the node believes l.
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

// confirmed returns whether a leader has confirmed the list of voters; nil if there are no voters.
func (s Snapshot) confirmed() *bool {
	if len(s.Voters) == 0 {
		return nil
	}
	return new(s.VoterState.Committed)
}

// leaderless returns why nobody leads, as far as this node can tell.
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
	if why := s.storeless(); why != "" {
		return "no leader is known: " + why
	}
	known := "no leader is known"
	if s.Store != nil && s.Store.Holder != "" {
		known = "no leader is heard, and the first entry in the store is of " + s.Store.Holder
	}
	if s.Recovery != "" {
		return known + ", and this node does not vote: " + s.Recovery
	}
	if s.Ineligible != "" {
		return known + ", and this node does not stand: " + s.Ineligible
	}
	return known
}

// storeless returns what about the store may be why nobody leads; "" if it answers, and no stranger leads there.
func (s Snapshot) storeless() string {
	switch st := s.Store; {
	case st == nil:
		return ""
	case st.Failed != "":
		return fmt.Sprintf("the store %s does not answer this node since %s: %s", st.URL,
			st.Since.Format(time.RFC3339), st.Failed)
	case st.At.IsZero():
		return fmt.Sprintf("the store %s has not answered this node yet", st.URL)
	case st.Foreign:
		return "in the store, " + st.Holder + " leads"
	}
	return ""
}

func (s Snapshot) status(now time.Time) Status {
	st := Status{
		Leadership: s.leadership(now), Incarnation: s.Incarnation.String(),
		Cluster: s.Cluster, Healthy: s.sick(now) == "", LastTick: s.LastTick,
		CredentialsExpire: s.Expires, CredentialsRefused: s.Refused, NotReady: s.unready(now),
		Alive:    make([]proto.NodeID, 0, len(s.Members)),
		Counters: s.Counters, Voters: s.Voters, Watched: s.Watched,
		VotersConfirmed: s.confirmed(), VotersVersion: s.VoterState.Version,
		Ineligible: s.Ineligible, Recovery: s.Recovery, Store: s.Store, Differ: s.Differ,
		Unmet:  s.Unmet,
		Checks: s.Checks,
		Split:  s.Split, SplitAt: s.SplitAt, Lent: s.Lent, Gone: s.Gone,
	}
	if st.Leader == s.Leader.ID {
		st.Since = s.Since
	}
	st.Ready = st.NotReady == ""
	st.Role = string(trace.RoleOf(s.Self, algorithms.Leader{ID: st.Leader}))
	for _, m := range s.Members {
		st.Alive = append(st.Alive, m.ID)
	}
	return st
}
