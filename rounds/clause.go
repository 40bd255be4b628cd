package rounds

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// reason says in one clause why the leadership changed: by the voters that were missing, or else by what ended the
// leadership before, and by what kept the nodes from another one.
func (in *Incident) reason(g *group) string {
	if lacks := in.missingVoters(g); lacks != "" {
		return in.withAside(g, lacks+in.afterLacks(g))
	}
	if gone := in.allGone(g); gone != "" {
		return gone
	}
	why := in.withAside(g, in.changed(g))
	failed := in.fenceFailed()
	if failed == "" && in.Until.Sub(in.From) > maxTransit {
		failed = in.storeKept()
		in.store = failed != ""
	}
	if failed == "" && !in.aside {
		failed = in.scattered(g)
	}
	if failed == "" && !in.aside {
		failed = in.delayed(g)
		in.delay = failed != ""
	}
	switch {
	case failed == "":
		return why
	case why == noReason:
		return failed
	default:
		return why + ", and " + failed
	}
}

// noReason says that the records do not tell why the leadership changed.
const noReason = "no record says why"

// changed says why the leadership changed, by the cause of the first round, or by the way in which the leadership
// before ended.
func (in *Incident) changed(g *group) string {
	over := in.processOver(g) // that tells why, and not that it was outranked, or that whoever had started knew nobody
	for _, r := range in.rounds {
		c := &r.Cause
		if over && (c.Kind == FirstLeader || c.Kind == HigherRank) {
			continue
		}
		why := c.clause(in, g.guarantee)
		late := in.precedes(c, g) || in.endedBefore(c, g) || in.lostBefore(c, g) || in.askedSince(c, g)
		if why != "" && !late && !in.calledBeside(c, g) && !c.sleptThrough(g) {
			in.prove(c.Ref)
			return why
		}
	}
	if in.From.After(in.Until) {
		return noReason // the former leader still led
	}
	switch in.Ended.Kind {
	case EndedByWord:
		text := fmt.Sprintf("node %d stopped leading", in.Former)
		if led := g.leaderships[leadershipKey{in.Former, in.FormerTerm}]; led != nil && led.life != nil {
			if to := led.endedBy.to; in.Leader != 0 && (to == 0 || to == in.Leader) {
				text = fmt.Sprintf("node %d %s", in.Former, led.endedBy.left())
			}
			if lost := led.entryLost(); lost != "" {
				return lost
			}
			if asked := g.requestBefore(led); asked.why != "" {
				text += ": " + asked.why
				in.prove(asked.ref)
			} else if led.endedBy.to != 0 {
				text += fmt.Sprintf(": node %d would take over", led.endedBy.to)
				in.prove(led.Last)
			}
		}
		return text
	case EndedByLease:
		return in.lapsed(g)
	case EndedByProcess:
		in.loss.Noticed = in.sawEnd(g)
		return fmt.Sprintf("the process of node %d ended", in.Former)
	}
	if over {
		return fmt.Sprintf("the process of node %d had ended by then", in.Former)
	}
	return noReason
}

// processOver reports whether all that tells of the end of the leadership is that the leader's process had ended by
// then: others saw it, or the next process of its node began. Its lease may have ended before.
func (in *Incident) processOver(g *group) bool {
	led := g.leaderships[leadershipKey{in.Former, in.FormerTerm}]
	if led == nil || in.Ended.Kind != EndedUnseen || in.From.After(in.Until) {
		return false
	}
	at, by := g.processEnd(led)
	return !at.IsZero() && by == in.Ended.Ref
}

// allGone says how all nodes were away for most of the time: "node 1 ended, 2 and 3 silent: 0 of 3 remain". It
// returns "" if one was there, or if voters decide.
func (in *Incident) allGone(g *group) string {
	if leased(g.guarantee) || in.Former == 0 || in.Leaderless < maxTransit {
		return ""
	}
	var ids []uint64
	for _, id := range slices.Sorted(maps.Keys(g.nodes)) {
		if g.fix.at(id, g.nodes[id].lives[0].from).Before(in.From) {
			ids = append(ids, id)
		}
	}
	gone := shortage{from: in.From.Add(in.Leaderless / 4), until: in.Until.Add(-in.Leaderless / 4)}
	gone.missing = absent(nil, g.awayIn(ids, gone.from, gone.until), gone.from, gone.until)
	if len(ids) == 0 || len(gone.missing) < len(ids) {
		return ""
	}
	in.lack, in.all = gone, true
	in.lacks = shortages(g.awayIn(ids, in.From, in.Until), len(ids), 0, in.From, in.Until)
	return in.tellLacks("node", len(ids), in.From)
}

// precedes reports whether the change was over before there was the cause, whatever the clocks show.
func (in *Incident) precedes(c *Cause, g *group) bool {
	if in.Leader == 0 || c.Node == 0 || c.At.IsZero() {
		return false
	}
	off := g.apart(in.by, c.Node)
	return off != unbounded && c.At.After(in.Until.Add(off))
}

// endedBefore reports whether the leader before had stopped already when a node that outranks it began to take over, or
// when others lost it.
func (in *Incident) endedBefore(c *Cause, g *group) bool {
	lost := in.Ended.Kind == EndedByWord && c.Lost == in.Former
	if c.Kind != HigherRank && !lost || in.Former == 0 || in.Ended.Ref.IsZero() {
		return false
	}
	off := g.apart(in.Ended.Ref.Node, c.Node)
	return off != unbounded && c.At.After(in.From.Add(off))
}

// askedSince reports whether the leader before handed over since somebody asked it to, after a node that outranks it
// had begun to take over, or others had lost it: that may have been long before, and in vain. Whoever lost it did not
// make it hand over by itself to a better node, either.
func (in *Incident) askedSince(c *Cause, g *group) bool {
	led := g.leaderships[leadershipKey{in.Former, in.FormerTerm}]
	lost := c.Lost == in.Former && in.StoppedFirst()
	if c.Kind != HigherRank && !lost || led == nil || led.life == nil || !led.endedBy.handed {
		return false
	}
	asked, off := g.requestBefore(led), g.apart(in.Former, c.Node)
	if lost && leased(g.guarantee) && asked.why == "" && led.endedBy.to != 0 {
		return true
	}
	return asked.why != "" && off != unbounded && asked.at.After(c.At.Add(off))
}

// calledBeside reports whether an operator asked for an election, and the leader before stopped for another reason, or
// may have. Under a lease, that call ends a leadership only where the leader hands over to who is the better choice by
// then.
func (in *Incident) calledBeside(c *Cause, g *group) bool {
	if !leased(g.guarantee) || c.Kind != Operator || in.Former == 0 {
		return false
	}
	led := g.leaderships[leadershipKey{in.Former, in.FormerTerm}]
	return in.Ended.Kind == EndedByLease || in.Ended.Kind == EndedByProcess || c.Node == in.Former ||
		led != nil && (g.askedFor(led) != "" || g.requestMissing(led))
}

// requestMissing reports whether the leader may have been asked to give up its term by a record that is missing.
func (g *group) requestMissing(led *Leadership) bool {
	if led.life == nil || led.Last.IsZero() {
		return true
	}
	whole := led.life.rangeOf(led.Last.Seq)
	first, _ := led.life.after(led.End.Add(-maxHandOver), g.fix)
	return whole >= first.seq && (whole > led.First.Seq || led.unseen)
}

// askedFor says why the leader was asked to give up its term before it did by its own word; "" if it was not.
func (g *group) askedFor(led *Leadership) string {
	if led.life == nil {
		return ""
	}
	return g.requestBefore(led).why
}

// clause says in a few words why the election was held. It is empty if only what came before tells it.
func (c *Cause) clause(in *Incident, guarantee string) string {
	switch c.Kind {
	case LeaderLost, LeaderSilent:
		if c.Lost == 0 || in.Former != 0 && c.Lost != in.Former && c.Node != in.Former {
			return "" // the loss of another one did not end the leadership of Former, unless that followed the lost one
		}
		if EndedProcess(c.Evidence, c.Lost) {
			return fmt.Sprintf("the process of node %d ended (%s)", c.Lost, Meaning(c.Evidence, c.Lost))
		}
		return fmt.Sprintf("node %d stopped answering (%s)", c.Lost, cmp.Or(Meaning(c.Evidence, c.Lost), c.Text))
	case FirstLeader:
		over := in.Ended.Kind == EndedByWord || in.Ended.Kind == EndedByProcess
		if in.Former != 0 && over && !in.From.After(in.Until) {
			return "" // whoever had just started knew of no leader; how the one before ended tells why
		}
		return "no leader was known"
	case Operator:
		return fmt.Sprintf("an operator asked node %d for an election", c.Node)
	case HandOver:
		other := c.handing != 0 && c.handing != in.Former
		late := in.Ended.Kind == EndedByLease || c.Request != "" && c.asked.at.After(in.From)
		switch {
		case other && in.From.After(in.Until): // how the one before ended does not tell why
			return fmt.Sprintf("node %d asked node %d to lead", c.handing, c.Node)
		case other || late:
			return ""
		case c.Request != "":
			return fmt.Sprintf("node %d handed over: %s", in.Former, c.Request)
		case in.Ended.Known != OwnWord && leased(guarantee): // a lease that ended has it ask for the next leader, too
			return fmt.Sprintf("node %d gave up term %d", in.Former, in.FormerTerm)
		}
		return fmt.Sprintf("node %d handed over", in.Former)
	case HigherRank:
		switch {
		case leased(guarantee) && (in.Ended.Kind == EndedByLease ||
			in.Ended.Kind == EndedByProcess && !in.From.After(in.Until)):
			return "" // it handed over to nobody
		case leased(guarantee) && c.below != 0 && c.below != in.Former:
			return "" // it outranks a node that was nominated, or that led before
		case c.Node == in.Leader && (in.Ended.Kind != EndedUnseen || !leased(guarantee)):
			return fmt.Sprintf("node %d outranks node %d and took over", c.Node, in.Former)
		case in.Ended.Kind == EndedByWord:
			return "" // the leader itself says why it stopped
		}
		return fmt.Sprintf("node %d outranks node %d and began to take over", c.Node, in.Former)
	case Released, EntryLost:
		return c.Text
	case SplitRecovered:
		return "two leaders met, and all who led stopped"
	}
	return ""
}

// tellLacks says which of so many nodes were missing since the time from, and proves it.
func (in *Incident) tellLacks(called string, nodes int, from time.Time) string {
	for _, a := range in.lack.missing {
		in.prove(a.ref)
	}
	for _, s := range in.lacks {
		for _, a := range s.missing {
			in.prove(a.ref)
		}
	}
	return tellShortages(in.lacks, called, nodes, from, in.Until, in.Leader == 0)
}

// missingVoters says which voters were out of reach while the others were no majority: "voters 2 and 5 ended, 4 paused:
// 2 of 5 remain". It returns "" if a majority was there for most of the time.
func (in *Incident) missingVoters(g *group) string {
	var voters []uint64
	for _, r := range in.rounds {
		if r.Ballot != nil && len(r.Ballot.Voters) > len(voters) {
			voters = r.Ballot.Voters
		}
	}
	if len(in.rounds) == 0 || len(voters) == 0 && in.Leader == 0 { // no round tells yet who votes
		voters = g.everyVoter()
	}
	from, length := in.From, in.Leaderless
	if length < maxTransit && !in.Perhaps.IsZero() {
		from, length = in.Perhaps, in.AtMost()
	}
	if length < maxTransit && in.Leader != 0 || len(voters) == 0 {
		return ""
	}
	middle := from.Add(length / 2)
	away := g.awayIn(voters, earliest(from, middle), latest(middle, in.Until))
	killed := 0
	for _, a := range absent(nil, away, middle, middle) {
		noLog := g.nodes[a.id] == nil && a.until.IsZero()
		if a.how == dead || a.how == unseen && noLog {
			killed++
		}
	}
	in.killed = len(voters)-killed <= len(voters)/2
	least := max(length/4, min(maxTransit/2, length))
	in.lack = longest(shortages(away, len(voters), len(voters)/2, from, in.Until), least)
	if !in.Voters() {
		return ""
	}
	in.lacks = in.allLacks(away, len(voters), from)
	in.doubts(voters, g)
	return in.tellLacks("voter", len(voters), from)
}

// longest returns the longest of the shortages, but of no time in which there was one after the other for less than the
// least. It returns zero if there is none. What is known of a voter that was missing all the time may have changed.
func longest(all []shortage, least time.Duration) (found shortage) {
	for i, next := 0, 0; i < len(all); i = next {
		for next = i + 1; next < len(all) && all[next].from.Equal(all[next-1].until); {
			next++
		}
		if all[next-1].until.Sub(all[i].from) < least {
			continue
		}
		for _, s := range all[i:next] {
			if len(found.missing) == 0 || s.length() > found.length() {
				found = s
			}
		}
	}
	return found
}

// allLacks returns all times in which too few voters were there, beside the longest one. It leaves out those that were
// over as soon as an election is, and voters of which no record tells anything but in the longest one: their answers
// may be missing.
func (in *Incident) allLacks(away []absence, voters int, from time.Time) []shortage {
	heard := slices.DeleteFunc(away, func(a absence) bool {
		return a.how == unheard && !slices.ContainsFunc(in.lack.missing, func(m absence) bool {
			return m.id == a.id && m.how == unheard
		})
	})
	return slices.DeleteFunc(shortages(heard, voters, voters/2, from, in.Until), func(s shortage) bool {
		atEnd := in.Leader == 0 && s.until.Equal(in.Until)
		return s.length() < min(maxTransit/2, in.lack.length()) && !atEnd
	})
}
