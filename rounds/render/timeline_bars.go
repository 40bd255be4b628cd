package render

import (
	"fmt"
	"strconv"

	"github.com/ringleader-dev/ringleader/rounds"
)

// leadership adds the bars of a leadership: the bar of the leader, one that says until when it perhaps led on, and
// those of the followers.
func (t *timeline) leadership(
	r rounds.Leadership, periods []rounds.Period, row map[uint64]int, hue func(uint64) int,
) {
	until := r.Until
	for _, p := range periods {
		if p.PerhapsLed(r.Leader, r.Term) {
			until = laterOf(r.From, firstOf(until, p.From))
		}
	}
	bar := timelineBar{
		Row: row[r.Leader], Kind: barLeads, Leader: strconv.FormatUint(r.Leader, 10),
		Hue: hue(r.Leader), Term: strconv.FormatUint(r.Term, 10),
		From: t.at(r.From), Until: t.at(until),
		Text: fmt.Sprintf("node %d leads term %d for %s, %d followers", r.Leader, r.Term,
			span(until.Sub(r.From)), len(r.Followers)),
	}
	t.Bars = append(t.Bars, bar)
	if r.Until.After(until) {
		bar.Kind, bar.From, bar.Until = barUnknown, bar.Until, t.at(r.Until)
		bar.Text = fmt.Sprintf("node %d perhaps leads term %d for %s more", r.Leader, r.Term, span(r.Until.Sub(until)))
		t.Bars = append(t.Bars, bar)
	}
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

// state adds for each period a bar that says who led the group.
func (t *timeline) state(periods []rounds.Period, hue func(uint64) int) {
	for i := range periods {
		p := &periods[i]
		bar := timelineBar{Kind: stateKinds[p.State], From: t.at(p.From), Until: t.at(p.Until)}
		took := span(p.Until.Sub(p.From))
		if n := len(p.Leaders); n > 0 {
			leader := p.Leaders[n-1]
			bar.Hue, bar.Leader = hue(leader.Leader), strconv.FormatUint(leader.Leader, 10)
			bar.Term = strconv.FormatUint(leader.Term, 10)
			bar.Text = fmt.Sprintf("node %d leads", leader.Leader)
			if n > 1 {
				bar.Text += fmt.Sprintf(", and %d as well,", p.Leaders[0].Leader)
			}
			bar.Text += " for " + took
		}
		switch {
		case p.State == rounds.PeriodNobody:
			bar.Text = nobody(p)
		case p.State == rounds.PeriodUnknown && len(p.Leaders) > 0:
			bar.Text = fmt.Sprintf("node %d perhaps leads for %s more", p.Leaders[0].Leader, took)
		case p.State == rounds.PeriodUnknown:
			bar.Text = "the records do not tell who led for " + took
		}
		t.State = append(t.State, bar)
	}
}

// stateKinds are the kinds of the bars of the group as a whole.
var stateKinds = map[rounds.PeriodState]string{
	rounds.PeriodLed: barLeads, rounds.PeriodHandOver: barHandOver, rounds.PeriodOverlap: barOverlap,
	rounds.PeriodNobody: barNobody, rounds.PeriodUnknown: barUnknown,
}

// nobody says for how long nobody led, and why.
func nobody(p *rounds.Period) string {
	took, least, why := p.Until.Sub(p.From), "", clean(p.Change.Why)
	if p.Change.Former == 0 { // what was before the first call does not count
		took = p.Change.Leaderless
	} else if p.Change.AtLeast() {
		least = "at least "
	}
	if why != "" {
		why = ": " + why
	}
	return "nobody led for " + least + span(took) + why
}
