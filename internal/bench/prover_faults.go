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

// kind is a kind of fault. weight says how often it is drawn, compared with the other kinds. draw
// makes such a fault for a given node; some kinds choose another node, or need none.
type kind struct {
	weight int
	draw   func(*rand.Rand, proto.NodeID) *fault
}

// kinds returns the kinds of faults that are possible on this machine.
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
	if p.nodes.Network != nil {
		all = append(all, kind{3, p.cutting})
		if testcluster.MayBlock() == nil {
			all = append(all, p.linkKinds()...)
		}
	}
	return all
}

// absence makes a fault in which a node is away: it calls begin at its start, and calls end after
// the time hold.
func (p *prover) absence(kind, what string, id proto.NodeID, hold time.Duration, begin, end func() error) *fault {
	return lasting(fault{kind: kind, what: what, nodes: []proto.NodeID{id}}, hold,
		func() error { return p.lacking(func() { p.state.away[id]++ }, begin) },
		func() error { return p.regaining(end, func() { p.state.away[id]-- }) })
}

// killing ends a node and its worker at once, as a power failure does.
func (p *prover) killing(dice *rand.Rand, id proto.NodeID) *fault {
	return lasting(fault{kind: "kill", what: p.whose(id) + " with its worker", nodes: []proto.NodeID{id}},
		p.some(dice, 0, 2),
		func() error { return p.takeAway(id) }, func() error { return p.bringBack(id) })
}

// killingOften kills a node, and kills it twice more, each time soon after its restart.
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

// killingAll ends all nodes, and restarts them at once.
func (p *prover) killingAll(*rand.Rand, proto.NodeID) *fault {
	f := fault{kind: "kill", what: "all nodes", nodes: p.state.ids}
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

// killingOnLease ends the leader's node, but not the worker beside it, just after that worker was
// lent a lease.
func (p *prover) killingOnLease(dice *rand.Rand, _ proto.NodeID) *fault {
	id := max(1, p.leads().node)
	f := p.absence("kill right after a lease was lent", p.whose(id), id, p.some(dice, 0, 1.5),
		func() error { return p.killNode(id) }, func() error { return p.nodes.Start(id, p.right()...) })
	kill := f.steps[0].do
	f.steps[0].do = func() error { // it is away from the kill on, not from the wait on
		p.awaitLease(id, p.Promise)
		return kill()
	}
	return f
}

// takeAway kills a node and its worker.
func (p *prover) takeAway(id proto.NodeID) error {
	return p.lacking(func() { p.state.away[id]++ }, func() error {
		if err := p.Kill(id); err != nil {
			return err
		}
		return p.killNode(id)
	})
}

// bringBack restarts a node and its worker, with the right flags.
func (p *prover) bringBack(id proto.NodeID) error {
	return p.regaining(func() error {
		if err := p.nodes.Start(id, p.right()...); err != nil {
			return err
		}
		return p.Start(id)
	}, func() { p.state.away[id]-- })
}

// killNode kills a node. It is no error if the node has ended by itself.
func (p *prover) killNode(id proto.NodeID) error {
	if _, err := p.nodes.Kill(id); err != nil && !errors.Is(err, testcluster.ErrNotRunning) {
		return err
	}
	return nil
}

// stalling pauses only the node's own process for a moment, as a slow disk or a debugger does. Its
// function and its worker go on.
func (p *prover) stalling(dice *rand.Rand, id proto.NodeID) *fault {
	return p.absence("stall", p.whose(id), id, p.some(dice, 0.5, 1),
		func() error { return p.nodes.Pause(id) }, func() error { return p.nodes.Resume(id) })
}

// pausing stops a node and its worker for a while at any moment, as a garbage collector or a
// hypervisor does.
func (p *prover) pausing(dice *rand.Rand, id proto.NodeID) *fault {
	return p.absence("pause", p.whose(id)+" with its worker", id, p.some(dice, 0.2, 2.5),
		func() error { return errors.Join(p.Signal(id, syscall.SIGSTOP), p.nodes.Pause(id)) },
		func() error { return errors.Join(p.Signal(id, syscall.SIGCONT), p.nodes.Resume(id)) })
}

// killingStorage ends the storage at any moment.
func (p *prover) killingStorage(dice *rand.Rand, _ proto.NodeID) *fault {
	return lasting(fault{kind: "kill", what: "the storage"}, p.some(dice, 0, 1), p.Storage.Kill, p.Storage.Start)
}

// transferring lets an operator hand leadership over to a node, or to the best.
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

// resigning makes the leader resign, and later lets it be a candidate again.
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
			p.requests.Wait() // the first request may still be under way
			p.operator(f, id, "resume")
			p.requests.Wait()
			return p.regaining(nothing, func() { p.state.aside[id]-- })
		}},
	}
	return f
}

// requestTime bounds an operator's command.
const requestTime = 5 * time.Second

// operator runs an operator's command at a node, in the background, and adds its result to the
// fault.
func (p *prover) operator(f *fault, id proto.NodeID, args ...string) {
	n := p.nodes.Node(id)
	line := append(p.nodes.Enter(id), p.FencingOptions.Binary)
	line = append(append(line, args...), "--addr", n.HTTP, "--reason", "prove")
	p.requests.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), requestTime)
		defer cancel()
		said, err := exec.CommandContext(ctx, line[0], line[1:]...).CombinedOutput()
		words := strings.Join(strings.Fields(string(said)), " ")
		if err != nil {
			words = "not done: " + words
		}
		p.came(f, "%s: %.160s", args[0], words)
	})
}

// awaitLease waits until the worker beside a node is lent a lease, but at most for the time most.
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
