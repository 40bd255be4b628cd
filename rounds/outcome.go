package rounds

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
)

// end sets how the round ended: who followed, who was left behind, of whom no record tells that, and where the
// aftermath begins.
func (r *Round) end(g *group, next uint64) {
	r.State, r.Aftermath = Undecided, len(r.Steps)
	switch {
	case r.Winner != nil:
		r.State = Decided
	case r.Term < g.top:
		r.State, r.Next = Superseded, next
		r.noteNext(g)
	}
	r.participate(g)
	if r.State != Decided {
		r.perhaps = g.perhapsLed(r)
		r.PerhapsLed = len(r.perhaps) > 0 || g.reservedBefore(r)
		return
	}
	r.Winner.Attr = g.attr(r.Winner.Node)
	r.Winner.Rule = r.Winner.cause.rule(r.Algorithm)
	r.Aftermath = r.followedBy() + 1
	for i := range r.Participants {
		p := &r.Participants[i]
		if p.Part != PartBehind {
			continue
		}
		if s, surely := r.straggler(*p, g); surely {
			r.LeftBehind = append(r.LeftBehind, s)
		} else {
			p.Part, r.Untold = PartUntold, append(r.Untold, s)
		}
	}
}

// noteNext notes when the next term began.
func (r *Round) noteNext(g *group) {
	t := g.open[r.Next]
	if t == nil || len(t.entries) == 0 || len(r.Steps) == 0 {
		return
	}
	first := slices.MinFunc(t.entries, byTime(g.fix))
	if g.apart(first.Ref.Node, r.Steps[0].Ref.Node) != unbounded {
		r.NextAt = g.fix.at(first.Ref.Node, first.Wall)
	}
}

// followedBy returns the index of the last step in which the winner, or a follower that was there, first names the
// winner as the leader. If the record of the win is missing, the first one of the winner tells nothing.
func (r *Round) followedBy() (last int) {
	last = r.decidedAt()
	for i := range r.Steps {
		p := r.participant(r.Steps[i].Ref.Node)
		if p.Believed == r.Steps[i].Ref && (p.Part == PartFollower || p.Part == PartWinner && !r.Winner.late) {
			last = i
		}
	}
	return last
}

// participate lists the nodes that took part or should have.
func (r *Round) participate(g *group) {
	if r.Winner != nil {
		r.Participants = slices.Grow(r.Participants, len(r.Winner.Live)) // nearly always all
	}
	known := map[uint64]int{} // the index of each in r.Participants
	part := func(id uint64) *Participant {
		i, ok := known[id]
		if !ok {
			i = len(r.Participants)
			known[id] = i
			r.Participants = append(r.Participants, Participant{Node: id, Attr: g.attr(id)})
		}
		return &r.Participants[i]
	}
	for i := range r.Steps {
		st := &r.Steps[i]
		p := part(st.Ref.Node)
		if r.Winner != nil && st.led() == r.Winner.Node && p.Believed.IsZero() {
			p.Believed, p.BelievedAt = st.Ref, st.At
			if st.Change == "" {
				l := g.nodes[p.Node].byIncarnation[st.Ref.Incarnation]
				p.Late = l != nil && l.cutBefore(st.Ref.Seq)
			}
		}
	}
	live := map[uint64]bool{} // whom the winner believed alive
	if r.Winner != nil {
		part(r.Winner.Node)
		for _, id := range r.Winner.Live {
			part(id)
			live[id] = true
		}
	}
	for i := range r.Participants {
		p := &r.Participants[i]
		p.Part = r.part(p, live[p.Node], g)
	}
	slices.SortFunc(r.Participants, func(a, b Participant) int { return cmp.Compare(a.Node, b.Node) })
}

// place returns the index of the winner's step, or -1 if there is none.
func (r *Round) place() int {
	if r.Winner == nil {
		return -1
	}
	return r.stepOf(r.Winner.Ref)
}

// part returns the part that a node had in the round. live says that the winner believed it alive.
func (r *Round) part(p *Participant, live bool, g *group) Part {
	switch {
	case r.Winner == nil:
		return PartVoter
	case p.Node == r.Winner.Node:
		return PartWinner
	case p.Node == r.Cause.Lost:
		return PartLost
	case r.startedAfter(p, g):
		if l := g.nodes[p.Node].byIncarnation[p.Believed.Incarnation]; p.Late && g.startUnwritten(l, r.Winner.won) {
			return PartLater
		}
		return PartJoined
	case !live && !r.Winner.viewed && !p.Believed.IsZero() && r.unseenUntil(p, g): // it may have been there
		return PartLater
	case !live:
		return PartJoined
	case !p.Believed.IsZero() && r.longAfter(p, g):
		return PartLater
	case !p.Believed.IsZero():
		return PartFollower
	case g.nodes[p.Node] == nil:
		return PartUnlogged
	case !r.Winner.Ref.IsZero() && g.died(p.Node, r.Winner.won, r.Winner.teller):
		return PartDead
	}
	return PartBehind
}

// longAfter reports whether the node may have followed long after the win, or wrote of it only then, since records of
// it are missing, and no record of the winner tells whether it was there: it may have been dead or frozen.
func (r *Round) longAfter(p *Participant, g *group) bool {
	if r.Winner.viewed || slices.Contains(r.Winner.told, p.Node) {
		return false
	}
	off, after := g.apart(p.Node, r.Winner.teller), p.BelievedAt.Sub(r.Winner.won)
	if off == unbounded {
		return after.Abs() > maxTransit
	}
	return r.Winner.won.IsZero() || r.unseenUntil(p, g) && after > maxTransit-off
}

// unseenUntil reports whether the process may have followed the winner, or only have begun, between the win and its
// first record that follows: records of it are missing in between, or that of the win.
func (r *Round) unseenUntil(p *Participant, g *group) bool {
	l := g.nodes[p.Node].byIncarnation[p.Believed.Incarnation]
	return r.Winner.untold() || p.Late ||
		l != nil && (g.beganUnseen(l, r.Winner.won) || l.gapBetween(r.Winner.won, p.BelievedAt, g.fix))
}

// startedAfter reports whether the process that followed the winner started after the win. If it did not
// follow, the question is whether any process of the node ran when the winner won. Whom the winner told, or whose
// answer it had just got, was there; but that may have been the process before one whose start is in the records. Where
// no messages compare the clocks, they count as right if the record of the win is there.
func (r *Round) startedAfter(p *Participant, g *group) bool {
	m, off := g.nodes[p.Node], g.apart(p.Node, r.Winner.teller)
	if off == unbounded && !r.Winner.untold() {
		off = 0
	}
	if m == nil || r.Winner.won.IsZero() || off == unbounded {
		return false
	}
	l := m.lives[0]
	if !p.Believed.IsZero() {
		l = m.byIncarnation[p.Believed.Incarnation]
	}
	told := slices.Contains(r.Winner.told, p.Node)
	if l == nil || told && (r.Winner.viewed || !l.started && !r.cameNext(l, g)) || g.beganUnseen(l, r.Winner.won) {
		return false
	}
	second := l != m.lives[0] || m.forgotten.lives > 0 // it would have followed at once, as it may have in a gap
	return g.startedBy(l, second && !p.Late).After(r.Winner.won.Add(off))
}

// beganUnseen reports whether the process may have begun long before its first record, and so before the time t: those
// before that are missing, and neither a process before it nor its own word that it runs is later than t.
func (g *group) beganUnseen(l *life, t time.Time) bool {
	_, greeted := g.ups.at[l.ref(0)]
	return !greeted && l.first() > 1 && !g.formerWroteAfter(l, t)
}

// formerWroteAfter reports whether the last line of the process before it is of after the time t.
func (g *group) formerWroteAfter(l *life, t time.Time) bool {
	m := g.nodes[l.node]
	i := slices.Index(m.lives, l)
	return i > 0 && g.lastLine(m.lives[i-1]).After(t)
}

// cameNext reports whether the process l is not the one that the winner told, or whose answer it had just got: others
// saw the end of the process before it before the win, or its first record is of long after. It would have followed.
func (r *Round) cameNext(l *life, g *group) bool {
	m := g.nodes[l.node]
	i := slices.Index(m.lives, l)
	if i <= 0 {
		return false
	}
	off := g.apart(l.node, r.Winner.Node)
	if off != unbounded && g.fix.at(l.node, l.from).After(r.Winner.won.Add(off+maxTransit)) {
		return true
	}
	return slices.ContainsFunc(g.events(m.lives[i-1]), func(e LifeEvent) bool {
		off := g.apart(e.Ref.Node, r.Winner.Node)
		return e.Kind == Ended && e.Known == PeersSaw && off != unbounded && !e.At.Add(off).After(r.Winner.won)
	})
}

// startedBy returns the time by which a process may have started at the latest. At level info its first record may
// come long after that; then it counts as started a while earlier, unless another process of its node ran before it.
func (g *group) startedBy(l *life, second bool) time.Time {
	from := g.fix.at(l.node, l.from)
	if l.first() > 1 || !l.started && !second {
		return from.Add(-maxTransit)
	}
	return from
}

// startUnwritten reports whether the process may have started by the time t, long before its first record, as at level
// info. Nothing tells how long before if it loses a node in that one, as it had known that node.
func (g *group) startUnwritten(l *life, t time.Time) bool {
	if l == nil || l.debug || l.started {
		return false
	}
	if began, _ := g.beginning(l); !began.IsZero() {
		return !began.After(t)
	}
	view, viewed := l.viewAt(l.first())
	return viewed && view.evidence != "" && !g.formerWroteAfter(l, t) ||
		!g.fix.at(l.node, l.from).Add(-unwritten).After(t)
}

// died reports whether the process of the node that ran before t, by the clock of the node by, had ended by then, or
// within maxTransit after, without another record, and nothing tells that the next one may have run by then, whose log
// may not be here. Where clocks differ, messages must compare the two.
func (g *group) died(node uint64, t time.Time, by uint64) bool {
	m, off := g.nodes[node], g.apart(node, by)
	if m == nil || t.IsZero() || off == unbounded && g.fix.differ() {
		return false
	} else if off == unbounded {
		off = 0
	}
	l, soon := m.at(t, g.fix), t.Add(maxTransit)
	if l == nil || g.fix.at(node, l.until).After(soon) || l.debug && g.sentUnseen(l) {
		return false
	}
	return slices.ContainsFunc(g.events(l), func(e LifeEvent) bool {
		if e.Kind != Ended || e.At.After(soon) || g.ranSince(node, e.At, soon, by) {
			return false
		}
		next, known := g.cameBack(l, &e, e.At)
		unheard := g.heardAgain(node, e.At).IsZero() // else the next one may have begun long before that
		return l.next == nil && !g.holed() && unheard || known && next.After(t.Add(off))
	})
}

// ranSince reports whether another node heard of the node again between two times, or saw it again that had lost it, or
// the node by saw it come into a view that is not its first: a process that begins is told of others which may have
// ended.
func (g *group) ranSince(node uint64, from, until time.Time, by uint64) bool {
	heard := g.heardAgain(node, from)
	if !heard.IsZero() && !heard.After(until) || slices.ContainsFunc(g.drops[node], func(d *drop) bool {
		return !d.backRef.IsZero() && d.back.After(from) && !d.back.After(until)
	}) {
		return true
	}
	m := g.nodes[by]
	return m != nil && slices.ContainsFunc(m.lives, func(l *life) bool {
		var before []uint64 // in the view before
		return slices.ContainsFunc(l.allHappenings(), func(h happening) bool {
			at, came := g.fix.at(by, h.wall), before != nil && !slices.Contains(before, node)
			if h.event == "peers" {
				before = h.alive
			}
			return h.event == "peers" && came && slices.Contains(h.alive, node) && at.After(from) && !at.After(until)
		})
	})
}

// count counts the messages by kind.
func (r *Round) count() {
	r.markCounted()
	for i := range r.Messages {
		m := &r.Messages[i]
		if !m.Counted {
			continue
		}
		i := slices.IndexFunc(r.Counts, func(c KindCount) bool { return c.Kind == m.Kind })
		if i < 0 {
			i = len(r.Counts)
			r.Counts = append(r.Counts, KindCount{Kind: m.Kind})
		}
		r.Counts[i].Sent++
		r.participant(m.From).Sent++
		if m.ReceiveStep >= 0 {
			r.participant(m.To).Received++
		}
	}
	slices.SortFunc(r.Counts, func(a, b KindCount) int { return cmp.Compare(a.Kind, b.Kind) })
}

// compare compares the counts with the theory.
func (r *Round) compare() {
	entry, err := catalog.Lookup(r.Algorithm)
	if err != nil || r.Winner == nil || len(r.Winner.Live) == 0 {
		return
	}
	live, byKind := r.living(), map[string]int{}
	for _, c := range r.Counts {
		byKind[c.Kind] = c.Sent
	}
	if !entry.Leased || entry.Theory.Among != nil { // else all its messages are those of the votes
		r.Theory = theoryOf(entry.Theory, len(live), byKind)
	}
	r.votersTheory(entry.Theory.Among, live, byKind)
}

// living returns the nodes that the winner believed alive, without the leader that was lost if nothing tells
// that it was there: in the worst case only the lowest node knows of the loss.
func (r *Round) living() []uint64 {
	if lost := r.Cause.Lost; lost != 0 && !slices.Contains(r.acted(), lost) {
		return slices.DeleteFunc(slices.Clone(r.Winner.Live), func(id uint64) bool { return id == lost })
	}
	return r.Winner.Live
}

// markCounted marks the messages that were sent before the aftermath, and those that answer
// a marked one.
func (r *Round) markCounted() {
	for i := range r.Steps {
		st := &r.Steps[i]
		answers := st.Received >= 0 && r.Messages[st.Received].Counted
		for _, m := range st.Sent {
			r.Messages[m].Counted = i < r.Aftermath || answers
		}
	}
}

func (r *Round) participant(id uint64) *Participant {
	i := sort.Search(len(r.Participants), func(i int) bool { return r.Participants[i].Node >= id })
	if i < len(r.Participants) && r.Participants[i].Node == id {
		return &r.Participants[i]
	}
	return &Participant{} // nobody reads it
}

// split sets how long each phase of the round took.
func (r *Round) split(g *group, t *log) {
	p := &r.Split
	p.Estimated, p.Error = g.estimated(t)
	p.Began = r.Cause.At
	if r.Winner == nil || p.Began.IsZero() {
		return
	}
	won := r.Winner.At
	if !won.IsZero() && !r.Winner.late {
		p.Won = max(won.Sub(p.Began), 0)
		if end, known := g.endOfFormer(r); known {
			p.LedOn = min(max(end.Sub(p.Began), 0), p.Won) // it hears of the winner while that announces itself
			p.Elect, p.ElectKnown = p.Won-p.LedOn, true
		}
		if r.Aftermath > 0 && !slices.ContainsFunc(r.Participants, func(p Participant) bool { return p.Late }) {
			p.Ended = r.ended()
			followers, took := r.parts(PartFollower), p.Ended.Sub(won)
			apart := func(id uint64) bool { return g.apart(id, r.Winner.Node) == unbounded }
			unlikely := took > time.Minute && slices.ContainsFunc(followers, apart)
			if len(followers) > 0 && !unlikely {
				p.Announce, p.AnnounceKnown = max(took, 0), true
			}
		}
	}
	if at, ok := g.deathOf(r.Cause.Lost, p.Began); ok {
		p.Detect, p.DetectKnown = p.Began.Sub(at), true
	} else if last, ok := g.lastWord(r.Cause.Lost, p.Began); ok && r.Cause.Back.IsZero() {
		p.DetectBound = p.Began.Sub(last)
	}
}

// estimated reports whether times of the round are estimates, since clocks differ, and returns the largest error of
// these; 0 if nobody knows it.
func (g *group) estimated(t *log) (estimated bool, most time.Duration) {
	most = g.fix.error()
	own := func(e *entry) bool { return g.fix[e.Ref.Node].Differs() }
	switch {
	case !g.fix.differ() && most <= sameClock:
		return false, most
	case !t.comparable(g.paths):
		return true, 0
	}
	return most > 0 || slices.ContainsFunc(t.entries, own), most
}

// endOfFormer returns when the leadership before the round ended, if the leader was not lost, or had its lease still.
// Without a lease, one that was silent until the next one led counts as lost. It returns zero if there was none. If it
// may have led on after the first sign, but for how long is not known, or only at most, known is false.
func (g *group) endOfFormer(r *Round) (end time.Time, known bool) {
	if r.Cause.Lost != 0 && !leased(r.Guarantee) {
		return end, true
	}
	known = true
	const most = 16 // of leaderships that overlap
	began, _ := slices.BinarySearchFunc(g.list, r.Split.Began, func(l *Leadership, t time.Time) int {
		if l.From.After(t) {
			return 1
		}
		return -1
	})
	for _, l := range g.list[max(0, began-most):began] {
		own := !l.First.IsZero() || leased(r.Guarantee)
		if l.Term >= r.Term || !own || !l.End.After(end) && !l.End.After(r.Split.Began) {
			continue
		}
		late := l.Ended.Kind == EndedByLease && l.Ended.Known == OwnWord && l.life != nil && !l.life.debug
		first, _ := l.missed(l.End, nil)
		since := g.perhapsOver(l)
		unsure := late && !first.IsZero() || !since.IsZero() && l.End.Sub(since) > maxTransit
		if !leased(r.Guarantee) && g.silentFrom(l.Leader, r.Split.Began, r.Winner.At) {
			continue
		}
		if l.End.After(end) && !unsure {
			end = l.End
			atMost := l.Ended.Kind == EndedUnseen || l.Ended.Kind == EndedByLease && l.Ended.Known != OwnWord
			known = !atMost || !end.After(r.Split.Began)
		}
		if unsure && l.End.After(r.Split.Began) {
			known = false
		}
	}
	if leased(r.Guarantee) && slices.ContainsFunc(g.list[began:], func(l *Leadership) bool { return l.Term < r.Term }) {
		known = false // another leader came after the call
	}
	return end, known
}

// ended returns when the last node that should follow the winner did so.
func (r *Round) ended() (last time.Time) {
	for _, p := range r.Participants {
		expected := p.Part == PartFollower || p.Part == PartWinner
		if expected && (last.IsZero() || p.BelievedAt.After(last)) {
			last = p.BelievedAt
		}
	}
	return last
}

// lastWord returns when a node wrote its last record before t.
func (g *group) lastWord(node uint64, t time.Time) (at time.Time, ok bool) {
	m := g.nodes[node]
	if m == nil {
		return at, false
	}
	if l := m.at(t, g.fix); l != nil {
		if last, found := l.before(t, g.fix); found {
			return g.fix.at(node, last.wall), true
		}
	}
	return at, false
}

// deathOf returns when the node last died, no later than the time before, as far as is known.
func (g *group) deathOf(node uint64, before time.Time) (at time.Time, ok bool) {
	for _, d := range g.deaths {
		if node != 0 && d.node == node && !d.at.After(before) && d.at.After(at) {
			at, ok = d.at, true
		}
	}
	return at, ok
}
