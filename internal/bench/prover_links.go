package bench

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/proto"
)

// flap is how long a flapping link is down, and then up.
const flap = time.Second

// linkKinds returns the kinds of faults of single links.
func (p *prover) linkKinds() []kind {
	return []kind{
		{2, p.deafening}, {2, p.muting}, {3, p.bridging}, {3, p.starring}, {2, p.flapping}, {3, p.refusing},
	}
}

// cutting cuts a node off from all others. Its worker still reaches the storage.
func (p *prover) cutting(dice *rand.Rand, id proto.NodeID) *fault {
	return p.dropping(p.some(dice, 0.2, 2.5), "cut", p.whose(id)+" off", slices.Concat(p.into(id), p.outOf(id)))
}

// deafening drops every packet to a node.
func (p *prover) deafening(dice *rand.Rand, id proto.NodeID) *fault {
	return p.dropping(p.some(dice, 0.2, 2.5), "cut one way", p.whose(id)+" hears nobody", p.into(id))
}

// muting drops every packet from a node.
func (p *prover) muting(dice *rand.Rand, id proto.NodeID) *fault {
	return p.dropping(p.some(dice, 0.2, 2.5), "cut one way", p.whose(id)+" is heard by nobody", p.outOf(id))
}

// bridging cuts the cluster into halves that have one node in common.
func (p *prover) bridging(dice *rand.Rand, id proto.NodeID) *fault {
	others := testcluster.Without(p.state.ids, id)
	dice.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	a, b := others[:len(others)/2], others[len(others)/2:]
	return p.dropping(p.some(dice, 0.5, 3), "cut into a bridge",
		fmt.Sprintf("%v and %v, joined by %s", a, b, p.whose(id)), p.across(a, b))
}

// starring cuts all links but those of node 1.
func (p *prover) starring(dice *rand.Rand, _ proto.NodeID) *fault {
	var links []testcluster.Link
	for i, a := range p.state.ids[1:] {
		links = append(links, p.across([]proto.NodeID{a}, p.state.ids[i+2:])...)
	}
	return p.dropping(p.some(dice, 0.5, 3), "cut into a star", "node 1, the lowest, in the middle", links)
}

// flapping cuts a node off and heals it, again and again.
func (p *prover) flapping(dice *rand.Rand, id proto.NodeID) *fault {
	f := &fault{kind: "flap", what: p.whose(id) + ", each second"}
	links := slices.Concat(p.into(id), p.outOf(id))
	for i := range 2 + dice.IntN(2) {
		at := time.Duration(2*i) * flap
		f.steps = append(f.steps, step{at, func() error { return p.drop(f, links) }},
			step{at + flap, func() error { return p.drop(f, nil) }})
	}
	return f
}

// refusing blocks new connections to and from a node but leaves the existing ones, as a wrong
// firewall rule does.
func (p *prover) refusing(dice *rand.Rand, id proto.NodeID) *fault {
	f := &fault{kind: "refuse new connections", what: p.whose(id)}
	links := p.into(id)
	if dice.IntN(2) == 0 {
		links, f.what = append(links, p.outOf(id)...), f.what+", both ways"
	}
	f.steps = []step{
		{0, func() error {
			return p.lacking(func() { p.state.refused[f] = links }, p.refuse)
		}},
		{p.some(dice, 0.5, 3), func() error {
			delete(p.state.refused, f)
			return p.regaining(p.refuse, func() {})
		}},
	}
	return f
}

func (p *prover) refuse() error { return p.nodes.Network.Refuse(linksOf(p.state.refused)...) }

// dropping makes a fault in which these links drop every packet for the time hold.
func (p *prover) dropping(hold time.Duration, kind, what string, links []testcluster.Link) *fault {
	f := &fault{kind: kind, what: what}
	f.steps = []step{
		{0, func() error { return p.drop(f, links) }},
		{hold, func() error { return p.drop(f, nil) }},
	}
	return f
}

// drop sets the links on which this fault drops packets; nil means none.
func (p *prover) drop(f *fault, links []testcluster.Link) error {
	apply := func() error { return p.nodes.Network.Drop(linksOf(p.state.dropped)...) }
	if links == nil {
		delete(p.state.dropped, f)
		return p.regaining(apply, func() {})
	}
	return p.lacking(func() { p.state.dropped[f] = links }, apply)
}

// into returns the links to a node.
func (p *prover) into(id proto.NodeID) (links []testcluster.Link) {
	for _, other := range testcluster.Without(p.state.ids, id) {
		links = append(links, testcluster.Link{From: other, To: id})
	}
	return links
}

// outOf returns the links from a node.
func (p *prover) outOf(id proto.NodeID) (links []testcluster.Link) {
	for _, l := range p.into(id) {
		links = append(links, testcluster.Link{From: l.To, To: l.From})
	}
	return links
}

// across returns the links between two groups, in both directions.
func (p *prover) across(a, b []proto.NodeID) (links []testcluster.Link) {
	for _, x := range a {
		for _, y := range b {
			links = append(links, testcluster.Link{From: x, To: y}, testcluster.Link{From: y, To: x})
		}
	}
	return links
}
