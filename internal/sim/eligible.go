package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// eligibility adds random events to the plan: faults that make one node, or the whole cluster,
// ineligible for a while, and orders to transfer leadership. It also chooses nodes that stay
// ineligible until the run ends. It leaves at least one node that could lead eligible.
func (d *drafter) eligibility() {
	if d.Accurate || d.chance(600) {
		return
	}
	for range 1 + d.IntN(4) {
		f := one(d.dice, (*drafter).ineligible, (*drafter).ineligible, (*drafter).pauseCluster, (*drafter).transfer,
			(*drafter).transfer, (*drafter).transfer)(d)
		f.At = d.between(0, d.Heal)
		d.Faults = append(d.Faults, f)
	}
	for _, id := range d.couldLead()[1:] {
		if d.chance(300) {
			d.StayIneligible = append(d.StayIneligible, id)
		}
	}
}

// couldLead returns the nodes that live in the end, and that vote if there are voters, in random
// order.
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

// ineligible makes one node not eligible for a while.
func (d *drafter) ineligible() fault {
	t, span := d.target(), d.span()
	return fault{What: fmt.Sprintf("%v is not eligible for %v", t, span), do: func(c *cluster) {
		c.ineligibleFor(span, algorithms.Eligible{Why: "a fault"}, t.in(c))
	}}
}

// pauseCluster pauses the whole cluster for a while: no running node stands, but a node that leads
// goes on leading.
func (d *drafter) pauseCluster() fault {
	span := d.span()
	return fault{What: fmt.Sprintf("nobody stands for %v", span), do: func(c *cluster) {
		c.ineligibleFor(span, algorithms.Eligible{Keep: true, Why: "the cluster is paused"}, c.nodes...)
	}}
}

func (c *cluster) ineligibleFor(span time.Duration, ev algorithms.Eligible, nodes ...*node) {
	for _, n := range nodes {
		c.operate(n, ev)
		c.later(span, func() { c.operate(n, algorithms.Eligible{OK: true}) })
	}
}
