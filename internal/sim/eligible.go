package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// eligibility draws nodes that may not lead for a while, by themselves or the
// whole cluster, operators that choose a leader, and some nodes that may not lead
// in the end. One that could lead always
// may then.
func (d *drafter) eligibility() {
	if d.Accurate || d.chance(600) {
		return
	}
	for range 1 + d.IntN(4) {
		f := one(d.dice, (*drafter).bar, (*drafter).bar, (*drafter).barAll, (*drafter).transfer,
			(*drafter).transfer, (*drafter).transfer)(d)
		f.At = d.between(0, d.Heal)
		d.Faults = append(d.Faults, f)
	}
	for _, id := range d.couldLead()[1:] {
		if d.chance(300) {
			d.StayBarred = append(d.StayBarred, id)
		}
	}
}

// couldLead are the nodes that live in the end, and vote where there are voters,
// in random order.
func (d *drafter) couldLead() []proto.NodeID {
	var ids []proto.NodeID
	for i := range d.Nodes {
		id := proto.NodeID(i + 1)
		if !slices.Contains(d.StayDead, id) && (len(d.Voters) == 0 || slices.Contains(d.Voters, id)) {
			ids = append(ids, id)
		}
	}
	d.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return ids
}

// bar makes one node not eligible for a while.
func (d *drafter) bar() fault {
	t, span := d.target(), d.span()
	return fault{What: fmt.Sprintf("%v is not eligible for %v", t, span), do: func(c *cluster) {
		c.barFor(span, algorithms.Eligible{Why: "a fault"}, t.in(c))
	}}
}

// barAll keeps all nodes that run from standing for a while: who leads goes on.
func (d *drafter) barAll() fault {
	span := d.span()
	return fault{What: fmt.Sprintf("nobody stands for %v", span), do: func(c *cluster) {
		c.barFor(span, algorithms.Eligible{Keep: true, Why: "the cluster is paused"}, c.nodes...)
	}}
}

func (c *cluster) barFor(span time.Duration, ev algorithms.Eligible, nodes ...*node) {
	for _, n := range nodes {
		c.operate(n, ev)
		c.later(span, func() { c.operate(n, algorithms.Eligible{OK: true}) })
	}
}
