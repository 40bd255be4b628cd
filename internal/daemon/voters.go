package daemon

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/proto"
)

// causeVoters is the cause for which a node does not lead while it sees processes whose majorities
// may have no voter in common with its own.
const causeVoters = "voters"

// compareVoters keeps this node from leading while it sees a process of its cluster to which it
// must give way because of their lists of voters. Either process may have no voters.
func (d *Daemon) compareVoters(listed []membership.Member, now time.Time) {
	own := d.VotersNow(d.Node)
	d.group.SetVoters(own)
	var why []string
	for _, m := range slices.Concat(listed, d.others.lately(now)) {
		if own.GivesWay(m.Voters) && (m.Store == membership.Store{}) == (d.Store == nil) { // else see compareStores
			why = append(why, fmt.Sprintf("node %v has %s", m.ID, sayVoters(m.Voters)))
		}
	}
	if len(why) == 0 {
		d.Node.SetEligible(causeVoters, true, "")
		return
	}
	d.Node.SetEligible(causeVoters, false, fmt.Sprintf("%s, this node %s: two majorities might lead; "+
		"start the one that is wrong again, with what the others have, and change one voter at a time",
		strings.Join(slices.Compact(why), "; "), sayVoters(own)))
}

func sayVoters(v membership.Voters) string {
	if v.List != "" && !v.Committed {
		return v.List.String() + ", not confirmed yet"
	}
	return v.List.String()
}

// proven returns those of the members that count where settings are compared: all of them or, with credentials, those
// that were reached and have proven who they are. Gossip alone must not keep a leader from leading.
func (d *Daemon) proven(listed []membership.Member) []membership.Member {
	if d.Credentials == nil {
		return listed
	}
	reached := map[proto.NodeID]bool{}
	for _, p := range d.links.Stats().Peers {
		reached[p.ID] = p.Proven
	}
	return slices.DeleteFunc(slices.Clone(listed), func(m membership.Member) bool { return !reached[m.ID] })
}

// maxVerified is how many strangers are asked at a time who they are.
const maxVerified = 4

// verify calls met with a stranger if it proves at its election address that it is a node of the cluster, and that it
// refuses this one.
func (d *Daemon) verify(m membership.Member, met func(membership.Member)) {
	if d.verifying.Add(1) > maxVerified {
		d.verifying.Add(-1)
		return
	}
	d.parts.Go(func() {
		defer d.verifying.Add(-1)
		ctx, cancel := context.WithTimeout(context.Background(), verifyTime)
		defer cancel()
		if d.links.Refuses(ctx, m.ID, m.ElectionAddr) {
			met(m)
		}
	})
}

// verifyTime is how long a stranger may take to answer.
const verifyTime = time.Second

// strangers are processes of this cluster that share no gossip with this node. For example, voters
// are strangers to a node without voters. Any goroutine may use them.
type strangers struct {
	mu    sync.Mutex
	known map[proto.NodeID]stranger
}

type stranger struct {
	membership.Member
	at time.Time
}

// strangerFor is how long a stranger counts as present after it was last heard of. It is several
// rounds in which this node tries its seeds.
const strangerFor = 10 * time.Second

// maxStrangers is how many strangers are remembered at most. More would change nothing.
const maxStrangers = 100

func (s *strangers) met(m membership.Member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[proto.NodeID]stranger{}
	}
	if _, ok := s.known[m.ID]; ok || len(s.known) < maxStrangers {
		s.known[m.ID] = stranger{m, time.Now()}
	}
}

// lately returns the strangers that were heard of lately, in the order of ids.
func (s *strangers) lately(now time.Time) (all []membership.Member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(s.known)) {
		if now.Sub(s.known[id].at) > strangerFor {
			delete(s.known, id)
			continue
		}
		all = append(all, s.known[id].Member)
	}
	return all
}
