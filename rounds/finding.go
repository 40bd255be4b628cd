package rounds

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/words"
)

// FindingName is the stable name of a kind of finding: scripts may compare it.
type FindingName string

// The findings. A failover without a fault gives none.
const (
	// TwoLeaders: two nodes led the same term, each by its own record; or nodes followed two nodes in it, and no record
	// says whether one of these led. Without a lease it is no finding if the second one was dead when the first ceased
	// to lead: it cannot know of the term.
	TwoLeaders FindingName = "two-leaders"
	// Overlap: a node led while another node led a different term. A leader that steps down as soon
	// as it hears its successor's announcement is no finding. If the renewals of a lease are not
	// written down, the leader counts as leading until a record of its own, or of a follower, says
	// otherwise.
	Overlap FindingName = "overlapping-leaders"
	// TermWentBack: a process wrote a lower term after a higher one, or the next process
	// of the node sent messages of a lower term. No node acts in a term below one that it
	// has saved, not even after a crash; only its last term need not be saved. So its data
	// was lost, or two processes write as one node.
	TermWentBack FindingName = "term-went-back"
	// NoEnd: an election was called, and nobody led for five seconds or more.
	NoEnd FindingName = "round-without-end"
	// Flapping: the leader changed many times within a minute, and neither an operator nor the end or the start of a
	// process caused it.
	Flapping FindingName = "flapping"
	// FalseEvidence: a leader was declared gone, and the same process wrote a record within a second, before the
	// round was over. One that was paused or hung, by how long it wrote nothing, is none.
	FalseEvidence FindingName = "false-evidence"
	// MessagesLost: messages of a round never arrived, although the receiver was
	// there and writes down whatever reaches it.
	MessagesLost FindingName = "messages-lost"
	// LeftBehind: a node that the winner believed alive never followed it,
	// although it went on.
	LeftBehind FindingName = "left-behind"
	// SameID: two processes wrote as the same node at the same time.
	SameID FindingName = "same-id-twice"
)

// FindingKind describes a kind of finding.
type FindingKind struct {
	Name FindingName
	// Code is the exit code of `ringleader rounds --check` when no graver kind was found.
	// Scripts act on it: a code is never used for another kind.
	Code    int
	Meaning string
}

// FindingKinds has all kinds, the gravest first: those that may harm the work which only a
// leader does, then those that leave nodes without a leader, then those that cost time.
var FindingKinds = []FindingKind{
	{TwoLeaders, 10, "two nodes led the same term"},
	{Overlap, 11, "a leader went on although another led already"},
	{SameID, 12, "two processes were the same node at once"},
	{TermWentBack, 13, "a node's term fell"},
	{NoEnd, 14, "nobody led for five seconds, though called"},
	{LeftBehind, 15, "a living node never followed the winner"},
	{Flapping, 16, "the leader changes often, and nobody asked for it"},
	{FalseEvidence, 17, "a leader declared gone wrote on within a second"},
	{MessagesLost, 18, "messages never arrived"},
}

// Gravest returns the gravest of the kinds with these names, or the zero FindingKind if there is none.
func Gravest(names ...FindingName) FindingKind {
	for _, kind := range FindingKinds {
		if slices.Contains(names, kind.Name) {
			return kind
		}
	}
	return FindingKind{}
}

// Tally counts findings. As an error it has the exit code of the gravest kind.
type Tally struct {
	N       int
	Gravest FindingKind
}

// Add counts what was found.
func (t *Tally) Add(found ...Finding) {
	for _, one := range found {
		t.N++
		t.Gravest = Gravest(t.Gravest.Name, one.Name)
	}
}

func (t Tally) Error() string {
	if t.N == 1 {
		return fmt.Sprintf("1 finding: %s", t.Gravest.Name)
	}
	return fmt.Sprintf("%d findings, the gravest: %s", t.N, t.Gravest.Name)
}

// Code returns the exit code of the gravest kind.
func (t Tally) Code() int { return t.Gravest.Code }

// judge adds the findings that are about this round alone.
func (r *Round) judge(g *group) {
	r.judgeLeaders(g)
	r.judgeFollowers(g)
	r.judgeEvidence(g)
	r.judgeMessages()
	for _, b := range r.LeftBehind {
		if !b.Last.IsZero() && b.wentOn {
			text := "Node %d never followed %d in term %d: %s."
			if b.restarted {
				text = "Node %d did not follow %d in term %d until it was started again: %s."
			}
			r.find(LeftBehind, []Ref{b.Last, r.Winner.Ref}, text, b.Node, r.Winner.Node, r.Term, b.Reason)
		}
	}
}

func (r *Round) find(name FindingName, proof []Ref, format string, args ...any) *Finding {
	proof = slices.Compact(slices.DeleteFunc(proof, Ref.IsZero))
	r.Findings = append(r.Findings, Finding{
		Name: name, Term: r.Term, Text: fmt.Sprintf(format, args...), Records: proof,
	})
	return &r.Findings[len(r.Findings)-1]
}

// judgeLeaders adds a finding for each node that led the term beside another one.
func (r *Round) judgeLeaders(g *group) {
	for i, rival := range r.Rivals {
		for _, other := range append([]Winner{*r.Winner}, r.Rivals[:i]...) {
			if r.bothLed(g, other, rival) {
				break
			}
		}
	}
}

// bothLed adds a finding that both led the term. It returns false if one of them could not know of the other.
func (r *Round) bothLed(g *group, first, second Winner) bool {
	beside := second.Node
	if second.At.Before(first.At) {
		first, second = second, first
	}
	if !leased(r.Guarantee) && g.unknowing(first, second, r.Term) {
		return false
	}
	text := fmt.Sprintf("Nodes %d and %d both led term %d", first.Node, second.Node, r.Term)
	if !second.late {
		text += fmt.Sprintf("; node %d began %s%s after node %d", second.Node, atLeast(first.late),
			Span(second.At.Sub(first.At)), first.Node)
		if second.Why != "" {
			text += fmt.Sprintf(", for it found: %s", second.Why)
		}
	}
	unsure, proof := "", []Ref{first.Ref, second.Ref}
	led := g.leaderships[leadershipKey{first.Node, r.Term}]
	if g.endedEarlier(led, second) {
		text += fmt.Sprintf(". The process of node %d had ended %s before, as others saw: "+
			"the two did not lead at once", first.Node, Span(second.At.Sub(led.End)))
		proof = append(proof, led.Ended.Ref)
	}
	switch {
	case leased(r.Guarantee):
	case g.apart(first.Node, second.Node) == unbounded:
		unsure = " No messages compare their clocks." + noFault
	case led != nil && !led.End.IsZero() && led.End.Before(second.At) && led.Ended.Known != OwnWord &&
		g.beganSince(second, g.ledSurely(led)):
		unsure = noFault
	case led != nil && led.sign.Before(second.At) && (led.End.IsZero() || led.Ended.Known == Inferred):
		unsure = fmt.Sprintf(" It is no fault if node %d had ended by then: the last record that tells of it is from "+
			"%s before.", first.Node, Span(second.At.Sub(led.sign)))
	}
	r.find(TwoLeaders, proof, "%s.%s", text, unsure).beside = beside
	return true
}

// endedEarlier reports whether others saw the process of the first leader of a term ended before the second one began
// to lead it, whatever the clocks show.
func (g *group) endedEarlier(led *Leadership, second Winner) bool {
	if led == nil || led.Ended.Kind != EndedByProcess || led.Ended.Known != PeersSaw || second.late {
		return false
	}
	off := g.apart(led.Ended.Ref.Node, second.Node)
	return off != unbounded && led.End.Add(off).Before(second.At)
}

// atLeast returns "at least " if what follows may be longer.
func atLeast(longer bool) string {
	if longer {
		return "at least "
	}
	return ""
}

// noFault says of two leaders of one term what is not known of them, where nothing forbids a node to lead a term that
// it cannot know of.
const noFault = " It is no fault if one of them was dead when the other ceased to lead."

// unknowing reports whether the node that led second was certainly dead when the first leader of the term ceased to
// lead, by its own word or since its process had ended.
func (g *group) unknowing(first, second Winner, term uint64) bool {
	led := g.leaderships[leadershipKey{first.Node, term}]
	l := g.nodes[second.Node].byIncarnation[second.Ref.Incarnation]
	off := g.apart(first.Node, second.Node)
	if led == nil || l == nil || led.End.IsZero() || off == unbounded || led.End.Add(off).After(second.At) {
		return false
	}
	up := g.ups.at[l.ref(0)] // shortly after it began; if it had heard of a leader by then, it wrote a record before
	began := (l.started || !up.IsZero()) && !led.End.Add(off).After(g.fix.at(l.node, earliest(l.from, up)))
	if before := g.nodes[second.Node].at(led.End.Add(off), g.fix); began && before != nil && before != l {
		began = led.Ended.Known == OwnWord && g.fix.at(l.node, before.until).Before(led.End.Add(off)) // else it may run
	}
	return began || slices.ContainsFunc(g.absences(second.Node), func(a absence) bool {
		return a.covers(g.ledSurely(led), led.End.Add(off)) && a.ended && a.how != unseen
	})
}

// beganSince reports whether the process of the leader began after the time t, as far as its records tell.
func (g *group) beganSince(w Winner, t time.Time) bool {
	l := g.nodes[w.Node].byIncarnation[w.Ref.Incarnation]
	return l != nil && g.fix.at(w.Node, l.from).After(t)
}

// ledSurely returns until when the leader surely led. It ceased to at any time since then, unless it tells when.
func (g *group) ledSurely(led *Leadership) time.Time {
	if led.Ended.Known == OwnWord {
		return led.End
	}
	return earliest(led.End, latest(led.From, g.fix.at(led.Leader, led.wrote)))
}

// judgeFollowers adds a finding if nodes followed different leaders of the term, and the records of one of those
// leaders are missing: they would tell it themselves.
func (r *Round) judgeFollowers(g *group) {
	if r.Winner == nil {
		return
	}
	for _, other := range g.byTerm[r.Term] {
		r.judgeFollowersOf(other, g)
	}
}

// judgeFollowersOf adds a finding if nodes followed another leader of the term than the winner, and the records of one
// of the two are missing.
func (r *Round) judgeFollowersOf(other *Leadership, g *group) {
	if other.Leader == r.Winner.Node || len(other.Followers) == 0 || !other.First.IsZero() && !r.Winner.Ref.IsZero() {
		return
	}
	f := other.Followers[0]
	proof := []Ref{f.First, r.Winner.Ref}
	led := fmt.Sprintf("Node %d led term %d", r.Winner.Node, r.Term)
	if own := g.leaderships[leadershipKey{r.Winner.Node, r.Term}]; own != nil && len(own.Followers) > 0 {
		proof = append(proof, own.Followers[0].First)
		if r.Winner.Ref.IsZero() {
			led = fmt.Sprintf("Node %d followed node %d in term %d", own.Followers[0].Node, own.Leader, r.Term)
		}
	}
	unsure := ""
	if !leased(r.Guarantee) {
		unsure = noFault
	}
	r.find(TwoLeaders, proof, "%s, and node %d followed node %d in the same term. Records of node %d are missing: "+
		"they would tell whether it led.%s", led, f.Node, other.Leader, other.Leader, unsure).beside = other.Leader
}

// judgeEvidence adds a finding if the lost leader's process was not silent when it was declared gone: it wrote on
// at once. A process that wrote nothing for long before and after the evidence was paused, or hung.
func (r *Round) judgeEvidence(g *group) {
	c := r.Cause
	if c.Lost == 0 || c.Back.IsZero() || saysLeft(c.Evidence, c.Lost) {
		return
	}
	silent := c.BackAt.Sub(c.At)
	if r.Split.Ended.IsZero() || c.BackAt.After(r.Split.Ended) || silent <= r.Split.Error || silent > maxTransit ||
		g.nodes[c.Lost].at(c.At, g.fix).silentAround(c.At, g.fix) {
		return
	}
	r.find(FalseEvidence, []Ref{c.Ref, c.Back}, "Node %d declared %d gone (%s), but the same process "+
		"wrote again %v later, before the round was over: it was alive, and cut off or slow.",
		c.Node, c.Lost, cmp.Or(c.Evidence, c.Text), Span(silent))
}

func (r *Round) judgeMessages() {
	var lost []Message
	var proof []Ref
	for _, m := range r.Messages {
		if m.Delivery == Lost && m.Counted {
			lost = append(lost, m)
			proof = append(proof, r.Steps[m.SendStep].Ref)
		}
	}
	if len(lost) == 0 {
		return
	}
	const named = 5
	var which []string
	for _, m := range lost[:min(named, len(lost))] {
		which = append(which, fmt.Sprintf("%s from %d to %d", m.Kind, m.From, m.To))
	}
	if more := len(lost) - named; more > 0 {
		which = append(which, fmt.Sprintf("%d more", more))
	}
	r.find(MessagesLost, proof, "%s of term %d never arrived: %s.",
		words.Plural(len(lost), "message"), r.Term, strings.Join(which, ", "))
}

// saysLeft reports whether the evidence says that the node left: it had said good-bye.
func saysLeft(evidence string, node uint64) bool {
	return names(evidence, "left", node)
}
