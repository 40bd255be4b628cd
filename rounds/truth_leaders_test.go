package rounds_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/sim"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// rounding is how far times of the same clock may be apart.
const rounding = 2 * time.Millisecond

// heldUp is longer than a message takes, unless it is held up on its way.
const heldUp = time.Second

// compareLeaderships compares each leadership with the truth: who led, since when, and until when.
func (r *reading) compareLeaderships() {
	said := map[reignKey]bool{}
	for _, l := range r.group.Leaderships {
		r.compareFollowers(&l)
		if l.First.IsZero() {
			if !r.led(l.Leader, l.Term) && !r.followed(l.Leader, l.Term) {
				r.fail("leadership: of a node that never led the term, by its followers", l.Term, "%+v", l)
			}
			continue
		}
		key := reignKey{l.Leader, l.Term, l.Incarnation}
		said[key] = true
		r.judge("leaderships")
		truth := r.reign[key]
		if truth == nil {
			r.fail("leadership: of a process that never led the term", l.Term, "%+v", l)
			continue
		}
		from, early := r.trueTime(l.Leader, l.From), time.Duration(0)
		// Its followers tell since when, by their clocks.
		if rec := r.byRef[l.First]; rec != nil && from.Before(rec.Time) {
			early = r.blur()
		}
		late := from.After(truth.From) && !r.rotated() && !r.holes() && r.shows(truth)
		if from.Before(truth.From.Add(-early)) || late {
			r.fail("leadership: another beginning", l.Term, "%d led from %v, not %v", l.Leader, truth.From, from)
		}
		if !l.End.IsZero() {
			r.compareEnd(&l, truth)
		} else if !truth.Until.IsZero() && r.complete() && !r.info && truth.Ended != sim.ByCrash {
			r.note("leadership: ended, and no end is known")
		} else if r.mid && r.run.leased && !truth.Until.IsZero() && r.overAt(truth).Before(r.knownUntil()) {
			r.fail("leadership: told to go on, and it had ended long before", l.Term, "%v: %+v", *truth, l)
		}
	}
	for key, truth := range r.reign {
		if r.complete() && !said[key] {
			r.fail("leadership: missing", key.term, "%+v", *truth)
		}
		if r.followedThen(truth) && r.group.Led(key.node, key.term) == nil {
			r.fail("leadership: missing, and a node followed it", key.term, "%+v", *truth)
		}
	}
}

// longSilent is how long after the end of a lease its end is told at least, if nobody wrote of it.
const longSilent = 5 * time.Second

// overAt returns when it is told at the latest that a leadership under a lease has ended. A process that crashed has
// the lease still, and who notices that it ran out may have slept, while others promised it once more.
func (r *reading) overAt(truth *sim.Reign) time.Time {
	over, long := truth.Until, longSilent
	for i := range r.run.records {
		rec := &r.run.records[i]
		if rec.Incarnation == truth.Incarnation && rec.Leader == rec.Node && rec.LeaderTerm() == uint64(truth.Term) &&
			!rec.ValidUntil.IsZero() {
			long = max(long, rec.ValidUntil.Sub(rec.Time))
			if truth.Ended == sim.ByCrash && rec.ValidUntil.After(over) {
				over = rec.ValidUntil
			}
		}
	}
	return over.Add(long)
}

// knownUntil returns when the logs end for their reader: no record tells how long nobody wrote after the last one.
func (r *reading) knownUntil() time.Time {
	if len(r.shown) == 0 {
		return time.Time{}
	}
	return r.shown[len(r.shown)-1].Time
}

// shows reports whether the record in which a leadership began is in the logs.
func (r *reading) shows(truth *sim.Reign) bool {
	return slices.ContainsFunc(r.terms[uint64(truth.Term)], func(one *sim.Reign) bool {
		last := r.last[one.Incarnation]
		return one == truth && last != nil && !last.Time.Before(truth.From)
	})
}

// led reports whether a process of the node led the term.
func (r *reading) led(node, term uint64) bool {
	return slices.ContainsFunc(r.terms[term], func(one *sim.Reign) bool { return uint64(one.Node) == node })
}

// followed reports whether nodes followed the node in the term, and its own records may be those that are missing: then
// only that can be told. Nodes may follow a nominee that does not lead.
func (r *reading) followed(node, term uint64) bool {
	return !r.complete() && slices.ContainsFunc(r.shown, func(rec trace.Record) bool {
		return rec.Node != node && rec.Leader == node && rec.LeaderTerm() == term
	})
}

// followedThen reports whether nodes followed the leader, as followed does, and not each as it got what the leader had
// sent when another process of its node had run for long. That one did not lead, by its records, and no record tells
// that a former one had sent it, and when.
func (r *reading) followedThen(truth *sim.Reign) bool {
	node, term := uint64(truth.Node), uint64(truth.Term)
	known := map[string]bool{} // the processes that followed
	return r.followed(node, term) && slices.ContainsFunc(r.shown, func(rec trace.Record) bool {
		if rec.Node == node || rec.Leader != node || rec.LeaderTerm() != term || known[rec.Incarnation] {
			return false
		}
		known[rec.Incarnation] = true
		then := r.run.process(node, rec.Time.Add(-heldUp))
		return rec.LeaderChange == "" || rec.From != node || then == nil || !then.From.After(truth.From)
	})
}

// compareFollowers checks that each follower names the leader in the record from which on it follows.
func (r *reading) compareFollowers(l *rounds.Leadership) {
	for _, f := range l.Followers {
		rec := r.byRef[f.First]
		if rec == nil || rec.Leader != l.Leader || !r.run.leased && rec.LeaderTerm() != l.Term {
			r.fail("leadership: a follower that does not follow", l.Term, "%d follows %d by %+v", f.Node, l.Leader, rec)
		}
	}
}

// claimed returns when the process last wrote that it leads the term, by the logs.
func (r *reading) claimed(l *rounds.Leadership) (last time.Time) {
	for i := range r.shown {
		rec := &r.shown[i]
		if rec.Incarnation == l.Incarnation && rec.Leader == rec.Node && rec.LeaderTerm() == l.Term {
			last = rec.Time
		}
	}
	return last
}

// compareEnd compares the end of a leadership with the truth.
func (r *reading) compareEnd(l *rounds.Leadership, truth *sim.Reign) {
	end, slack := r.trueTime(l.Leader, l.End), rounding
	if l.Ended.Known != rounds.OwnWord {
		slack += r.blur()
	}
	how := " (" + string(l.Ended.Kind) + ", " + string(l.Ended.Known) + ")"
	limit := truth.Until // the earliest end that is not false
	if claimed := r.claimed(l); truth.Ended == sim.ByCrash && claimed.Before(limit) {
		limit = claimed // nobody can tell when a process died
	}
	if l.Ended.Kind == rounds.EndedUnseen && r.holes() && !r.run.leased {
		limit = truth.From // it says only that no later end is known
	}
	crashed := truth.Ended == sim.ByCrash || truth.Until.Equal(r.lives[l.Incarnation].Until) // as it stepped down
	cut := truth.Ended == sim.ByBelief && (r.tail || r.holes())
	last := r.last[l.Incarnation]
	leads := last != nil && last.Leader == last.Node && last.LeaderTerm() == l.Term // it stepped down at once
	if cut && (leads && !last.Time.After(truth.Until) || last.Time.Before(truth.Until)) {
		crashed = true // its own word is cut off, and by all that is left it led until its process ended
	}
	switch {
	case truth.Until.IsZero():
		r.fail("end: of a leadership that goes on"+how, l.Term, "%d led on, and not until %v", l.Leader, end)
	case end.Before(limit.Add(-slack)):
		r.fail("end: too early"+how, l.Term, "%d led until %v (%s), not %v", l.Leader, truth.Until, truth.Ended, end)
	case l.Ended.Kind == rounds.EndedByProcess && !crashed:
		r.fail("end: by the process, which did not crash then"+how, l.Term, "%+v: %+v", *truth, l.Ended)
	case l.Ended.Kind == rounds.EndedByWord && truth.Ended == sim.ByCrash:
		r.fail("end: by the word of a process that crashed"+how, l.Term, "%+v: %+v", *truth, l.Ended)
	case end.After(truth.Until.Add(slack)) && truth.Ended != sim.ByCrash && r.complete() && !r.info:
		r.fail("end: too late"+how, l.Term, "%d led until %v (%s), not %v", l.Leader, truth.Until, truth.Ended, end)
	}
}

// compareRounds compares the winner and the rivals of each round with the truth.
func (r *reading) compareRounds() {
	for _, one := range r.group.Rounds {
		r.compareMeanwhile(one)
		if one.Winner == nil {
			told := r.complete() || one.State == rounds.Superseded && !one.PerhapsLed
			if told {
				r.judge("terms that nobody led")
			}
			for _, truth := range r.terms[one.Term] {
				if told && !truth.From.After(r.end()) && !r.lostAll(truth) {
					r.fail("winner: missing", one.Term, "%+v", *truth)
				}
			}
			continue
		}
		r.compareWinner(one.Term, one.Winner, "winner")
		r.compareFollowed(one)
		r.compareStragglers(one)
		for _, w := range one.Rivals {
			r.compareWinner(one.Term, &w, "rival")
		}
	}
}

// end returns when the last record that is here was written: who came to lead later is in none.
func (r *reading) end() (at time.Time) {
	for i := range r.shown {
		if r.shown[i].Time.After(at) {
			at = r.shown[i].Time
		}
	}
	return at
}

func (r *reading) compareWinner(term uint64, w *rounds.Winner, what string) {
	r.judge(what + "s")
	if w.Ref.IsZero() {
		if !r.led(w.Node, term) && !r.followed(w.Node, term) {
			r.fail(what+": named by others, and never led the term", term, "%d", w.Node)
		}
		return
	}
	truth := r.reign[reignKey{w.Node, term, w.Ref.Incarnation}]
	if truth == nil {
		r.fail(what+": never led the term", term, "%d", w.Node)
		return
	}
	at := r.trueTime(w.Node, w.At)
	if at.Before(truth.From) || !at.Equal(truth.From) && r.shows(truth) && !r.rotated() && !r.holes() {
		r.fail(what+": not at that time", term, "%d led from %v, not %v", w.Node, truth.From, at)
	}
}

// compareMeanwhile checks that the node led the term that is said to have led it when another round was called in vain.
func (r *reading) compareMeanwhile(one *rounds.Round) {
	led := one.Meanwhile
	if led == nil {
		return
	}
	r.judge("calls in vain")
	in := one.Initiators[0]
	at, truth := r.trueTime(in.Node, in.At), r.reignOf(led.Leader, led.Term)
	if truth == nil || at.Before(truth.From.Add(-r.blur())) ||
		!truth.Until.IsZero() && at.After(truth.Until.Add(r.blur())) {
		r.fail("call in vain: it did not lead then", one.Term, "%+v: called at %v, led %+v", led, at, truth)
	}
}

// compareFollowed checks that the nodes that count as followers were there when the winner won, unless it believed
// that. Where the record of the win is missing, that is when it was first followed.
func (r *reading) compareFollowed(one *rounds.Round) {
	truth := r.reignOf(one.Winner.Node, one.Term)
	if truth == nil || r.uncompared(one.Winner.Node) {
		return
	}
	var first time.Time
	untold := one.Winner.Ref.IsZero()
	for _, p := range one.Participants {
		untold = untold || p.Part == rounds.PartWinner && p.Late
		at := r.trueTime(p.Node, p.BelievedAt)
		if p.Part == rounds.PartFollower && !r.uncompared(p.Node) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if !untold {
		first = truth.From
	}
	for _, p := range one.Participants {
		if p.Part == rounds.PartFollower && !r.uncompared(p.Node) {
			r.compareFollower(one, &p, first, untold)
		}
	}
}

// compareStragglers checks that a process which is said to be left behind never followed the winner, by all its
// records, that one which is said to have ended did not live on, and that one which is said to have come later had not
// run when the winner won, and followed it before. One that the winner did not believe alive may have run.
func (r *reading) compareStragglers(one *rounds.Round) {
	truth := r.reignOf(one.Winner.Node, one.Term)
	if truth == nil {
		return
	}
	followed := func(node uint64, incarnation string) *trace.Record {
		i := slices.IndexFunc(r.run.records, func(rec trace.Record) bool {
			return rec.Node == node && rec.Leader == one.Winner.Node && rec.LeaderTerm() == one.Term &&
				rec.Incarnation == incarnation
		})
		if i < 0 {
			return nil
		}
		return &r.run.records[i]
	}
	for _, b := range one.LeftBehind {
		r.judge("nodes left behind")
		if rec := followed(b.Node, b.Last.Incarnation); rec != nil {
			r.fail("left behind: it followed", one.Term, "%+v, by its record at %v", b, rec.Time)
		}
	}
	for _, p := range one.Participants {
		if p.Part != rounds.PartDead {
			continue
		}
		r.judge("nodes that had ended when the winner won")
		process := r.run.process(p.Node, truth.From)
		if process != nil && (process.Until.IsZero() || process.Until.Sub(truth.From) > time.Second+r.blur()) {
			r.fail("dead: it lived on", one.Term, "%+v, until %v; won at %v", p, process.Until, truth.From)
		}
	}
	for _, p := range one.Participants {
		unseen := one.Winner.Viewed() && !slices.Contains(one.Winner.Live, p.Node)
		process := r.lives[p.Believed.Incarnation]
		if p.Part != rounds.PartJoined || p.Believed.IsZero() || unseen || process == nil {
			continue
		}
		r.judge("nodes that came later")
		at, rec := r.trueTime(p.Node, p.BelievedAt), followed(p.Node, p.Believed.Incarnation)
		if rec != nil && rec.Time.Before(at.Add(-r.blur()-rounding)) && process.From.Before(truth.From) {
			r.fail("came later: it had followed before", one.Term, "%+v, by its record at %v; won at %v", p, rec.Time,
				truth.From)
		}
	}
}

// believed reports whether the winner believed the node alive when it won, by its last view, or by what the logs have.
func (r *reading) believed(w *rounds.Winner, node uint64) (alive bool) {
	for i := range r.run.records {
		rec := &r.run.records[i]
		if rec.Incarnation == w.Ref.Incarnation && rec.Event == "peers" && !rec.Time.After(r.trueTime(w.Node, w.At)) {
			alive = slices.Contains(rec.Alive, node)
		}
	}
	return alive || w.Viewed() && slices.Contains(w.Live, node)
}

// compareFollower checks one of them. Where the record of the win is here, a node may follow as it wakes.
func (r *reading) compareFollower(one *rounds.Round, p *rounds.Participant, won time.Time, untold bool) {
	r.judge("followers")
	soon := won.Add(time.Second + r.blur())
	if !r.believed(one.Winner, p.Node) && !slices.ContainsFunc(r.run.truth.Processes, func(l sim.Process) bool {
		return uint64(l.Node) == p.Node && !l.From.After(soon) && (l.Until.IsZero() || !l.Until.Before(won))
	}) {
		r.fail("follower: it was not there when the winner won", one.Term, "%+v, won at %v", p, won)
	}
	if untold && slices.ContainsFunc(r.run.truth.Pauses, func(f sim.Paused) bool {
		return uint64(f.Node) == p.Node && f.From.Before(won) && f.Until.After(soon)
	}) {
		r.fail("follower: it was frozen when the winner won", one.Term, "%+v, won at %v", p, won)
	}
}

// leaders counts the nodes that led the term in truth.
func (r *reading) leaders(term uint64) int {
	nodes := map[uint64]bool{}
	for _, one := range r.terms[term] {
		nodes[uint64(one.Node)] = true
	}
	return len(nodes)
}

var overlapText = regexp.MustCompile(
	`Node (\d+) led term (\d+) and node (\d+) led term (\d+) at once(?:, for ([0-9.]+ (?:ms|s)|[0-9hms]+)( at most)?)?`)

var ledText = regexp.MustCompile(`ode (\d+) led term (\d+)`)

// overlap is what a finding says about two leaders of different terms.
type overlap struct {
	a, b, termA, termB uint64
	both               time.Duration // 0 if the finding does not say how long
	atMost             bool          // and may have been shorter
}

func overlapOf(text string) (o overlap, ok bool) {
	part := overlapText.FindStringSubmatch(text)
	if part == nil {
		return o, false
	}
	for i, to := range []*uint64{&o.a, &o.termA, &o.b, &o.termB} {
		*to = numberOf(part[i+1])
	}
	o.both, _ = time.ParseDuration(strings.ReplaceAll(part[5], " ", "")) // 0 if it is not there
	o.atMost = part[6] != ""
	return o, true
}

// together returns for how long the two leaderships lasted at once, up to a point in time. It is negative
// if they did not.
func together(a, b *sim.Reign, endA, endB time.Time) time.Duration {
	from, until := a.From, endA
	if b.From.After(from) {
		from = b.From
	}
	if endB.Before(until) {
		until = endB
	}
	return until.Sub(from)
}

func (r *reading) until(one *sim.Reign) time.Time {
	if one.Until.IsZero() {
		return r.run.truth.End
	}
	return one.Until
}

// longest returns the longest time for which the node a led its term while b led its own. fleeting reports whether that
// was no longer than the moment in which one of the two began to lead, and crashed.
func (r *reading) longest(o overlap) (longest time.Duration, fleeting bool) {
	longest = time.Duration(-1)
	crashed := func(one *sim.Reign) bool { return one.Ended == sim.ByCrash && one.Until.Equal(one.From) }
	for _, a := range r.terms[o.termA] {
		for _, b := range r.terms[o.termB] {
			if uint64(a.Node) == o.a && uint64(b.Node) == o.b {
				both := together(a, b, r.until(a), r.until(b))
				longest, fleeting = max(longest, both), fleeting || both == 0 && (crashed(a) || crashed(b))
			}
		}
	}
	return longest, fleeting && longest == 0
}

var followedText = regexp.MustCompile(`followed node (\d+)`)

// followedAll reports whether a finding says only whom others followed in a term, and that it is not known whether one
// of them led, and this is so.
func (r *reading) followedAll(f *rounds.Finding) bool {
	all := followedText.FindAllStringSubmatch(f.Text, -1)
	return len(all) == 2 && strings.Contains(f.Text, "they would tell whether it led") &&
		!slices.ContainsFunc(all, func(part []string) bool { return !r.followed(numberOf(part[1]), f.Term) })
}

// compareOverlaps compares the findings about several leaders at once with the truth.
func (r *reading) compareOverlaps() {
	var found []overlap
	two := map[uint64]bool{}
	for _, f := range r.group.Findings {
		if strings.Contains(f.Text, "by the report of node") { // how long, is what that node said
			for _, led := range ledText.FindAllStringSubmatch(f.Text, -1) {
				if !r.led(numberOf(led[1]), numberOf(led[2])) {
					r.fail(string(f.Name)+": by a report, and it never led", f.Term, "%s", f.Text)
				}
			}
			if o, ok := overlapOf(f.Text); ok {
				found = append(found, o)
			}
			two[f.Term] = two[f.Term] || f.Name == rounds.TwoLeaders
			continue
		}
		switch f.Name {
		case rounds.TwoLeaders:
			two[f.Term] = true
			if part := twoText.FindStringSubmatch(f.Text); part != nil {
				r.compareTwo(f, numberOf(part[1]), numberOf(part[2]))
			} else if r.leaders(f.Term) < 2 && !r.followedAll(&f) {
				r.fail("two-leaders: but one led", f.Term, "%s", f.Text)
			}
		case rounds.Overlap:
			o, ok := overlapOf(f.Text)
			if !ok {
				r.fail("overlapping-leaders: a text that this test cannot read", f.Term, "%s", f.Text)
				continue
			}
			found = append(found, o)
			truth, fleeting := r.longest(o)
			kind := ""
			switch {
			case r.shifted() && strings.Contains(f.Text, "No messages compare their clocks: this is so if"):
				r.note("overlapping-leaders: so if the clocks do not differ, and they do")
			case fleeting && (o.both == 0 || o.atMost) && !r.run.leased:
			case truth <= 0 && r.run.leased:
				kind = "overlapping-leaders: not so, under a lease"
			case truth <= 0:
				kind = "overlapping-leaders: not so"
			case o.atMost && truth > o.both+o.both/100+rounding+r.blur():
				kind = "overlapping-leaders: for longer"
			case !o.atMost && o.both > truth+truth/100+rounding+r.blur():
				kind = "overlapping-leaders: not for so long"
			}
			if kind != "" && o.both == 0 {
				kind += " (by what no record denies)"
			}
			if kind != "" {
				r.fail(kind, f.Term, "truly %v: %s", truth, f.Text)
			}
		}
	}
	if r.complete() {
		r.missedOverlaps(two, found)
	}
}

// unknowing reports whether each leader of a term but the first ran no process when those before ceased to lead, or one
// that began in that moment, as far as clocks tell, or was paused from then until it ended. Without a lease it cannot
// know of the term then, and no two led at once.
func (r *reading) unknowing(term uint64) bool {
	for i, second := range r.terms[term] {
		for _, first := range r.terms[term][:i] {
			ran := slices.ContainsFunc(r.run.truth.Processes, func(p sim.Process) bool {
				return p.Node == second.Node && first.Until.After(p.From.Add(r.blur())) &&
					(p.Until.IsZero() || first.Until.Before(p.Until)) && !r.pausedToItsEnd(p, first.Until)
			})
			if r.run.leased || ran || first.Until.IsZero() || first.Until.After(second.From) {
				return false
			}
		}
	}
	return true
}

// pausedToItsEnd reports whether the process was paused from that time on until it ended.
func (r *reading) pausedToItsEnd(p sim.Process, from time.Time) bool {
	return !p.Until.IsZero() && slices.ContainsFunc(r.run.truth.Pauses, func(pause sim.Paused) bool {
		return pause.Node == p.Node && !pause.From.After(from) && !pause.Until.Before(p.Until)
	})
}

var twoText = regexp.MustCompile(`Node (\d+) led term \d+, and node \d+ followed node (\d+) in the same term`)

// compareTwo compares the finding that nodes followed a node, whose records are missing, in a term that another node
// led. No record tells whether that node led.
func (r *reading) compareTwo(f rounds.Finding, led, followed uint64) {
	if !r.led(led, f.Term) || !r.led(followed, f.Term) && !r.followed(followed, f.Term) {
		r.fail("two-leaders: not so", f.Term, "%s", f.Text)
	}
}

// missedOverlaps looks for leaders at once that no finding tells of, although the records show them.
func (r *reading) missedOverlaps(two map[uint64]bool, found []overlap) {
	for term := range r.terms {
		if r.leaders(term) > 1 {
			r.judge("two leaders of a term")
		}
		if r.leaders(term) > 1 && !two[term] && !r.unknowing(term) {
			r.fail("two-leaders: missed", term, "%+v", *r.terms[term][1])
		}
	}
	if r.info {
		return
	}
	all := r.run.truth.Leaderships
	for i := range all {
		for j := range all {
			a, b := &all[i], &all[j]
			if a.Node == b.Node || a.Term >= b.Term {
				continue
			}
			both := together(a, b, r.wroteOn(a), r.wroteOn(b))
			told := r.uncompared(uint64(a.Node)) || r.uncompared(uint64(b.Node)) // that the clocks do not tell it
			if told || both <= 500*time.Millisecond+r.blur() {
				continue
			}
			r.judge("leaders of several terms at once")
			if slices.ContainsFunc(found, func(o overlap) bool {
				return min(o.termA, o.termB) == uint64(a.Term) && max(o.termA, o.termB) == uint64(b.Term)
			}) {
				continue
			}
			r.fail("overlapping-leaders: missed", uint64(b.Term), "%v of %+v and %+v", both, *a, *b)
		}
	}
}

// wroteOn returns until when the records show that a leadership lasted: a process that crashed may have
// written nothing for long.
func (r *reading) wroteOn(one *sim.Reign) time.Time {
	last := r.last[one.Incarnation]
	if last == nil {
		return one.From
	}
	if until := r.until(one); until.Before(last.Time) {
		return until
	}
	return last.Time
}

// compareFindings compares the other findings with the truth, and counts those that nobody can judge.
func (r *reading) compareFindings() {
	if r.run.healthy() {
		r.judge("healthy runs")
	}
	for _, f := range r.group.Findings {
		if r.run.healthy() {
			r.fail("finding on a healthy run: "+string(f.Name), f.Term, "%s", f.Text)
		}
		switch f.Name {
		case rounds.TermWentBack:
			first, last := f.Records[0], f.Records[len(f.Records)-1]
			kind := "term-went-back: no disk was lost, in one process"
			if first.Incarnation != last.Incarnation {
				kind = "term-went-back: no disk was lost, from one process to the next"
			}
			if !r.run.lostDisk(first.Node) {
				r.fail(kind, f.Term, "%s, by %+v", f.Text, f.Records)
			}
		case rounds.SameID:
			r.fail("same-id-twice: never so", f.Term, "%s", f.Text)
		case rounds.NoEnd:
			r.note(string(f.Name))
			// It is about the time before the term was won, which compareIncidents judges.
			if !slices.ContainsFunc(r.group.Incidents, func(in rounds.Incident) bool {
				return slices.Contains(in.Terms, f.Term) && (in.Leader == 0 || in.Leaderless > 5*time.Second)
			}) {
				r.fail("round-without-end: nobody was without a leader", f.Term, "%s", f.Text)
			}
		case rounds.LeftBehind:
			r.note(string(f.Name))
			r.compareLeftBehind(f)
		case rounds.FalseEvidence:
			r.compareFalse(f)
		case rounds.Flapping, rounds.MessagesLost: // compareIncidents and compareMessages judge what they are made of
			r.note(string(f.Name))
		}
	}
}

var falseText = regexp.MustCompile(`Node \d+ declared (\d+) gone`)

// compareFalse checks that a process ran which is said to have been declared gone although it was alive. One that did
// not run for less than a second was slow, as the finding says: it had not hung.
func (r *reading) compareFalse(f rounds.Finding) {
	part, rec := falseText.FindStringSubmatch(f.Text), r.byRef[f.Records[0]]
	if part == nil || rec == nil {
		r.fail("false-evidence: a text that this test cannot read", f.Term, "%s", f.Text)
		return
	}
	r.judge("false evidence")
	lost := numberOf(part[1])
	if was := r.run.trouble(rec.Node, lost, rec.Time); was == "dead" || was == "paused" && !r.run.slow(lost, rec.Time) {
		r.fail("false-evidence: it was "+was, f.Term, "%s; at %v", f.Text, rec.Time)
	}
}

// slow reports whether a pause of the node at that time lasted for less than a second.
func (run *trueRun) slow(node uint64, at time.Time) bool {
	return slices.ContainsFunc(run.truth.Pauses, func(p sim.Paused) bool {
		return uint64(p.Node) == node && !p.From.After(at) && !p.Until.Before(at) && p.Until.Sub(p.From) < time.Second
	})
}

var leftText = regexp.MustCompile(`Node (\d+) (?:never followed|did not follow) (\d+) in term \d+( until)?`)

// compareLeftBehind checks that a node which is said to be left behind never followed, by all its records: by those of
// the one process if another one began later.
func (r *reading) compareLeftBehind(f rounds.Finding) {
	part := leftText.FindStringSubmatch(f.Text)
	if part == nil {
		r.fail("left-behind: a text that this test cannot read", f.Term, "%s", f.Text)
		return
	}
	for i := range r.run.records {
		rec := &r.run.records[i]
		told := part[3] == "" || rec.Incarnation == f.Records[0].Incarnation
		if told && strconv.FormatUint(rec.Node, 10) == part[1] && strconv.FormatUint(rec.Leader, 10) == part[2] &&
			rec.LeaderTerm() == f.Term {
			r.fail("left-behind: it followed", f.Term, "%s; by its record at %v", f.Text, rec.Time)
			return
		}
	}
}
