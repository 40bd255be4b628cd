package rounds_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/sim"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/rounds"
)

// compareIncidents compares each change of leadership with the truth.
func (r *reading) compareIncidents() {
	if len(r.group.Incidents) == 0 {
		return
	}
	r.missedIncidents()
	for _, in := range r.group.Incidents {
		r.compareWhy(&in)
		r.compareLoss(&in)
		former, next := r.reignOf(in.Former, in.FormerTerm), r.reignOf(in.Leader, in.Term)
		r.compareTerms(&in, former)
		r.compareUnseen(&in)
		r.compareUnled(&in)
		if in.Former != 0 && former == nil && !r.followed(in.Former, in.FormerTerm) {
			r.fail("incident: a former leader that never led", in.FormerTerm, "%+v", in)
		}
		if in.Leader != 0 && next == nil && !r.followed(in.Leader, in.Term) {
			r.fail("incident: a leader that never led", in.Term, "%+v", in)
		}
		if in.Leader == 0 && r.complete() && r.ledAtEnd() && !r.info {
			r.fail("incident: nobody leads in the end, but somebody does", in.FormerTerm, "%+v", in)
		}
		if former == nil || next == nil || in.Leaderless == 0 {
			continue
		}
		r.judge("times without a leader")
		if in.Ended.Kind == rounds.EndedByLoss {
			r.compareLost(&in, former)
			continue // it may have gone on, and led nobody
		}
		gap := next.From.Sub(r.wroteOn(former))
		led := r.group.Led(in.Leader, in.Term)
		if in.Leaderless > max(0, gap)+rounding+r.blur() && (r.complete() || led != nil && led.First.IsZero()) {
			how := string(in.Ended.Kind) + ", " + string(in.Ended.Known)
			r.fail("incident: not so long without a leader ("+how+")", in.Term, "%v at most: %+v", gap, in)
		}
	}
}

// compareUnseen checks that nobody led in the time in which an incident says so of whom a record tells until when it
// led: its own, in which it ceased to. So it does of who led between the two leaders, if the incident names one.
func (r *reading) compareUnseen(in *rounds.Incident) {
	if rec := r.byRef[in.BetweenRef]; in.Between != 0 {
		r.judge("leaders between")
		if rec == nil || rec.Node != in.Between || !slices.ContainsFunc(r.endedIn(rec), func(one *sim.Reign) bool {
			return r.unnamed(one, in)
		}) {
			r.fail("incident: a leader between that did not lead", in.Term, "%+v by %+v", in, rec)
		}
	}
	if in.Leaderless == 0 || r.shifted() {
		return
	}
	from, until := in.Until.Add(-in.Leaderless), in.Until
	if !in.Sooner.IsZero() {
		from, until = in.From, in.From.Add(in.Leaderless)
	}
	for i := range r.shown {
		rec := &r.shown[i]
		if rec.Time.Before(from) || rec.Time.After(until) {
			continue
		}
		for _, one := range r.endedIn(rec) {
			r.judge("leaderships of whose end a record tells")
			within := one.From.After(from.Add(r.blur())) && one.Until.Before(until.Add(-r.blur()))
			if within && r.unnamed(one, in) && one.Until.Sub(one.From) > rounding {
				r.fail("incident: nobody led, and a record tells that one did", in.Term, "%+v by %+v: %+v", *one, rec,
					in)
			}
		}
	}
}

// compareUnled checks that nobody led in the time of which an incident says so: nobody whom others followed then, while
// its process ran: one that is frozen leads nobody, whoever has not lost it yet; and, but for the leader before that
// was lost, nobody under a lease. It also checks that no node says that it began to lead then. Who led itself alone, on
// its own side of a split, is only noted: its records are missing.
func (r *reading) compareUnled(in *rounds.Incident) {
	if by, told := r.toldBy(in); told && in.Leaderless > 0 {
		from := r.trueTime(by, in.From)
		r.judge("times in which nobody led")
		r.compareUnledIn(in, from, from.Add(in.Leaderless))
	}
}

// compareUnledIn does so for a part of the time, in true time.
func (r *reading) compareUnledIn(in *rounds.Incident, from, until time.Time) {
	slack := rounding + r.blur()
	within := func(rec *trace.Record) bool {
		return rec.Time.After(from.Add(slack)) && rec.Time.Before(until.Add(-slack))
	}
	for i := range r.shown {
		rec := &r.shown[i]
		one := sim.Reign{Node: proto.NodeID(rec.Leader), Term: proto.Term(rec.LeaderTerm())}
		if rec.Leader == rec.Node && rec.LeaderChange != "" && within(rec) && r.unnamed(&one, in) {
			r.fail("incident: nobody led, and a node says that it began to", in.Term, "%+v: %+v", rec, in)
		}
	}
	for i := range r.run.truth.Leaderships {
		one := &r.run.truth.Leaderships[i]
		lost := !r.unnamed(one, in) && in.Ended.Kind == rounds.EndedByLoss
		if one.Ended == sim.ByCrash && !r.unnamed(one, in) || in.PerhapsLed || r.lostAll(one) ||
			together(one, &sim.Reign{From: from}, r.until(one), until) <= slack {
			continue
		}
		switch {
		case slices.ContainsFunc(r.run.records, func(rec trace.Record) bool {
			return within(&rec) && rec.Node != uint64(one.Node) && rec.Leader == uint64(one.Node) &&
				rec.LeaderTerm() == uint64(one.Term) && !r.run.paused(rec.Leader, rec.Time)
		}):
			r.fail("incident: nobody led, but one did that others followed", in.Term, "%+v: %+v", *one, in)
		case lost:
		case r.run.leased:
			r.fail("incident: nobody led, but one did that had a lease", in.Term, "%+v: %+v", *one, in)
		default:
			r.note("incident: nobody led, and one led itself alone")
		}
	}
}

// lostAll reports whether all records of the leadership were lost, with which the log of a process that crashed ends:
// no number is missing, and nothing tells it from one that crashed before.
func (r *reading) lostAll(one *sim.Reign) bool {
	return r.holes() && one.Ended == sim.ByCrash && !slices.ContainsFunc(r.shown, func(rec trace.Record) bool {
		own := rec.Incarnation == one.Incarnation && !rec.Time.Before(one.From)
		return own || rec.Leader == uint64(one.Node) && rec.LeaderTerm() == uint64(one.Term)
	})
}

// toldBy returns the node by whose clock an incident tells when nobody led. told is false if no messages compare the
// clocks of those that tell of it.
func (r *reading) toldBy(in *rounds.Incident) (by uint64, told bool) {
	by = in.Leader
	if led := r.group.Led(in.Leader, in.Term); led != nil && led.First.IsZero() && len(led.Followers) > 0 {
		by = led.Followers[0].Node
	}
	return by, (by != 0 || !r.shifted()) && !r.uncompared(by) && !r.uncompared(in.Ended.Ref.Node)
}

// endedIn returns the leaderships of its process that ended with the record, by what that says.
func (r *reading) endedIn(rec *trace.Record) (all []*sim.Reign) {
	if rec.LeaderChange == "" || rec.PrevLeader == nil || *rec.PrevLeader != rec.Node {
		return nil
	}
	ended := rec.Time
	for _, why := range rec.Reasons {
		if m := ranOutLate.FindStringSubmatch(fmt.Sprint(why)); m != nil { // it had not run since
			ended = ended.Add(-time.Duration(numberOf(m[1])) * time.Millisecond)
		}
	}
	for i := range r.run.truth.Leaderships {
		one := &r.run.truth.Leaderships[i]
		late := ended.Sub(one.Until) // a leader that noticed the end of its lease by delta late does not say it
		if one.Incarnation == rec.Incarnation && late >= -rounding && late <= rounding+sim.DefaultDelta {
			all = append(all, one)
		}
	}
	return all
}

// unnamed reports whether the incident is neither from the leadership to another one, nor to it.
func (r *reading) unnamed(one *sim.Reign, in *rounds.Incident) bool {
	node, term := uint64(one.Node), uint64(one.Term)
	return (node != in.Former || term != in.FormerTerm) && (node != in.Leader || term != in.Term)
}

// compareLost checks that the node whose view lost the former leader had a reason for that.
func (r *reading) compareLost(in *rounds.Incident, former *sim.Reign) {
	shown := r.byRef[in.Ended.Ref]
	if shown == nil || shown.Event != "peers" || slices.Contains(shown.Alive, in.Former) {
		return // the messages of the leader were lost
	}
	dead := r.lives[former.Incarnation].Until
	if (dead.IsZero() || dead.After(shown.Time)) && r.run.trouble(shown.Node, in.Former, shown.Time) == "" {
		r.fail("incident: lost a leader that was well", in.Term, "%+v by %+v", in, shown)
	}
}

// ledAtEnd reports whether somebody led when the run ended.
func (r *reading) ledAtEnd() bool {
	return slices.ContainsFunc(r.run.truth.Leaderships, func(l sim.Reign) bool { return l.Until.IsZero() })
}

// reignOf returns the leadership of a node in a term; nil if there was none.
func (r *reading) reignOf(node, term uint64) (reign *sim.Reign) {
	for _, one := range r.terms[term] {
		if uint64(one.Node) == node {
			reign = one
		}
	}
	return reign
}

// missedIncidents looks for changes of leadership that no incident tells of, although all logs are there.
func (r *reading) missedIncidents() {
	highest := uint64(0)
	for _, one := range r.run.truth.Leaderships { // in the order in which they began
		term := uint64(one.Term)
		uncompared := r.variant.set > 0 && slices.ContainsFunc(r.run.truth.Leaderships, func(led sim.Reign) bool {
			return r.uncompared(uint64(led.Node)) // so that it is not known who led first
		})
		if !r.complete() || r.shifted() || uncompared || term <= highest && !r.cameAfterAll(&one) {
			continue
		}
		highest = max(highest, term)
		r.judge("incidents")
		if !slices.ContainsFunc(r.group.Incidents, func(in rounds.Incident) bool {
			return in.Term == term && in.Leader == uint64(one.Node)
		}) && !r.rivalled(&one) && !r.unordered(&one) {
			r.fail("incident: missing", term, "%+v", one)
		}
	}
}

// cameAfterAll reports whether a leader of a term that is not the highest came when no other one led, as the records
// tell: where no messages compare the clocks, they tell no order.
func (r *reading) cameAfterAll(one *sim.Reign) bool {
	own := r.group.Led(uint64(one.Node), uint64(one.Term))
	if own == nil || own.First.IsZero() || own.Incarnation != one.Incarnation {
		return false
	}
	return !slices.ContainsFunc(r.group.Leaderships, func(l rounds.Leadership) bool {
		other := l.Leader != own.Leader || l.Term != own.Term
		told := !r.uncompared(l.Leader) && !r.uncompared(own.Leader)
		return other && (!told || !l.From.After(own.From) && (l.End.IsZero() || l.End.After(own.From)))
	})
}

// unordered reports whether it is told that two led the term, one of them this, and that no messages compare their
// clocks: so no order of them is, and there may be changes that are not told.
func (r *reading) unordered(one *sim.Reign) bool {
	return r.group.Leaderless.AtLeast && slices.ContainsFunc(r.group.Findings, func(f rounds.Finding) bool {
		own := func(ref rounds.Ref) bool { return ref.Node == uint64(one.Node) && ref.Incarnation == one.Incarnation }
		return f.Name == rounds.TwoLeaders && f.Term == uint64(one.Term) && slices.ContainsFunc(f.Records, own) &&
			strings.Contains(f.Text, "No messages compare their clocks.")
	})
}

// rivalled reports whether another node led the term, too, perhaps at once.
func (r *reading) rivalled(one *sim.Reign) bool {
	return r.leaders(uint64(one.Term)) > 1 && !r.cameAfterAll(one)
}

var (
	endedText  = regexp.MustCompile(`the process of node (\d+) ended`)
	tookText   = regexp.MustCompile(`outranks node \d+ and took over`)
	lentText   = regexp.MustCompile(`a lease that node (\d+) had lent bound voters? (.*?) for `)
	freshText  = regexp.MustCompile(`voters? ([\d, and]+) had just started`)
	asideText  = regexp.MustCompile(`nodes? [\d, and]+ stood aside.*`)
	asidePart  = regexp.MustCompile(`nodes? ([\d, and]+)(?: stood aside)?(?:: | for the same reason)`)
	calledText = regexp.MustCompile(`an operator asked node (\d+) for an election`)
	number     = regexp.MustCompile(`\d+`)
)

// compareWhy compares what an incident says of the processes of nodes with the truth.
func (r *reading) compareWhy(in *rounds.Incident) {
	r.compareLent(in)
	r.compareStarted(in)
	r.compareAside(in)
	r.compareApart(in)
	if r.shifted() { // times of different nodes may be far apart
		return
	}
	if part := endedText.FindStringSubmatch(in.Why); part != nil {
		r.judge("reasons of incidents")
		if node := numberOf(part[1]); !r.everDied(node, r.trueTime(node, in.Until)) {
			r.fail("incident: because a process ended that did not", in.Term, "%+v", in)
		}
		return
	}
	if former := r.reignOf(in.Former, in.FormerTerm); tookText.MatchString(in.Why) && r.run.leased && former != nil {
		r.judge("reasons of incidents")
		if former.Ended == sim.ByCrash || former.Ended == sim.ByLease && r.complete() {
			r.fail("incident: because another one took over, but it ended by "+string(former.Ended), in.Term, "%+v", in)
		}
		return
	}
	if calledText.MatchString(in.Why) && r.run.leased && in.Former != 0 {
		r.judge("reasons of incidents")
		own := in.Ended.Kind == rounds.EndedByLease || in.Ended.Kind == rounds.EndedByProcess
		if own || in.Ended.Kind == rounds.EndedByWord && r.askedToStop(in) {
			r.fail("incident: because of an operator's call, but it ended otherwise", in.Term, "%+v", in)
		}
		return
	}
	if in.Absent() {
		r.compareVoters(in)
	}
}

// lateTimer reports whether the leader wrote of the end of its lease no later than the timers of the run were late: it
// got no processor.
func (r *reading) lateTimer(in *rounds.Incident) bool {
	rec := r.byRef[in.Ended.Ref]
	lag := r.run.timerLag()
	return rec != nil && rec.Time.Sub(r.trueTime(in.Former, in.From)) <= lag+lag/10 // its timer is a little later
}

// compareLoss checks what an incident says that others noticed of the leader before.
func (r *reading) compareLoss(in *rounds.Incident) {
	s, former := in.Loss(), r.reignOf(in.Former, in.FormerTerm)
	for _, d := range s.Noticed {
		r.judge("losses that were noticed")
		rec := r.byRef[d.Ref]
		if rec != nil && in.Ended.Kind == rounds.EndedByProcess {
			if !r.everDied(in.Former, rec.Time) {
				r.fail("incident: noticed an end that was none", in.Term, "%+v by %+v", in, rec)
			}
		} else if rec == nil || !r.everTrouble(d.Node, in.Former, rec.Time) ||
			accuses(rec, in.Former) && r.run.trouble(d.Node, in.Former, rec.Time) == "" {
			r.fail("incident: a leader that was well was silent", in.Term, "%+v by %+v", in, rec)
		}
	}
	if s.Slept && former != nil && !r.shifted() && !r.run.paused(in.Former, r.trueTime(in.Former, in.From)) &&
		!r.lateTimer(in) {
		r.fail("incident: a leader that ran did not run", in.Term, "%+v", in)
	}
	if back := r.byRef[s.Back]; back != nil && former != nil && back.Incarnation != former.Incarnation {
		r.fail("incident: the same process went on, but it was another", in.Term, "%+v", in)
	}
}

// compareStarted checks that the voters of which an incident says that they had just started said so themselves in it:
// in their own record, or in what another one received of them, since who says so again writes no reason.
func (r *reading) compareStarted(in *rounds.Incident) {
	part := freshText.FindStringSubmatch(in.Why)
	if part == nil {
		return
	}
	began := in.Began()
	for _, id := range number.FindAllString(part[1], -1) {
		r.judge("voters that had just started")
		node := numberOf(id)
		within := func(at time.Time) bool {
			return r.shifted() || !at.Before(r.trueTime(node, began).Add(-r.blur())) &&
				!at.After(r.trueTime(node, in.Until).Add(r.blur()))
		}
		sent := map[string]bool{}
		for i := range r.run.records {
			if rec := &r.run.records[i]; rec.Node == node && within(rec.Time) {
				for _, m := range rec.Sent {
					sent[m[strings.IndexByte(m, '>'):]+rec.Incarnation] = true
				}
			}
		}
		if !slices.ContainsFunc(r.run.records, func(rec trace.Record) bool {
			said := fmt.Sprintf(">%d#%s%s", rec.Node, rec.MsgID, rec.Sender)
			return rec.Node == node && within(rec.Time) && says(&rec, "no, just started") ||
				sent[said] && strings.HasSuffix(rec.Detail, "no, just started")
		}) && (node != in.Leader || !r.waitedForItself(in)) {
			r.fail("incident: a voter that had not just started", in.Term, "%+v", in)
		}
	}
}

// waitedForItself reports whether the winner of a change became a candidate by a timer, and its process had followed
// nobody until then, nor voted: nothing but its start can have kept its own voter from a yes, which nobody writes down.
func (r *reading) waitedForItself(in *rounds.Incident) bool {
	bound := map[string]bool{}
	for i := range r.run.records {
		rec := &r.run.records[i]
		if rec.Node != in.Leader {
			continue
		}
		stands := says(rec, fmt.Sprintf("in term %d -> become candidate", in.Term))
		if stands && rec.Event == "timeout" && !bound[rec.Incarnation] {
			return true
		}
		bound[rec.Incarnation] = bound[rec.Incarnation] || rec.Leader != 0 || stands || slices.ContainsFunc(
			r.run.truth.Votes, func(v sim.Voted) bool {
				return v.VoterIncarnation == rec.Incarnation && !v.At.After(rec.Time)
			})
	}
	return false
}

// compareAside checks that the nodes of which an incident says that they stood aside were not eligible in it, and why.
func (r *reading) compareAside(in *rounds.Incident) {
	told := asideText.FindString(in.Why)
	if told == "" || r.shifted() {
		return
	}
	for _, part := range asidePart.FindAllStringSubmatch(told, -1) {
		for _, id := range number.FindAllString(part[1], -1) {
			r.judge("nodes that stood aside")
			if !r.stoodAside(numberOf(id), in) {
				r.fail("incident: a node that did not stand aside", in.Term, "node %s: %+v", id, in)
			}
		}
	}
}

// stoodAside reports whether the node wrote in a change, or last before it, that it was not eligible, for a reason that
// is told.
func (r *reading) stoodAside(node uint64, in *rounds.Incident) (aside bool) {
	for i := range r.run.records {
		rec := &r.run.records[i]
		if rec.Node != node {
			continue
		}
		if rec.Time.After(r.trueTime(node, in.Until).Add(r.blur())) {
			return aside
		}
		so := rec.Ineligible != "" && strings.Contains(in.Why, ": "+rounds.Quoted(rec.Ineligible))
		aside = so || aside && !rec.Time.Before(r.trueTime(node, in.From).Add(-r.blur()))
	}
	return aside
}

// compareApart checks that no voter saw a majority of them in the time of which an incident says so, by all that they
// wrote.
func (r *reading) compareApart(in *rounds.Incident) {
	from, until := in.Apart()
	if from.IsZero() || r.shifted() {
		return
	}
	var voters []uint64
	for _, round := range r.group.Rounds {
		if round.Ballot != nil && len(round.Ballot.Voters) > len(voters) {
			voters = round.Ballot.Voters
		}
	}
	r.judge("voters that saw too few")
	last := map[uint64]*trace.Record{}
	many := func(rec *trace.Record) bool {
		seen := slices.DeleteFunc(slices.Clone(rec.Alive), func(id uint64) bool { return !slices.Contains(voters, id) })
		return len(seen) > len(voters)/2
	}
	begun := func(rec *trace.Record) bool { return !rec.Time.Before(r.trueTime(rec.Node, from).Add(r.blur())) }
	for i := range r.run.records {
		rec := &r.run.records[i]
		if rec.Event != "peers" || !slices.Contains(voters, rec.Node) ||
			!rec.Time.Before(r.trueTime(rec.Node, until).Add(-r.blur())) || r.run.viewReplaced(i) {
			continue
		}
		if begun(rec) && many(rec) {
			r.fail("incident: a voter saw a majority", in.Term, "%+v in %+v", rec, in)
		}
		if !rec.Time.After(r.trueTime(rec.Node, from).Add(r.blur())) { // with it the time may begin
			last[rec.Node] = rec
		}
	}
	for _, rec := range last {
		if many(rec) {
			r.fail("incident: a voter saw a majority when it began", in.Term, "%+v in %+v", rec, in)
		}
	}
}

// viewReplaced reports whether the process wrote another view in the same moment as this one, as one that wakes does:
// it had this one for no time.
func (run *trueRun) viewReplaced(i int) bool {
	rec := &run.records[i]
	for j := i + 1; j < len(run.records) && run.records[j].Time.Equal(rec.Time); j++ {
		if later := &run.records[j]; later.Incarnation == rec.Incarnation && later.Event == "peers" {
			return true
		}
	}
	return false
}

// compareLent checks that voters kept their promises for a lease that the leader had lent, if an incident says so.
func (r *reading) compareLent(in *rounds.Incident) {
	part := lentText.FindStringSubmatch(in.Why)
	if part == nil {
		return
	}
	r.judge("lent leases")
	for _, id := range number.FindAllString(part[2], -1) {
		if !slices.ContainsFunc(r.run.records, func(rec trace.Record) bool {
			return rec.Node == numberOf(id) && rec.About == numberOf(part[1]) &&
				says(&rec, "but for a lease that it lent")
		}) {
			r.fail("incident: a voter that no lent lease bound", in.Term, "%+v", in)
		}
	}
}

// askedToStop reports whether what the former leader did before it stopped is that it was asked to stop, and not that
// it offered to hand over to a better node.
func (r *reading) askedToStop(in *rounds.Incident) (asked bool) {
	for i := range r.run.records {
		rec := &r.run.records[i]
		switch {
		case rec.Time.After(r.trueTime(in.Former, in.From)):
			return asked
		case rec.Node != in.Former:
		case says(rec, "has ranked above this node for long"):
			asked = false
		case rec.Event == "transfer" || rec.Event == "resign" || rec.Unfit != "":
			asked = asked || !says(rec, "-> change nothing")
		}
	}
	return asked
}

// state says in a word what the matter with a node was at that time.
func (run *trueRun) state(node uint64, at time.Time) string {
	word := "well"
	if run.process(node, at) == nil {
		return "dead" // and perhaps cut off
	}
	for id := range uint64(run.result.Nodes) {
		if id+1 == node {
			continue
		}
		switch why := run.trouble(id+1, node, at); why {
		case "dead", "paused":
			return why
		case "":
		default:
			word = why
		}
	}
	return word
}

// numberOf returns the number that an expression has matched.
func numberOf(digits string) uint64 {
	n, _ := strconv.ParseUint(digits, 10, 64) // the expression matches only digits
	return n
}

// renewed returns when the leader last renewed its lease, by its own records.
func (r *reading) renewed(led *sim.Reign) (at time.Time) {
	last := time.Time{}
	for i := range r.run.records {
		rec := &r.run.records[i]
		own := rec.Incarnation == led.Incarnation && rec.Leader == rec.Node && rec.Token == uint64(led.Term)
		if own && rec.ValidUntil.After(last) {
			at, last = rec.Time, rec.ValidUntil
		}
	}
	return at
}

// compareTerms checks that no term which was over long before the former leader ceased to lead is told as one of the
// change, under a lease. The terms that the next leader called are of it, however early, if the former one handed over
// to it since it was the better choice.
func (r *reading) compareTerms(in *rounds.Incident, former *sim.Reign) {
	if !r.run.leased || former == nil || former.Until.IsZero() || !r.complete() || r.shifted() {
		return
	}
	over := former.Until
	if in.Ended.Kind != rounds.EndedByWord { // it may have been lost as soon as it renewed its lease no more
		over = r.renewed(former)
	}
	ended := r.byRef[in.Ended.Ref]
	preferred := ended != nil && says(ended, fmt.Sprintf("%d would take over", in.Leader))
	for _, term := range in.Terms {
		if term == in.Term {
			continue
		}
		last, called, named := time.Time{}, false, fmt.Sprintf("term %d ", term)
		for i := range r.run.records {
			rec := &r.run.records[i]
			if (rec.RoundTerm() == term || says(rec, "asks for "+named)) && !rec.Time.After(in.Until) {
				last = rec.Time
				called = called || rec.Node == in.Leader && says(rec, "call an election of "+named)
			}
		}
		if !last.IsZero() && over.Sub(last) > longSilent && (!preferred || !called) {
			r.fail("incident: a term that was called in vain long before", in.Term, "%d, last %v: %+v", term, last, in)
		}
	}
}

// says reports whether a record gives a reason with these words.
func says(rec *trace.Record, words string) bool {
	return slices.ContainsFunc(rec.Why, func(why string) bool { return strings.Contains(why+" ", words) })
}
