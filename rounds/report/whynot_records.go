package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
)

// recorded returns what the records of a group tell about a node.
func recorded(g *rounds.Group, id uint64) *Case {
	leader, term := leads(g)
	c := &Case{Node: id, Algorithm: g.Algorithm, Doubts: doubtsIn(g, id)}
	if leader == id {
		c.Leads = fmt.Sprintf("term %d, by the last records there are", term)
		return c
	}
	c.Beliefs = []Belief{{Leader: leader, Term: term}}
	c.Voters, c.AskedBy = lastVoters(g)
	if leader == 0 {
		c.Attempt, c.Vacancy = lastAttempt(g), [][]string{quorum(g), unfenced(g)}
	}
	n := find(g, id)
	if n == nil {
		c.Own.Silent = fmt.Sprintf("Node %d was never heard of: no record is its own, and none names it.", id)
		return c
	}
	c.Own = ownWord(g, n)
	c.lastElection(g, n, leader)
	return c
}

// find returns the node with this id, or nil if nobody ever heard of it.
func find(g *rounds.Group, id uint64) *rounds.Node {
	for i := range g.Nodes {
		if g.Nodes[i].ID == id {
			return &g.Nodes[i]
		}
	}
	return nil
}

// leads returns who leads which term by the last records: the leader that nodes name in the highest
// term, 0 if they name none. It ignores nodes whose last process has ended.
func leads(g *rounds.Group) (leader, term uint64) {
	for _, n := range g.Nodes {
		if ended(g, &n) {
			continue
		}
		if n.Term > term {
			leader, term = 0, n.Term
		}
		if n.Term == term && n.Leader > leader {
			leader = n.Leader
		}
	}
	return leader, term
}

// ended reports whether other nodes proved, after the node's last record, that its process has
// ended.
func ended(g *rounds.Group, n *rounds.Node) bool {
	if len(n.Lives) == 0 {
		return false
	}
	until := n.Lives[len(n.Lives)-1].Until
	return slices.ContainsFunc(accusers(g, n.ID), func(d rounds.Dropped) bool {
		return d.At.After(until) && slices.ContainsFunc(proofs, func(kind string) bool {
			return strings.Contains(d.Evidence+",", fmt.Sprintf("%s %d,", kind, n.ID))
		})
	})
}

// proofs are the kinds of evidence that prove that a process has ended.
var proofs = []string{"dial-refused", "proven-dead", "left"}

// lastAttempt says since when nobody leads: when and why the last round began, if nobody won it.
func lastAttempt(g *rounds.Group) []string {
	if len(g.Rounds) == 0 {
		return nil
	}
	r := g.Rounds[len(g.Rounds)-1]
	if r.State == rounds.Decided {
		return nil
	}
	return []string{fmt.Sprintf("Term %d began at %s because of this: %s. %s.",
		r.Term, clock(began(r)), because(r), words.Upper(outcome(r)))}
}

// lastVoters returns the voters that were asked last, and the candidate that asked them.
func lastVoters(g *rounds.Group) (voters []uint64, candidate uint64) {
	for _, r := range slices.Backward(g.Rounds) {
		if r.Ballot != nil {
			return r.Ballot.Voters, r.Ballot.Candidate
		}
	}
	return nil, 0
}

// ownWord returns what the node's own records say about it: that the node is ineligible or stands
// aside, that its records end before those of other nodes, or that it has no records.
func ownWord(g *rounds.Group, n *rounds.Node) Candidate {
	own := Candidate{Node: n.ID, Ineligible: n.Ineligible, Ref: n.Aside}
	if n.Records == 0 {
		own.Silent = fmt.Sprintf("No record of node %d itself is here: it is not running, or its log is missing.", n.ID)
		return own
	}
	own.Resigned = n.Ineligible == "" && !n.Aside.IsZero()
	life := n.Lives[len(n.Lives)-1]
	newest := life.Until
	for _, other := range g.Nodes {
		for _, l := range other.Lives {
			if l.Until.After(newest) {
				newest = l.Until
			}
		}
	}
	if silent := newest.Sub(life.Until); silent > 0 && len(accusers(g, n.ID)) > 0 {
		own.Ended = fmt.Sprintf("Its own records end with %v, %s before the last of the others.",
			life.Last, rounds.Span(silent))
	}
	return own
}

// accusers returns the evidence of each other node whose last view lacks the node id.
func accusers(g *rounds.Group, id uint64) (found []rounds.Dropped) {
	for _, n := range g.Nodes {
		for _, d := range n.Gone {
			if d.ID == id && n.ID != id {
				found = append(found, d)
			}
		}
	}
	return found
}

// doubtsIn returns the nodes to which the node id is not alive, grouped by their evidence.
func doubtsIn(g *rounds.Group, id uint64) (list []Doubt) {
	for _, d := range accusers(g, id) {
		i := slices.IndexFunc(list, func(known Doubt) bool { return known.Evidence == d.Evidence })
		if i < 0 {
			i = len(list)
			list = append(list, Doubt{Evidence: d.Evidence, Hint: hint(d.Evidence, id)})
		}
		list[i].By, list[i].Refs = append(list[i].By, d.Node), append(list[i].Refs, d.Ref)
	}
	return list
}

// hint says what evidence of this kind usually means.
func hint(evidence string, id uint64) string {
	has := func(kind string) bool { return strings.Contains(evidence, fmt.Sprintf("%s %d", kind, id)) }
	switch {
	case has("left"):
		return ""
	case has("dial-refused"):
		return " Its process has ended."
	case has("heartbeat-missed"):
		return " It hangs, is paused or is cut off."
	case has("unreachable"):
		return " Its machine is down, or the network between them is cut."
	}
	return ""
}

// lastElection says why the node did not win the election that made the leader.
func (c *Case) lastElection(g *rounds.Group, n *rounds.Node, leader uint64) {
	for _, r := range slices.Backward(g.Rounds) {
		if r.Winner != nil && r.Winner.Node == leader {
			c.lost(r, n)
			return
		}
	}
}

// lost says why the node did not win the round that another node won. It quotes the verdict against the node
// that names the winner, or the only verdict against the node. Without such a verdict, it says how the winner
// won, and compares the ranks.
func (c *Case) lost(r *rounds.Round, n *rounds.Node) {
	say := func(format string, args ...any) { c.Election = append(c.Election, fmt.Sprintf(format, args...)) }
	w := r.Winner
	own := slices.DeleteFunc(slices.Clone(r.Verdicts), func(v rounds.Verdict) bool { return v.Loser != n.ID })
	for _, v := range own {
		if v.Over != w.Node && len(own) > 1 {
			continue
		}
		by := v.Over
		if v.Kind == rounds.Refused {
			by = v.By
		}
		say("In term %d it was %s by node %d: \"%s\", wrote node %d (%v).",
			r.Term, verdictWord(v.Kind), by, v.Why, v.Ref.Node, v.Ref)
		if v.Rule != "" {
			say("The rule: “%s”", v.Rule)
		}
		return
	}
	switch {
	case w.Live != nil && !slices.Contains(w.Live, n.ID):
		say("When node %d won term %d, it did not believe node %d alive.", w.Node, r.Term, n.ID)
	case r.Ballot != nil && !w.Ref.IsZero():
		say("Node %d won term %d because of this: %s.", w.Node, r.Term, granted(r))
	case w.Why != "":
		say("Node %d won term %d because of this: %s.", w.Node, r.Term, w.Why)
	}
	c.Rank, c.LeaderRank = &Rank{n.Attr, n.ID}, &Rank{w.Attr, w.Node}
	if order, _ := c.Rank.compare(*c.LeaderRank); order > 0 && len(r.Findings) > 0 {
		c.Rank = nil // the findings may tell why a lower node leads
	}
}

func verdictWord(k rounds.VerdictKind) string {
	switch k {
	case rounds.Suppressed:
		return "suppressed"
	case rounds.Deposed:
		return "deposed"
	case rounds.Refused:
		return "refused the term"
	}
	return "outranked"
}
