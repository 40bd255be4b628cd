package sim

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// replay is what one process lived through, to live through it again.
type replay struct {
	cfg   algorithms.Config
	steps []replayed
}

type replayed struct {
	now time.Time
	ev  algorithms.Event
	out algorithms.Output
}

// before notes an event. Its slices are copied: the Machine may keep them.
func (r *replay) before(now time.Time, ev algorithms.Event) {
	if r != nil {
		r.steps = append(r.steps, replayed{now: now, ev: cloneEvent(ev)})
	}
}

// after notes what the Step of that event returned.
func (r *replay) after(out algorithms.Output) {
	if r != nil {
		r.steps[len(r.steps)-1].out = cloneOutput(out)
	}
}

var pure = Invariant{"pure", "equal events in equal order give equal outputs"}

// replayAll lets fresh Machines live through what the sampled processes did.
func (c *cluster) replayAll() {
	for _, r := range c.replays {
		m := c.algo.New(r.cfg)
		for i, s := range r.steps {
			again := m.Step(s.now, cloneEvent(s.ev))
			if !reflect.DeepEqual(normal(again), normal(s.out)) {
				c.violated(pure, r.cfg.Self, fmt.Sprintf("step %d, %T: first %+v, again %+v",
					i+1, s.ev, s.out, again))
				break
			}
		}
	}
}

func cloneEvent(ev algorithms.Event) algorithms.Event {
	if peers, ok := ev.(algorithms.PeersChanged); ok {
		peers.Alive = slices.Clone(peers.Alive)
		return peers
	}
	return ev
}

func cloneOutput(out algorithms.Output) algorithms.Output {
	if out.Save != nil {
		save := *out.Save
		out.Save = &save
	}
	out.Send = slices.Clone(out.Send)
	out.Why = slices.Clone(out.Why)
	return out
}

// normal takes away what does not matter: an empty list is as good as none.
func normal(out algorithms.Output) algorithms.Output {
	if len(out.Send) == 0 {
		out.Send = nil
	}
	if len(out.Why) == 0 {
		out.Why = nil
	}
	return out
}
