// Package survey asks the nodes of a running cluster why one of them does not lead.
package survey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/internal/words"
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
	now       time.Time // by which all have answered
}

// WhyNot prints why a node does not lead. It asks the node at the first address, all nodes that
// this first node believes alive, and the nodes at the other addresses: each as the client all would,
// whose own address does not count. It returns an error if the first node does not answer.
func WhyNot(ctx context.Context, out io.Writer, all httpapi.Client, addresses []string, id proto.NodeID) error {
	s, err := newSurvey(ctx, at(all, addresses[0]), addresses[1:])
	if err != nil {
		return err
	}
	for _, sentence := range slices.Concat(s.about(id).Paragraphs()...) {
		fmt.Fprintln(out, sentence)
	}
	return nil
}

// at returns the client with another address.
func at(c httpapi.Client, addr string) httpapi.Client {
	c.Addr = addr
	return c
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
			status, err := at(first, addr).Status(ctx)
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
			status, err := askMember(ctx, first, m)
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
	s.now = time.Now()
	return s, nil
}

func askMember(ctx context.Context, all httpapi.Client, m httpapi.Member) (httpapi.Status, error) {
	if m.HTTPAddr == "" {
		return httpapi.Status{}, errors.New("it serves no HTTP")
	}
	status, err := at(all, m.HTTPAddr).Status(ctx)
	if err == nil && status.Self != m.ID {
		err = fmt.Errorf("node %v answers at its address %s", status.Self, m.HTTPAddr)
	}
	return status, err
}

// about returns what the answers say about a node.
func (s *survey) about(id proto.NodeID) *report.Case {
	c := &report.Case{Node: uint64(id), Algorithm: s.asked.Algorithm, Beliefs: s.beliefs(), Now: s.now}
	own, told := s.said[id]
	if c.Losses = s.losses(id); told {
		c.Again = "It answers now."
	}
	if own.IsLeader {
		c.Leads, c.Lists = true, append(s.otherVoters(id), differ(own)...)
		c.Beliefs = slices.Insert(slices.DeleteFunc(c.Beliefs, func(b report.Belief) bool {
			return b.Leader == uint64(id) && b.Term == uint64(own.Term)
		}), 0, report.Belief{
			Leader: uint64(id), Term: uint64(own.Term), Since: own.Since, Guarantee: string(own.Guarantee),
		})
		return c
	}
	c.Own = s.ownWord(id)
	leader := s.leader()
	if c.Lists = s.lists(id, leader); c.Lists == nil {
		c.Voters = numbers(s.asked.Voters)
		if said, told := s.said[leader]; told {
			c.Voters = numbers(said.Voters)
		}
	}
	if own.Ineligible == "" { // else that says it
		c.Lists = append(c.Lists, differ(own)...)
	}
	if leader == 0 && c.Lists == nil {
		for _, m := range s.members {
			if m.ID != id {
				c.Others = append(c.Others, candidate(s.said[m.ID]))
			}
		}
	}
	seen := false
	if c.Unseen, seen = s.unseen(id); seen && own.Ineligible == "" { // else its rank does not matter
		c.Rank, c.LeaderRank = s.rank(id), s.rank(leader)
	}
	return c
}

// differ says in which settings other nodes elect elsewhere than the node.
func differ(own httpapi.Status) (sentences []string) {
	for _, is := range own.Differ {
		sentences = append(sentences, fmt.Sprintf("Node %v says: %s.", own.Self, is))
	}
	return sentences
}

// leader returns who leads: whoever says so of itself in the highest term or, if nobody who answers does, whom the
// asked node follows.
func (s *survey) leader() proto.NodeID {
	best := httpapi.Status{Leadership: httpapi.Leadership{Self: s.asked.Leader}}
	for _, id := range slices.Sorted(maps.Keys(s.said)) {
		if said := s.said[id]; said.IsLeader && said.Term >= best.Term {
			best = said
		}
	}
	return best.Self
}

// lists says that the node has another list of voters than the leader or, where nobody leads, than another node.
func (s *survey) lists(id, leader proto.NodeID) []string {
	own, told := s.said[id]
	others := slices.Sorted(maps.Keys(s.said))
	if leader != 0 {
		others = slices.DeleteFunc(others, func(other proto.NodeID) bool { return other != leader })
	}
	for _, other := range others {
		differ := report.OtherVoters(uint64(id), uint64(other), leader != 0, numbers(own.Voters),
			numbers(s.said[other].Voters), "")
		if told && differ != nil {
			return differ
		}
	}
	return nil
}

// otherVoters says which node does not follow the leader, since it has another list of voters.
func (s *survey) otherVoters(leader proto.NodeID) []string {
	for _, other := range slices.Sorted(maps.Keys(s.said)) {
		if s.said[other].Leader != leader {
			if differ := s.lists(other, leader); differ != nil {
				return differ
			}
		}
	}
	return nil
}

// beliefs lists the leaders that nodes name, each with the nodes that name it.
func (s *survey) beliefs() (list []report.Belief) {
	for _, id := range slices.Sorted(maps.Keys(s.said)) {
		status := s.said[id]
		if !status.Healthy {
			continue // it cannot have heard who leads
		}
		b := report.Belief{
			Leader: uint64(status.Leader), Term: uint64(status.Term), Since: status.Since, Reason: s.reason(status),
		}
		i := slices.IndexFunc(list, func(known report.Belief) bool { // of reasons, one node may know a better
			return known.Leader == b.Leader && known.Reason == b.Reason && (b.Leader == 0 || known.Term == b.Term)
		})
		if i < 0 {
			i = len(list)
			list = append(list, b)
		}
		// Of a leader the first one knew first. That nobody leads is true once none of them knows a leader.
		better := b.Since.Before(list[i].Since) == (b.Leader != 0)
		if list[i].Since.IsZero() || !b.Since.IsZero() && better {
			list[i].Since = b.Since
		}
		list[i].By = append(list[i].By, uint64(id))
	}
	for i := range list {
		list[i].Reason = strings.ReplaceAll(list[i].Reason, "this node", words.Either(len(list[i].By), "it", "them"))
	}
	slices.SortStableFunc(list, func(a, b report.Belief) int { // first what most believe, leaders before nobody
		if (a.Leader == 0) != (b.Leader == 0) {
			return cmp.Compare(b.Leader, a.Leader)
		}
		return cmp.Compare(len(b.By), len(a.By))
	})
	return list
}

// reason returns why a node believes that nobody leads, without what is said of that node itself in other sentences.
func (s *survey) reason(status httpapi.Status) string {
	for _, own := range []string{status.Recovery, status.Ineligible} {
		if known, ok := strings.CutSuffix(status.Reason, ": "+own); ok && own != "" {
			known, _, _ = strings.Cut(known, ", and this node")
			return known
		}
	}
	return status.Reason
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

// life returns the incarnation of the node's last process: of the one that answers or is alive to the asked node, or
// else of the one that was lost last. It returns "" if none is known.
func (s *survey) life(id proto.NodeID) (life string) {
	if own, told := s.said[id]; told {
		return own.Incarnation
	}
	for _, m := range s.members {
		if m.ID == id {
			return m.Incarnation
		}
	}
	var last time.Time
	for _, said := range s.said {
		for _, g := range said.Gone {
			if g.ID == id && g.At.After(last) {
				life, last = g.Incarnation, g.At
			}
		}
	}
	return life
}

// losses returns how the other nodes lost the node's last process.
func (s *survey) losses(id proto.NodeID) (list []report.Loss) {
	life := s.life(id)
	for _, other := range slices.Sorted(maps.Keys(s.said)) {
		for _, g := range s.said[other].Gone {
			if g.ID != id || other == id || g.Incarnation != life {
				continue
			}
			loss := report.Loss{At: g.At, By: []uint64{uint64(other)}, Evidence: g.Evidence}
			list = report.Lost(list, uint64(id), loss)
		}
	}
	return list
}

// unseen says which nodes do not believe node id alive without having lost its last process, and what may be the reason
// if no other node believes it alive. The result seen says whether another node does; it is true if nobody else was
// asked.
func (s *survey) unseen(id proto.NodeID) (sentences []string, seen bool) {
	var never, former []uint64
	lost, life := false, s.life(id)
	own, told := s.said[id]
	for _, other := range slices.Sorted(maps.Keys(s.said)) {
		said := s.said[other]
		switch {
		case other == id:
		case slices.Contains(said.Alive, id):
			seen = true
		case slices.ContainsFunc(said.Gone, func(g httpapi.Gone) bool { return g.ID == id && g.Incarnation == life }):
			lost = true
		case slices.ContainsFunc(said.Gone, func(g httpapi.Gone) bool { return g.ID == id }):
			former = append(former, uint64(other))
		default:
			never = append(never, uint64(other))
		}
	}
	if len(former) > 0 {
		sentences = append(sentences, fmt.Sprintf("%s lost a process of node %v before the last one, and never saw "+
			"the last one.", words.Upper(words.Nodes(former)), id))
	}
	switch {
	case len(never)+len(former) == 0 && !lost && len(own.Alive) == 1:
		return s.unmet(id), true
	case len(never)+len(former) == 0 && !lost: // its gossip is heard, and its links may be refused
		names := func(other proto.NodeID, u *httpapi.Unmet) bool { return other != id && slices.Contains(u.Nodes, id) }
		meets := len(s.said) == 1 && told
		for other, said := range s.said {
			refuses := func(u httpapi.Unmet) bool { return names(other, &u) }
			meets = meets || other != id && !slices.ContainsFunc(said.Unmet, refuses)
		}
		return s.unmetBy(names), meets
	case len(never) > 0 && (seen || lost || told || len(former) > 0):
		sentences = append(sentences, fmt.Sprintf("Node %v was never alive to %s, since %s started.", id,
			words.Nodes(never), words.Either(len(never), "it", "they")))
	case len(never) > 0:
		sentences = []string{fmt.Sprintf("No node that answers has ever heard of node %v: %s never did, since %s "+
			"started.", id, words.List(never), words.Either(len(never), "it", "they"))}
	}
	if !seen {
		unmet := s.unmet(id)
		sentences = append(sentences, unmet...)
		sentences = append(sentences, s.hints(id, lost || len(former)+len(unmet) > 0)...)
	}
	return sentences, seen
}

// unmet says which nodes do not meet a node that may be this one, and whom this one does not meet.
func (s *survey) unmet(id proto.NodeID) (sentences []string) {
	return s.unmetBy(func(other proto.NodeID, u *httpapi.Unmet) bool {
		return other == id || len(u.Nodes) == 0 || slices.Contains(u.Nodes, id)
	})
}

// unmetBy says which nodes do not meet somebody, of those whom a node names that count.
func (s *survey) unmetBy(counts func(other proto.NodeID, u *httpapi.Unmet) bool) (sentences []string) {
	var order []string
	by := map[string][]uint64{}
	for _, other := range slices.Sorted(maps.Keys(s.said)) {
		for _, u := range s.said[other].Unmet {
			if !counts(other, &u) {
				continue
			}
			if by[u.Why] == nil {
				order = append(order, u.Why)
			}
			by[u.Why] = append(by[u.Why], uint64(other))
		}
	}
	for _, why := range order {
		sentences = append(sentences, fmt.Sprintf("%s %s: %s.", words.Upper(words.Nodes(by[why])),
			words.Either(len(by[why]), "says", "say"), why))
	}
	return sentences
}

// hints says what may be wrong with a node that nobody believes alive, and what to do next. If it is known, only who
// does not answer counts.
func (s *survey) hints(id proto.NodeID, isKnown bool) (sentences []string) {
	_, known := s.said[id]
	if _, stranger := s.strangers[id]; known || stranger {
		return nil
	}
	for _, addr := range slices.Sorted(maps.Keys(s.mute)) {
		sentences = append(sentences, fmt.Sprintf("At %s nobody answers (%v).", addr, s.mute[addr]))
	}
	if isKnown {
		return sentences
	}
	if len(sentences) > 0 {
		return append(sentences, "If that is where it serves HTTP, it is not running, paused, or cut off from here.")
	}
	return []string{fmt.Sprintf("If it runs, it has another label than %q or another algorithm than %s, or reaches "+
		"none of them: ask it too, with a second --addr. If it ran before they started, the logs tell: "+
		"ringleader why-not %v LOGS.", s.asked.Cluster, s.asked.Algorithm, id)}
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
