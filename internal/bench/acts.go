package bench

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// act is a time during which a process acted as the leader, or was allowed to: a function was
// at work, or a node had lent its lease to a process beside it. Times count from the machine's
// start, so that those of different processes can be compared.
type act struct {
	node        proto.NodeID
	term        proto.Term
	process     string // the process of a function; empty for a lease that a node lent
	from, until time.Duration
}

func (a act) works() bool { return a.process != "" }

// text describes the act. Times count from the time zero.
func (a act) text(zero time.Duration) string {
	what := "has lent its lease"
	if a.works() {
		what = "is at work"
	}
	return fmt.Sprintf("node %v in term %d %s %s", a.node, a.term, what, between(a.from-zero, a.until-zero))
}

// between formats a span of time, in seconds.
func between(from, until time.Duration) string {
	return fmt.Sprintf("%.3f–%.3f s", from.Seconds(), until.Seconds())
}

// clash is a pair of acts that overlap although they must not.
type clash struct{ a, b act }

func (c clash) from() time.Duration  { return max(c.a.from, c.b.from) }
func (c clash) until() time.Duration { return min(c.a.until, c.b.until) }

func (c clash) text(zero time.Duration) string {
	return fmt.Sprintf("two at once for %.0f ms: %s, and %s",
		(c.until()-c.from()).Seconds()*1000, c.a.text(zero), c.b.text(zero))
}

// excludes reports whether a and b must not overlap: they are of different nodes, or are two
// functions of one node.
func (a act) excludes(b act) bool {
	return a.node != b.node || a.works() && b.works() && a.process != b.process
}

// clashes returns all pairs of acts that overlap although they must not. It returns first the pairs
// in which both acts are functions at work, then those with one such act, then those in which both
// are lent leases. A lease that was over when its holder heard of it, as after a pause, allowed nothing.
func clashes(acts []act) (found []clash) {
	acts = slices.DeleteFunc(slices.Clone(acts), func(a act) bool { return a.until <= a.from })
	slices.SortFunc(acts, func(a, b act) int { return cmp.Compare(a.from, b.from) })
	var open []act
	for _, b := range acts {
		open = slices.DeleteFunc(open, func(a act) bool { return a.until <= b.from })
		for _, a := range open {
			if a.excludes(b) {
				found = append(found, clash{a, b})
			}
		}
		open = append(open, b)
	}
	slices.SortStableFunc(found, func(a, b clash) int { return cmp.Compare(b.working(), a.working()) })
	return found
}

// working returns how many of the two acts are functions.
func (c clash) working() (count int) {
	for _, a := range []act{c.a, c.b} {
		if a.works() {
			count++
		}
	}
	return count
}

// joined merges acts of the same node and term that overlap.
func joined(acts []act) (whole []act) {
	acts = slices.Clone(acts)
	slices.SortFunc(acts, func(a, b act) int { return cmp.Compare(a.from, b.from) })
	last := map[proto.NodeID]int{} // its place in whole
	for _, a := range acts {
		if i, ok := last[a.node]; ok && whole[i].term == a.term && a.from <= whole[i].until {
			whole[i].until = max(whole[i].until, a.until)
			continue
		}
		last[a.node] = len(whole)
		whole = append(whole, a)
	}
	return whole
}

// moment is an instant at which a leader becomes possible or impossible. able says whether, from
// then on, a node that is allowed to lead reaches a majority.
type moment struct {
	at   time.Duration
	able bool
}

// gap is a time in which no function was at work although a leader was possible.
type gap struct{ from, until time.Duration }

func (g gap) length() time.Duration { return g.until - g.from }

// gaps returns all gaps between the first moment and until. The moments must be in order.
func gaps(functions []act, moments []moment, until time.Duration) (found []gap) {
	functions = slices.Clone(functions)
	slices.SortFunc(functions, func(a, b act) int { return cmp.Compare(a.from, b.from) })
	moments = append(slices.Clone(moments), moment{at: until})
	for i, m := range moments[:len(moments)-1] {
		if !m.able {
			continue
		}
		idle, end := m.at, moments[i+1].at // since when nobody was at work
		for _, a := range functions {
			if idle < a.from && idle < end {
				found = append(found, gap{idle, min(a.from, end)})
			}
			idle = max(idle, a.until)
		}
		if idle < end {
			found = append(found, gap{idle, end})
		}
	}
	return joinGaps(found)
}

// joinGaps merges gaps that follow each other without a pause.
func joinGaps(gaps []gap) (whole []gap) {
	for _, g := range gaps {
		if n := len(whole); n > 0 && whole[n-1].until >= g.from {
			whole[n-1].until = g.until
			continue
		}
		whole = append(whole, g)
	}
	return whole
}
