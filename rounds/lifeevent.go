package rounds

import (
	"slices"
	"time"
)

// LifeEvent is something that happened to a process.
type LifeEvent struct {
	Kind  LifeEventKind `json:"kind"`
	At    time.Time     `json:"at"` // corrected
	Known Confidence    `json:"known"`
	// Ref is the record that shows it, of the process itself or of a peer; the last record of a process that said
	// good-bye behind it.
	Ref Ref `json:"ref"`

	left bool // it said good-bye
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

// life returns what a History says of one process.
func (g *group) life(l *life) Life {
	out := l.summary(g.fix)
	out.Events = g.allEvents(l)
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

func (g *group) findEvents(l *life) (events []LifeEvent) {
	if l.started {
		at := g.fix.at(l.node, l.from)
		events = append(events, LifeEvent{Kind: Started, At: at, Known: OwnWord, Ref: l.ref(l.first())})
	}
	slept := g.pauses(l)
	last := g.fix.at(l.node, l.until)
	next := l.next
	for _, d := range g.dropsSince(l.node, g.fix.at(l.node, l.from)) {
		if next != nil && d.At.After(g.fix.at(l.node, next.from)) {
			break
		}
		off := g.bound(d.Node, l.node)
		silentOn := !d.At.Add(off).Before(last)
		ended := EndedProcess(d.Evidence, l.node)
		switch {
		case off == unbounded, !d.isOf(l), d.At.Before(g.fix.at(l.node, l.from).Add(off)),
			next != nil && !d.At.Add(off).Before(g.fix.at(l.node, next.from)): // perhaps of another process
		case silentOn && ended:
			return append(events, LifeEvent{Ended, d.At, PeersSaw, d.Ref, saysLeft(d.Evidence, l.node)})
		case saysLeft(d.Evidence, l.node): // and it ended a little later
			return append(events, LifeEvent{Ended, latest(d.At, last), PeersSaw, d.Ref, true})
		case ended, silentOn && next != nil:
		case len(events) > 0 && events[len(events)-1].Kind == Resumed && d.At.Before(events[len(events)-1].At):
		default:
			events = append(events, g.silence(l, d, off)...)
		}
	}
	events = append(events, slept...)
	if at := g.goodbye(l); !at.IsZero() {
		events = append(events, LifeEvent{Ended, at, OwnWord, l.ref(l.last()), true})
	} else if next != nil {
		events = append(events, LifeEvent{
			Kind: Ended, At: g.fix.at(l.node, next.from), Known: Inferred,
			Ref: next.ref(next.first()),
		})
	}
	slices.SortStableFunc(events, func(a, b LifeEvent) int { return a.At.Compare(b.At) })
	return events
}

// goodbye returns when the process ended by its own word, in a line behind its last record. It returns zero if none
// is known.
func (g *group) goodbye(l *life) time.Time {
	for _, at := range g.left[l.node] {
		if !at.Before(l.until) && (l.next == nil || at.Before(l.next.from)) {
			return g.fix.at(l.node, at)
		}
	}
	return time.Time{}
}

// pauses returns when the process slept past the end of a lease: it noticed that long after its timer was due. Only
// at level debug are all renewals of the lease in the records.
func (g *group) pauses(l *life) (events []LifeEvent) {
	beliefs := l.allBeliefs()
	for i := 1; i < len(beliefs) && l.debug; i++ {
		was, now := beliefs[i-1], beliefs[i]
		if now.turn.expired && !was.until.IsZero() && now.first.wall.Sub(was.until) > maxTransit {
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
	if !wrote {
		return []LifeEvent{began}
	}
	back := LifeEvent{Kind: Resumed, At: g.fix.at(l.node, again.wall), Known: OwnWord, Ref: l.ref(again.seq)}
	if back.At.Sub(d.At) <= maxTransit {
		if !slices.Contains(accused(d.Evidence), l.node) {
			return nil
		}
		began.Kind = Suspected
		if d.backRef.IsZero() {
			return []LifeEvent{began}
		}
		back.At, back.Known, back.Ref = d.back, PeersSaw, d.backRef
	}
	return []LifeEvent{began, back}
}
