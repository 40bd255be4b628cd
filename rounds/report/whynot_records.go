package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
)

// recorded returns what the records of a group tell about a node.
func recorded(g *rounds.Group, id uint64) *Case {
	now := leads(g)
	c := &Case{Node: id, Algorithm: g.Algorithm, Leads: now.Leader == id, names: g.Names}
	c.Beliefs = append([]Belief{now}, dissent(g, now)...)
	c.Losses, c.Again = lossesIn(g, id)
	n := find(g, id)
	c.Own = ownWord(g, id, n)
	if len(c.Losses) == 0 {
		c.Unseen = unanswered(g, id, n)
	}
	if c.Leads {
		c.Own = Candidate{Silent: c.Own.Silent}
		return c
	}
	if b := asksSince(g, time.Time{}); b != nil {
		c.Voters, c.AskedBy, c.Asked = b.Voters, b.Candidate, b.Ref
	}
	if n != nil && n.Records > 0 && asksSince(g, lastLife(n).From) == nil {
		c.Voters = nil // its process may have been given another list
	}
	c.Lists = lists(g, id, now.Leader)
	if now.Leader == 0 {
		c.Others = othersAside(g, id)
		c.Attempt, c.Vacancy = slices.Concat(needed(g), lastAttempt(g)), [][]string{quorum(g), unfenced(g)}
	}
	if n != nil {
		c.Election = c.formerly(g, n, now)
		c.lastElection(g, n, now)
		c.tellUnsaved(g, n)
	}
	return c
}

// tellUnsaved says that nothing is saved of what the node had saved before, unless it is told with how it lost office.
func (c *Case) tellUnsaved(g *rounds.Group, n *rounds.Node) {
	if n.Records == 0 || c.Own.Silent != "" || lastLife(n).Unsaved == nil {
		return
	}
	l := lastLife(n)
	again := startedAgain(g, &l)
	if !strings.Contains(strings.Join(c.Election, " "), again) {
		c.Own.Strange = append(c.Own.Strange, fmt.Sprintf("Node %d %s.", n.ID, again))
	}
}

// recentRounds is how many rounds are looked through step by step for why nobody leads.
const recentRounds = 64

// Lately is for rounds.Bounds: it returns those rounds of a group that WhyNot wants. These are the last ones with their
// steps and, without them, the last one that was won, and the last one in which each node was a candidate or a voter,
// or voted.
func Lately(over []*rounds.Round) []*rounds.Round {
	older := over[:max(0, len(over)-recentRounds)]
	won, seen := false, map[string]bool{}
	news := func(what string, id uint64) bool {
		key := fmt.Sprint(what, id)
		known := seen[key]
		seen[key] = true
		return !known
	}
	wanted := map[*rounds.Round]bool{}
	for _, r := range slices.Backward(over) {
		wanted[r] = r.Winner != nil && !won
		won = won || r.Winner != nil
		if r.Ballot == nil {
			continue
		}
		wanted[r] = news("candidate", r.Ballot.Candidate) || wanted[r]
		for _, v := range r.Ballot.Voices {
			wanted[r] = news("voter", v.Voter) || wanted[r]
			wanted[r] = v.Granted && news("voted", v.Voter) || wanted[r]
		}
	}
	var kept []*rounds.Round
	for _, r := range older {
		if wanted[r] {
			r.Steps, r.Messages = nil, nil
			kept = append(kept, r)
		}
	}
	return append(kept, over[len(older):]...)
}

// Knows reports whether any record of the group names the node: as its own, as alive, gone or leading, or as a voter.
func Knows(g *rounds.Group, id uint64) bool { return find(g, id) != nil || asked(g, id) != nil }

// find returns the node with this id, or nil if no record is its own and nobody ever saw it.
func find(g *rounds.Group, id uint64) *rounds.Node {
	for i := range g.Nodes {
		if g.Nodes[i].ID == id {
			return &g.Nodes[i]
		}
	}
	return nil
}

// asked returns the last ballot that has the node among its voters; nil if there is none.
func asked(g *rounds.Group, id uint64) *rounds.Ballot {
	for _, r := range slices.Backward(g.Rounds) {
		if r.Ballot != nil && slices.Contains(r.Ballot.Voters, id) {
			return r.Ballot
		}
	}
	return nil
}

// lastLife returns the last process of a node that wrote records.
func lastLife(n *rounds.Node) rounds.Life { return n.Lives[len(n.Lives)-1] }

// away reports whether the node's last process had ended or was silent when the records end, as its peers saw it.
func away(g *rounds.Group, n *rounds.Node) bool { return awayBy(g, n, departures(g)[n.ID]) }

// awayBy is away for a node and how others lost it.
func awayBy(g *rounds.Group, n *rounds.Node, by []rounds.Dropped) bool {
	lost, again := lossesOf(g, n, by)
	return len(lost) > 0 && again == "" || len(n.Lives) > 0 && lastEvent(n).Kind == rounds.Ended
}

// lossesIn returns how the other nodes lost the last process of the node, as far as they never saw it again, nor
// anybody else if its log is missing. The sentence again says that the process wrote after that; it is
// empty if it did not.
func lossesIn(g *rounds.Group, id uint64) (list []Loss, again string) {
	n := find(g, id)
	if n == nil {
		return nil, ""
	}
	return lossesOf(g, n, departures(g)[id])
}

// departures returns how nodes lost other ones, by the id of the lost node.
func departures(g *rounds.Group) map[uint64][]rounds.Dropped {
	lost := map[uint64][]rounds.Dropped{}
	for _, n := range g.Nodes {
		for _, d := range n.Gone {
			if d.ID != n.ID {
				lost[d.ID] = append(lost[d.ID], d)
			}
		}
	}
	return lost
}

// lossesOf is lossesIn for a node and how others lost it.
func lossesOf(g *rounds.Group, n *rounds.Node, lost []rounds.Dropped) (list []Loss, again string) {
	if len(lost) == 0 {
		return nil, ""
	}
	wrote, life := false, rounds.Life{}
	for _, l := range g.Leaderships { // of a node whose log is missing, all that is known of its last process
		if n.Records == 0 && l.Leader == n.ID && l.From.After(life.From) {
			life.From = l.From
		}
	}
	if n.Records > 0 {
		life = lastLife(n)
		last := rounds.LifeEvent{Kind: rounds.Resumed}
		if len(life.Events) > 0 {
			last = life.Events[len(life.Events)-1]
		}
		wrote = last.Kind != rounds.Ended && last.Kind != rounds.Silent
	}
	for _, d := range lost {
		if over := d.At.Before(life.From) || n.Records == 0 && d.Again; !over {
			list = Lost(list, n.ID, Loss{d.At, []uint64{d.Node}, d.Evidence, d.Refs()})
		}
	}
	after := func(one Loss) bool { return !one.At.Before(life.Until) }
	if wrote && len(list) > 0 && !slices.ContainsFunc(list, after) {
		again = fmt.Sprintf("It wrote again after that: its last record is of %s%s.", clock(life.Until),
			cite(g.Names, life.Last))
	}
	return list, again
}

// lastAttempt says when and why the last round began, if nobody won it, or how long the records go on without a later
// term.
func lastAttempt(g *rounds.Group) []string {
	if len(g.Rounds) == 0 || len(g.Incidents) == 0 || g.Incidents[len(g.Incidents)-1].Leader != 0 {
		return nil
	}
	r := g.Rounds[len(g.Rounds)-1]
	in, without := &g.Incidents[len(g.Incidents)-1], ""
	switch {
	case r.State == rounds.Decided:
		without = "a later term"
	case !slices.Contains(in.Terms, r.Term): // it was called in vain while somebody led
		without = "an election since"
	}
	if without != "" {
		after := rounds.Span(in.Leaderless) + " later"
		switch {
		case in.Unsure():
			after = rounds.Span(in.AtMost()) + " later"
		case !in.Perhaps.IsZero():
			after = rounds.Span(in.Leaderless) + " after the later of these times"
		}
		return []string{fmt.Sprintf("The logs end %s, without %s%s.", after, without, cite(g.Names, lastRecord(g)))}
	}
	why := " because of this: " + because(r)
	if r.Cause.Text == "" {
		why = ", and no record says why"
		if asked, ok := r.FirstAsked(); ok && asked.Why != "" {
			return []string{untold(g.Names, r)}
		}
	}
	return []string{fmt.Sprintf("Term %d began at %s%s%s.", r.Term, clock(began(r)), why,
		cite(g.Names, causeRefs(r)...))}
}

// lastRecord returns the last record of the group, by the time of its node.
func lastRecord(g *rounds.Group) (last rounds.Ref) {
	until := time.Time{}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Records > 0 && !lastLife(n).Until.Before(until) {
			last, until = lastLife(n).Last, lastLife(n).Until
		}
	}
	return last
}

// needed says which voters have to come back before anybody can lead, if those that are there are no majority.
func needed(g *rounds.Group) []string {
	var last *rounds.Round
	for _, r := range slices.Backward(g.Rounds) {
		if last = r; r.Ballot != nil {
			break
		}
	}
	if last == nil || last.Ballot == nil {
		return nil
	}
	b := last.Ballot
	answered := last.Winner != nil || g.Until.Sub(last.From) < time.Second // or there was no time to
	missing := slices.DeleteFunc(slices.Clone(b.Voters), func(id uint64) bool {
		n := find(g, id)
		return (n == nil || !away(g, n)) && (answered || !slices.Contains(b.Missing(), id))
	})
	need := len(missing) - (len(b.Voters) - b.Majority())
	if need <= 0 {
		return nil
	}
	refs := []rounds.Ref{b.Ref}
	for _, id := range missing {
		refs = append(refs, lastSeen(g, id))
	}
	who := words.Upper(words.Nodes(missing))
	if need < len(missing) {
		who = fmt.Sprintf("At least %d of %s", need, words.Nodes(missing))
	}
	return []string{fmt.Sprintf("%s %s to come back: %d of the %d voters are needed%s.", who,
		words.Either(need, "has", "have"), b.Majority(), len(b.Voters), proof(g.Names, rounds.Inferred, refs...))}
}

// lastSeen returns the record by which the node's last process was lost or ended, or else its last one; a zero Ref if
// none is known.
func lastSeen(g *rounds.Group, id uint64) rounds.Ref {
	if lost, _ := lossesIn(g, id); len(lost) > 0 {
		return lost[0].Refs[0]
	}
	n := find(g, id)
	switch {
	case n == nil || n.Records == 0:
		return rounds.Ref{}
	case lastEvent(n).Kind == rounds.Ended:
		return lastEvent(n).Ref
	}
	return lastLife(n).Last
}

// asksSince returns the ballot of the last candidate that asked the voters, nil if none did since then.
func asksSince(g *rounds.Group, since time.Time) *rounds.Ballot {
	for _, r := range slices.Backward(g.Rounds) {
		if r.Ballot != nil && !r.From.Before(since) {
			return r.Ballot
		}
	}
	return nil
}

// unanswered says that the node, a voter, wrote nothing any more when a candidate last asked it, although no record
// tells that it had ended.
func unanswered(g *rounds.Group, id uint64, n *rounds.Node) []string {
	if n == nil || n.Records == 0 || lastEvent(n).Kind == rounds.Ended {
		return nil
	}
	for _, r := range slices.Backward(g.Rounds) {
		b := r.Ballot
		switch {
		case b == nil:
			continue
		case !slices.Contains(b.Missing(), id) || !lastLife(n).Until.Before(r.From):
			return nil
		}
		return []string{fmt.Sprintf("Node %d wrote nothing after node %d had asked the voters%s: its last record "+
			"is of %s%s.", id, b.Candidate, cite(g.Names, b.Ref), clock(lastLife(n).Until),
			cite(g.Names, lastLife(n).Last))}
	}
	return nil
}

// lists says that the node has another list of voters than the leader or, where nobody leads, than the last candidate.
func lists(g *rounds.Group, id, leader uint64) []string {
	with := leader
	if b := asksSince(g, time.Time{}); with == 0 && b != nil {
		with = b.Candidate
	}
	if with == id {
		return nil
	}
	own, by := listOf(g, id)
	theirs, besides := listOf(g, with)
	if own != nil && theirs != nil {
		return OtherVoters(id, with, leader != 0, own, theirs, cite(g.Names, by, besides))
	}
	if b := asked(g, id); b != nil { // its refusal says so, and not which list it has
		for _, v := range b.Voices {
			if v.Voter == id && strings.Contains(v.No, "other voters") {
				return []string{fmt.Sprintf("Node %d has another list of voters than node %d, which asked it for its "+
					"vote: it said no for that%s. %s", id, b.Candidate, cite(g.Names, v.Ref), mendLists)}
			}
		}
	}
	return nil
}

// listOf returns the list of voters of the node's last process: whom it last asked for votes or, if it asked nobody,
// those of the last candidate that it voted for; and the record of the question or of the vote. It returns nil if no
// record tells.
func listOf(g *rounds.Group, id uint64) (voted []uint64, by rounds.Ref) {
	began := time.Time{} // a former process may have had another list
	if n := find(g, id); n != nil && n.Records > 0 {
		began = lastLife(n).From
	}
	for _, r := range slices.Backward(g.Rounds) {
		b := r.Ballot
		switch {
		case b == nil, r.From.Before(began):
			continue
		case b.Candidate == id:
			return b.Voters, b.Ref
		}
		its := func(v rounds.Voice) bool { return v.Granted && v.Voter == id }
		if vote := votes(b, its); voted == nil && len(vote) > 0 {
			voted, by = b.Voters, vote[0]
		}
	}
	return voted, by
}

// ownWord returns what the node's own records say about it: that the node is ineligible or stands aside. Of a node
// without records it says what the others tell.
func ownWord(g *rounds.Group, id uint64, n *rounds.Node) Candidate {
	if n == nil || n.Records == 0 {
		return Candidate{Node: id, Silent: strings.Join(hearsay(g, id, n), " ")}
	}
	if at := leftAt(n); !at.IsZero() {
		e := lastEvent(n)
		ended := fmt.Sprintf("Node %d does not run: its process ended at %s, by its own word%s%s.", id, clock(at),
			colon(cmp.Or(e.Why, e.Told)), cite(g.Names, e.Ref, e.ToldRef))
		return Candidate{Node: id, Silent: join(ended, asideToTheEnd(g, n), notRunning(n))}
	}
	if lastEvent(n).Kind == rounds.Ended { // what it said of itself is over, and how it ended is told beside
		return Candidate{Node: id, Silent: notRunning(n)}
	}
	c := Candidate{
		Node: n.ID, Ineligible: n.Ineligible, Ref: n.Aside, Resigned: n.Ineligible == "" && !n.Aside.IsZero(),
		Lost: n.Voteless,
	}
	if why := notRunning(n); why != "" {
		c.Strange = append(c.Strange, why)
	}
	if !n.Voteless.IsZero() {
		c.Recovery = "nothing is saved of earlier votes"
	}
	return c
}

// asideToTheEnd says that the last process of the node stood aside when it ended, for another reason than that it was
// told to stop. It returns "" if it did not.
func asideToTheEnd(g *rounds.Group, n *rounds.Node) string {
	stood, e := lastLife(n).Stood, lastEvent(n)
	if len(stood) == 0 {
		return ""
	}
	last := stood[len(stood)-1]
	if last.Why == "" || last.Why == e.Told {
		return ""
	}
	return fmt.Sprintf("It stood aside from %s until then: %s%s.", clock(last.At), last.Why, cite(g.Names, last.Ref))
}

// notRunning says that a process was to be the node and refused to run. It returns "" if none did.
func notRunning(n *rounds.Node) string {
	switch r := n.Refused; {
	case r == nil:
		return ""
	case r.Taken:
		return fmt.Sprintf("At %s another process was to be node %d, and ended, by its own word: %s.",
			clock(r.At), n.ID, r.Why)
	default:
		return fmt.Sprintf("At %s node %d was started again, and refused to run, by its own word: %s.", clock(r.At),
			n.ID, r.Why)
	}
}

func join(sentences ...string) string { return strings.TrimSpace(strings.Join(sentences, " ")) }

// othersAside returns the other nodes that run, and by their own word do not stand for election, or do not vote.
func othersAside(g *rounds.Group, id uint64) (list []Candidate) {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.ID != id && n.Records > 0 && !away(g, n) {
			if c := ownWord(g, n.ID, n); c.Ineligible+c.Recovery != "" {
				list = append(list, c)
			}
		}
	}
	return list
}

// leftAt returns when the last process of the node ended, if its own log says so.
func leftAt(n *rounds.Node) (at time.Time) {
	events := lastLife(n).Events
	if len(events) > 0 && events[len(events)-1].Kind == rounds.Ended && events[len(events)-1].Known == rounds.OwnWord {
		at = events[len(events)-1].At
	}
	return at
}

// hearsay says of a node without records of its own what the others tell. n is nil if none ever saw the node.
func hearsay(g *rounds.Group, id uint64, n *rounds.Node) (sentences []string) {
	b := asked(g, id)
	switch {
	case n == nil && b == nil:
		return []string{fmt.Sprintf("Node %d was never heard of: no record is its own, and none names it.", id)}
	case n == nil:
		return []string{fmt.Sprintf("Node %d is a voter, which node %d asked%s, but nobody ever saw it alive, "+
			"and no record is its own.", id, b.Candidate, cite(g.Names, b.Ref))}
	}
	sentences = []string{fmt.Sprintf("No record of node %d itself is here: its log is missing, or it wrote none.", id)}
	var led []uint64
	var refs []rounds.Ref
	for i := range g.Leaderships {
		if l := &g.Leaderships[i]; l.Leader == id {
			first, _ := firstRef(l)
			led, refs = append(led, l.Term), append(refs, first)
		}
	}
	if len(led) > 0 {
		sentences = append(sentences, fmt.Sprintf("Others followed it in %s%s.", termList(led),
			proof(g.Names, rounds.PeersSaw, refs...)))
	}
	var by []uint64
	refs = nil
	for i := range g.Nodes {
		if other := &g.Nodes[i]; slices.Contains(other.Alive, id) && !away(g, other) {
			by, refs = append(by, other.ID), append(refs, other.AliveRef)
		}
	}
	if len(by) > 0 {
		sentences = append(sentences, fmt.Sprintf("It was alive to %s, by %s last view%s.", words.Nodes(by),
			words.Either(len(by), "its", "their"), proof(g.Names, rounds.PeersSaw, refs...)))
	}
	return sentences
}
