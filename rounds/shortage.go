package rounds

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/words"
)

// shortage is a time in which too few voters were there to make a leader.
type shortage struct {
	from, until time.Time
	missing     []absence
	doubt       bool // no record tells that all the others were there
}

func (s *shortage) length() time.Duration { return s.until.Sub(s.from) }

// shortages returns when so many of the voters were away that at most so many were left, from one time to another. In
// each of them the same ones were away. away has the absences in this time, as awayIn returns them.
func shortages(away []absence, voters, most int, from, until time.Time) (all []shortage) {
	times := []time.Time{from, until}
	for _, a := range away {
		for _, at := range []time.Time{a.from, a.until} {
			if at.After(from) && at.Before(until) {
				times = append(times, at)
			}
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	var missing []absence
	for i, at := range times[1:] {
		s := shortage{from: times[i], until: at}
		if s.length() == 0 && from.Before(until) {
			continue
		}
		missing = absent(missing[:0], away, s.from, s.until)
		last := len(all) - 1
		switch {
		case voters-len(missing) > most:
		case last >= 0 && all[last].until.Equal(s.from) && slices.Equal(all[last].missing, missing):
			all[last].until = s.until
		default:
			s.missing = slices.Clone(missing)
			all = append(all, s)
		}
	}
	return all
}

// awayIn returns when the voters were away, as far as that is of the time from one instant to another. Those of a voter
// stand one after the other.
func (g *group) awayIn(voters []uint64, from, until time.Time) (away []absence) {
	for _, id := range voters {
		all := g.absences(id)
		for i := range all {
			if a := &all[i]; !a.from.After(until) && (a.until.IsZero() || !a.until.Before(from)) {
				away = append(away, *a)
			}
		}
	}
	return away
}

// absent appends to a list the first absence of each voter that was away from one time to another. all has those of a
// voter one after the other.
func absent(missing, all []absence, from, until time.Time) []absence {
	for i := range all {
		a := &all[i]
		known := len(missing) > 0 && missing[len(missing)-1].id == a.id
		if !known && a.covers(from, until) {
			missing = append(missing, *a)
		}
	}
	return missing
}

// gone says how a node was in the shortages of one outage, and in which of these.
type gone struct {
	id          uint64
	how         []string // one after the other
	first, last int      // of the shortages
	n           int      // in how many of them it was missing
}

// goneIn returns how each node was that was missing in some of the shortages.
func goneIn(all []shortage) (list []gone) {
	for i, s := range all {
		for _, a := range s.missing {
			j := slices.IndexFunc(list, func(m gone) bool { return m.id == a.id })
			if j < 0 {
				j = len(list)
				list = append(list, gone{id: a.id, first: i})
			}
			m := &list[j]
			m.last, m.n = i, m.n+1
			if how := a.state(); !slices.Contains(m.how, how) {
				m.how = append(m.how, how)
			}
		}
	}
	slices.SortFunc(list, func(a, b gone) int { return cmp.Compare(a.id, b.id) })
	return list
}

// when says in which of so many shortages the node was missing, "" for all.
func (m *gone) when(all int) string {
	switch {
	case m.n == all:
		return ""
	case m.n == m.last-m.first+1 && m.last == all-1:
		return "later "
	case m.n == m.last-m.first+1 && m.first == 0:
		return "at first "
	}
	return "for a time "
}

// tellShortages says which nodes were missing in an outage, and when, if that changed: "voters 2 and 5 ended, later 4
// paused: 2 of 5 remain". The nodes are called something. open says that the outage goes on.
func tellShortages(all []shortage, called string, nodes int, from, until time.Time, open bool) string {
	how := []string{
		hasEnded, "stopped", refusing, hasRefused, "paused", silent, unanswering, voteless, unheard,
	}
	list, fewest, lack := goneIn(all), nodes, time.Duration(0)
	for i := range all {
		fewest, lack = min(fewest, nodes-len(all[i].missing)), lack+all[i].length()
	}
	type state struct{ when, first, last string }
	was := map[state][]uint64{}
	var order []state
	for _, when := range []string{"", "at first ", "for a time ", "later "} {
		for _, h := range how {
			for _, m := range list {
				if m.when(len(all)) != when || m.how[0] != h {
					continue
				}
				so := state{when, h, m.how[len(m.how)-1]}
				if was[so] == nil {
					order = append(order, so)
				}
				was[so] = append(was[so], m.id)
			}
		}
	}
	parts := make([]string, len(order))
	for i, so := range order {
		ids := words.List(was[so])
		if i == 0 {
			ids = words.Either(len(was[so]), called, called+"s") + " " + ids // "voters 5 ended" would be five
		}
		parts[i] = fmt.Sprintf("%s%s %s", so.when, ids, so.first)
		if so.last != so.first {
			parts[i] += " and then " + so.last
		}
	}
	changed := slices.ContainsFunc(list, func(m gone) bool { return m.n < len(all) })
	left := fmt.Sprintf("%d of %d at the fewest", fewest, nodes)
	if last := &all[len(all)-1]; !changed || open && last.until.Equal(until) {
		n := nodes - len(last.missing)
		left = fmt.Sprintf("%d of %d %s", n, nodes, words.Either(n, "remains", "remain"))
		if last.doubt && n > 0 {
			left = "at most " + left
		}
	}
	const soon = 100 * time.Millisecond // less is how long after each other nodes end, and are seen to
	switch whole := until.Sub(from); {
	case called == "node" && whole-lack >= soon: // whoever was there could lead
		left += fmt.Sprintf(", for at least %s of the %s", Span(lack), Span(whole))
	case whole-lack >= maxTransit:
		left += fmt.Sprintf(", too few to elect for at least %s of the %s", Span(lack), Span(whole))
	}
	return strings.Join(parts, ", ") + ": " + left
}

// doubts notes in which of the shortages some of the other voters wrote nothing, but perhaps as they woke at their end:
// they may have been away, too.
func (in *Incident) doubts(voters []uint64, g *group) {
	for i := range in.lacks {
		s := &in.lacks[i]
		until := s.until.Add(-together)
		if in.Leader == 0 && s.until.Equal(in.Until) {
			until = s.until
		}
		for _, id := range voters {
			away := slices.ContainsFunc(s.missing, func(a absence) bool { return a.id == id })
			_, wrote, ok := g.wroteAfter(id, s.from.Add(-together))
			s.doubt = s.doubt || !away && (!ok || g.fix.at(id, wrote.wall).After(until))
		}
	}
}

// everyVoter returns who votes, in order.
func (g *group) everyVoter() []uint64 { return slices.Sorted(maps.Keys(g.voters)) }
