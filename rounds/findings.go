package rounds

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The findings that lie between rounds.

const (
	// inFlight is how long a leader may go on after its successor has sent the
	// announcement that makes it step down.
	inFlight = 500 * time.Millisecond
	// flaps is how many changes of leadership within flapTime count as flapping, if neither an operator nor the end
	// of a process caused them.
	flaps    = 5
	flapTime = time.Minute
	// leaderlessTime is how long a cluster may be without a leader although nodes called elections.
	leaderlessTime = 5 * time.Second
)

// overlaps finds leaders of different terms that led at once. atEnd says that no more records come. Only then
// does a leadership without an end in the records count as one that goes on (see unended).
func (g *group) overlaps(atEnd bool) (found []Finding) {
	for i, a := range g.list {
		unended := atEnd && g.unended(a)
		for _, b := range g.list[i+1:] {
			_, _, goesOn := g.ledUntil(a, b.From)
			if !goesOn && !unended {
				break // and so it ended before all that began later
			}
			if a.Leader == b.Leader || a.Term == b.Term || a.First.IsZero() || b.First.IsZero() {
				continue
			}
			if f, ok := g.overlap(a, b); ok {
				found = append(found, f)
				continue
			}
			if unended && !goesOn && g.apart(a.Leader, b.Leader) != unbounded && g.unlinked(a, b) == "" {
				found = append(found, g.beside(a, b))
				break // a later one is compared with b
			}
		}
	}
	return found
}

// overlap returns the finding that two leaderships overlapped, if they did. a began first.
func (g *group) overlap(a, b *Leadership) (Finding, bool) {
	until, proof, ok := g.ledUntil(a, b.From)
	if !ok {
		return Finding{}, false
	}
	ends, _, known := g.ledUntil(b, b.From)
	unknown := ends.Before(until) && !known && !b.stops() // how long b led on
	if ends.Before(until) && !unknown {
		until = ends
	}
	both := until.Sub(b.From)
	if both <= g.bound(a.Leader, b.Leader) || both <= inFlight && b.deposed(a) {
		return Finding{}, false
	}
	long := fmt.Sprintf(", for %v", Span(both))
	switch {
	case unknown && (a.gap || a.Last.IsZero()):
		long = "; no record tells for how long"
	case unknown:
		long += fmt.Sprintf(" at most: no record tells how long node %d led", b.Leader)
	case a.gap:
		long = fmt.Sprintf(", for at least %v", Span(both))
	}
	return Finding{
		Name: Overlap, Term: max(a.Term, b.Term), Records: []Ref{b.first(), proof},
		Text: fmt.Sprintf("Node %d led term %d and node %d led term %d at once%s.%s%s",
			a.Leader, a.Term, b.Leader, b.Term, long, g.recovered.of(a, b), g.unlinked(a, b)),
	}, true
}

// stops reports whether what the leader wrote last is known to be the last sign that it led: it writes down all that
// it does, or its process ended.
func (r *Leadership) stops() bool {
	return !r.gap && (!r.Last.IsZero() || r.life.debug) || r.Ended.Kind == EndedByProcess || r.Ended.Kind == EndedUnseen
}

// deposed reports whether a ended when its leader received what the leader of r sent as it began to lead.
func (r *Leadership) deposed(a *Leadership) bool {
	return a.endedBy.from == r.Leader && slices.ContainsFunc(r.announced, func(sent string) bool {
		return strings.HasSuffix(sent, "#"+a.endedBy.msgID)
	})
}

// unlinked says that no messages compare the clocks of the two leaders. It returns "" if messages do.
func (g *group) unlinked(a, b *Leadership) string {
	if g.key.run > 0 || g.paths.linked(a.Leader, b.Leader) {
		return ""
	}
	return " No messages compare their clocks: this is so if those do not differ by as much."
}

// unended reports whether a leadership under a lease seems to go on, although its leader writes
// down only changes. No record of the leader or of a follower says that the leadership is over,
// more than half of these nodes name the leader in their last records, and nobody proved the leader
// dead. The other nodes have restarted. If a majority of the same voters had elected another
// leader, one of the nodes that name this leader would have followed the other one, and written so.
func (g *group) unended(a *Leadership) bool {
	if a.Lease.IsZero() || a.First.IsZero() || !a.Last.IsZero() || a.life.debug || !g.believes(a.Leader, a) {
		return false
	}
	still := 1
	for _, f := range a.Followers {
		if f.left {
			return false
		}
		if g.believes(f.Node, a) {
			still++
		}
	}
	proven := slices.ContainsFunc(g.dropsSince(a.Leader, a.From), func(d *drop) bool {
		return strings.HasPrefix(d.Evidence, provenDead)
	})
	return 2*still > 1+len(a.Followers) && still > 1 && !proven
}

// believes reports whether a node's last record names this leader and term.
func (g *group) believes(node uint64, a *Leadership) bool {
	b := g.lastBelief(node)
	return b.leader == a.Leader && b.term == a.Term
}

// lastBelief returns whom the node's last process believed to lead in the end.
func (g *group) lastBelief(node uint64) (b belief) {
	if l := g.current(node); l != nil {
		all := l.allBeliefs()
		b = all[len(all)-1]
	}
	return b
}

// beside returns the finding that two leaders led at once, if the records do not say when
// leadership a ended.
func (g *group) beside(a, b *Leadership) Finding {
	with, proof := "", []Ref{b.First, a.life.ref(a.life.last())}
	for _, f := range a.Followers {
		if g.believes(f.Node, a) {
			with += fmt.Sprintf(", %d", f.Node)
			l := g.current(f.Node)
			proof = append(proof, l.ref(l.last()))
		}
	}
	return Finding{
		Name: Overlap, Term: max(a.Term, b.Term), Records: proof,
		Text: fmt.Sprintf("Node %d led term %d and node %d led term %d at once, as far as the records tell: none "+
			"says that node %d stopped, nor that %s turned from it. It is not so if these processes were dead "+
			"by then; records of level debug would tell.%s",
			a.Leader, a.Term, b.Leader, b.Term, a.Leader, strings.TrimPrefix(with, ", "), g.unlinked(a, b)),
	}
}

// ledUntil returns the time when leadership r ended, the record that shows it, and whether that time is after
// t. A leadership ends at the latest when its lease ends, even if its process slept then and still believed
// that it led. There is one exception: if the process does not record renewals, and stopped for another
// reason than the end of its lease, ledUntil ignores the last recorded lease, since later renewals are not in
// the records.
func (g *group) ledUntil(r *Leadership, t time.Time) (time.Time, Ref, bool) {
	until, proof := r.Until, r.Last
	switch {
	case r.gap: // it may have ended at once
		until, proof = g.fix.at(r.Leader, r.wrote), r.wroteRef
	case !r.Last.IsZero():
	case r.life != nil:
		until, proof = g.fix.at(r.Leader, r.life.until), r.life.ref(r.life.last())
	default:
		proof = r.First
	}
	if !r.Lease.IsZero() && r.Lease.Before(until) && !r.renewedUnseen() {
		until = r.Lease
	}
	return until, proof, until.After(t)
}

// renewedUnseen reports whether the leader renewed its lease until it stopped, although no record
// shows that. This is so if its process writes down only changes, and wrote that it stopped, but
// not that its lease ran out.
func (r *Leadership) renewedUnseen() bool {
	return !r.Last.IsZero() && !r.endedBy.expired && r.life != nil && !r.life.debug
}

// withoutEnd finds where nodes called elections, and nobody led for longer than leaderlessTime. Records that end
// sooner prove nothing, since nobody knows why they end, unless too many voters had been killed a while before. Nor do
// later records of nodes whose clocks nothing compares with that of the node which called the election.
func (g *group) withoutEnd(incidents []Incident) (found []Finding) {
	for _, in := range incidents {
		// Too many voters had been killed a while before.
		lost := in.Leader == 0 && in.killed && in.Leaderless > maxTransit
		if !lost && max(in.Leaderless, in.unheardFor()) <= leaderlessTime { // nearly always
			continue
		}
		calls := in.calls()
		i := slices.IndexFunc(calls, func(c call) bool {
			since := in.Leaderless - max(c.at.Sub(in.From), 0)
			if in.Unsure() {
				since = in.Until.Sub(latest(c.at, in.Perhaps))
			}
			if in.Leader == 0 {
				if last, all := g.comparable(c.ref.Node); !all && last.Sub(c.at) <= leaderlessTime {
					return false
				}
			}
			return lost || since > maxTransit
		})
		if i < 0 {
			continue
		}
		first := calls[i]
		after := "and the logs end so"
		if in.Leader != 0 {
			after = fmt.Sprintf("until node %d led term %d", in.Leader, in.Term)
		}
		nobody := "nobody led for " + in.Length()
		if in.Unsure() {
			nobody = fmt.Sprintf("no record tells of a leader for %s", Span(in.AtMost()))
			in.prove(in.PerhapsRef)
		}
		proof := slices.DeleteFunc(slices.Clone(in.Records), func(ref Ref) bool { return ref == first.ref })
		found = append(found, Finding{
			Name: NoEnd, Term: in.Terms[len(in.Terms)-1], Records: append([]Ref{first.ref}, proof...),
			Text: fmt.Sprintf("%s, and %s, %s: %s.", first.text, nobody, after, in.Why),
		})
	}
	return found
}

// comparable returns the time of the last record of all nodes whose clocks are compared with that of the given one, and
// whether those are all.
func (g *group) comparable(node uint64) (last time.Time, all bool) {
	all = true
	for id, m := range g.nodes {
		if g.apart(node, id) == unbounded {
			all = false
			continue
		}
		for _, l := range m.all() {
			last = latest(last, g.fix.at(id, l.until))
		}
	}
	return last, all
}

// call is a sign that an election was held while nobody led.
type call struct {
	at   time.Time
	ref  Ref
	text string
}

// calls returns the first election that was called while nobody led, and then, as its record may be missing, the first
// time that a node stood, or asked another one for its vote.
func (in *Incident) calls() (calls []call) {
	for _, r := range in.rounds {
		if len(r.Initiators) > 0 {
			first := r.Initiators[0]
			text := fmt.Sprintf("Node %d called term %d because \"%s\"", first.Node, r.Term, first.Why)
			calls = append(calls, call{first.At, first.Ref, text})
			break
		}
	}
	first := call{}
	for _, r := range in.rounds {
		if !r.asked.at.IsZero() && (first.at.IsZero() || r.asked.at.Before(first.at)) {
			first = r.asked
		}
	}
	if !first.at.IsZero() {
		calls = append(calls, first)
	}
	return calls
}

// noteAsked notes the first step in which a node stood for the term, or was asked for its vote in it.
func (r *Round) noteAsked() {
	for i := range r.Steps {
		st := &r.Steps[i]
		if !r.asked.at.IsZero() && !st.At.Before(r.asked.at) {
			continue
		}
		if text := r.asks(st); text != "" {
			r.asked = call{st.At, st.Ref, text}
		}
	}
}

// asks says that the node of the step stood for the term, or that one node asked another one for its vote. It returns
// "" if the step tells neither.
func (r *Round) asks(st *Step) string {
	for j := range st.reasons {
		if cause, ok := st.reasons[j].stoodFor(r.Term); ok {
			return fmt.Sprintf("Node %d stood for term %d because \"%s\"", st.Ref.Node, r.Term, cause.why)
		}
	}
	asked := func(m *Message) string {
		if !slices.Contains(askKinds, m.Kind) {
			return ""
		}
		return fmt.Sprintf("Node %d asked node %d to vote for it in term %d", m.From, m.To, r.Term)
	}
	for _, i := range st.Sent {
		if text := asked(&r.Messages[i]); text != "" {
			return text
		}
	}
	if st.Received >= 0 {
		return asked(&r.Messages[st.Received])
	}
	return ""
}

// unasked returns the changes of leadership of which no cause from outside is known: no operator asked for it, no
// process ended, and that of the new leader had not started less than flapTime before. Those before the incidents that
// may still count come first.
func (g *group) unasked(incidents []Incident) (unasked []Incident) {
	if g.past != nil {
		unasked = slices.Clone(g.past.unasked)
	}
	for _, in := range incidents {
		if in.Former != 0 && in.Leader != 0 && len(in.rounds) > 0 && !g.fromOutside(&in) {
			unasked = append(unasked, in)
		}
	}
	return unasked
}

// flapping finds where leadership changed many times within flapTime. Each finding says what started most of the
// changes. open has those changes that may count together with later ones; if all is true, no later ones are awaited.
func flapping(unasked []Incident, all bool) (found []Finding, open []Incident) {
	for first := 0; first < len(unasked); first++ {
		next := first
		for next < len(unasked) && unasked[next].Until.Sub(unasked[first].Until) <= flapTime {
			next++
		}
		if next == len(unasked) && open == nil {
			open = unasked[first:]
		}
		if next-first >= flaps && (all || next < len(unasked)) {
			found = append(found, flap(unasked[first:next]))
			first = next - 1
		}
	}
	return found, open
}

// fromOutside reports whether an operator caused the change, or the end or the start of a process did. It may be so too
// if the record of the node that called the election is missing.
func (g *group) fromOutside(in *Incident) bool {
	if in.Ended.Kind == EndedByProcess ||
		!slices.ContainsFunc(in.rounds, func(r *Round) bool { return len(r.Initiators) > 0 }) {
		return true
	}
	for _, r := range in.rounds {
		switch r.Cause.Kind {
		case Operator, HandOver, SplitRecovered, Readmitted, FirstLeader, Released, EntryLost:
			return true
		}
		if EndedProcess(r.Cause.Evidence, r.Cause.Lost) {
			return true
		}
	}
	m := g.nodes[in.Leader]
	if m == nil {
		return false
	}
	l := m.at(in.Until, g.fix)
	return l != nil && l.first() == 1 && in.Until.Sub(g.fix.at(l.node, l.from)) < flapTime
}

func flap(incidents []Incident) Finding {
	counts := map[string]int{}
	most := ""
	var proof []Ref
	for _, in := range incidents {
		counts[in.Why]++
		if counts[in.Why] > counts[most] {
			most = in.Why
		}
		proof = append(proof, in.Records...)
	}
	took := incidents[len(incidents)-1].Until.Sub(incidents[0].Until)
	text := fmt.Sprintf("The leader changed %d times within %v", len(incidents), Span(took))
	if took > 0 {
		text += fmt.Sprintf(", %.0f times a minute", float64(len(incidents)-1)/took.Minutes())
	}
	starts := fmt.Sprintf("what starts most of the changes, %d times: %s", counts[most], most)
	if counts[most] == 1 {
		starts = "each starts for another reason, the first one for this: " + most
	}
	return Finding{
		Name: Flapping, Term: incidents[0].Term, Records: proof, Text: fmt.Sprintf("%s; %s.", text, starts),
	}
}

// sameID finds processes of one node that wrote at the same time, by the node's own clock.
func sameID(m *member) (found []Finding) {
	all := m.lives
	if len(m.apart) > 0 {
		all = slices.SortedFunc(slices.Values(slices.Concat(m.lives, m.apart)), byBeginning)
	}
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		both := earliest(a.until, b.until).Sub(b.from)
		if a.until.After(b.from) && a.incarnation != "" && b.incarnation != "" {
			found = append(found, Finding{
				Name: SameID, Records: []Ref{b.ref(b.first()), a.ref(a.last())},
				Text: fmt.Sprintf("Two processes were node %d for %v at least: incarnations %s and %s.",
					a.node, Span(both), a.incarnation, b.incarnation),
			})
		}
	}
	return found
}

// termFell finds where the own term of a node went back: within one process, or from one process to messages that
// the next one sent. A node that restarts may be in a lower term as long as it sends nothing in that term, or if its
// process ended as it wrote its last record: what that says need not have been saved. A nominator need not have saved
// its last term either: it reserves one in advance, and passes on messages of the term before once it runs again.
func termFell(m *member, nominates bool) (found []Finding) {
	var before mark // the last one of the processes so far that has the node's own term
	var by *life
	for _, l := range m.lives {
		marks := l.sorted()
		for i, now := range marks {
			if now.own == 0 || by != nil && l != by && now.sent == 0 {
				continue
			}
			overlap := by != nil && l != by && !by.until.Before(l.from)
			reserved := nominates && l != by && now.own+1 == before.own
			if by != nil && now.own < before.own && !overlap && !reserved {
				found = append(found, fell(l.node, by.ref(before.seq), before.own, l.ref(now.seq), now.own))
			}
			if i < len(marks)-1 {
				before, by = now, l
			}
		}
	}
	return found
}

func fell(node uint64, from Ref, high uint64, to Ref, low uint64) Finding {
	return Finding{
		Name: TermWentBack, Term: low, Records: []Ref{from, to},
		Text: fmt.Sprintf("Node %d went back from term %d to term %d.", node, high, low),
	}
}
