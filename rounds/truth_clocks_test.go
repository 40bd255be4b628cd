package rounds_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/sim"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// fastest returns the shortest time of a message from each node to each other one, of those messages whose
// sending and receipt are in the logs, and which no other process can have sent, as far as the logs tell.
func (r *reading) fastest() map[[2]uint64]time.Duration {
	received := map[receipt]bool{}
	for i := range r.shown {
		if rec := &r.shown[i]; rec.MsgID != "" {
			received[receipt{rec.Node, rec.MsgID, rec.Time.UnixNano()}] = true
		}
	}
	senders := map[sim.Mail]int{} // the processes that used an id: whose message a receipt is of cannot be told then
	for m := range r.sends {
		senders[sim.Mail{From: m.From, To: m.To, Seq: m.Seq}]++
	}
	fastest := map[[2]uint64]time.Duration{}
	for m, sent := range r.sends {
		idle := sent.Level == "debug" && len(sent.Why) == 0 // of such a record the inspector does not keep what it sent
		if idle || senders[sim.Mail{From: m.From, To: m.To, Seq: m.Seq}] > 1 {
			continue
		}
		for _, at := range r.run.truth.Receipts[m] {
			if !received[receipt{uint64(m.To), fmt.Sprintf("%d:%d", m.From, m.Seq), at.UnixNano()}] ||
				r.formerPerhaps(&m, at) {
				continue
			}
			key := [2]uint64{uint64(m.From), uint64(m.To)}
			if took, known := fastest[key]; !known || at.Sub(sent.Time) < took {
				fastest[key] = at.Sub(sent.Time)
			}
		}
	}
	return fastest
}

// formerPerhaps reports whether a message came so soon after its process began that it may be of the one before, whose
// last records need not be in the logs.
func (r *reading) formerPerhaps(m *sim.Mail, at time.Time) bool {
	p := r.lives[m.Incarnation]
	return p != nil && at.Sub(p.From) < 200*time.Millisecond &&
		slices.ContainsFunc(r.run.truth.Processes, func(o sim.Process) bool {
			return o.Node == p.Node && o.From.Before(p.From)
		})
}

// compareClocks checks that the offset between the clocks of two nodes that exchanged messages in both
// directions is right within the sum of the fastest delays.
func (r *reading) compareClocks() {
	if !r.shifted() {
		for _, c := range r.group.Clocks {
			if c.Offset.Abs() > c.Error {
				r.fail("clock: off, where all are right", 0, "%+v", c)
			} else if c.Offset != 0 {
				r.note("clock: corrected where all are right, by less than its error")
			}
		}
		return
	}
	fastest := r.fastest()
	for way, there := range fastest {
		back, both := fastest[[2]uint64{way[1], way[0]}]
		if !both || way[0] > way[1] {
			continue
		}
		r.judge("pairs of clocks")
		off := (r.ahead(way[1]) - r.ahead(way[0])).Abs()
		a, b := r.fix[way[0]], r.fix[way[1]]
		claimed := a.Error + b.Error
		// At level info, and where logs are not whole, the sendings of some messages are missing, and a node that
		// restarts numbers its messages anew. So the fastest messages may be doubtful, and even all that compare a
		// clock: no error is claimed then.
		doubtful := (r.info || !r.complete() || r.restarted(way[0]) || r.restarted(way[1])) && off <= claimed ||
			(r.info || !r.complete()) && (a.Error == 0 || b.Error == 0)
		switch {
		case claimed > 0 && r.claims(way[0]) && r.claims(way[1]) && off > claimed+time.Microsecond:
			r.fail("clock: an error that is too small", 0, "nodes %d and %d: %v; %+v %+v", way[0], way[1], off, a, b)
		case off <= there+back+time.Microsecond:
		case r.uncompared(way[0]) || r.uncompared(way[1]):
			r.note("clock: not compared, as is said")
		case a.Offset == 0 && b.Offset == 0 && !(rounds.Clock{Offset: off - max(there, back)}).Differs():
			r.note("clock: counted as the same as another, since no message seems to come long before it was sent")
		case r.sameClocks() > 1 && off <= claimed && !(rounds.Clock{Offset: off - there - back}).Differs():
			r.note("clock: compared with several that count as the same, and within the error that is told")
		case doubtful:
			r.note("clock: beyond the delays, but the pairs of the messages are not certain")
		case claimed > 0 && off > claimed+time.Microsecond:
			r.fail("clock: a wrong error", 0, "nodes %d and %d: %v; %+v %+v", way[0], way[1], off, a, b)
		default:
			r.fail("clock: beyond the delays", 0, "nodes %d and %d: %v, but the fastest messages took %v and %v; %+v",
				way[0], way[1], off, there, back, r.group.Clocks)
		}
	}
}

// claims reports whether the error of the node's clock is told. It is none of the one clock to which the others are
// compared; where clocks are off by little, or by the same by chance, several count as that one.
func (r *reading) claims(node uint64) bool {
	c, listed := r.fix[node]
	return r.off > time.Minute && (c.Error > 0 || !listed && !r.uncompared(node))
}

// sameClocks returns how many clocks count as the one to which the others are compared.
func (r *reading) sameClocks() (same int) {
	for i := range r.run.result.Nodes {
		if id := uint64(i + 1); r.fix[id].Offset == 0 && !r.uncompared(id) {
			same++
		}
	}
	return same
}

var uncomparedText = regexp.MustCompile(`^No messages compare the clocks? of (.*) with the others`)

// uncompared reports whether it is said that no messages compare the node's clock: those that do may be of another
// process of their sender.
func (r *reading) uncompared(node uint64) bool {
	return slices.ContainsFunc(r.group.Unknown, func(line string) bool {
		part := uncomparedText.FindStringSubmatch(line)
		return part != nil && slices.Contains(number.FindAllString(part[1], -1), strconv.FormatUint(node, 10))
	})
}

// restarted reports whether the node ran more than one process.
func (r *reading) restarted(node uint64) bool {
	runs := 0
	for _, p := range r.run.truth.Processes {
		if uint64(p.Node) == node {
			runs++
		}
	}
	return runs > 1
}

// compareLives compares what happened to processes, as the inspector tells it, with the truth.
func (r *reading) compareLives() {
	for _, n := range r.group.Nodes {
		for _, l := range n.Lives {
			p := r.lives[l.Incarnation]
			if p == nil || uint64(p.Node) != n.ID {
				r.fail("life: of a process that never was", 0, "%d %s", n.ID, l.Incarnation)
				continue
			}
			for _, e := range l.Events {
				r.compareEvent(n.ID, p, e)
			}
			r.compareSettings(n.ID, &l)
			r.compareUnsaved(n.ID, p, &l)
		}
		r.compareRefusals(&n)
	}
}

// compareUnsaved checks that it is told of a process whose node had lost its disk, and of no other. It must be told
// where no record is missing: the first one of the process tells it, and that of a vote that was saved.
func (r *reading) compareUnsaved(node uint64, p *sim.Process, l *rounds.Life) {
	lost := time.Time{} // when it last lost its disk, on which a vote was saved
	for _, d := range r.run.truth.LostDisks {
		if uint64(d.Node) == node && !d.At.After(p.From) && r.savedBetween(node, lost, d.At) {
			lost = d.At
		}
	}
	is := !lost.IsZero() && !r.savedBetween(node, lost, p.From)
	if is && r.complete() {
		r.judge("processes with nothing saved")
	}
	switch u := l.Unsaved; {
	case u == nil && is && r.complete():
		r.fail("life: nothing was saved, which is not told", 0, "node %d: %+v lost at %v", node, *p, lost)
	case u == nil:
	case !is, r.byRef[u.Ref] == nil, r.byRef[u.Before] == nil:
		r.fail("life: something was saved, or nothing before", 0, "node %d: %+v lost at %v: %+v", node, *p, lost, u)
	case r.byRef[u.Before].Time.After(lost) || r.byRef[u.Ref].Time.Before(lost):
		r.fail("life: nothing was saved by records that do not tell it", 0, "node %d: lost at %v: %+v", node, lost, u)
	}
}

// savedBetween reports whether the node saved a vote, or that it votes again, after the one time, and no later than the
// other.
func (r *reading) savedBetween(node uint64, from, until time.Time) bool {
	within := func(at time.Time) bool { return at.After(from) && !at.After(until) }
	return slices.ContainsFunc(r.run.truth.Votes, func(v sim.Voted) bool {
		return uint64(v.Voter) == node && within(v.At)
	}) || slices.ContainsFunc(r.run.records, func(rec trace.Record) bool {
		again := says(&rec, "-> vote again, above that") || says(&rec, "-> vote above term")
		return rec.Node == node && again && within(rec.Time)
	})
}

// compareRefusals checks that it is told of each process that refused to run, and of no other, and when.
func (r *reading) compareRefusals(n *rounds.Node) {
	var told []time.Time // zero where it is not told
	for _, one := range n.Refusals {
		r.judge("processes that refused to run")
		told = append(told, r.trueTime(n.ID, one.At))
		if one.More > 0 {
			told = append(told, make([]time.Time, one.More-1)...)
			told = append(told, r.trueTime(n.ID, one.Until))
		}
	}
	same := func(told, is time.Time) bool { return told.IsZero() || told.Equal(is) }
	if !slices.EqualFunc(told, r.refused[n.ID], same) {
		r.fail("life: other processes refused to run", 0, "node %d: %v; told: %v", n.ID, r.refused[n.ID], n.Refusals)
	}
}

// compareSettings checks that it is told of the process whose clock was set, and of no other, by how much and when.
func (r *reading) compareSettings(node uint64, l *rounds.Life) {
	s, set := r.set[node]
	if set = set && s.incarnation == l.Incarnation; !set && len(l.ClockSets) == 0 {
		return
	}
	r.judge("clocks that were set")
	if len(l.ClockSets) != 1 || l.ClockSets[0].By != s.by || !r.trueTime(node, l.ClockSets[0].At).Equal(s.at) {
		r.fail("life: a clock that was set otherwise", 0, "node %d: %+v; told: %+v", node, s, l.ClockSets)
	}
}

// compareEvent compares what is said to have happened to the process p with the truth, at the time of the record
// that is said to show it.
func (r *reading) compareEvent(node uint64, p *sim.Process, e rounds.LifeEvent) {
	shown := r.byRef[e.Ref]
	if e.Ref.Seq == 0 { // by the line of a process that it is up
		r.judge("events of lives without a record")
		at := r.trueTime(node, e.At)
		so := e.Kind == rounds.Started && e.Known == rounds.OwnWord && at.Equal(p.From) ||
			e.Kind == rounds.Ended && e.Known == rounds.Inferred && !p.Until.IsZero() && !p.Until.After(at)
		if !so {
			r.fail("life: otherwise, by a line that a process is up", 0, "%+v, at %v: %+v", *p, at, e)
		}
		return
	}
	if shown == nil {
		r.fail("life: an event without a record", 0, "%+v", e)
		return
	}
	r.judge("events of lives")
	wrong := func(but string) {
		kind := fmt.Sprintf("life: %s (%s), but %s", e.Kind, e.Known, but)
		r.fail(kind, shown.Term, "node %d, process %+v: %+v by %+v", node, *p, e, shown)
	}
	why := r.run.trouble(shown.Node, node, shown.Time)
	if shown.Node != node && shown.Event == "gone" && !strings.HasSuffix(shown.Detail, p.Incarnation) {
		wrong("its proof is about another process")
		return
	}
	switch e.Kind {
	case rounds.Started:
		switch off := r.trueTime(node, e.At).Sub(p.From); {
		case off > rounding && shown.Event != "start":
			wrong("earlier: its first record is no start")
		case off.Abs() > rounding:
			wrong("at another time")
		}
	case rounds.Ended:
		told := r.byRef[e.ToldRef]
		if e.Told != "" && (told == nil || told.Node != node || !strings.Contains(told.Detail, e.Told)) {
			wrong("its record does not say that it was told to stop")
		}
		if p.Until.IsZero() || p.Until.After(shown.Time) {
			wrong("it lived on, " + cmp.Or(why, "well"))
		}
	case rounds.Silent:
		if shown.Node != node && why == "" && accuses(shown, node) {
			wrong("it was well")
		}
	case rounds.Paused:
		// Its timer was due then, and late: it was paused before that ran.
		if at := r.trueTime(node, e.At); shown.Node != node || !r.run.pausedWithin(node, at, r.run.timerLag()) {
			wrong("it was " + r.run.state(node, at))
		}
	case rounds.Suspected:
		switch {
		case !accuses(shown, node):
			wrong("the record does not say so")
		case p.From.After(shown.Time) || !p.Until.IsZero() && p.Until.Before(shown.Time):
			wrong("it was dead")
		}
	}
}

// paused reports whether the process of the node did not run at that time.
func (run *trueRun) paused(node uint64, at time.Time) bool { return run.pausedWithin(node, at, 0) }

// pausedWithin reports whether the process of the node did not run at that time, or from so soon after it on.
func (run *trueRun) pausedWithin(node uint64, at time.Time, soon time.Duration) bool {
	return slices.ContainsFunc(run.truth.Pauses, func(p sim.Paused) bool {
		return uint64(p.Node) == node && !p.From.After(at.Add(soon+rounding)) && !p.Until.Before(at.Add(-rounding))
	})
}

var lagText = regexp.MustCompile(`^timers late by up to ([^,]+)`)

// timerLag returns how late the timers of the run were at most.
func (run *trueRun) timerLag() (lag time.Duration) {
	for _, line := range run.result.Drawn {
		if part := lagText.FindStringSubmatch(line); part != nil {
			lag, _ = time.ParseDuration(part[1]) // which is how the simulator writes it
		}
	}
	return lag
}
