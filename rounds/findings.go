package rounds

import (
	"fmt"
	"slices"
	"time"
)

// The findings that lie between rounds.

const (
	// inFlight is how long a leader may go on after its successor has sent the
	// announcement that makes it step down.
	inFlight = 500 * time.Millisecond
	// flaps is how many changes of leadership within flapTime count as flapping, if neither an operator nor the end
	// of a process caused them.
	flaps    = 5
	flapTime = time.Minute
	// leaderlessTime is how long a cluster may be without a leader although nodes called elections.
	leaderlessTime = 5 * time.Second
)

// withoutEnd finds where nodes called elections, and nobody led for longer than leaderlessTime. Records that end
// sooner prove nothing, since nobody knows why they end, unless too many voters had been killed a while before. Nor do
// later records of nodes whose clocks nothing compares with that of the node which called the election.
func (g *group) withoutEnd(incidents []Incident) (found []Finding) {
	for _, in := range incidents {
		// Too many voters had been killed a while before. Who is told to stop writes lines for a while, and no records.
		lost := in.Leader == 0 && in.killed && g.last.Sub(in.From) > maxTransit
		if !lost && max(in.Leaderless, in.unheardFor()) <= leaderlessTime { // nearly always
			continue
		}
		calls := in.calls()
		i := slices.IndexFunc(calls, func(c call) bool {
			since := in.Leaderless - max(c.at.Sub(in.From), 0)
			if in.Unsure() {
				since = in.Until.Sub(latest(c.at, in.Perhaps))
			}
			if in.Leader == 0 {
				if last, all := g.comparable(c.ref.Node); !all && last.Sub(c.at) <= leaderlessTime {
					return false
				}
			}
			return lost || since > maxTransit
		})
		if i < 0 {
			continue
		}
		first := calls[i]
		after := "and the logs end so"
		if in.Leader != 0 {
			after = fmt.Sprintf("until node %d led term %d", in.Leader, in.Term)
		}
		nobody := in.Nobody() + " for " + in.Length()
		if in.Unsure() {
			nobody = fmt.Sprintf("no record tells of a leader for %s", Span(in.AtMost()))
			in.prove(in.PerhapsRef)
		}
		proof := slices.DeleteFunc(slices.Clone(in.Records), func(ref Ref) bool { return ref == first.ref })
		found = append(found, Finding{
			Name: NoEnd, Term: in.MainTerm(), Records: append([]Ref{first.ref}, proof...),
			Text: fmt.Sprintf("%s, and %s, %s: %s.", first.text, nobody, after, in.Why),
		})
	}
	return found
}

// comparable returns the time of the last record of all nodes whose clocks are compared with that of the given one, and
// whether those are all.
func (g *group) comparable(node uint64) (last time.Time, all bool) {
	all = true
	for id, m := range g.nodes {
		if g.apart(node, id) == unbounded {
			all = false
			continue
		}
		for _, l := range m.all() {
			last = latest(last, g.fix.at(id, l.until))
		}
	}
	return last, all
}

// sameID finds processes of one node that wrote at the same time, by the node's own clock.
func sameID(m *member) (found []Finding) {
	all := m.lives
	if len(m.apart) > 0 {
		all = slices.SortedFunc(slices.Values(slices.Concat(m.lives, m.apart)), byBeginning)
	}
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		both := earliest(a.until, b.until).Sub(b.from)
		if a.until.After(b.from) && a.incarnation != "" && b.incarnation != "" {
			found = append(found, Finding{
				Name: SameID, Records: []Ref{b.ref(b.first()), a.ref(a.last())},
				Text: fmt.Sprintf("Two processes were node %d for %v at least: incarnations %s and %s.",
					a.node, Span(both), a.incarnation, b.incarnation),
			})
		}
	}
	return found
}

// termFell finds where the own term of a node went back: within one process, or from one process to messages that
// the next one sent. A node that restarts may be in a lower term as long as it sends nothing in that term, or if its
// process ended as it wrote its last record: what that says need not have been saved. A nominator need not have saved
// its last term either: it reserves one in advance, and passes on messages of the term before once it runs again.
func termFell(m *member, nominates bool) (found []Finding) {
	var before mark // the last one of the processes so far that has the node's own term
	var by *life
	for _, l := range m.lives {
		marks := l.sorted()
		for i, now := range marks {
			if now.own == 0 || by != nil && l != by && now.sent == 0 {
				continue
			}
			overlap := by != nil && l != by && !by.until.Before(l.from)
			reserved := nominates && l != by && now.own+1 == before.own
			if by != nil && now.own < before.own && !overlap && !reserved {
				found = append(found, fell(l.node, by.ref(before.seq), before.own, l.ref(now.seq), now.own))
			}
			if i < len(marks)-1 {
				before, by = now, l
			}
		}
	}
	return found
}

func fell(node uint64, from Ref, high uint64, to Ref, low uint64) Finding {
	return Finding{
		Name: TermWentBack, Term: low, Records: []Ref{from, to},
		Text: fmt.Sprintf("Node %d went back from term %d to term %d.", node, high, low),
	}
}
