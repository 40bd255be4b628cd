//go:build realtruth

package truth_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// compare compares everything that the inspector says with the truth.
func (r *reading) compare() {
	r.compareClocks()
	r.compareLives()
	r.compareLeaderships()
	r.compareWinners()
	r.compareSplits()
	r.compareIncidents()
	r.compareCauses()
	r.compareFindings()
	r.print()
}

var uncompared = regexp.MustCompile(`No messages compare the clocks? of nodes? ([\d, and]+) with`)

// uncompared returns the nodes of which it is told that no messages compare their clocks with the others'.
func (r *reading) uncompared() map[uint64]bool {
	apart := map[uint64]bool{}
	for _, text := range r.group.Unknown {
		if part := uncompared.FindStringSubmatch(text); part != nil {
			for _, id := range number.FindAllString(part[1], -1) {
				apart[numberOf(id)] = true
			}
		}
	}
	return apart
}

// compareClocks checks that the clocks are estimated as well as the estimates say, or that they are said not to be
// compared.
func (r *reading) compareClocks() {
	if r.missing { // the other clocks may not be compared
		return
	}
	apart := r.uncompared()
	var first *rounds.Node
	for i, n := range r.group.Nodes {
		if n.Records == 0 || apart[n.ID] {
			continue
		}
		if first == nil {
			first = &r.group.Nodes[i]
		}
		one, known := r.errorOf(first.ID)
		two, too := r.errorOf(n.ID)
		if off := (r.ahead(n.ID) - r.ahead(first.ID)).Abs(); known && too && off > one+two+200*time.Millisecond {
			r.fail("clock: not corrected", "nodes %d and %d are %v apart: %+v; shifted %v; unknown: %v",
				first.ID, n.ID, off, r.group.Clocks, r.shift, r.group.Unknown)
			return
		}
	}
	for _, c := range r.group.Clocks {
		if apart[c.Node] || c.Error == 0 || first == nil {
			continue
		}
		one, known := r.errorOf(first.ID) // both may be off
		if off := (r.ahead(c.Node) - r.ahead(first.ID)).Abs(); known && off > c.Error+one+time.Millisecond {
			r.fail("clock: its error is larger than told", "%+v, off by %v", c, off)
		}
	}
}

// errorOf returns how far the clock of a node may be off, as the inspector estimates it. It returns false if nobody
// knows: messages went in one direction only.
func (r *reading) errorOf(node uint64) (most time.Duration, known bool) {
	for _, c := range r.group.Clocks {
		if c.Node == node {
			return c.Error, c.Error > 0
		}
	}
	return 0, true
}

// compareCauses checks that the leader was dead, or could not be heard, whose loss is told to be the cause of a round.
func (r *reading) compareCauses() {
	for _, one := range r.group.Rounds {
		c := one.Cause
		if c.Lost == 0 || !r.timely() {
			continue
		}
		at := r.true(c.At)
		within := span{at.Add(-noticed), at.Add(r.slack())}
		excused := r.touched(c.Lost, within) || r.stalled(within) || r.acted(c.Lost, within) ||
			slices.ContainsFunc(r.paused(c.Node), func(pause span) bool { return pause.meets(within) >= 0 })
		if !excused {
			r.fail("cause: a leader was lost that was well", "term %d: node %d by node %d at %s: %s (%s) %v",
				one.Term, c.Lost, c.Node, clock(at), c.Text, c.Evidence, c.Ref)
		}
	}
}

// compareFindings checks that there are no findings about what was well.
func (r *reading) compareFindings() {
	for _, f := range r.group.Findings {
		if why := r.falseFinding(f); why != "" {
			r.fail("finding: "+string(f.Name)+", "+why, "term %d: %s", f.Term, f.Text)
		}
	}
	if !r.whole() || !r.timely() {
		return
	}
	for _, lost := range r.lostQuorums() {
		found := slices.ContainsFunc(r.group.Findings, func(f rounds.Finding) bool { return f.Name == rounds.NoEnd })
		if lost.length() > 8*time.Second && !found && !lost.Until.Equal(r.Stop) && r.called(lost) {
			r.fail("finding: no round-without-end", "no majority from %s to %s; told: %s",
				clock(lost.From), clock(lost.Until), r.incidents())
		}
	}
}

// called reports whether a node was there to call an election all the time: none that stands aside does.
func (r *reading) called(within span) bool {
	for node := range uint64(r.Plan.Nodes) {
		aside := slices.ContainsFunc(r.Acts, func(a act) bool {
			return a.Node == node+1 && a.What == "resign" && a.Error == "" && a.At.Before(within.Until)
		})
		if !aside && r.out(node+1, within) <= 0 {
			return true
		}
	}
	return false
}

// compareSplits checks that two nodes that both said that they lead are told to have led at once, if no message can
// have been on its way for so long. Under a lease that is never so.
func (r *reading) compareSplits() {
	const inFlight = 600 * time.Millisecond
	found := slices.ContainsFunc(r.group.Findings, func(f rounds.Finding) bool {
		return f.Name == rounds.TwoLeaders || f.Name == rounds.Overlap
	})
	for i, one := range r.Sightings {
		for _, other := range r.Sightings[i+1:] {
			if !one.Leads || !other.Leads || one.Node == other.Node || !r.whole() {
				continue
			}
			both := (span{one.First.Until, one.Last.From}).meets(span{other.First.Until, other.Last.From})
			if r.Plan.Voters && both > 0 || both > inFlight && !found {
				r.fail("finding: two leaders, and none tells", "for %v: nodes %d in term %d and %d in term %d, from %s",
					both, one.Node, one.Term, other.Node, other.Term, clock(other.First.Until))
				return
			}
		}
	}
}

// falseFinding says why a finding is false. It returns "" if it may be true.
func (r *reading) falseFinding(f rounds.Finding) string {
	switch f.Name {
	case rounds.TwoLeaders, rounds.Overlap:
		if r.Plan.Voters {
			return "under a lease"
		}
		if r.hedged(f) {
			return ""
		}
	case rounds.TermWentBack, rounds.SameID, rounds.MessagesLost:
		if len(r.Stalls) == 0 {
			return "never"
		}
	case rounds.NoEnd:
		if r.longVacant(4500 * time.Millisecond) {
			return ""
		}
		return "although somebody led"
	}
	if r.healthy() {
		return "in a healthy run"
	}
	return ""
}

var endedPerhaps = regexp.MustCompile(`It is no fault if node (\d+) had ended by then`)

// hedged reports whether the finding says that it may be none, and by what that would be known: by records that are
// missing, or by messages that compare clocks, which are off. It is no false statement then. Without voters, a leader
// that ended may have a successor in its own term, and only the time of its end tells that from a fault.
func (r *reading) hedged(f rounds.Finding) bool {
	if part := endedPerhaps.FindStringSubmatch(f.Text); part != nil { // the records do not tell it
		return r.endedBy(numberOf(part[1]), r.Stop)
	}
	lacks := r.missing && strings.Contains(f.Text, fmt.Sprintf("Records of node %d are missing", r.spoilt)) ||
		r.off && strings.Contains(f.Text, "No messages compare their clocks")
	return lacks && strings.Contains(f.Text, "It is no fault if")
}

// longVacant reports whether nobody led for so long, be it at the start, or in the end: nobody knows for how long that
// would have gone on.
func (r *reading) longVacant(d time.Duration) bool {
	first, last := r.Stop, time.Time{}
	for _, seen := range r.Sightings {
		switch {
		case !seen.Leads:
			continue
		case seen.Last.Until.After(last):
			last = seen.Last.Until
		}
		if seen.First.From.Before(first) {
			first = seen.First.From
		}
	}
	end := r.Stop
	if wrote := r.lastRecord(); wrote.After(end) { // a process writes on when it is told to stop
		end = wrote
	}
	return end.Sub(last) > time.Second || first.Sub(r.Processes[0].From) > d ||
		slices.ContainsFunc(r.vacancies(), func(away span) bool { return away.length() > d })
}

// odd are signs of a text that no person wrote so: a format without its argument, or no time. below is a time below
// zero; only a record may be before the first evidence.
var (
	odd   = regexp.MustCompile(`%!|0001-|NaN|<nil>`)
	below = regexp.MustCompile(`[^\w.:]-\d+(\.\d+)? (ms|s|m|h)\b`)
)

// print checks that everything can be told in sentences.
func (r *reading) print() {
	var list, story, table bytes.Buffer
	tell := func(err error, what string, term uint64) {
		if err != nil {
			r.fail("text: an error", "%s of term %d: %v", what, term, err)
		}
	}
	tell(report.List(&list, r.group, report.Selection{}), "list", 0)
	for _, one := range r.group.Rounds {
		tell(report.Explain(&story, r.group, one, true), "explain", one.Term)
		tell(report.Show(&table, r.group, one, true), "show", one.Term)
	}
	for name, text := range map[string][]byte{"list": list.Bytes(), "story": story.Bytes(), "table": table.Bytes()} {
		at := odd.FindIndex(text)
		if at == nil && name != "table" {
			at = below.FindIndex(text)
		}
		if at != nil {
			r.fail("text: odd words in the "+name, "%s", text[max(0, at[0]-100):min(len(text), at[1]+60)])
		}
	}
}
