// Package survey asks the nodes of a running cluster why one of them does not lead.
package survey

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// survey collects the answers of the nodes of a running cluster.
type survey struct {
	asked   httpapi.Status
	members []httpapi.Member // the nodes that the asked node believes alive
	said    map[proto.NodeID]httpapi.Status
	silent  map[proto.NodeID]error // why a node did not answer
	// strangers has the answers of nodes with another cluster or algorithm, which the asked node does
	// not know. mute says, by address, why the nodes at other given addresses did not answer.
	strangers map[proto.NodeID]httpapi.Status
	mute      map[string]error
}

// WhyNot prints why a node does not lead. It asks the node at the first address, all nodes that
// this first node believes alive, and the nodes at the other addresses. It returns an error if the
// first node does not answer.
func WhyNot(ctx context.Context, out io.Writer, addresses []string, id proto.NodeID) error {
	s, err := newSurvey(ctx, httpapi.Client{Addr: addresses[0]}, addresses[1:])
	if err != nil {
		return err
	}
	for _, sentence := range slices.Concat(s.about(id).Paragraphs()...) {
		fmt.Fprintln(out, sentence)
	}
	return nil
}

// newSurvey asks the first node, then all other nodes at the same time, since the wait for a node
// that does not answer takes seconds.
func newSurvey(ctx context.Context, first httpapi.Client, more []string) (*survey, error) {
	s := &survey{
		said: map[proto.NodeID]httpapi.Status{}, silent: map[proto.NodeID]error{},
		strangers: map[proto.NodeID]httpapi.Status{}, mute: map[string]error{},
	}
	var err error
	if s.asked, err = first.Status(ctx); err != nil {
		return nil, err
	}
	answer, err := first.Members(ctx)
	if err != nil {
		return nil, err
	}
	s.members = answer.Members
	s.said[s.asked.Self] = s.asked
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, addr := range more {
		all.Go(func() {
			status, err := httpapi.Client{Addr: addr}.Status(ctx)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				s.mute[addr] = err
			case status.Cluster != s.asked.Cluster || status.Algorithm != s.asked.Algorithm:
				s.strangers[status.Self] = status
			default:
				s.said[status.Self] = status
			}
		})
	}
	for _, m := range s.members {
		if m.ID == s.asked.Self {
			continue
		}
		all.Go(func() {
			status, err := askMember(ctx, m)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				s.silent[m.ID] = err
				return
			}
			s.said[m.ID] = status
		})
	}
	all.Wait()
	return s, nil
}

func askMember(ctx context.Context, m httpapi.Member) (httpapi.Status, error) {
	if m.HTTPAddr == "" {
		return httpapi.Status{}, errors.New("it serves no HTTP")
	}
	status, err := httpapi.Client{Addr: m.HTTPAddr}.Status(ctx)
	if err == nil && status.Self != m.ID {
		err = fmt.Errorf("node %v answers at its address %s", status.Self, m.HTTPAddr)
	}
	return status, err
}

// about returns what the answers say about a node.
func (s *survey) about(id proto.NodeID) *report.Case {
	c := &report.Case{
		Node: uint64(id), Algorithm: s.asked.Algorithm, Voters: numbers(s.asked.Voters), Beliefs: s.beliefs(),
	}
	own, told := s.said[id]
	if told && own.IsLeader {
		c.Leads = fmt.Sprintf("term %d (%s), it says itself", own.Term, own.Guarantee)
		return c
	}
	c.Own = s.ownWord(id)
	if s.asked.Leader == 0 {
		for _, m := range s.members {
			if m.ID != id {
				c.Others = append(c.Others, candidate(s.said[m.ID]))
			}
		}
	}
	seen := false
	if c.Doubts, seen = s.doubts(id); seen && own.Ineligible == "" { // else its rank does not matter
		c.Rank, c.LeaderRank = s.rank(id), s.rank(s.asked.Leader)
	}
	return c
}

// beliefs lists the leaders that nodes name, each with the nodes that name it.
func (s *survey) beliefs() (list []report.Belief) {
	for _, id := range slices.Sorted(maps.Keys(s.said)) {
		status := s.said[id]
		b := report.Belief{Leader: uint64(status.Leader), Term: uint64(status.Term), Reason: status.Reason}
		i := slices.IndexFunc(list, func(known report.Belief) bool { // of reasons, one node may know a better
			return known.Leader == b.Leader && known.Term == b.Term && known.Reason == b.Reason
		})
		if i < 0 {
			i = len(list)
			list = append(list, b)
		}
		list[i].By = append(list[i].By, uint64(id))
	}
	return list
}

// ownWord returns what the node says about itself, or why it did not answer.
func (s *survey) ownWord(id proto.NodeID) report.Candidate {
	if err := s.silent[id]; err != nil {
		return report.Candidate{Node: uint64(id), Silent: fmt.Sprintf("Node %v itself does not answer (%v). If it "+
			"cannot be asked from here, ask it where it runs; if it can, it may be paused or hang.", id, err)}
	}
	own, ok := s.said[id]
	if !ok {
		if own, ok = s.strangers[id]; !ok {
			return report.Candidate{Node: uint64(id)}
		}
	}
	c := candidate(own)
	if own.Cluster != s.asked.Cluster {
		c.Strange = append(c.Strange, fmt.Sprintf("Node %v is of cluster %q, the others of %q.",
			id, own.Cluster, s.asked.Cluster))
	}
	if own.Algorithm != s.asked.Algorithm {
		c.Strange = append(c.Strange, fmt.Sprintf("Node %v runs %s, the others %s: they do not understand each other.",
			id, own.Algorithm, s.asked.Algorithm))
	}
	return c
}

func candidate(status httpapi.Status) report.Candidate {
	c := report.Candidate{Node: uint64(status.Self), Ineligible: status.Ineligible, Recovery: status.Recovery}
	if !status.Healthy {
		c.Unwell = status.NotReady
	}
	return c
}

// doubts returns the nodes that do not believe node id alive. The result seen says whether another
// node believes it alive; it is true if nobody doubts.
func (s *survey) doubts(id proto.NodeID) (doubts []report.Doubt, seen bool) {
	var d report.Doubt
	for _, other := range slices.Sorted(maps.Keys(s.said)) {
		switch {
		case other == id:
		case slices.Contains(s.said[other].Alive, id):
			seen = true
		default:
			d.By = append(d.By, uint64(other))
		}
	}
	switch {
	case len(d.By) == 0:
		return nil, true // nobody else was asked
	case !seen:
		d.Everybody, d.Hint = true, s.hint(id)
	}
	return []report.Doubt{d}, seen
}

// hint says what may be wrong with a node that nobody believes alive.
func (s *survey) hint(id proto.NodeID) string {
	_, known := s.said[id]
	if _, stranger := s.strangers[id]; known || stranger {
		return ""
	}
	hint := ""
	for _, addr := range slices.Sorted(maps.Keys(s.mute)) {
		hint += fmt.Sprintf(" At %s nobody answers (%v).", addr, s.mute[addr])
	}
	if hint != "" {
		return hint + " If that is where it serves HTTP, it is not running, paused, or cut off from here."
	}
	return fmt.Sprintf(" It was never of this cluster, is not running, hangs or is paused, cannot be reached, or has "+
		"another label than %q or another algorithm than %s. Ask it too, with a second --addr; what it was is in "+
		"the logs: ringleader why-not %v LOGS.", s.asked.Cluster, s.asked.Algorithm, id)
}

// rank returns the rank of a member, nil for other nodes.
func (s *survey) rank(id proto.NodeID) *report.Rank {
	for _, m := range s.members {
		if m.ID == id {
			return &report.Rank{Attr: &m.Attr, ID: uint64(id)}
		}
	}
	return nil
}

func numbers(ids []proto.NodeID) (list []uint64) {
	for _, id := range ids {
		list = append(list, uint64(id))
	}
	return list
}
