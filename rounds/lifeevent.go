package rounds

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// LifeEvent is something that happened to a process.
type LifeEvent struct {
	Kind  LifeEventKind `json:"kind"`
	At    time.Time     `json:"at"` // corrected
	Known Confidence    `json:"known"`
	// Ref is the record that shows it, of the process itself or of a peer; the last record of a process that said
	// good-bye behind it.
	Ref Ref `json:"ref"`

	// Why is the error with which the process ended, by its own word; empty if it was told to end.
	Why string `json:"why,omitempty"`
	// Told is how the process had been told to stop, by its own record ToldRef: "told to stop by SIGTERM"; only
	// "told to
	// stop" where its good-bye alone says so, and ToldRef is Ref; empty if nothing says so.
	Told    string `json:"told,omitempty"`
	ToldRef Ref    `json:"told_ref,omitzero"`
	// Late says that the process may have ended long before At: the peer that saw its end may have slept until then.
	Late bool `json:"late,omitempty"`

	left  bool // it said good-bye
	proof bool // nothing but the proof that this process ended tells of it: the next one may run already
}

// toldToStop is how the reason of a process begins that resigns since it was told to end.
const toldToStop = "told to stop"

// Unannounced reports whether peers saw the end of the process, and nothing says that it was to end.
func (e *LifeEvent) Unannounced() bool {
	return e.Kind == Ended && e.Known == PeersSaw && !e.left && e.Told == ""
}

// LifeEventKind is a kind of LifeEvent.
type LifeEventKind string

// The events. Started; Ended: killed, crashed or stopped by then. Silent: a peer heard nothing of it, since it was
// paused, hung or cut off; nobody can tell which. Suspected: a peer lost sight of it, but it wrote on. Paused: it slept
// past the end of a lease that it watched. Resumed: it wrote or answered again.
const (
	Started   LifeEventKind = "started"
	Ended     LifeEventKind = "ended"
	Silent    LifeEventKind = "silent"
	Paused    LifeEventKind = "paused"
	Suspected LifeEventKind = "suspected"
	Resumed   LifeEventKind = "resumed"
)

// life returns what a History says of one process, before which its node had kept that.
func (g *group) life(l *life, k kept) Life {
	out := l.summary(g.fix)
	out.Stood, out.Unsaved = g.stood(l), l.unsaved(k)
	out.Events, out.Changed = g.allEvents(l), g.ups.changed[l.ref(0)]
	return out
}

// events returns what happened to the process, as far as it and its peers tell. Nobody changes the list.
func (g *group) events(l *life) []LifeEvent {
	events, known := g.lived[l]
	if !known {
		events = g.findEvents(l)
		g.lived[l] = events
	}
	return events
}

// Stance says that a process stands for election no more, since it is not eligible, or that it does again.
type Stance struct {
	At  time.Time `json:"at"` // corrected
	Ref Ref       `json:"ref"`
	Why string    `json:"why,omitempty"` // why it stands aside; empty if it stands again
}

// stood returns when the process stood aside, and stood again.
func (g *group) stood(l *life) (list []Stance) {
	why := ""
	for _, h := range l.allHappenings() {
		if h.event == "eligible" && h.unfit != why {
			why = h.unfit
			list = append(list, Stance{g.fix.at(l.node, h.wall), l.ref(h.seq), Quoted(why)})
		}
	}
	return list
}

func (g *group) findEvents(l *life) (events []LifeEvent) {
	if at, ref := g.beginning(l); !at.IsZero() {
		events = append(events, LifeEvent{Kind: Started, At: at, Known: OwnWord, Ref: ref})
	}
	seen, end := g.seenByPeers(l)
	events = append(append(events, seen...), g.pauses(l)...)
	// Peers may have seen only that it was to end, and do not know why it did.
	if bye := g.goodbye(l); bye != nil && (end == nil || end.left || bye.Error != "") {
		at := g.fix.at(l.node, bye.Time)
		end = &LifeEvent{Kind: Ended, At: at, Known: OwnWord, Ref: l.ref(l.last()), Why: bye.Error, left: true}
	} else if d := g.endSeen(l); end == nil && d != nil {
		at, left := latest(d.At, g.fix.at(l.node, l.until)), saysLeft(d.Evidence, l.node)
		end = &LifeEvent{Kind: Ended, At: at, Known: PeersSaw, Ref: d.Ref, left: left, proof: d.proven()}
		end.Late = g.seenLate(d)
	} else if next := l.next; end == nil && next != nil && !l.atOnce(next) {
		events = append(events, LifeEvent{
			Kind: Ended, At: g.fix.at(l.node, next.from), Known: Inferred,
			Ref: next.ref(next.first()),
		})
	}
	slices.SortStableFunc(events, func(a, b LifeEvent) int { return a.At.Compare(b.At) })
	if end != nil { // the last one, although it may be earlier by the clock of the peer
		if asked := l.request(l.last()+1, g.fix); strings.HasPrefix(asked.why, toldToStop) {
			end.Told, end.ToldRef = asked.why, asked.ref
		} else if end.Known == OwnWord && end.Why == "" {
			end.Told, end.ToldRef = toldToStop, end.Ref
		}
		events = append(events, *end)
	}
	return events
}

// beginning returns when the process began, and where it says so: in the record of its start, or in the line by which
// it says that it runs, since at level info a start that decided nothing is no record. Zero if it says it nowhere.
func (g *group) beginning(l *life) (at time.Time, ref Ref) {
	up := g.ups.at[l.ref(0)]
	switch {
	case l.started, !up.IsZero() && l.from.Before(up):
		return g.fix.at(l.node, l.from), l.ref(l.first())
	case !up.IsZero():
		return g.fix.at(l.node, up), l.ref(0)
	}
	return time.Time{}, Ref{}
}

// atOnce reports whether both processes wrote all their records in one moment: no record tells which came first.
func (l *life) atOnce(other *life) bool {
	return l.from.Equal(other.until) && l.until.Equal(other.from)
}

// seenByPeers returns when the process was out of a peer's reach, and its end; nil if no peer saw that.
func (g *group) seenByPeers(l *life) (events []LifeEvent, end *LifeEvent) {
	last := g.fix.at(l.node, l.until)
	next := l.next
	for _, d := range g.dropsSince(l.node, g.fix.at(l.node, l.from)) {
		if next != nil && d.At.After(g.fix.at(l.node, next.from)) {
			break
		}
		off, ended := g.bound(d.Node, l.node), EndedProcess(d.Evidence, l.node)
		near, since := off, off
		if !g.compared(d.Node, l.node) { // they may differ by as much as nobody notices
			if !ended {
				near = max(off, maxTransit)
			}
			if !ended || l.place > 0 {
				since = max(off, maxTransit)
			}
		}
		silentOn := !d.At.Add(near).Before(last)
		switch {
		case off == unbounded, !d.isOf(l), g.ofFormer(d, l, off), d.At.Before(g.fix.at(l.node, l.from).Add(since)),
			next != nil && !d.At.Add(near).Before(g.fix.at(l.node, next.from)): // perhaps of another process
		case silentOn && ended:
			left := saysLeft(d.Evidence, l.node)
			end = &LifeEvent{Kind: Ended, At: d.At, Known: PeersSaw, Ref: d.Ref, left: left, proof: d.proven()}
			end.Late = g.seenLate(d)
			return events, end
		case saysLeft(d.Evidence, l.node): // and it ended a little later
			end = &LifeEvent{Kind: Ended, At: latest(d.At, last), Known: PeersSaw, Ref: d.Ref, left: true}
			end.Late = g.seenLate(d)
			return events, end
		case ended, silentOn && next != nil:
		case len(events) > 0 && events[len(events)-1].Kind == Resumed && d.At.Before(events[len(events)-1].At):
		case silentOn:
			events = append(events, g.silence(l, d, near)...)
		default:
			events = append(events, g.silence(l, d, off)...)
		}
	}
	return events, nil
}

// seenLate reports whether the evidence may be of what had happened long before: who gives it may have slept until
// then.
func (g *group) seenLate(d *drop) bool {
	m := g.nodes[d.Node]
	return m != nil && g.mayHaveSlept(m.byIncarnation[d.Ref.Incarnation], d.At)
}

// ofFormer reports whether the evidence may be about the process before this one, whose end was noticed late: who gives
// it did not see this one come. The clocks of the two may be off by as much.
func (g *group) ofFormer(d *drop, l *life, off time.Duration) bool {
	if l.place == 0 || !d.noticedLate() || g.nodes[d.Node] == nil {
		return false
	}
	by := g.nodes[d.Node].byIncarnation[d.Ref.Incarnation]
	return by == nil || !slices.ContainsFunc(by.allHappenings(), func(h happening) bool {
		cameBack := func(was *drop) bool { return was.backRef == by.ref(h.seq) }
		came := h.event == "peers" && h.seq < d.Ref.Seq && slices.Contains(h.alive, l.node) &&
			(names(h.evidence, "new-incarnation", l.node) || slices.ContainsFunc(g.dropsBy[d.way()], cameBack))
		return came && !g.fix.at(d.Node, h.wall).Before(g.fix.at(l.node, l.from).Add(off))
	})
}

// byes returns the last lines of the node's processes in the era of the group, in order.
func (g *group) byes(node uint64) []trace.Farewell {
	all := g.left[node]
	if g.key.era == 0 {
		return all
	}
	byEra := func(bye trace.Farewell, era int) int { return cmp.Compare(g.eras.at(g.key, bye.Time), era) }
	from, _ := slices.BinarySearchFunc(all, g.key.era, byEra)
	until, _ := slices.BinarySearchFunc(all, g.key.era+1, byEra)
	return all[from:until]
}

// goodbye returns the line behind its last record by which the process ended. It returns nil if none is known. Another
// process that refused to run ended only itself.
func (g *group) goodbye(l *life) *trace.Farewell {
	byes := g.byes(l.node)
	i, _ := slices.BinarySearchFunc(byes, l.until, func(bye trace.Farewell, t time.Time) int {
		return bye.Time.Compare(t)
	})
	for ; i < len(byes) && (l.next == nil || byes[i].Time.Before(l.next.from)); i++ {
		if bye := &byes[i]; !bye.Refused() && !l.other(bye) {
			return bye
		}
	}
	return nil
}

// other reports whether the process that ended says that this one is its node, and runs.
func (l *life) other(bye *trace.Farewell) bool {
	return bye.IsTaken() && l.incarnation != "" && strings.Contains(bye.Error, "incarnation "+l.incarnation+")")
}

// Refusal is the end of a process that did not begin to run as the node, by its own word.
type Refusal struct {
	At    time.Time `json:"at"` // corrected
	Why   string    `json:"why"`
	Taken bool      `json:"taken,omitempty"` // since another process was the node
	// More is how many others ended for the same reason until Until, with no other process of the node in between.
	More  int       `json:"more,omitempty"`
	Until time.Time `json:"until,omitzero"`
}

// refusals returns the processes that were to be the node and refused to run.
func (g *group) refusals(id uint64) (all []Refusal) {
	after := time.Time{} // by the clock of the node
	var lives []*life
	if m := g.nodes[id]; m != nil {
		lives = m.all()
	}
	for _, bye := range g.byes(id) {
		if !bye.Refused() {
			continue
		}
		at, last := g.fix.at(id, bye.Time), len(all)-1
		began := func(l *life) bool { return l.from.After(after) && l.from.Before(bye.Time) }
		if last < 0 || all[last].Why != bye.Error || slices.ContainsFunc(lives, began) {
			all = append(all, Refusal{At: at, Why: bye.Error})
		} else {
			all[last].More, all[last].Until = all[last].More+1, at
		}
		after = bye.Time
	}
	return all
}

// refused returns the last process that was to be the node after its last one had ended, or while that ran, and ended
// at once. It returns nil if there is none.
func (g *group) refused(l *life) *Refusal {
	ended := time.Time{}
	for _, e := range g.events(l) {
		if e.Kind == Ended {
			ended = e.At
		}
	}
	for _, bye := range slices.Backward(g.byes(l.node)) {
		at := g.fix.at(l.node, bye.Time)
		switch {
		case bye.Refused() && !ended.IsZero() && at.After(ended):
			return &Refusal{At: at, Why: bye.Error}
		case bye.IsTaken() && !at.Before(g.fix.at(l.node, l.from)):
			return &Refusal{At: at, Why: bye.Error, Taken: true}
		}
	}
	return nil
}

// refusedAfter returns when a process that was to be the node first refused to run after the time t, zero if none did.
func (g *group) refusedAfter(id uint64, t time.Time) (at time.Time) {
	for _, bye := range g.byes(id) {
		if said := g.fix.at(id, bye.Time); bye.Refused() && said.After(t) {
			at = earliest(at, said)
		}
	}
	return at
}

// setApart takes the processes out of the node's list that ended while another one went on as the node.
func (g *group) setApart(m *member) {
	apart := func(l *life) bool {
		l.next = nil
		bye := g.goodbye(l)
		return bye != nil && slices.ContainsFunc(m.lives, func(other *life) bool {
			return other != l && (other.other(bye) || other.from.Before(l.from) && other.until.After(bye.Time))
		})
	}
	var stay []*life
	for _, l := range m.lives {
		if apart(l) {
			m.apart = append(m.apart, l)
		} else {
			stay = append(stay, l)
		}
	}
	m.lives = stay
}

// pauses returns when the process slept past the end of a lease: it noticed that long after its timer was due. Only
// at level debug are all renewals of the lease in the records.
func (g *group) pauses(l *life) (events []LifeEvent) {
	beliefs := l.allBeliefs()
	for i := 1; i < len(beliefs) && l.debug; i++ {
		was, now := beliefs[i-1], beliefs[i]
		whole := was.last.seq+1 == now.first.seq
		if whole && now.turn.expired && !was.until.IsZero() && now.first.wall.Sub(was.until) > maxTransit {
			ref := l.ref(now.first.seq)
			events = append(events,
				LifeEvent{Kind: Paused, At: g.fix.at(l.node, was.until), Known: OwnWord, Ref: ref},
				LifeEvent{Kind: Resumed, At: g.fix.at(l.node, now.first.wall), Known: OwnWord, Ref: ref})
		}
	}
	return events
}

// silence returns the events of a time in which the process was out of a peer's reach, from evidence d on. The clocks
// of the two may be off by as much.
func (g *group) silence(l *life, d *drop, off time.Duration) []LifeEvent {
	began := LifeEvent{Kind: Silent, At: d.At, Known: PeersSaw, Ref: d.Ref}
	again, wrote := l.after(d.At.Add(off), g.fix)
	seen := LifeEvent{Kind: Resumed, At: d.back, Known: PeersSaw, Ref: d.backRef}
	switch {
	case !wrote && (d.backRef.IsZero() || g.backUnsure(l, d)):
		return []LifeEvent{began}
	case !wrote: // its log ends before
		return []LifeEvent{began, seen}
	}
	back := LifeEvent{Kind: Resumed, At: g.fix.at(l.node, again.wall), Known: OwnWord, Ref: l.ref(again.seq)}
	sooner := !d.backRef.IsZero() && back.At.Sub(d.back) > max(off, maxTransit)
	if sooner && !slices.Contains(l.woke, again.wall) && !g.backUnsure(l, d) {
		return []LifeEvent{began, seen} // at level info it had nothing to write for long
	}
	if back.At.Sub(d.At) <= maxTransit+off && !slices.Contains(l.woke, again.wall) {
		if !slices.Contains(accused(d.Evidence), l.node) {
			return nil
		}
		began.Kind = Suspected
		if d.backRef.IsZero() {
			return []LifeEvent{began}
		}
		whileLost := d.back.Sub(back.At) > max(off, maxTransit/10) // else it may have been paused until then
		lived := !d.back.After(g.fix.at(l.node, l.until))          // else it may have ended by then
		if whileLost && lived && !g.backUnsure(l, d) {
			back = seen
		}
	}
	return []LifeEvent{began, back}
}

// backUnsure reports whether the peer that lost sight of the process may have seen another one when it saw the node
// again, or had slept until then: only what the process wrote itself tells when it was there.
func (g *group) backUnsure(l *life, d *drop) bool {
	if l.next != nil && d.back.After(g.fix.at(l.node, l.until)) {
		return true
	}
	m := g.nodes[d.Node]
	return m != nil && g.mayHaveSlept(m.at(d.back, g.fix), d.back)
}
