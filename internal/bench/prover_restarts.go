package bench

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// wiping kills a voter, deletes its data, and restarts it; later it kills and restarts the voter
// twice more.
func (p *prover) wiping(dice *rand.Rand, id proto.NodeID) *fault {
	f := &fault{kind: "wipe a disk", what: p.whose(id) + ", restarted twice", nodes: []proto.NodeID{id}, voted: true}
	wipe := func() error {
		if err := p.takeAway(id); err != nil {
			return err
		}
		p.wiped[id] = time.Now()
		if err := os.RemoveAll(p.nodes.Node(id).DataDir); err != nil {
			return fmt.Errorf("%w: %w", errScript, err)
		}
		return p.bringBack(id)
	}
	again := func() error {
		if err := p.takeAway(id); err != nil {
			return err
		}
		return p.bringBack(id)
	}
	at := p.some(dice, 0.1, 1.2)
	f.steps = []step{{0, wipe}, {at, again}, {at + p.some(dice, 0.1, 0.8), again}}
	return f
}

// misleading restarts one node for a while with a wrong flag, or two nodes with a list of voters of
// their own.
func (p *prover) misleading(dice *rand.Rand, id proto.NodeID) *fault {
	next := id%proto.NodeID(p.Nodes) + 1
	voters, promise := p.right()[:2], p.right()[2:]
	list := func(ids string) []string { return append([]string{"--voters", ids}, promise...) }
	longer := append(slices.Clone(voters), "--lease", (3 * p.Promise).String())
	one, two := []proto.NodeID{id}, []proto.NodeID{id, next}
	if p.Nodes-len(two) < p.state.majority() {
		two = one
	}
	hold := p.some(dice, 0.5, 2.5)
	switch dice.IntN(7) {
	case 0:
		return p.wrongly(one, list(id.String()), hold)
	case 1:
		return p.wrongly(two, list(fmt.Sprintf("%v,%v", id, next)), hold)
	case 2:
		return p.wrongly(two, list(fmt.Sprintf("1-%d", p.Nodes+3)), hold)
	case 3:
		return p.wrongly(one, nil, hold)
	case 4:
		return p.wrongly(one, longer, hold)
	case 5:
		return p.wrongly(one, append(p.right(), "--id", next.String()), hold)
	}
	// Whoever gave an empty directory by mistake sees it before that node may vote. One that
	// votes from there, and then starts from the old one, has two disks.
	return p.wrongly(one, append(p.right(), "--data-dir", p.nodes.Node(id).DataDir+mistake), p.some(dice, 0.3, 0.8))
}

// mistake is the suffix of the wrong data directory that a node is given.
const mistake = "-mistake"

// wrongly makes a fault that restarts nodes with wrong flags, and after the time hold with the
// right flags.
func (p *prover) wrongly(ids []proto.NodeID, flags []string, hold time.Duration) *fault {
	with := strings.Join(flags, " ")
	if len(flags) == 0 {
		with = "no voters"
	}
	f := &fault{
		kind: "restart with wrong flags", nodes: ids,
		alone: true, // a node without voters that is cut off is a cluster of its own
		voted: true, // a voter that has saved no list may start with any
	}
	var whose []string
	for _, id := range ids {
		whose = append(whose, p.whose(id))
	}
	f.what = strings.Join(whose, ", ") + " with " + with
	mayLead := slices.Contains(flags, "--id") || slices.Contains(flags, "--data-dir")
	var began time.Duration
	f.steps = []step{
		{0, func() (err error) {
			for _, id := range ids {
				err = errors.Join(err, p.takeAway(id))
			}
			began = now()
			for _, id := range ids {
				err = errors.Join(err, p.nodes.Start(id, flags...))
			}
			return err
		}},
		{hold, func() (err error) {
			for _, id := range ids {
				if code, words, ended := p.nodes.Ended(id); ended {
					p.came(f, "node %v had ended with %d: %.160s", id, code, words)
				}
				err = errors.Join(err, p.killNode(id))
				if !mayLead {
					p.wrong = append(p.wrong, wrongRun{id, began, now(), with})
				}
				err = errors.Join(err, os.RemoveAll(p.nodes.Node(id).DataDir+mistake), p.bringBack(id))
			}
			return err
		}},
	}
	return f
}
