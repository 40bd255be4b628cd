//go:build realtruth

package truth_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

const (
	// noticed is how long after its end, or its pause, a process may be missed at the latest: gossip is slow.
	noticed = 6 * time.Second
	// settled is how long a node runs until it knows all others.
	settled = 1500 * time.Millisecond
)

// compareLives compares what is told of each process with the truth.
func (r *reading) compareLives() {
	for _, m := range r.group.Mismatches { // all have settings with which they work together
		r.fail("settings differ, and did not", "%+v", m)
	}
	for _, n := range r.group.Nodes {
		named := slices.DeleteFunc(r.processesOf(n.ID), func(p *process) bool { return p.Incarnation == "" })
		if r.whole() && len(n.Lives) != len(named) {
			r.fail("lives: not as many as there were", "node %d: %d", n.ID, len(n.Lives))
		}
		for _, l := range n.Lives {
			p := r.process(l.Incarnation)
			if p == nil {
				r.fail("lives: one that was not", "%+v", l)
				continue
			}
			if r.whole() && len(l.Gaps) > 0 {
				r.fail("lives: records are missing that are there", "%+v", l)
			}
			if r.whole() {
				r.compareSettings(p, l)
			}
			if !r.timely() {
				continue
			}
			for _, e := range l.Events {
				r.compareEvent(p, e, l)
			}
			r.compareStood(p, l)
			r.compareEnd(p, l)
		}
	}
}

// compareSettings checks that it is told if the process before it was started with another setting.
func (r *reading) compareSettings(p *process, l rounds.Life) {
	var before *process
	for _, one := range r.processesOf(p.Node) {
		if one.From.Before(p.From) && !one.up.IsZero() {
			before = one
		}
	}
	var want []string
	if before != nil && before.Preempt != p.Preempt && !p.up.IsZero() {
		want = []string{fmt.Sprintf("--preempt %v instead of %v", p.Preempt, before.Preempt)}
	}
	if !slices.Equal(l.Changed, want) {
		r.fail("lives: other settings", "node %d at %s: %q, want %q", p.Node, clock(p.From), l.Changed, want)
	}
}

// compareStood checks that a process is told to have stood aside when it was asked to resign, and only then.
func (r *reading) compareStood(p *process, l rounds.Life) {
	during := func(a act, at time.Time) bool {
		return !at.Before(a.At.Add(-r.slack())) && !at.After(a.Done.Add(r.slack()))
	}
	asked := slices.DeleteFunc(slices.Clone(r.Acts), func(a act) bool {
		return a.What != "resign" || a.Node != p.Node || a.At.Before(p.From) || !p.Until.IsZero() && a.At.After(p.Until)
	})
	for _, s := range l.Stood {
		if s.Why == "" || !slices.ContainsFunc(asked, func(a act) bool { return during(a, r.true(s.At)) }) {
			r.fail("lives: stood aside, or again, though nobody asked it", "node %d: %+v", p.Node, s)
		}
	}
	for _, a := range asked {
		told := func(s rounds.Stance) bool { return during(a, r.true(s.At)) }
		if r.whole() && a.Error == "" && !slices.ContainsFunc(l.Stood, told) {
			r.fail("lives: that it stood aside is not told", "node %d at %s: %+v", p.Node, clock(a.At), l.Stood)
		}
	}
}

// ranSince reports whether the process ran at some time after it was last told to be silent, and before the time at.
func (r *reading) ranSince(p *process, l rounds.Life, at time.Time) bool {
	silent := p.From
	for _, e := range l.Events {
		if then := r.true(e.At); e.Kind == rounds.Silent && then.Before(at) {
			silent = then
		}
	}
	if p.Gone.IsZero() || p.Gone.After(at) {
		return !slices.ContainsFunc(p.Pauses, func(pause span) bool { return pause.has(silent) && pause.has(at) })
	}
	return p.Gone.After(silent) &&
		!slices.ContainsFunc(p.Pauses, func(pause span) bool { return pause.has(silent) && pause.has(p.Gone) })
}

// compareEvent checks one thing that is told of a process.
func (r *reading) compareEvent(p *process, e rounds.LifeEvent, l rounds.Life) {
	at, slack := r.true(e.At), r.slack()
	within := span{at.Add(-noticed), at.Add(slack)}
	over := !p.Until.IsZero() && !at.Before(p.Until.Add(-slack))
	kind := string(e.Kind) + ", " + string(e.Known)
	tell := func(what string) {
		r.fail(what, "%s of node %d at %s by %v; from %s, until %s, pauses %v; told: %v",
			kind, p.Node, clock(at), e.Ref, clock(p.From), clock(p.Until), spans(p.Pauses), r.events(l))
	}
	switch e.Kind {
	case rounds.Ended:
		if !over {
			tell("life event: ended, but it had not (" + kind + ")")
		}
		if e.Told != "" && p.Killed {
			tell("life event: told to stop, but it was killed")
		}
	case rounds.Silent, rounds.Paused:
		if !over && !r.excused(p, e.Ref.Node, within) {
			tell("life event: of a process that was well (" + kind + ")")
		}
	case rounds.Resumed:
		goesOn := r.acted(p.Node, span{at.Add(-slack), at.Add(slack)}, "continue") // somewhere in that time
		if e.Known == rounds.PeersSaw {                                            // by then: who slept meanwhile notices it late
			if !r.ranSince(p, l, at.Add(slack)) {
				tell("life event: resumed, but it did not (" + kind + ")")
			}
			return
		}
		idle := !goesOn && slices.ContainsFunc(p.Pauses, func(pause span) bool {
			return pause.grow(-slack, -slack).has(at)
		})
		if idle || !p.Gone.IsZero() && at.After(p.Gone.Add(slack)) {
			tell("life event: resumed, but it did not (" + kind + ")")
		}
	case rounds.Started:
		began := p.From
		if p.up.After(began) { // on a busy machine that takes seconds
			began = p.up
		}
		if at.Before(p.From.Add(-slack)) || at.After(began.Add(noticed)) {
			tell("life event: started at another time")
		}
	}
}

// excused reports whether a peer may have heard nothing of the process for a reason: the process was stopped, the peer
// was, or the machine stalled.
func (r *reading) excused(p *process, peer uint64, within span) bool {
	stops := func(pause span) bool { return pause.meets(within) >= 0 }
	return slices.ContainsFunc(p.Pauses, stops) || slices.ContainsFunc(r.paused(peer), stops) || r.stalled(within)
}

// events lists what is told of a process.
func (r *reading) events(l rounds.Life) (list []string) {
	for _, e := range l.Events {
		list = append(list, string(e.Kind)+" "+clock(r.true(e.At))+" ("+string(e.Known)+" "+e.Ref.String()+")")
	}
	return list
}

func spans(all []span) (list []string) {
	for _, one := range all {
		list = append(list, clock(one.From)+"-"+clock(one.Until))
	}
	return list
}

// compareEnd checks that the end of a process is told when another node was there to see it, or when the next process
// of its node began. It also checks that a process that is well is not told to be silent in the end.
func (r *reading) compareEnd(p *process, l rounds.Life) {
	ended := slices.ContainsFunc(l.Events, func(e rounds.LifeEvent) bool { return e.Kind == rounds.Ended })
	next, died := r.next(p), p.Until.Before(r.Stop)
	seen := r.observed(p) && r.Plan.Level == "debug" // else nobody need write it down
	how := "told to stop"
	if p.Killed {
		how = "killed"
	}
	if r.whole() && died && !ended && (next != nil || seen) {
		r.fail("life event: its end is missing, "+how, "of node %d, killed %v at %s; told: %v",
			p.Node, p.Killed, clock(p.Until), r.events(l))
	}
	apart := r.uncompared()[p.Node] // nobody can tell then of which of its processes others saw the end
	for _, e := range l.Events {
		at := r.true(e.At)
		if e.Known == rounds.Inferred && apart {
			continue
		}
		if e.Kind == rounds.Ended && r.whole() && seen && at.After(p.Gone.Add(noticed)) {
			r.fail("life event: its end is told late, "+how, "of node %d, killed %v at %s, told: %v",
				p.Node, p.Killed, clock(p.Until), r.events(l))
		}
	}
	if len(l.Events) == 0 || died || !r.whole() {
		return
	}
	last := l.Events[len(l.Events)-1]
	recent := span{r.Stop.Add(-noticed), r.Stop}
	if (last.Kind == rounds.Silent || last.Kind == rounds.Paused) && !r.excused(p, p.Node, recent) {
		r.fail("life event: "+string(last.Kind)+" to the end, but it was well", "node %d; pauses %v; told: %v",
			p.Node, spans(p.Pauses), r.events(l))
	}
}

// observed reports whether another node was there, and well, when the process ended, for long before and after.
func (r *reading) observed(p *process) bool {
	around := span{p.Until.Add(-settled), p.Gone.Add(noticed)}
	if around.Until.After(r.Stop) || r.touched(p.Node, span{around.From, p.Until.Add(-time.Millisecond)}) {
		return false
	}
	for node := range uint64(r.Plan.Nodes) {
		if node+1 != p.Node && !r.touched(node+1, around) {
			return true
		}
	}
	return false
}
