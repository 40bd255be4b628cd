package rounds

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Loss is what others noticed of a leader that was silent to them until its lease ended, or whose process ended.
type Loss struct {
	Noticed []Detection // the last evidence of each of the others, the earliest first
	// Back is the first record that the same process wrote after the first evidence, at BackAt; zero for none.
	Back   Ref
	BackAt time.Time
	Slept  bool // it hung or was paused until its lease had ended, by its own word
}

// Loss returns what others noticed of Former, where the cause of no round tells that.
func (in *Incident) Loss() Loss { return in.loss }

// lapsed says why the lease of the leader before ended, and notes what others noticed of it.
func (in *Incident) lapsed(g *group) string {
	led := g.leaderships[leadershipKey{in.Former, in.FormerTerm}]
	if led == nil || in.Leader == in.Former {
		return fmt.Sprintf("the lease of node %d ended", in.Former)
	}
	silent := &in.loss
	silent.Noticed = in.silentTo(led, g)
	silent.Slept = led.slept()
	if len(silent.Noticed) == 0 {
		if silent.Slept {
			return fmt.Sprintf("the lease of node %d ended while its process hung or was paused", in.Former)
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
		text += ": its process hung or was paused"
	}
	return text
}

// slept reports whether the process of the leader did not run until its lease had ended, by its own word.
func (r *Leadership) slept() bool { return r.endedBy.expired && r.endedBy.late > 0 }

// silentTo returns the evidence of others that the leader was silent to them, from before its lease ended until then.
// It returns none if who led next has none, or if its records of then are missing, and one of the followers has none.
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
	all = inOrder(all)
	switch m := g.nodes[in.Leader]; {
	case len(all) == 0 || noticed(in.Leader):
		return all
	case m != nil && !m.gapAround(in.From, g.fix):
		return nil
	}
	if slices.ContainsFunc(led.Followers, func(f Follower) bool {
		return g.nodes[f.Node] != nil && f.Node != in.Leader && !f.Until.Before(all[0].At) && !noticed(f.Node)
	}) {
		return nil
	}
	return all
}

// gapAround reports whether records of the node are missing around the time t.
func (m *member) gapAround(t time.Time, fix clockFix) bool {
	l := m.at(t, fix)
	return l == nil || l.gapAround(t, fix)
}

// inOrder puts the earliest evidence first.
func inOrder(all []Detection) []Detection {
	slices.SortFunc(all, func(a, b Detection) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Node, b.Node))
	})
	return all
}

// sawEnd returns the evidence of others that the process of the leader before had ended.
func (in *Incident) sawEnd(g *group) (all []Detection) {
	led := g.leaderships[leadershipKey{in.Former, in.FormerTerm}]
	for id := range g.nodes {
		d := g.dropAt(id, in.Former, in.Until)
		if id != in.Former && d != nil && led != nil && !d.At.Before(led.From) && EndedProcess(d.Evidence, in.Former) &&
			d.isOfLeader(led) {
			all = append(all, d.Detection)
		}
	}
	return inOrder(all)
}
