package render

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

// leadership adds the bars of a leadership: the bar of the leader and those of the followers.
func (t *timeline) leadership(r leadership, s *scale, row map[uint64]int, hue func(uint64) int) {
	bar := timelineBar{
		Row: row[r.Leader], Kind: barLeads, Leader: strconv.FormatUint(r.Leader, 10),
		Hue: hue(r.Leader), Term: strconv.FormatUint(r.Term, 10),
		From: s.at(r.From), Until: s.at(r.Until),
		Text: fmt.Sprintf("node %d leads term %d for %s, %d followers", r.Leader, r.Term,
			span(r.Until.Sub(r.From)), len(r.Followers)),
	}
	t.Bars = append(t.Bars, bar)
	if r.believed.After(r.Until) {
		more := bar
		more.Kind, more.From, more.Until = barBelieved, s.at(r.Until), s.at(r.believed)
		more.Text = fmt.Sprintf("node %d is lost, and others believe in it still", r.Leader)
		t.Bars = append(t.Bars, more)
	}
	for _, f := range r.Followers {
		at, ok := row[f.Node]
		if !ok || f.Until.Before(f.From) {
			continue
		}
		follows := bar
		follows.Row, follows.Kind, follows.From, follows.Until = at, barFollows, s.at(f.From), s.at(f.Until)
		follows.Text = fmt.Sprintf("node %d follows %d, term %d", f.Node, r.Leader, r.Term)
		t.Bars = append(t.Bars, follows)
	}
}

// sweep divides the time at each change of a leadership, and adds for each part a bar that says who
// led.
func (t *timeline) sweep(g *rounds.Group, leaderships []leadership, s *scale, hue func(uint64) int) {
	var cuts []time.Time
	for _, r := range leaderships {
		cuts = append(cuts, r.From, r.Until, r.believed)
	}
	slices.SortFunc(cuts, time.Time.Compare)
	cuts = slices.CompactFunc(cuts, time.Time.Equal)
	for i := 1; i < len(cuts); i++ {
		bar := t.state(g, leaderships, cuts[i-1], hue)
		bar.From, bar.Until = s.at(cuts[i-1]), s.at(cuts[i])
		bar.Text += " for " + span(cuts[i].Sub(cuts[i-1]))
		t.State = append(t.State, bar)
	}
}

// state returns a bar that says who leads the group from the time from on, until the next change.
func (t *timeline) state(g *rounds.Group, leaderships []leadership, from time.Time, hue func(uint64) int) timelineBar {
	var lead, believed []leadership
	for _, r := range leaderships {
		switch {
		case from.Before(r.From):
		case from.Before(r.Until):
			lead = append(lead, r)
		case from.Before(r.believed):
			believed = append(believed, r)
		}
	}
	one := func(r leadership, kind, text string) timelineBar {
		return timelineBar{
			Kind: kind, Hue: hue(r.Leader), Text: fmt.Sprintf(text, r.Leader),
			Leader: strconv.FormatUint(r.Leader, 10), Term: strconv.FormatUint(r.Term, 10),
		}
	}
	switch {
	case len(lead) == 1:
		return one(lead[0], barLeads, "node %d leads")
	case len(lead) > 1:
		kind := barHandOver
		if slices.ContainsFunc(g.Findings, func(f rounds.Finding) bool { return proves(f, lead) }) {
			kind = barOverlap
		}
		bar := one(lead[len(lead)-1], kind, "node %d leads")
		bar.Text += fmt.Sprintf(", and %d as well,", lead[0].Leader)
		return bar
	case len(believed) > 0:
		return one(believed[len(believed)-1], barBelieved, "node %d is lost, others believe in it still,")
	}
	return timelineBar{Kind: barNobody, Text: "nobody leads"}
}

// proves reports whether f says that two of the leaderships in lead overlapped. Then f names the
// record in which the later leader began to lead, and a record of the earlier leader.
func proves(f rounds.Finding, lead []leadership) bool {
	if f.Name != rounds.TwoLeaders && f.Name != rounds.Overlap {
		return false
	}
	for _, later := range lead {
		if later.First.IsZero() || !slices.Contains(f.Records, later.First) {
			continue
		}
		if slices.ContainsFunc(lead, func(earlier leadership) bool {
			return earlier.From.Before(later.From) && slices.ContainsFunc(f.Records, func(ref rounds.Ref) bool {
				return ref.Node == earlier.Leader
			})
		}) {
			return true
		}
	}
	return false
}
