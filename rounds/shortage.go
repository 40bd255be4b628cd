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
}

func (s *shortage) length() time.Duration { return s.until.Sub(s.from) }

// shortages returns when so many of the voters were away that the others are no majority, from one time to another. In
// each of them the same ones were away. away has the absences in this time, as awayIn returns them.
func shortages(away []absence, voters int, from, until time.Time) (all []shortage) {
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
		if 2*(voters-len(missing)) <= voters {
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

// tell says which of so many voters were missing: "voters 2 and 5 dead, 4 paused: 2 of 5 remain".
func (s *shortage) tell(voters int) string { return s.tellOf("voter", voters) }

// tellOf does so of nodes that are called something.
func (s *shortage) tellOf(called string, all int) string {
	down := map[string][]uint64{}
	for _, a := range s.missing {
		down[a.how] = append(down[a.how], a.id)
	}
	var parts []string
	noun := ""
	for _, how := range []string{
		"dead", "stopped", refusing, unseen, "paused", "silent", missing, "not answering", voteless, unheard,
	} {
		if ids := down[how]; len(ids) > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", words.List(ids), how))
			noun = cmp.Or(noun, words.Either(len(ids), called, called+"s")) // "voters 5 dead" would be five
		}
	}
	left := all - len(s.missing)
	return fmt.Sprintf("%s %s: %d of %d %s", noun, strings.Join(parts, ", "), left, all,
		words.Either(left, "remains", "remain"))
}

// everyVoter returns who votes, in order.
func (g *group) everyVoter() []uint64 { return slices.Sorted(maps.Keys(g.voters)) }
