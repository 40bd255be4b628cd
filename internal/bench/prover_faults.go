package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/proto"
)

// kind is one way to fail, and how often it is drawn beside the others. The node is the
// one it befalls, where it befalls one.
type kind struct {
	weight int
	draw   func(*rand.Rand, proto.NodeID) *fault
}

// kinds are those that can be done here.
func (p *prover) kinds() []kind {
	all := []kind{
		{4, p.killing},
		{2, p.killingOften},
		{3, p.killingOnLease},
		{3, p.stalling},
		{3, p.pausing},
		{4, p.wiping},
		{5, p.misleading},
		{3, p.transferring},
		{1, p.resigning},
		{1, p.sidelining},
		{1, p.killingStorage},
		{1, p.killingAll},
	}
	if p.network != nil {
		all = append(all, kind{3, p.cutting})
		if testcluster.MayBlock() == nil {
			all = append(all, p.linkKinds()...)
		}
	}
	return all
}

// killing ends a node and its worker, as the machine's power does.
func (p *prover) killing(dice *rand.Rand, id proto.NodeID) *fault {
	return lasting(fault{kind: "kill", what: p.whose(id) + " with its worker", nodes: []proto.NodeID{id}},
		p.some(dice, 0, 2),
		func() error { return p.takeAway(id) }, func() error { return p.bringBack(id) })
}

// killingOften ends a node again soon after it has started, twice.
func (p *prover) killingOften(dice *rand.Rand, id proto.NodeID) *fault {
	f := &fault{kind: "kill, three times", what: p.whose(id), nodes: []proto.NodeID{id}}
	at := time.Duration(0)
	for range 3 {
		f.steps = append(f.steps, step{at, func() error { return p.takeAway(id) }})
		at += p.some(dice, 0, 0.3)
		f.steps = append(f.steps, step{at, func() error { return p.bringBack(id) }})
		at += p.some(dice, 0, 1)
	}
	return f
}

// killingAll ends all nodes, and starts them again at once.
func (p *prover) killingAll(*rand.Rand, proto.NodeID) *fault {
	f := fault{kind: "kill", what: "all nodes"}
	for id := range p.state.ids() {
		f.nodes = append(f.nodes, id)
	}
	each := func(do func(proto.NodeID) error) func() error {
		return func() (err error) {
			for _, id := range f.nodes {
				err = errors.Join(err, do(id))
			}
			return err
		}
	}
	return lasting(f, 0, each(p.takeAway), each(p.bringBack))
}

// killingOnLease ends the leader's node, but not the worker beside it, right after that
// was lent a lease.
func (p *prover) killingOnLease(dice *rand.Rand, _ proto.NodeID) *fault {
	id := max(1, p.leads().node)
	return lasting(fault{kind: "kill right after a lease was lent", what: p.whose(id), nodes: []proto.NodeID{id}},
		p.some(dice, 0, 1.5),
		func() error {
			p.awaitLease(id, p.Promise)
			return p.lacking(func() { p.state.away[id]++ }, func() error { return p.killNode(id) })
		},
		func() error {
			return p.regaining(func() error { return p.nodes.Start(id, p.right()...) }, func() { p.state.away[id]-- })
		})
}

// takeAway ends a node and its worker.
func (p *prover) takeAway(id proto.NodeID) error {
	return p.lacking(func() { p.state.away[id]++ }, func() error {
		if err := p.Kill(id); err != nil {
			return err
		}
		return p.killNode(id)
	})
}

// bringBack starts them again, as they should be.
func (p *prover) bringBack(id proto.NodeID) error {
	return p.regaining(func() error {
		if err := p.nodes.Start(id, p.right()...); err != nil {
			return err
		}
		return p.Start(id)
	}, func() { p.state.away[id]-- })
}

// killNode ends a node; one that has ended by itself needs no more.
func (p *prover) killNode(id proto.NodeID) error {
	if _, err := p.nodes.Kill(id); err != nil && !errors.Is(err, testcluster.ErrNotRunning) {
		return err
	}
	return nil
}

// stalling stops a node for a moment, and neither its function nor its worker, as a disk
// or a debugger does.
func (p *prover) stalling(dice *rand.Rand, id proto.NodeID) *fault {
	return lasting(fault{kind: "stall", what: p.whose(id), nodes: []proto.NodeID{id}}, p.some(dice, 0.5, 1),
		func() error {
			return p.lacking(func() { p.state.away[id]++ }, func() error { return p.nodes.Pause(id) })
		},
		func() error {
			return p.regaining(func() error { return p.nodes.Resume(id) }, func() { p.state.away[id]-- })
		})
}

// pausing stops a node and its worker in the middle of whatever they do, as a garbage
// collector or a hypervisor does.
func (p *prover) pausing(dice *rand.Rand, id proto.NodeID) *fault {
	return lasting(fault{kind: "pause", what: p.whose(id) + " with its worker", nodes: []proto.NodeID{id}},
		p.some(dice, 0.2, 2.5),
		func() error {
			return p.lacking(func() { p.state.away[id]++ }, func() error {
				return errors.Join(p.Signal(id, syscall.SIGSTOP), p.nodes.Pause(id))
			})
		},
		func() error {
			return p.regaining(func() error {
				return errors.Join(p.Signal(id, syscall.SIGCONT), p.nodes.Resume(id))
			}, func() { p.state.away[id]-- })
		})
}

// killingStorage ends the storage in the middle of whatever it does.
func (p *prover) killingStorage(dice *rand.Rand, _ proto.NodeID) *fault {
	return lasting(fault{kind: "kill", what: "the storage"}, p.some(dice, 0, 1), p.Storage.Kill, p.Storage.Start)
}

// transferring has an operator hand over leadership, to a node or to the best.
func (p *prover) transferring(dice *rand.Rand, _ proto.NodeID) *fault {
	f := &fault{kind: "operator", what: "transfer"}
	args := []string{"transfer"}
	if dice.IntN(3) > 0 {
		to := proto.NodeID(1 + dice.IntN(p.Nodes)).String()
		args, f.what = append(args, "--to", to), "transfer to node "+to
	}
	f.steps = []step{
		// Only the leader's own machine may tell it so.
		{0, func() error { p.operator(f, max(1, p.leads().node), args...); return nil }},
		{p.Promise / 2, nothing},
	}
	return f
}

func nothing() error { return nil }

// resigning has the leader resign, and lets it stand again later.
func (p *prover) resigning(dice *rand.Rand, _ proto.NodeID) *fault {
	return p.asideFor(dice, max(1, p.leads().node), "resign")
}

// sidelining keeps a node from leading for a while.
func (p *prover) sidelining(dice *rand.Rand, id proto.NodeID) *fault {
	return p.asideFor(dice, id, "pause")
}

func (p *prover) asideFor(dice *rand.Rand, id proto.NodeID, verb string) *fault {
	f := &fault{kind: "operator", what: verb + ", then resume, asked of " + p.whose(id)}
	f.steps = []step{
		{0, func() error {
			return p.lacking(func() { p.state.aside[id]++ }, func() error { p.operator(f, id, verb); return nil })
		}},
		{p.some(dice, 0.5, 2), func() error {
			p.wishes.Wait() // the first wish may still be under way
			p.operator(f, id, "resume")
			p.wishes.Wait()
			return p.regaining(nothing, func() { p.state.aside[id]-- })
		}},
	}
	return f
}

// wishTime bounds an operator's command.
const wishTime = 5 * time.Second

// operator runs a command of an operator at a node, without waiting for its end, and notes
// what came of it.
func (p *prover) operator(f *fault, id proto.NodeID, args ...string) {
	n := p.nodes.Node(id)
	line := append(p.nodes.Enter(id), p.FencingOptions.Binary)
	line = append(append(line, args...), "--addr", n.HTTP, "--reason", "prove")
	p.wishes.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), wishTime)
		defer cancel()
		said, err := exec.CommandContext(ctx, line[0], line[1:]...).CombinedOutput()
		words := strings.Join(strings.Fields(string(said)), " ")
		if err != nil {
			words = "not done: " + words
		}
		p.came(f, "%s: %.160s", args[0], words)
	})
}

// awaitLease waits until the worker beside a node is lent a lease, or for a while.
func (p *prover) awaitLease(id proto.NodeID, most time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	since := now()
	_ = p.await(ctx, func() bool { // if it gets none, the node is killed all the same
		n := len(p.lent)
		return n > 0 && p.lent[n-1].node == id && p.lent[n-1].from > since
	})
}

// whose names a node, and says whether it leads.
func (p *prover) whose(id proto.NodeID) string {
	if id == p.leads().node {
		return fmt.Sprintf("node %v, the leader", id)
	}
	return fmt.Sprintf("node %v", id)
}
