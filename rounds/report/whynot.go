package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/rounds"
)

// Case is what is known about a node of which somebody asks why it does not lead. Two
// sources fill it in: WhyNot from records, `ringleader why-not --addr` from the answers
// of running nodes. A field that a source does not know is zero.
type Case struct {
	Node      uint64
	Algorithm string    // of the cluster
	Now       time.Time // of the answers; zero for records

	// Leads says that the node leads, by the first of Beliefs. Other beliefs contradict that one.
	Leads   bool
	Beliefs []Belief
	// Attempt says how the last election went that brought no leader; Vacancy are the
	// paragraphs on why nobody leads.
	Attempt []string
	Vacancy [][]string

	Own    Candidate
	Others []Candidate // other nodes that do not stand for election, where nobody leads

	Voters  []uint64
	AskedBy uint64     // the candidate that asked these voters, 0 if no record shows it
	Asked   rounds.Ref // the record of its question
	// Lists says that the node has another list of voters than others: see OtherVoters.
	Lists []string

	// Losses say how other nodes lost the node's last process, and Again is a sentence: that it was there again.
	Losses []Loss
	Again  string
	// Unseen are sentences about nodes that have never seen the node.
	Unseen []string
	// Election says how the node last stopped leading, and why it did not win the last election.
	Election []string
	names    *rounds.Names // of the records; nil without records

	// Rank and LeaderRank are compared if both are set, and if rank decides who leads.
	Rank, LeaderRank *Rank
}

// Belief is the belief of some nodes: who leads, or that nobody does.
type Belief struct {
	Leader, Term uint64    // Leader 0 is nobody
	Since        time.Time // zero if it is not known
	Reason       string    // why nobody leads
	Perhaps      bool      // records do not tell it
	By           []uint64  // who says so; nil if it is what all records together tell
	Refs         []rounds.Ref
	Guarantee    string // of a node that says of itself that it leads

	proof   string           // names the records of what all records together tell
	vacancy *rounds.Incident // since when nobody leads, by records; nil if that is not so
}

// Candidate says what keeps a node from leading, by the node's own word.
type Candidate struct {
	Node       uint64
	Silent     string // sentences: why the node says nothing of itself
	Unwell     string
	Ineligible string
	Recovery   string // why it votes for nobody
	Resigned   bool   // an operator asked it to, and it stands aside
	Ref        rounds.Ref
	Lost       rounds.Ref // the record of Recovery
	Strange    []string   // sentences: it has another label, or runs another algorithm
}

// Rank is what nodes are compared by: the attribute, nil if it is not known, and then the id.
type Rank struct {
	Attr *int64
	ID   uint64
}

// WhyNot writes why a node does not lead, as far as the records of its group tell, or that the node
// does lead.
func WhyNot(w io.Writer, g *rounds.Group, id uint64) error {
	var p page
	for _, sentences := range recorded(g, id).Paragraphs() {
		p.paragraph(sentences...)
	}
	for i := range g.Mismatches {
		if m := &g.Mismatches[i]; slices.Contains(m.Nodes, id) || slices.Contains(m.Others, id) {
			p.paragraph(mismatch(g, m))
		}
	}
	return p.to(w)
}

// Paragraphs returns the answer, one list of sentences for each paragraph. The most direct reason comes
// first.
func (c *Case) Paragraphs() [][]string {
	var leaders []string
	for _, b := range c.Beliefs {
		sentence := c.belief(b)
		if first := c.Beliefs[0]; b.Leader != first.Leader || b.Term != first.Term && b.Leader != 0 {
			sentence = "But " + strings.ToLower(sentence[:1]) + sentence[1:]
		}
		leaders = append(leaders, sentence)
	}
	if c.Leads {
		return [][]string{append(leaders, c.Lists...), c.itself(), slices.Concat(c.losses(), c.Unseen)}
	}
	return slices.Concat([][]string{append(leaders, c.Attempt...)}, c.Vacancy, [][]string{
		slices.Concat(c.Lists, c.itself(), c.others(), c.noVoter()),
		slices.Concat(c.losses(), c.Unseen), slices.Concat(c.Election, c.ranks()),
	})
}

// belief says who leads, as some nodes believe.
func (c *Case) belief(b Belief) string {
	text := fmt.Sprintf("Node %d leads term %d", b.Leader, b.Term)
	if b.Leader == 0 {
		text = "Nobody leads"
	}
	switch {
	case b.Perhaps && b.Leader != 0:
		text = "Perhaps n" + text[1:] + " still"
	case b.Perhaps:
		text = "Perhaps nobody leads"
	}
	switch {
	case b.vacancy != nil:
		text += " since " + since(b.vacancy, c.at)
	case !b.Since.IsZero():
		text += " since " + c.at(b.Since)
	}
	switch {
	case b.Guarantee != "":
		text += fmt.Sprintf(", it says itself (%s)", b.Guarantee)
	case len(b.Refs) > 0:
		text += fmt.Sprintf(", by the last %s of %s%s", words.Either(len(b.By), "record", "records"),
			words.Nodes(b.By), cite(c.names, b.Refs...))
	case len(b.By) > 0:
		text += ", by the word of " + words.Nodes(b.By)
	case b.Reason == "":
		text += ", as far as the records go"
	}
	return text + colon(b.Reason) + b.proof + "."
}

// at formats a time. Records have no date, and people know the day. Of running nodes it may be that of long ago.
func (c *Case) at(t time.Time) string {
	switch {
	case c.Now.IsZero():
		return clock(t)
	case c.Now.Sub(t).Abs() > 12*time.Hour:
		return t.UTC().Format(time.DateOnly) + " " + clock(t) + " UTC"
	}
	return clock(t) + " UTC"
}

// itself says what keeps the node from leading, by the node's own word.
func (c *Case) itself() (sentences []string) {
	say := func(format string, args ...any) { sentences = append(sentences, fmt.Sprintf(format, args...)) }
	own := c.Own
	proof := cite(c.names, own.Ref)
	if own.Silent != "" {
		return []string{own.Silent}
	}
	if own.Unwell != "" {
		say("Node %d is not well: %s.", c.Node, own.Unwell)
	}
	if own.Ineligible != "" {
		say("Node %d does not stand for election: %s%s.", c.Node, rounds.Quoted(own.Ineligible), proof)
	}
	if own.Resigned {
		say("Node %d stands aside: it was asked to resign%s, and stands again when it restarts or is asked to.",
			c.Node, proof)
	}
	if own.Recovery != "" {
		say("Node %d votes for nobody, and does not stand: %s%s.", c.Node, own.Recovery, cite(c.names, own.Lost))
	}
	return append(sentences, own.Strange...)
}

// others says which other nodes do not stand for election, those with the same reason together; "either" if the node
// itself says that it does not.
func (c *Case) others() (sentences []string) {
	said, by := map[string][]uint64{}, map[string][]rounds.Ref{}
	var order []string
	note := func(format, why string, id uint64, ref rounds.Ref) {
		if why == "" {
			return
		}
		why = fmt.Sprintf(format, why)
		if said[why] == nil {
			order = append(order, why)
		}
		said[why], by[why] = append(said[why], id), append(by[why], ref)
	}
	either := ""
	if c.Own.Resigned || c.Own.Ineligible+c.Own.Recovery != "" {
		either = " either"
	}
	for _, o := range c.Others {
		note("not stand for election"+either+": %s", rounds.Quoted(o.Ineligible), o.Node, o.Ref)
		note("not vote: %s", o.Recovery, o.Node, o.Lost)
		note("not know who leads: %s", o.Unwell, o.Node, o.Ref)
	}
	for _, why := range order {
		sentences = append(sentences, fmt.Sprintf("%s %s %s%s.", words.Upper(words.Nodes(said[why])),
			words.Either(len(said[why]), "does", "do"), why, cite(c.names, by[why]...)))
	}
	return sentences
}

// noVoter says that the node is none of the voters, if this is so.
func (c *Case) noVoter() []string {
	if len(c.Voters) == 0 || slices.Contains(c.Voters, c.Node) {
		return nil
	}
	asked := ""
	if c.AskedBy != 0 {
		asked = fmt.Sprintf(" that node %d asked%s", c.AskedBy, cite(c.names, c.Asked))
	}
	return []string{fmt.Sprintf("Node %d is none of the voters%s (%s): it may follow, and never leads.",
		c.Node, asked, spaced(c.Voters))}
}

// OtherVoters says that the node has another list of voters than the node with, and what to do. leads says that
// with is the leader, and proof names the records of the lists. It returns nothing if both may elect together, since
// their lists differ by one voter at most.
func OtherVoters(node, with uint64, leads bool, own, theirs []uint64, proof string) []string {
	a, b := voterList(own), voterList(theirs)
	if far, _ := a.Distance(b); far != proto.OtherVoters && far != proto.OnlyOneVotes {
		return nil
	}
	whose := ""
	if leads {
		whose = ", the leader"
	}
	return []string{fmt.Sprintf("Node %d has another list of voters than node %d%s: it has %v, node %d has %v%s. %s",
		node, with, whose, a, with, b, proof, mendLists)}
}

// mendLists says what follows if lists of voters differ, and what to do.
const mendLists = "They exchange no votes, since two majorities might lead. Start the one that is wrong again with " +
	"the list of the others, and change one voter at a time."

func voterList(ids []uint64) proto.VoterList {
	list := make([]proto.NodeID, len(ids))
	for i, id := range ids {
		list[i] = proto.NodeID(id)
	}
	return proto.ListVoters(list)
}

// ranks compares the node with the leader.
func (c *Case) ranks() []string {
	entry, err := catalog.Lookup(c.Algorithm)
	if c.Rank == nil || c.LeaderRank == nil || err != nil || !entry.Ranked() {
		return nil
	}
	if c.noVoter() != nil || c.Lists != nil || c.Own.Unwell+c.Own.Recovery != "" {
		return nil // it would not lead with a higher rank either
	}
	own, leader := *c.Rank, *c.LeaderRank
	switch order, known := own.compare(leader); {
	case !known || order == 0:
		return nil
	case order < 0:
		return []string{leader.outranks(own)}
	}
	stays := fmt.Sprintf("With the %s algorithm a living leader stays, unless --preempt is set.", c.Algorithm)
	if entry.Preempt {
		stays = "Once it is alive to all it takes over after a short while, unless it stands " +
			"aside because it was asked to resign, pre-emption is off, or an operator chose the leader."
	}
	if c.Own.Resigned || c.Own.Ineligible != "" { // that it does not stand is told
		return []string{own.outranks(leader)}
	}
	return []string{own.outranks(leader), stays}
}

// compare returns a negative order if r ranks below other. known is false if only one of the
// attributes is known.
func (r Rank) compare(other Rank) (order int, known bool) {
	if (r.Attr == nil) != (other.Attr == nil) {
		return 0, false
	}
	if r.Attr != nil && *r.Attr != *other.Attr {
		return cmp.Compare(*r.Attr, *other.Attr), true
	}
	return cmp.Compare(r.ID, other.ID), true
}

// outranks says that r ranks above other, and by what: by the attribute or, if that is the same, by the id.
func (r Rank) outranks(other Rank) string {
	if r.Attr == nil {
		return fmt.Sprintf("Node %d outranks node %d by its id, which is higher; no record tells an attribute that "+
			"would go before the id.", r.ID, other.ID)
	}
	if *r.Attr == *other.Attr {
		return fmt.Sprintf("Node %d outranks node %d: its id is higher.", r.ID, other.ID)
	}
	return fmt.Sprintf("Node %d outranks node %d: its attribute is %d, that of node %d is %d.",
		r.ID, other.ID, *r.Attr, other.ID, *other.Attr)
}
