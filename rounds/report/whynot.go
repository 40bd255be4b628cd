package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
)

// Case is what is known about a node of which somebody asks why it does not lead. Two
// sources fill it in: WhyNot from records, `ringleader why-not --addr` from the answers
// of running nodes. A field that a source does not know is zero.
type Case struct {
	Node      uint64
	Algorithm string // of the cluster

	// Leads says how somebody knows that the node leads: "term 3, by the last records there are".
	// It is empty if the node does not lead.
	Leads   string
	Beliefs []Belief
	// Attempt says how the last election went that brought no leader; Vacancy are the
	// paragraphs on why nobody leads.
	Attempt []string
	Vacancy [][]string

	Own    Candidate
	Others []Candidate // nodes that do not stand for election either, where nobody leads

	Voters  []uint64
	AskedBy uint64 // the candidate that asked these voters, 0 if no record shows it

	Doubts []Doubt
	// Election says why the node did not win the last election.
	Election []string
	// Rank and LeaderRank are compared if both are set.
	Rank, LeaderRank *Rank
}

// Belief is the belief of some nodes: who leads, or that nobody does.
type Belief struct {
	Leader, Term uint64 // Leader 0 is nobody
	Reason       string // why nobody leads
	By           []uint64
}

// Candidate says what keeps a node from leading, by the node's own word.
type Candidate struct {
	Node       uint64
	Silent     string // a sentence: why the node says nothing of itself
	Unwell     string
	Ineligible string
	Recovery   string // why it votes for nobody
	Resigned   bool   // an operator asked it to, and it stands aside
	Ref        rounds.Ref
	Strange    []string // sentences: it has another label, or runs another algorithm
	Ended      string   // a sentence: its records end before those of the others
}

// Doubt says that some nodes do not believe the node alive.
type Doubt struct {
	By       []uint64
	Evidence string // empty if they do not say it
	Refs     []rounds.Ref
	// Everybody: no other node that was asked believes it alive.
	Everybody bool
	Hint      string // what the evidence may mean
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
	return p.to(w)
}

// Paragraphs returns the answer, one list of sentences for each paragraph. The most direct reason comes
// first.
func (c *Case) Paragraphs() [][]string {
	if c.Leads != "" {
		leads := fmt.Sprintf("Node %d does lead: %s.", c.Node, c.Leads)
		return [][]string{append([]string{leads}, c.rivals()...), c.doubts()}
	}
	var leaders []string
	for _, b := range c.Beliefs {
		leaders = append(leaders, b.sentence())
	}
	return slices.Concat([][]string{append(leaders, c.Attempt...)}, c.Vacancy, [][]string{
		slices.Concat(c.itself(), c.others(), c.noVoter()), c.doubts(), slices.Concat(c.Election, c.ranks()),
	})
}

func (b Belief) sentence() string {
	switch {
	case b.By == nil && b.Leader == 0:
		return "Nobody leads, by the last records there are."
	case b.By == nil:
		return fmt.Sprintf("Node %d leads, since term %d.", b.Leader, b.Term)
	case b.Leader == 0:
		return fmt.Sprintf("Nobody leads term %d, by the word of %s: %s.", b.Term, spaced(b.By), b.Reason)
	}
	return fmt.Sprintf("Node %d leads term %d, by the word of %s.", b.Leader, b.Term, spaced(b.By))
}

// rivals is for a node that leads. It says whom the nodes that do not follow it believe to lead.
func (c *Case) rivals() (sentences []string) {
	for _, b := range c.Beliefs {
		if b.Leader != c.Node {
			sentence := b.sentence()
			sentences = append(sentences, "But "+strings.ToLower(sentence[:1])+sentence[1:])
		}
	}
	return sentences
}

// itself says what keeps the node from leading, by the node's own word.
func (c *Case) itself() (sentences []string) {
	say := func(format string, args ...any) { sentences = append(sentences, fmt.Sprintf(format, args...)) }
	own, proof := c.Own, ""
	if !own.Ref.IsZero() {
		proof = fmt.Sprintf(" (%v)", own.Ref)
	}
	if own.Silent != "" {
		return []string{own.Silent}
	}
	if own.Unwell != "" {
		say("Node %d is not well: %s.", c.Node, own.Unwell)
	}
	if own.Ineligible != "" {
		say("Node %d does not stand for election: %s%s.", c.Node, own.Ineligible, proof)
	}
	if own.Resigned {
		say("Node %d stands aside: it was asked to resign%s, and stands again when it restarts or is asked to.",
			c.Node, proof)
	}
	if own.Recovery != "" {
		say("Node %d votes for nobody, and does not stand: %s.", c.Node, own.Recovery)
	}
	sentences = append(sentences, own.Strange...)
	if own.Ended != "" {
		sentences = append(sentences, own.Ended)
	}
	return sentences
}

// others says which other nodes do not stand for election.
func (c *Case) others() (sentences []string) {
	for _, o := range c.Others {
		if o.Ineligible != "" {
			sentences = append(sentences, fmt.Sprintf("Node %d does not stand for election either: %s.",
				o.Node, o.Ineligible))
		}
		if o.Recovery != "" {
			sentences = append(sentences, fmt.Sprintf("Node %d votes for nobody: %s.", o.Node, o.Recovery))
		}
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
		asked = fmt.Sprintf(" that node %d asked", c.AskedBy)
	}
	return []string{fmt.Sprintf("Node %d is none of the voters%s (%s): it may follow, and never leads.",
		c.Node, asked, spaced(c.Voters))}
}

// doubts says in whose view the node is not alive, and by which evidence.
func (c *Case) doubts() (sentences []string) {
	say := func(format string, args ...any) { sentences = append(sentences, fmt.Sprintf(format, args...)) }
	for _, d := range c.Doubts {
		switch {
		case d.Everybody:
			say("Node %d is alive to none that answers: %s.%s", c.Node, spaced(d.By), d.Hint)
		case d.Evidence == "":
			say("Node %d is not alive in the view of %s.", c.Node, spaced(d.By))
		default:
			say("To %s it is not alive: %s (%s). See %s.%s", words.Nodes(d.By), rounds.Meaning(d.Evidence, c.Node),
				d.Evidence, refs(d.Refs), d.Hint)
		}
	}
	return sentences
}

// ranks compares the node with the leader.
func (c *Case) ranks() []string {
	if c.Rank == nil || c.LeaderRank == nil {
		return nil
	}
	own, leader := *c.Rank, *c.LeaderRank
	switch order, known := own.compare(leader); {
	case !known || order == 0:
		return nil
	case order < 0:
		return []string{fmt.Sprintf("It is outranked: node %d (%v) ranks above it (%v).", leader.ID, leader, own)}
	}
	sentences := []string{fmt.Sprintf("It ranks (%v) above the leader (%v).", own, leader)}
	entry, err := catalog.Lookup(c.Algorithm)
	switch {
	case err != nil:
	case entry.Preempt:
		sentences = append(sentences, "Once it is alive to all it takes over after a short while, unless it stands "+
			"aside because it was asked to resign, pre-emption is off, or an operator chose the leader.")
	default:
		sentences = append(sentences, fmt.Sprintf("With the %s algorithm a living leader stays, unless --preempt "+
			"is set.", c.Algorithm))
	}
	return sentences
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

// String returns "20, id 3", or "id 3" without an attribute.
func (r Rank) String() string {
	if r.Attr == nil {
		return fmt.Sprintf("id %d", r.ID)
	}
	return fmt.Sprintf("%d, id %d", *r.Attr, r.ID)
}
