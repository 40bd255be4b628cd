package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/rounds"
)

// WhyNot says why a node does not lead, as far as the records of its group go,
// or that it does. The most direct reason comes first.
func WhyNot(w io.Writer, g *rounds.Group, id uint64) error {
	var p page
	leader, term := leads(g)
	n := find(g, id)
	switch {
	case leader == id:
		p.paragraph(fmt.Sprintf("Node %d does lead: term %d, by the last records there are.", id, term))
		p.paragraph(doubts(g, id)...)
		return p.to(w)
	case n == nil:
		p.paragraph(fmt.Sprintf("Node %d was never heard of in %s: no record is its own, and none names it. "+
			"There %s.", id, clusterName(g.Cluster, g.Algorithm, g.Run), isAre(ids(g))))
		return p.to(w)
	case leader == 0:
		p.paragraph(nobody(g)...)
		p.paragraph(quorum(g)...)
		p.paragraph(unfenced(g)...)
	default:
		p.paragraph(fmt.Sprintf("Node %d leads, since term %d.", leader, term))
	}
	p.paragraph(append(itself(g, n), noVoter(g, id)...)...)
	p.paragraph(doubts(g, id)...)
	p.paragraph(lastRounds(g, n, leader)...)
	return p.to(w)
}

// find is the node, nil when it was never heard of.
func find(g *rounds.Group, id uint64) *rounds.Node {
	for i := range g.Nodes {
		if g.Nodes[i].ID == id {
			return &g.Nodes[i]
		}
	}
	return nil
}

func ids(g *rounds.Group) (all []uint64) {
	for _, n := range g.Nodes {
		all = append(all, n.ID)
	}
	return all
}

func isAre(list []uint64) string {
	if len(list) == 1 {
		return "is " + nodes(list)
	}
	return "are " + nodes(list)
}

// leads is who leads by the last records: the leader of the highest term that
// anybody names one for, unless it lost that since. What a process believed that
// has ended counts no more.
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

// ended reports whether others proved, after the node's last record, that its
// process is no more.
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

// proofs are the words of evidence after which a process is no more.
var proofs = []string{"dial-refused", "proven-dead", "left"}

// nobody says that nobody leads, and since when.
func nobody(g *rounds.Group) []string {
	sentences := []string{"Nobody leads, by the last records there are."}
	for _, r := range slices.Backward(g.Rounds) {
		if r.State == rounds.Decided {
			break
		}
		sentences = append(sentences, fmt.Sprintf("Term %d began at %s because of this: %s. %s.",
			r.Term, clock(began(r)), because(r), upper(outcome(r))))
		break
	}
	return sentences
}

// itself says what the node's own records tell: it stands aside, they end, they
// are missing.
func itself(g *rounds.Group, n *rounds.Node) (sentences []string) {
	say := func(format string, args ...any) { sentences = append(sentences, fmt.Sprintf(format, args...)) }
	switch {
	case n.Records == 0:
		say("No record of node %d itself is here: it is not running, or its log is missing.", n.ID)
		return sentences
	case n.Ineligible != "":
		say("Node %d does not stand for election: %s (%v).", n.ID, n.Ineligible, n.Aside)
	case !n.Aside.IsZero():
		say("Node %d stands aside: it was asked to resign (%v), and stands again when it restarts or is asked to.",
			n.ID, n.Aside)
	}
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
		say("Its own records end with %v, %s before the last of the others.", life.Last, rounds.Span(silent))
	}
	return sentences
}

// accusers are the nodes whose last view lacks the node.
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

// doubts says in whose view the node is not alive, and by which evidence.
func doubts(g *rounds.Group, id uint64) []string {
	by := map[string][]uint64{}
	proof := map[string][]rounds.Ref{}
	var kinds []string
	for _, d := range accusers(g, id) {
		if by[d.Evidence] == nil {
			kinds = append(kinds, d.Evidence)
		}
		by[d.Evidence] = append(by[d.Evidence], d.Node)
		proof[d.Evidence] = append(proof[d.Evidence], d.Ref)
	}
	var sentences []string
	for _, kind := range kinds {
		sentences = append(sentences, fmt.Sprintf("To %s it is not alive: %s (%s). See %s.%s",
			nodes(by[kind]), meaning(kind, id), kind, refs(proof[kind]), hint(kind, id)))
	}
	return sentences
}

// hint is what evidence of that kind is usually about.
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

// lastRounds says how the node came out of the last election that it was part
// of.
func lastRounds(g *rounds.Group, n *rounds.Node, leader uint64) (sentences []string) {
	for _, r := range slices.Backward(g.Rounds) {
		var own []rounds.Verdict
		for _, v := range r.Verdicts {
			if v.Loser == n.ID {
				own = append(own, v)
			}
		}
		if r.Winner == nil || r.Winner.Node != leader {
			continue
		}
		return append(sentences, lost(r, n, own)...)
	}
	return sentences
}

// lost says why the node did not win the round that somebody else won.
func lost(r *rounds.Round, n *rounds.Node, own []rounds.Verdict) (sentences []string) {
	say := func(format string, args ...any) { sentences = append(sentences, fmt.Sprintf(format, args...)) }
	w := r.Winner
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
		return sentences
	}
	switch {
	case w.Live != nil && !slices.Contains(w.Live, n.ID):
		say("When node %d won term %d, it did not believe node %d alive.", w.Node, r.Term, n.ID)
	case r.Ballot != nil && !w.Ref.IsZero():
		say("Node %d won term %d because of this: %s.", w.Node, r.Term, granted(r))
	case w.Why != "":
		say("Node %d won term %d because of this: %s.", w.Node, r.Term, w.Why)
	}
	if higher, known := above(n, w); known && higher && len(r.Findings) == 0 {
		say("Node %d ranks above it%s", n.ID, stays(r.Algorithm))
	} else if known && !higher {
		say("Node %d ranks below it.", n.ID)
	}
	return sentences
}

// above compares the node's rank with the winner's; without attributes, as
// when all have the same, by id.
func above(n *rounds.Node, w *rounds.Winner) (higher, known bool) {
	switch {
	case n.Attr != nil && w.Attr != nil && *n.Attr != *w.Attr:
		return *n.Attr > *w.Attr, true
	case (n.Attr == nil) != (w.Attr == nil):
		return false, false
	}
	return n.ID > w.Node, true
}

// stays says what becomes of a higher rank while a leader lives.
func stays(algorithm string) string {
	entry, err := catalog.Lookup(algorithm)
	switch {
	case err != nil:
		return "."
	case entry.Preempt:
		return fmt.Sprintf(", and with the %s algorithm takes over once it is alive to all and has waited a while, "+
			"unless pre-emption is off, or an operator chose the leader.", algorithm)
	}
	return fmt.Sprintf(", but with the %s algorithm a living leader stays, unless pre-emption is on.", algorithm)
}

func verdictWord(k rounds.VerdictKind) string {
	switch k {
	case rounds.Suppressed:
		return "suppressed"
	case rounds.Deposed:
		return "deposed"
	case rounds.Refused:
		return "refused the office"
	}
	return "outranked"
}
