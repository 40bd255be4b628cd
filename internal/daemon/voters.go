package daemon

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/proto"
)

// causeVoters keeps a node from leading while it sees processes whose majorities need not
// meet its own.
const causeVoters = "voters"

// compareVoters keeps this node from leading, with voters or without, beside a process of
// its cluster that it sees and to which it must give way.
func (d *Daemon) compareVoters(listed []membership.Member, now time.Time) {
	own := d.ownVoters()
	d.group.SetVoters(own)
	var why []string
	for _, m := range slices.Concat(listed, d.others.lately(now)) {
		if own.GivesWay(m.Voters) {
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

// ownVoters are this node's, and how far they have come.
func (d *Daemon) ownVoters() membership.Voters {
	s := d.Node.Status().Voters
	return membership.Voters{List: proto.ListVoters(d.Voters), Version: s.Version, Committed: s.Committed}
}

// watched are those whose deaths this node has to prove: all voters, and one that they have
// just lost.
func (d *Daemon) watched() []proto.NodeID {
	all := slices.Clone(d.Voters)
	if id := d.changed; id != 0 && !d.Voters.Has(id) {
		all = append(all, id)
	}
	return all
}

func sayVoters(v membership.Voters) string {
	if v.List != "" && !v.Committed {
		return v.List.String() + ", not confirmed yet"
	}
	return v.List.String()
}

// strangers are the processes of this cluster with which this node shares no gossip, such
// as voters, to a node that has none. Any goroutine may use them.
type strangers struct {
	mu    sync.Mutex
	known map[proto.NodeID]stranger
}

type stranger struct {
	membership.Member
	at time.Time
}

// strangerFor is how long a stranger is taken to be there after it was heard of last:
// several rounds in which this node tries its seeds.
const strangerFor = 10 * time.Second

// maxStrangers bounds how many are remembered: others add nothing.
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

// lately are those that were heard of lately, by id.
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
