package render

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

// leadership adds the bars of a leadership: the bar of the leader and those of the followers.
func (t *timeline) leadership(r rounds.Leadership, row map[uint64]int, hue func(uint64) int) {
	bar := timelineBar{
		Row: row[r.Leader], Kind: barLeads, Leader: strconv.FormatUint(r.Leader, 10),
		Hue: hue(r.Leader), Term: strconv.FormatUint(r.Term, 10),
		From: t.at(r.From), Until: t.at(r.Until),
		Text: fmt.Sprintf("node %d leads term %d for %s, %d followers", r.Leader, r.Term,
			span(r.Until.Sub(r.From)), len(r.Followers)),
	}
	bar.Text += t.perhaps[[2]string{bar.Leader, bar.Term}]
	t.Bars = append(t.Bars, bar)
	for _, f := range r.Followers {
		at, ok := row[f.Node]
		if !ok || f.Until.Before(f.From) {
			continue
		}
		follows := bar
		follows.Row, follows.Kind, follows.From, follows.Until = at, barFollows, t.at(f.From), t.at(f.Until)
		follows.Text = fmt.Sprintf("node %d follows %d, term %d", f.Node, r.Leader, r.Term)
		t.Bars = append(t.Bars, follows)
	}
}

// sweep divides the time at each change of a leadership, and adds for each part a bar that says who
// led.
func (t *timeline) sweep(g *rounds.Group, leaderships []rounds.Leadership, last time.Time, hue func(uint64) int) {
	cuts := []time.Time{t.start, last}
	for _, r := range leaderships {
		cuts = append(cuts, r.From, r.Until)
	}
	slices.SortFunc(cuts, time.Time.Compare)
	cuts = slices.CompactFunc(cuts, time.Time.Equal)
	for i := 1; i < len(cuts); i++ {
		from, until := cuts[i-1], cuts[i]
		bar := t.state(g, leaderships, from, hue)
		bar.From, bar.Until = t.at(from), t.at(until)
		if bar.Kind == barNobody {
			bar.Text = nobody(g, from, until)
		} else {
			bar.Text += " for " + span(until.Sub(from)) + t.perhaps[[2]string{bar.Leader, bar.Term}]
		}
		t.State = append(t.State, bar)
	}
}

// nobody says for how long nobody led, and why.
func nobody(g *rounds.Group, from, until time.Time) string {
	took, why, least, nobody := until.Sub(from), "", "", "nobody led"
	for _, i := range g.Incidents {
		if i.From.Before(until) && from.Before(i.Until) {
			if i.Former == 0 && i.Leaderless > 0 { // what was before the first call does not count
				took = i.Leaderless
			}
			why, nobody = clean(i.Why), i.Nobody()
			if i.Former != 0 && i.AtLeast() {
				least = "at least "
			}
		}
	}
	if why != "" {
		why = ": " + why
	}
	return nobody + " for " + least + span(took) + why
}

// state returns a bar that says who leads the group from the time from on, until the next change.
func (t *timeline) state(
	g *rounds.Group, leaderships []rounds.Leadership, from time.Time, hue func(uint64) int,
) timelineBar {
	var lead []rounds.Leadership
	for _, r := range leaderships {
		if !from.Before(r.From) && from.Before(r.Until) {
			lead = append(lead, r)
		}
	}
	if len(lead) == 0 {
		return timelineBar{Kind: barNobody}
	}
	last := lead[len(lead)-1]
	bar := timelineBar{
		Kind: barLeads, Hue: hue(last.Leader), Text: fmt.Sprintf("node %d leads", last.Leader),
		Leader: strconv.FormatUint(last.Leader, 10), Term: strconv.FormatUint(last.Term, 10),
	}
	if len(lead) > 1 {
		bar.Kind = barHandOver
		if slices.ContainsFunc(g.Findings, func(f rounds.Finding) bool { return proves(f, lead) }) {
			bar.Kind = barOverlap
		}
		bar.Text += fmt.Sprintf(", and %d as well,", lead[0].Leader)
	}
	return bar
}

// proves reports whether f says that two of the leaderships in lead overlapped. Then f names the
// record in which the later leader began to lead, and a record of the earlier leader.
func proves(f rounds.Finding, lead []rounds.Leadership) bool {
	if f.Name != rounds.TwoLeaders && f.Name != rounds.Overlap {
		return false
	}
	for _, later := range lead {
		if later.First.IsZero() || !slices.Contains(f.Records, later.First) {
			continue
		}
		if slices.ContainsFunc(lead, func(earlier rounds.Leadership) bool {
			return earlier.From.Before(later.From) && slices.ContainsFunc(f.Records, func(ref rounds.Ref) bool {
				return ref.Node == earlier.Leader
			})
		}) {
			return true
		}
	}
	return false
}
