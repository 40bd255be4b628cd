package rounds

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Silence is what others noticed of a leader whose lease ended since it was silent to them.
type Silence struct {
	Noticed []Detection // the last evidence of each of the others, the earliest first
	// Back is the first record that the same process wrote after the first evidence, and BackAt its time; zero for none.
	Back   Ref
	BackAt time.Time
	Slept  bool // it did not run until its lease had ended, by its own word
}

// Silence returns what others noticed of Former, if its lease ended since it was silent to them.
func (in *Incident) Silence() Silence { return in.silence }

// lapsed says why the lease of the leader before ended, and notes what others noticed of it.
func (in *Incident) lapsed(g *group) string {
	led := g.leaderships[leadershipKey{in.Former, in.FormerTerm}]
	if led == nil || in.Leader == in.Former {
		return fmt.Sprintf("the lease of node %d ended", in.Former)
	}
	silent := &in.silence
	silent.Noticed = in.silentTo(led, g)
	silent.Slept = led.endedBy.expired && led.endedBy.late > 0
	if len(silent.Noticed) == 0 {
		if silent.Slept {
			return fmt.Sprintf("the lease of node %d ended while its process did not run", in.Former)
		}
		return fmt.Sprintf("the lease of node %d ended", in.Former)
	}
	first := silent.Noticed[0]
	if off := g.apart(first.Node, in.Former); led.life != nil && off != unbounded {
		if back, ok := led.life.after(first.At.Add(off), g.fix); ok {
			silent.Back, silent.BackAt = led.life.ref(back.seq), g.fix.at(in.Former, back.wall)
		}
	}
	in.prove(first.Ref)
	text := fmt.Sprintf("node %d stopped answering (%s)", in.Former, Meaning(first.Evidence, in.Former))
	if silent.Slept {
		text += ": its process did not run"
	}
	return text
}

// silentTo returns the evidence of others that the leader was silent to them, from before its lease ended until then.
// It returns none if who led next has none, or if that has no log here, and one of the followers has none.
func (in *Incident) silentTo(led *Leadership, g *group) (all []Detection) {
	for id := range g.nodes {
		d := g.dropAt(id, in.Former, in.From)
		if id != in.Former && d != nil && !d.At.Before(led.From) && !EndedProcess(d.Evidence, in.Former) {
			all = append(all, d.Detection)
		}
	}
	noticed := func(id uint64) bool {
		return slices.ContainsFunc(all, func(d Detection) bool { return d.Node == id })
	}
	if g.nodes[in.Leader] != nil {
		if !noticed(in.Leader) {
			return nil
		}
	} else if slices.ContainsFunc(led.Followers, func(f Follower) bool {
		return g.nodes[f.Node] != nil && f.Node != in.Leader && !noticed(f.Node)
	}) {
		return nil
	}
	slices.SortFunc(all, func(a, b Detection) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Node, b.Node))
	})
	return all
}
