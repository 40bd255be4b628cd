//go:build realtruth

package truth_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

// tellIncident writes an incident in true times.
func (r *reading) tellIncident(in *rounds.Incident) string {
	return fmt.Sprintf("node %d of term %d until %s (%s, %s, %v); "+
		"then node %d of term %d from %s: %v without a leader: %s",
		in.Former, in.FormerTerm, clock(r.true(in.From)), in.Ended.Kind, in.Ended.Known, in.Ended.Ref,
		in.Leader, in.Term, clock(r.true(in.Until)), in.Leaderless, in.Why)
}

// compareIncidents compares each change of leadership with what was done, and with what the nodes said then.
func (r *reading) compareIncidents() {
	if !r.timely() {
		return
	}
	for i := range r.group.Incidents {
		in := &r.group.Incidents[i]
		until := in.Until
		if !in.Sooner.IsZero() && in.Sooner.Before(until) {
			until = in.Sooner
		}
		if until.Sub(in.From) > in.Leaderless+time.Millisecond || in.Leaderless < 0 {
			r.fail("incident: another time than from its beginning to its end", "%s", r.tellIncident(in))
		}
		r.compareNobodyLed(in)
		r.compareReason(in)
		if in.Former != 0 {
			r.compareOccasion(in)
		}
		if in.Ended.Known == rounds.PeersSaw && in.Ended.Ref.Node == in.Former {
			r.fail("incident: the end was seen by others, but a record of the leader's node shows it",
				"%s", r.tellIncident(in))
		}
	}
	if r.whole() {
		r.missedIncidents()
	}
}

// during returns the true time of an incident. It is a moment if the former leader is told to have led on.
func (r *reading) during(in *rounds.Incident) span {
	at := span{r.true(in.From), r.true(in.Until)}
	if at.Until.Before(at.From) {
		at.From = at.Until
	}
	return at
}

// compareNobodyLed checks that no node said that it leads while nobody is told to have led. Without a lease, the
// former leader may lead on, but nobody any more.
func (r *reading) compareNobodyLed(in *rounds.Incident) {
	slack, within := r.slack(), r.during(in)
	for _, seen := range r.Sightings {
		if !seen.Leads || !r.Plan.Voters && (seen.Node == in.Former || !r.healthy()) {
			continue
		}
		if seen.Node == r.spoilt || !r.whole() && r.leadership(seen.Node, seen.Term) == nil {
			continue // nothing tells of it
		}
		if led := (span{seen.First.Until, seen.Last.From}).meets(within); led > slack {
			r.fail("incident: nobody led, but somebody did ("+string(in.Ended.Kind)+", "+string(in.Ended.Known)+")",
				"node %d led term %d from %s to %s: %s",
				seen.Node, seen.Term, clock(seen.First.From), clock(seen.Last.Until), r.tellIncident(in))
			return
		}
	}
}

// compareOccasion checks that something was done before the leadership changed.
func (r *reading) compareOccasion(in *rounds.Incident) {
	from := r.during(in).From
	before := span{from.Add(-noticed), from.Add(r.slack())}
	if !r.acted(0, before) && !r.stalled(before) && from.Before(r.Stop.Add(-r.slack())) {
		r.fail("incident: nothing was done to the cluster", "%s", r.tellIncident(in))
	}
	if in.Ended.Kind == rounds.EndedByProcess && !r.endedBy(in.Former, r.true(in.From).Add(r.slack())) {
		r.fail("incident: ended by an end of a process that did not end", "%s", r.tellIncident(in))
	}
}

// endedBy reports whether a process of the node had ended, or been told to, by that time.
func (r *reading) endedBy(node uint64, at time.Time) bool {
	return slices.ContainsFunc(r.processesOf(node), func(p *process) bool {
		return !p.Until.IsZero() && !p.Until.After(at)
	})
}

var (
	endedText  = regexp.MustCompile(`the process of node (\d+) (?:had )?ended`)
	offered    = regexp.MustCompile(`handed over: node (\d+) would take over$`)
	aside      = regexp.MustCompile(`(?:^|, and )nodes? [\d, and]+ stood aside(?:: .*| for the same reason)$`)
	apart      = regexp.MustCompile(`, and no voter saw more than \d+ of \d+ for .+ of the .+$`)
	asideAsked = regexp.MustCompile(`nodes? ([\d, and]+)(?: stood aside)?: asked to resign`)
	silenced   = regexp.MustCompile(`node (\d+) stopped answering`)
	votersDid  = regexp.MustCompile(`((?:\d+(?:, | and )?)+) (ended|stopped|` +
		`paused|silent|not heard to answer|without a sign of life here|voting for nobody, with nothing saved)`)
	votersUp = regexp.MustCompile(`: (?:at most )?(\d+) of (\d+) (?:remains?|at the fewest)` +
		`(?:, (?:too few to elect )?for .+ of the .+ m?s)?(?:, and (\d+) of (\d+) when the logs end)?` +
		`(?:, and voters? [\d, and]+ had just started, and voted for nobody at first)?$`)
	notAlways = regexp.MustCompile(`(?:at first|for a time|later) (?:voters? )?\d`)
	number    = regexp.MustCompile(`\d+`)
)

func numberOf(digits string) uint64 {
	n, _ := strconv.ParseUint(digits, 10, 64) // the expressions match only digits
	return n
}

// compareReason compares why the leadership is told to have changed with what was done.
func (r *reading) compareReason(in *rounds.Incident) {
	slack, within := r.slack(), r.during(in)
	if part := endedText.FindStringSubmatch(in.Why); part != nil {
		if !r.endedBy(numberOf(part[1]), within.Until.Add(slack)) {
			r.fail("incident: because a process ended that did not", "%s", r.tellIncident(in))
		}
	}
	if part := silenced.FindStringSubmatch(in.Why); part != nil {
		node, around := numberOf(part[1]), within.grow(noticed, slack)
		stops := func(a act) bool { return a.What == "stop" && span{a.At, a.Done}.meets(around) >= 0 }
		if !r.touched(node, around) && !r.stalled(around) && !slices.ContainsFunc(r.Acts, stops) {
			r.fail("incident: because a node stopped answering that was well", "%s", r.tellIncident(in))
		}
	}
	r.compareRequest(in)
	r.compareAside(in)
	r.compareApart(in)
	if in.Voters() {
		r.compareVoters(in)
	}
}

// compareRequest checks that somebody asked the former leader to hand over, and not after it had stopped. A process
// that is told to end resigns first, and any node may be asked for a transfer. Nobody asks a leader to hand over to a
// node that has ranked above it for a while.
func (r *reading) compareRequest(in *rounds.Incident) {
	told := apart.ReplaceAllString(in.Why, "")
	if part := offered.FindStringSubmatch(told); part != nil {
		r.compareOffer(in, numberOf(part[1]))
		return
	}
	why := aside.ReplaceAllString(told, "") // why others stood aside is no request to the leader
	resigns := strings.Contains(why, "told to stop") || strings.Contains(why, "asked to resign")
	transfers := strings.Contains(why, "transfer")
	if !resigns && !transfers && !strings.Contains(why, "handed over") {
		return
	}
	asked := func(within span) bool {
		return !transfers && (r.acted(in.Former, within, "resign", "terminate") || within.has(r.Stop)) ||
			!resigns && r.acted(0, within, "transfer")
	}
	within := r.during(in).grow(noticed, r.slack())
	if !asked(within) {
		r.fail("incident: because of a request that was none", "%s", r.tellIncident(in))
		return
	}
	within.Until = r.during(in).From.Add(r.slack())
	if !asked(within) {
		r.fail("incident: because of a request that came after it had begun", "%s", r.tellIncident(in))
	}
}

// compareAside checks that the nodes had been asked to stand aside that are told to have done so because of that.
func (r *reading) compareAside(in *rounds.Incident) {
	asked := func(a act) bool { return a.What == "resign" && a.Error == "" && a.At.Before(r.during(in).Until) }
	for _, part := range asideAsked.FindAllStringSubmatch(aside.FindString(in.Why), -1) {
		for _, id := range number.FindAllString(part[1], -1) {
			if !slices.ContainsFunc(r.Acts, func(a act) bool { return a.Node == numberOf(id) && asked(a) }) {
				r.fail("incident: a node stood aside that nobody had asked to", "node %s: %s", id, r.tellIncident(in))
			}
		}
	}
}

// compareApart checks that something kept the voters from each other where no one of them is told to have seen a
// majority.
func (r *reading) compareApart(in *rounds.Incident) {
	within := r.during(in).grow(noticed, r.slack())
	if !apart.MatchString(in.Why) || r.stalled(within) {
		return
	}
	for node := range uint64(r.Plan.Nodes) {
		if r.touched(node+1, within) || r.wasDead(node+1, within) {
			return
		}
	}
	r.fail("incident: no voter saw a majority, though all were well", "%s", r.tellIncident(in))
}

// compareOffer checks that the leader handed over to a node with a higher number, which is its rank, and that this one
// was well.
func (r *reading) compareOffer(in *rounds.Incident, to uint64) {
	at := r.during(in).From
	if to <= in.Former || r.touched(to, span{at.Add(-ranked), at}) || in.Leader != 0 && in.Leader != to {
		r.fail("incident: handed over to a node that was not better", "%s", r.tellIncident(in))
	}
}

// ranked is for how long at least a leader has seen a better node before it hands over to it by itself.
const ranked = 500 * time.Millisecond

// started is how long a process takes at most until it writes its first record.
const started = 500 * time.Millisecond

// compareVoters checks that the voters that are told to have been missing were so, each when that is told of it.
func (r *reading) compareVoters(in *rounds.Incident) {
	named := 0
	begun := r.during(in).From
	if perhaps := r.true(in.Began()); perhaps.Before(begun) { // it may have begun before it surely had
		begun = perhaps
	}
	why := aside.ReplaceAllString(in.Why, "") // once enough of them were there again
	for _, part := range votersDid.FindAllStringSubmatch(why, -1) {
		for _, id := range number.FindAllString(part[1], -1) {
			named++
			node, how := numberOf(id), part[2]
			if how == "ended" && !in.Missing(node, "dead").IsZero() { // and ran no process then
				how = "dead"
			}
			middle := r.true(in.Missing(node, how))
			if middle.Before(begun.Add(-time.Millisecond)) || middle.After(r.during(in).Until) {
				r.fail("incident: a voter was missing at another time", "node %d at %s: %s", node, clock(middle),
					r.tellIncident(in))
			}
			then := span{middle.Add(-started), middle.Add(r.slack())}
			dead := r.isDead(node, then.From) || r.isDead(node, then.Until) || r.wasDead(node, then)
			switch {
			case how == "without a sign of life here": // this is about the records
			case strings.HasPrefix(how, "voting for nobody"):
				if !r.acted(node, then.grow(noticed, 0), "start") {
					r.fail("incident: a voter had nothing saved that ran", "node %d at %s: %s", node, clock(middle),
						r.tellIncident(in))
				}
			case how == "ended":
				if !r.endedBy(node, then.Until) {
					r.fail("incident: a voter had ended that had not", "node %d at %s: %s", node, clock(middle),
						r.tellIncident(in))
				}
			case (how == "dead" || how == "stopped") && !dead:
				r.fail("incident: a voter was "+how+" that lived", "node %d at %s: %s",
					node, clock(middle), r.tellIncident(in))
			case !dead && !r.touched(node, then) && !r.stalled(then): // which stops all nodes
				r.fail("incident: a voter was "+how+" that was well", "node %d at %s: %s",
					node, clock(middle), r.tellIncident(in))
			}
		}
	}
	up, nodes := votersUp.FindStringSubmatch(why), uint64(r.Plan.Nodes)
	changed := notAlways.MatchString(why) // then they were not all missing at once
	if up == nil || numberOf(up[2]) != nodes || numberOf(up[1])+uint64(named) < nodes ||
		!changed && numberOf(up[1])+uint64(named) > nodes {
		r.fail("incident: the voters do not add up", "%s", r.tellIncident(in))
		return
	}
	if up[3] != "" {
		r.compareLeft(in, numberOf(up[3]))
	}
}

// compareLeft checks that no more voters were well when the logs end than are told. What is told of a voter without a
// sign of life is about the records: it may have been well, as when its log is missing.
func (r *reading) compareLeft(in *rounds.Incident, told uint64) {
	unheard := map[string]bool{}
	for _, part := range votersDid.FindAllStringSubmatch(in.Why, -1) {
		for _, id := range number.FindAllString(part[1], -1) {
			unheard[id] = part[2] == "without a sign of life here"
		}
	}
	end, well := r.during(in).Until, uint64(0)
	for node := range uint64(r.Plan.Nodes) {
		if !unheard[fmt.Sprint(node+1)] && !r.touched(node+1, span{end.Add(-started), end.Add(r.slack())}) {
			well++
		}
	}
	if well > told {
		r.fail("incident: more voters were well when the logs end", "%d: %s", well, r.tellIncident(in))
	}
}

// missedIncidents looks for times without a leader, or without a majority, of which no incident tells.
func (r *reading) missedIncidents() {
	told := func(away span, least time.Duration, voters bool) bool {
		return slices.ContainsFunc(r.group.Incidents, func(in rounds.Incident) bool {
			at := r.during(&in)
			if !in.Perhaps.IsZero() { // it may have been that long, as is told beside
				at.From = r.true(in.Perhaps)
			}
			return at.meets(away) > least && (!voters || in.Voters())
		})
	}
	for _, away := range r.vacancies() {
		// A leader that was stopped does not answer, and leads on until its lease ends.
		long := away.length() > 3*time.Second && !r.stalled(away)
		if long && !told(away, away.length()-2*time.Second, false) && !r.saidUnknown(away) {
			r.fail("incident: missing, or far too short, level "+r.Plan.Level, "nobody led from %s to %s; told: %s",
				clock(away.From), clock(away.Until), r.incidents())
		}
	}
	for _, lost := range r.lostQuorums() {
		if wrote := r.lastRecord(); wrote.Before(lost.Until) {
			lost.Until = wrote // nobody asked for votes after that
		}
		if lost.length() <= 2*time.Second || told(lost, 0, true) || r.perhaps(lost) || !r.vacant(lost) {
			continue
		}
		r.fail("incident: does not say that there was no majority, level "+r.Plan.Level, "from %s to %s; told: %s",
			clock(lost.From), clock(lost.Until), r.incidents())
	}
}

// saidUnknown reports whether it is said that nobody may have led for longer than is told, and that no messages compare
// the clock of a node which led until that time, or since then, or that no other process ran which could have missed
// it: nothing tells then whether it led meanwhile.
func (r *reading) saidUnknown(away span) bool {
	apart := r.uncompared()
	return r.group.Leaderless.AtLeast && slices.ContainsFunc(r.Sightings, func(s *sighting) bool {
		beside := s.Last.Until.Equal(away.From) || s.First.From.Equal(away.Until)
		return s.Leads && beside && (apart[s.Node] || r.alone(s.Node, away.From))
	})
}

// alone reports whether no process of another node ran at that time.
func (r *reading) alone(node uint64, at time.Time) bool {
	return !slices.ContainsFunc(r.Processes, func(p *process) bool {
		return p.Node != node && p.From.Before(at) && (p.Gone.IsZero() || p.Gone.After(at))
	})
}

// perhaps reports whether all that time lies before it is certain that nobody led, in what is told beside to have been
// perhaps so. Why nobody led is told of the rest.
func (r *reading) perhaps(within span) bool {
	return slices.ContainsFunc(r.group.Incidents, func(in rounds.Incident) bool {
		unsure := span{r.true(in.Perhaps), r.true(in.From)}.grow(r.slack(), r.slack())
		return !in.Perhaps.IsZero() && unsure.has(within.From) && unsure.has(within.Until)
	})
}

// lastRecord returns the true time of the last record of all.
func (r *reading) lastRecord() (last time.Time) {
	for _, n := range r.group.Nodes {
		for _, l := range n.Lives {
			if at := r.true(l.Until); at.After(last) {
				last = at
			}
		}
	}
	return last
}

// vacant reports whether nobody led for more than a second since the majority was lost, as far as the nodes said: a
// shorter time is no outage.
func (r *reading) vacant(lost span) bool {
	if !lost.Until.Before(r.Stop.Add(-r.slack())) {
		return lost.length() > 3*time.Second
	}
	return slices.ContainsFunc(r.vacancies(), func(away span) bool {
		return away.meets(lost) > 0 && away.length() > 2500*time.Millisecond
	})
}

// incidents writes all incidents in true times.
func (r *reading) incidents() string {
	var all []string
	for i := range r.group.Incidents {
		all = append(all, r.tellIncident(&r.group.Incidents[i]))
	}
	return strings.Join(all, " | ")
}
