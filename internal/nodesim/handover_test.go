package nodesim

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// "A leader hands over to a node that a majority answers, and to no other": also where it
// resigns, or falls ill, and the best node hears nobody but this leader.
func TestHandOverToOneThatCouldWin(t *testing.T) {
	ends := map[string]func(p *process){
		"it resigns":   func(p *process) { _ = p.node.Resign(context.Background(), 0, "told to") },
		"it falls ill": func(p *process) { <-p.node.StandAside("test", "ill") },
	}
	for _, algorithm := range algorithmsHere {
		for how, end := range ends {
			t.Run(algorithm+", "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					o := draw(1, algorithm, []string{"leave"})
					o.nodes, o.voters = 5, []proto.NodeID{1, 2, 3, 4, 5}
					handsOver(t, newWorld(o), end)
				})
			})
		}
	}
}

// handsOver cuts the best node but the leader off from all others, has the leader end, and
// demands that no more time passes without a leader than a hand-over takes.
func handsOver(t *testing.T, w *world, end func(p *process)) {
	defer w.finish()
	for _, m := range w.machines {
		w.start(m)
	}
	w.pass(10*time.Second, nil)
	leader := w.leader()
	best := w.machines[4]
	if leader == best {
		best = w.machines[3]
	}
	for _, m := range w.machines {
		if m != leader && m != best {
			w.network.change([]path{{m.id, best.id}, {best.id, m.id}}, 1)
		}
	}
	w.pass(30*time.Second, nil)
	if w.leader() != leader {
		t.Fatalf("n%d leads no more", leader.id)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended, begun := make(chan time.Time, 5), make(chan time.Time, 5)
	for _, m := range w.machines {
		m.process.quit() // nothing that has to stop takes time
		<-m.process.led
		watch := m.process.node.Watch(ctx)
		go func() {
			for is := range watch {
				switch leads := is.ID == m.id; {
				case m == leader && !leads:
					ended <- time.Now()
					return
				case m != leader && leads:
					begun <- time.Now()
				}
			}
		}()
	}
	go end(leader.process)
	const most = 100 * time.Millisecond
	if gap := (<-begun).Sub(<-ended); gap > most {
		t.Errorf("n%d ends, n%d could not win: nobody leads for %v", leader.id, best.id, gap)
	}
}
