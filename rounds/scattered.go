package rounds

import (
	"fmt"
	"slices"
	"time"
)

// sight is how many of the voters one of them sees from a record on.
type sight struct {
	at          time.Time
	voter, sees int
	ref         Ref
}

// sights returns how many of the voters each of them saw between two times, in the order of time: perhaps all, before
// and after its records, and where some of these are missing. ok is false if one has no log here.
func (g *group) sights(voters []uint64, from, until time.Time) (all []sight, ok bool) {
	for i, id := range voters {
		m := g.nodes[id]
		if m == nil {
			return nil, false
		}
		for _, l := range m.lives[max(m.index(from, g.fix), 0):] {
			began, ended := g.fix.at(id, l.from), g.fix.at(id, l.until)
			if began.After(until) {
				break
			}
			all = append(all, sight{began, i, len(voters), l.ref(l.first())})
			if l.missing() == 0 {
				all = append(all, g.sightsOf(l, i, voters, from, until)...)
			}
			all = append(all, sight{ended, i, len(voters), l.ref(l.last())})
		}
	}
	slices.SortStableFunc(all, func(a, b sight) int { return a.at.Compare(b.at) })
	return all, true
}

// sightsOf returns how many of the voters a process saw between two times, from its last view before the first one on.
func (g *group) sightsOf(l *life, voter int, voters []uint64, from, until time.Time) (all []sight) {
	happened := l.allHappenings()
	end, _ := slices.BinarySearchFunc(happened, until, func(h happening, t time.Time) int {
		return g.fix.at(l.node, h.wall).Compare(t)
	})
	for _, h := range slices.Backward(happened[:end]) {
		if h.event != "peers" {
			continue
		}
		sees := 0
		for _, id := range h.alive {
			if slices.Contains(voters, id) {
				sees++
			}
		}
		all = append(all, sight{g.fix.at(l.node, h.wall), voter, sees, l.ref(h.seq)})
		if !all[len(all)-1].at.After(from) {
			break
		}
	}
	slices.Reverse(all)
	return all
}

// scattered says for how long no voter saw a majority of them, by the last view that each of them wrote, if that was
// most of the time in which nobody led. It returns "" if one did, or may have.
func (in *Incident) scattered(g *group) string {
	took, voters := in.Until.Sub(in.From), g.everyVoter()
	if !leased(g.guarantee) || took < maxTransit || len(voters) < 3 || in.Bounded() {
		return ""
	}
	apart := func(id uint64) bool { return in.by != 0 && g.apart(id, in.by) == unbounded }
	all, ok := g.sights(voters, in.From, in.Until)
	if !ok || slices.ContainsFunc(voters, apart) {
		return ""
	}
	now := make([]sight, len(voters))
	for i := range now {
		now[i].sees = len(voters) // which is not known
	}
	many := func(s sight) bool { return s.sees > len(voters)/2 }
	var refs, proof []Ref // of the time that goes on, and of the longest one
	var from time.Time
	most, seen := 0, 0
	for i, s := range all {
		now[s.voter] = s
		next := in.Until
		if i+1 < len(all) {
			next = earliest(next, all[i+1].at)
		}
		switch {
		case !next.After(in.From) || !next.After(s.at):
			continue
		case slices.ContainsFunc(now, many):
			refs = nil
			continue
		case refs == nil:
			from, most = latest(in.From, s.at), 0
			for _, s := range now {
				most, refs = max(most, s.sees), append(refs, s.ref)
			}
		case s.sees > most:
			most, refs = s.sees, append(refs, s.ref)
		}
		if next.Sub(from) > in.apart.length() {
			in.apart, seen, proof = shortage{from: from, until: next}, most, slices.Clone(refs)
		}
	}
	if in.apart.length() < max(took/2, maxTransit/2) {
		in.apart = shortage{}
		return ""
	}
	for _, ref := range proof {
		in.prove(ref)
	}
	return fmt.Sprintf("no voter saw more than %d of %d for %s of the %s", seen, len(voters),
		Span(in.apart.length()), Span(took))
}
