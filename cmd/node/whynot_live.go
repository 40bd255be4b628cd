package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// survey is what the nodes of a running cluster answer.
type survey struct {
	asked   httpapi.Status
	members []httpapi.Member // whom the node that was asked believes alive
	said    map[proto.NodeID]httpapi.Status
	silent  map[proto.NodeID]error // why there is no answer
	// strangers are nodes of another cluster or algorithm, whom the asked one
	// does not know; mute is why others that were named do not answer, by address.
	strangers map[proto.NodeID]httpapi.Status
	mute      map[string]error
}

// whyNotLive asks a running node, each node that it believes alive, and those
// that were named besides.
func whyNotLive(ctx context.Context, out io.Writer, addresses []string, id proto.NodeID) error {
	s, err := newSurvey(ctx, httpapi.Client{Addr: addresses[0]}, addresses[1:])
	if err != nil {
		return err
	}
	for _, sentence := range s.whyNot(id) {
		fmt.Fprintln(out, sentence)
	}
	return nil
}

// newSurvey asks all nodes at once: each may take seconds not to answer.
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

// whyNot is the answer, a sentence or two a line.
func (s *survey) whyNot(id proto.NodeID) []string {
	if own, ok := s.said[id]; ok && own.IsLeader {
		return append([]string{fmt.Sprintf("Node %v does lead: term %d (%s), it says itself.",
			id, own.Term, own.Guarantee)}, s.others(id)...)
	}
	lines := s.whoLeads()
	lines = append(lines, s.itself(id)...)
	lines = append(lines, s.aside(id)...)
	lines = append(lines, s.noVoter(id)...)
	if !s.seen(id) {
		return append(lines, s.unknown(id)...)
	}
	lines = append(lines, s.unseen(id)...)
	m := slices.IndexFunc(s.members, func(m httpapi.Member) bool { return m.ID == id })
	if m < 0 || s.said[id].Ineligible != "" { // then its rank does not matter
		return lines
	}
	return append(lines, s.ranks(s.members[m])...)
}

// seen reports whether any node that answers believes the node alive.
func (s *survey) seen(id proto.NodeID) bool {
	for other, status := range s.said {
		if other != id && slices.Contains(status.Alive, id) {
			return true
		}
	}
	return id == s.asked.Self && len(s.said) == 1
}

// unknown says that nobody believes the node alive, and what that may mean.
func (s *survey) unknown(id proto.NodeID) []string {
	var asked []proto.NodeID
	for other := range s.said {
		if other != id {
			asked = append(asked, other)
		}
	}
	slices.Sort(asked)
	line := fmt.Sprintf("Node %v is alive to none that answers: %s.", id, joinIDs(asked))
	_, known := s.said[id]
	if _, stranger := s.strangers[id]; known || stranger {
		return []string{line}
	}
	mute := slices.Sorted(maps.Keys(s.mute))
	for _, addr := range mute {
		line += fmt.Sprintf(" At %s nobody answers (%v).", addr, s.mute[addr])
	}
	if len(mute) > 0 {
		return []string{line + " If that is where it serves HTTP, it is not running, paused, or cut off from here."}
	}
	return []string{line + fmt.Sprintf(" It was never of this cluster, is not running, hangs or is paused, cannot be "+
		"reached, or has another label than %q or another algorithm than %s. Ask it too, with a second --addr; "+
		"what it was is in the logs: ringleader why-not %v LOGS.", s.asked.Cluster, s.asked.Algorithm, id)}
}

// noVoter says that the node is none of the voters.
func (s *survey) noVoter(id proto.NodeID) []string {
	if len(s.asked.Voters) == 0 || slices.Contains(s.asked.Voters, id) {
		return nil
	}
	return []string{fmt.Sprintf("Node %v is none of the voters (%s): it may follow, and never leads.",
		id, joinIDs(s.asked.Voters))}
}

// whoLeads says who leads, and which nodes say so.
func (s *survey) whoLeads() []string {
	type belief struct {
		leader proto.NodeID
		term   proto.Term
		reason string // why nobody leads: one node may know better than another
	}
	by := map[belief][]proto.NodeID{}
	for id, status := range s.said {
		b := belief{status.Leader, status.Term, status.Reason}
		by[b] = append(by[b], id)
	}
	var lines []string
	for b, ids := range by {
		slices.Sort(ids)
		text := fmt.Sprintf("Node %v leads term %d, by the word of %s.", b.leader, b.term, joinIDs(ids))
		if b.leader == 0 {
			text = fmt.Sprintf("Nobody leads term %d, by the word of %s: %s.", b.term, joinIDs(ids), b.reason)
		}
		lines = append(lines, text)
	}
	slices.Sort(lines)
	return lines
}

// others are those that do not follow a node which says that it leads.
func (s *survey) others(id proto.NodeID) []string {
	var lines []string
	for _, m := range s.members {
		status, ok := s.said[m.ID]
		if ok && status.Leader != id {
			lines = append(lines, fmt.Sprintf("But node %v does not follow it: %s.",
				m.ID, leadershipLine(status.Leadership)))
		}
	}
	return lines
}

// itself is what the node says of itself, or why it does not.
func (s *survey) itself(id proto.NodeID) []string {
	if err := s.silent[id]; err != nil {
		return []string{fmt.Sprintf("Node %v itself does not answer (%v). If it cannot be asked from here, ask it "+
			"where it runs; if it can, it may be paused or hang.", id, err)}
	}
	own, ok := s.said[id]
	if !ok {
		own, ok = s.strangers[id]
	}
	if !ok {
		return nil
	}
	var lines []string
	if !own.Healthy {
		lines = append(lines, fmt.Sprintf("Node %v is not well: %s.", id, own.NotReady))
	}
	if own.Ineligible != "" {
		lines = append(lines, fmt.Sprintf("Node %v does not stand for election: %s.", id, own.Ineligible))
	}
	if own.Recovery != "" {
		lines = append(lines, fmt.Sprintf("Node %v votes for nobody, and does not stand: %s.", id, own.Recovery))
	}
	if own.Cluster != s.asked.Cluster {
		lines = append(lines, fmt.Sprintf("Node %v is of cluster %q, the others of %q.",
			id, own.Cluster, s.asked.Cluster))
	}
	if own.Algorithm != s.asked.Algorithm {
		lines = append(lines, fmt.Sprintf("Node %v runs %s, the others %s: they do not understand each other.",
			id, own.Algorithm, s.asked.Algorithm))
	}
	return lines
}

// aside are the others that do not stand for election either, where nobody leads.
func (s *survey) aside(id proto.NodeID) []string {
	if s.asked.Leader != 0 {
		return nil
	}
	var lines []string
	for _, m := range s.members {
		if status := s.said[m.ID]; m.ID != id && status.Ineligible != "" {
			lines = append(lines, fmt.Sprintf("Node %v does not stand for election either: %s.",
				m.ID, status.Ineligible))
		}
		if status := s.said[m.ID]; m.ID != id && status.Recovery != "" {
			lines = append(lines, fmt.Sprintf("Node %v votes for nobody: %s.", m.ID, status.Recovery))
		}
	}
	return lines
}

// unseen says in whose view the node is not alive.
func (s *survey) unseen(id proto.NodeID) []string {
	var blind []proto.NodeID
	for other, status := range s.said {
		if other != id && !slices.Contains(status.Alive, id) {
			blind = append(blind, other)
		}
	}
	if len(blind) == 0 {
		return nil
	}
	slices.Sort(blind)
	return []string{fmt.Sprintf("Node %v is not alive in the view of %s.", id, joinIDs(blind))}
}

// ranks compares the node with the leader of the node that was asked.
func (s *survey) ranks(m httpapi.Member) []string {
	at := slices.IndexFunc(s.members, func(l httpapi.Member) bool { return l.ID == s.asked.Leader })
	if at < 0 {
		return nil
	}
	leader := s.members[at]
	rank := func(m httpapi.Member) string { return fmt.Sprintf("%d, id %v", m.Attr, m.ID) }
	if m.Attr < leader.Attr || m.Attr == leader.Attr && m.ID < leader.ID {
		return []string{fmt.Sprintf("It is outranked: node %v (%s) ranks above it (%s).",
			leader.ID, rank(leader), rank(m))}
	}
	text := fmt.Sprintf("It ranks (%s) above the leader (%s). ", rank(m), rank(leader))
	entry, err := catalog.Lookup(s.asked.Algorithm)
	switch {
	case err == nil && !entry.Preempt:
		text += fmt.Sprintf("With the %s algorithm a living leader stays, unless --preempt is set.", entry.Name)
	default:
		text += "It takes over after a short while, unless it stands aside because it was asked to resign, " +
			"pre-emption is off, or an operator chose the leader."
	}
	return []string{text}
}
