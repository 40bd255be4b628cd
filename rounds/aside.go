package rounds

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/internal/words"
)

// stance says why a process was not eligible, from one record to another. why is empty while it was eligible.
type stance struct {
	first, last mark
	why         string
	turned      bool // the first record is of the change itself
}

// noteStance adds what rec says about the process's eligibility.
func (l *life) noteStance(rec *trace.Record, m mark) {
	s := stance{m, m, rec.Ineligible, rec.Event == "eligible"}
	if s.turned && s.why == "" {
		if _, s.why = formerFields(rec); s.why != "" {
			l.stancesInEvents = true
		}
	}
	if n := len(l.stances); n > 0 {
		was := &l.stances[n-1]
		if l.stancesInEvents && !s.turned {
			s.why = was.why
		}
		if was.why == s.why && was.last.seq+1 == m.seq { // nearly always
			was.last = m
			return
		}
	}
	l.stances = append(l.stances, s)
}

// allStances returns the stances in the order of the records.
func (l *life) allStances() []stance {
	byRecord := func(a, b stance) int { return cmp.Compare(a.first.seq, b.first.seq) }
	if !slices.IsSortedFunc(l.stances, byRecord) {
		slices.SortFunc(l.stances, byRecord)
	}
	return l.stances
}

// unfitness says why a node was not eligible for a while, as far as its own records tell.
type unfitness struct {
	id          uint64
	from, until time.Time
	why         string
	ref         Ref
}

// unfitnesses returns when the node was not eligible between two times, in which nobody led. What is between two
// records that tell of the same reason counts, and so does what is before the record of the change. If the records of
// its last process end after the first time, it stays as it was: while nobody leads, a change is in a record.
func (g *group) unfitnesses(id uint64, from, until time.Time) (all []unfitness) {
	m := g.nodes[id]
	if m == nil {
		return nil
	}
	for _, l := range m.lives {
		stances := l.allStances()
		for i, s := range stances {
			if s.why == "" {
				continue
			}
			u := unfitness{id, g.fix.at(id, s.first.wall), g.fix.at(id, s.last.wall), Quoted(s.why), l.ref(s.first.seq)}
			switch {
			case i+1 < len(stances) && (stances[i+1].turned || stances[i+1].why == s.why):
				u.until = g.fix.at(id, stances[i+1].first.wall)
			case i+1 == len(stances) && l.next == nil && !u.until.Before(from.Add(-together)):
				u.until = latest(u.until, until)
			}
			if n := len(all); n > 0 && all[n-1].why == u.why && all[n-1].until.Equal(u.from) {
				all[n-1].until = u.until
			} else if !u.until.Before(from) && !u.from.After(until) {
				all = append(all, u)
			}
		}
	}
	return all
}

// pausedWithAll returns when those of the nodes were not eligible that have no log here, since the cluster was paused:
// the record of any node tells that of all. It has no record of their own.
func (g *group) pausedWithAll(ids []uint64, from, until time.Time) (all []unfitness) {
	without := slices.DeleteFunc(slices.Clone(ids), func(id uint64) bool { return g.nodes[id] != nil })
	if len(without) == 0 {
		return nil
	}
	longest := unfitness{}
	for _, id := range slices.Sorted(maps.Keys(g.nodes)) {
		for _, u := range g.unfitnesses(id, from, until) {
			if strings.HasPrefix(u.why, trace.ClusterPaused) && u.until.Sub(u.from) > longest.until.Sub(longest.from) {
				longest = unfitness{from: u.from, until: u.until, why: u.why}
			}
		}
	}
	if longest.why == "" {
		return nil
	}
	for _, longest.id = range without {
		all = append(all, longest)
	}
	return all
}

// standAside returns why none of the nodes that might have led was eligible, for the longest time of the incident
// between two changes in which not too few voters were there anyway. It returns nil if one was eligible for most of the
// time in which enough were there, or if the records do not tell.
func (in *Incident) standAside(g *group) (all []unfitness) {
	enough := in.Leaderless
	for i := range in.lacks {
		enough -= in.lacks[i].length()
	}
	if !g.unfit || enough < maxTransit && (in.Leader != 0 || len(in.lacks) > 0) {
		return nil
	}
	ids := g.everyVoter()
	if len(ids) == 0 {
		ids = g.everybody()
	}
	times := []time.Time{in.From, in.Until}
	var unfit []unfitness
	for _, id := range ids {
		unfit = append(unfit, g.unfitnesses(id, in.From, in.Until)...)
	}
	unfit = append(unfit, g.pausedWithAll(ids, in.From, in.Until)...)
	if len(unfit) == 0 {
		return nil
	}
	away := g.awayIn(ids, in.From, in.Until)
	for _, u := range unfit {
		times = append(times, u.from, u.until)
	}
	for _, a := range away {
		times = append(times, a.from, a.until)
	}
	slices.SortFunc(times, time.Time.Compare)
	longest := max(enough/2, maxTransit/2)
	if enough < maxTransit {
		longest = 0 // what the records told when they ended
	}
	for i, at := range times[1:] {
		from := times[i]
		lack := func(s shortage) bool { return from.Before(s.until) && at.After(s.from) }
		if slices.ContainsFunc(in.lacks, lack) || from.Before(in.From) || at.After(in.Until) || at.Sub(from) < longest {
			continue
		}
		now := slices.DeleteFunc(slices.Clone(unfit), func(u unfitness) bool {
			return u.from.After(from) || u.until.Before(at)
		})
		gone := absent(nil, away, from, at)
		now = slices.DeleteFunc(now, func(u unfitness) bool {
			return slices.ContainsFunc(gone, func(a absence) bool { return a.id == u.id })
		})
		own := slices.DeleteFunc(slices.Clone(now), func(u unfitness) bool { return u.ref.IsZero() })
		if len(own) > 0 && len(now)+len(gone) == len(ids) {
			all, longest = own, at.Sub(from)
		}
	}
	return all
}

// tellAside says which nodes stood aside, and why: "nodes 1 and 3 stood aside: the cluster is paused". It puts those
// with the same reason together, and does not repeat the one in which what is told before ends.
func tellAside(all []unfitness, before string) string {
	var order []string
	ids := map[string][]uint64{}
	for _, u := range all {
		if ids[u.why] == nil {
			order = append(order, u.why)
		}
		ids[u.why] = append(ids[u.why], u.id)
	}
	told := func(why string) bool { return strings.HasSuffix(before, ": "+why) }
	if i := slices.IndexFunc(order, told); i > 0 { // beside which it was told
		order[0], order[i] = order[i], order[0]
	}
	var parts []string
	for _, why := range order {
		stood := " stood aside"
		if len(parts) > 0 {
			stood = ""
		}
		reason := ": " + why
		if told(why) {
			reason = " for the same reason"
		}
		parts = append(parts, words.Nodes(ids[why])+stood+reason)
	}
	return strings.Join(parts, ", ")
}

// withAside adds to the reason of the change that the nodes which might have led stood aside.
func (in *Incident) withAside(g *group, why string) string {
	all := in.standAside(g)
	if len(all) == 0 {
		return why
	}
	in.aside = true
	for _, u := range all {
		in.prove(u.ref)
	}
	if why == noReason {
		return tellAside(all, "")
	}
	return fmt.Sprintf("%s, and %s", why, tellAside(all, why))
}
