package bench

import (
	"math/rand/v2"
	"syscall"

	"github.com/ringleader-dev/ringleader/proto"
)

// trouble is a fault that lasts for a while.
type trouble struct {
	kind       string
	begin, end func() error
}

// draw draws one fault, or two at once that leave a majority: every other one is
// the leader's.
func (p *prover) draw(dice *rand.Rand) []trouble {
	victims := dice.Perm(p.Nodes)
	count := 1
	if p.Nodes >= 5 && dice.IntN(3) == 0 {
		count = 2
	}
	var all []trouble
	for _, v := range victims[:count] {
		id := proto.NodeID(v + 1)
		if leader := p.lastToken().Leader; len(all) == 0 && dice.IntN(2) == 0 {
			id = leader
		} else if id == leader && len(all) > 0 {
			id = proto.NodeID(victims[count] + 1)
		}
		all = append(all, p.befall(dice, id))
	}
	if dice.IntN(8) == 0 {
		all = append(all, trouble{"the storage killed", p.Storage.Kill, p.Storage.Start})
	}
	return all
}

// befall draws what happens to a node, and to its worker with it.
func (p *prover) befall(dice *rand.Rand, id proto.NodeID) trouble {
	kinds := []func(proto.NodeID) trouble{p.killing, p.pausing, p.pausing}
	if p.rig.network != nil {
		kinds = append(kinds, p.cutting)
	}
	return kinds[dice.IntN(len(kinds))](id)
}

// killing ends a node and its worker, as the machine's power does.
func (p *prover) killing(id proto.NodeID) trouble {
	return trouble{p.whose(id) + " killed", func() error {
		if err := p.Kill(id); err != nil {
			return err
		}
		_, err := p.rig.Kill(id)
		return err
	}, func() error {
		if err := p.rig.Start(id); err != nil {
			return err
		}
		return p.Start(id)
	}}
}

// pausing stops both in the middle of whatever they do, as a garbage collector or
// a hypervisor does.
func (p *prover) pausing(id proto.NodeID) trouble {
	return trouble{p.whose(id) + " paused", func() error {
		if err := p.Signal(id, syscall.SIGSTOP); err != nil {
			return err
		}
		return p.rig.Pause(id)
	}, func() error {
		if err := p.Signal(id, syscall.SIGCONT); err != nil {
			return err
		}
		return p.rig.Resume(id)
	}}
}

// cutting takes a node's network away, but not its worker's way to the storage.
func (p *prover) cutting(id proto.NodeID) trouble {
	return trouble{
		p.whose(id) + " cut off",
		func() error { return p.rig.network.Cut(id) },
		func() error { return p.rig.network.Heal(id) },
	}
}

// whose says whether it is the leader's.
func (p *prover) whose(id proto.NodeID) string {
	if id == p.lastToken().Leader {
		return "the leader"
	}
	return "a follower"
}
