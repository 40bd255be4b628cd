package sim

import (
	"fmt"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// maxDriftPPM bounds how fast or slow clocks run, in parts per million: one in a hundred, the drift
// for which the stated bounds hold.
const maxDriftPPM = 10_000

// plan holds everything that the seed draws for a run under faults, within the Options. Its fields
// are exported because the drafter has methods with the same names in lower case.
type plan struct {
	Nodes      int
	Preempt    bool
	Attributes []int64 // the attributes of node 1, 2, …
	Offsets    []time.Duration
	DriftPPM   []int64
	Starts     []time.Duration

	Weather  weather
	Detector Detector
	Sight    sight
	// Notice is the longest time until a detector notices a change.
	Notice   time.Duration
	TimerLag time.Duration // how late timers are, at most
	Spurious permille

	// Accurate says that nothing fails, and that every node knows all others from the start.
	Accurate bool
	Faults   []fault
	Heal     time.Duration // when everything heals
	StayDead []proto.NodeID
	// StayIneligible are the nodes that are not eligible in the end.
	StayIneligible []proto.NodeID

	leasePlan
}

// draw draws the plan of a run.
func draw(o Options) plan {
	d := drafter{dice: newDice(o.Seed, streamPlan), delta: o.delta()}
	d.Nodes = d.nodes(o.Nodes)
	d.Preempt = d.chance(500)
	if o.Preempt != nil {
		d.Preempt = *o.Preempt
	}
	d.Accurate = d.chance(100) && (o.Detector == "" || o.Detector == Perfect)
	d.machines()
	d.weather()
	d.hosts()
	d.detector(o.Detector)
	if d.Accurate {
		d.nothingFails()
	}
	d.schedule()
	if o.Algorithm.Guarantee == algorithms.Quorum {
		d.StayDead = d.StayDead[:min(len(d.StayDead), minority(d.Nodes))]
	}
	if o.Algorithm.Leased {
		d.shortest = o.Algorithm.Promise(d.delta)
		if o.Algorithm.Store {
			d.store()
		} else {
			d.lease()
		}
		if o.Fence {
			d.fence()
		}
	}
	d.eligibility()
	if o.Algorithm.Leased {
		d.lends()
	}
	return d.plan
}

// drafter draws a plan, part by part.
type drafter struct {
	plan
	dice
	delta    time.Duration
	shortest time.Duration // the shortest promise that works, if there are leases
}

func (d *drafter) nodes(given int) int {
	drawn := one(d.dice, 1, 2, 3, 3, 4, 5, 5, 6, 7)
	if given != 0 {
		return given
	}
	return drawn
}

// machines draws what outlives processes: clocks, and attributes that are all equal, partly equal,
// or all different.
func (d *drafter) machines() {
	values := one(d.dice, 1, 3, 1_000_000)
	for range d.Nodes {
		d.Attributes = append(d.Attributes, int64(d.IntN(values)))
		d.Offsets = append(d.Offsets, d.between(-time.Second, time.Second))
		d.DriftPPM = append(d.DriftPPM, int64(d.IntN(2*maxDriftPPM+1)-maxDriftPPM))
	}
}

func (d *drafter) weather() {
	d.Weather = weather{
		MinDelay:  d.delta / one(d.dice, time.Duration(1000), 10, 2),
		MaxDelay:  d.delta * one(d.dice, time.Duration(5), 9, 20, 50) / 10,
		Loss:      one(d.dice, permille(0), 10, 100, 300),
		Duplicate: one(d.dice, permille(0), 50, 200),
		Straggle:  one(d.dice, permille(0), 10, 50),
		Straggler: 50 * d.delta,
	}
}

// hosts draws how hosts treat their Machines: how late timers are, how many Timeouts come too
// early, and when each node starts.
func (d *drafter) hosts() {
	d.TimerLag = d.delta * one(d.dice, time.Duration(0), 1, 20) / 20
	d.Spurious = one(d.dice, permille(0), 50)
	together := d.chance(500)
	for range d.Nodes {
		at := d.between(0, 30*d.delta)
		if together {
			at = 0
		}
		d.Starts = append(d.Starts, at)
	}
}

func (d *drafter) detector(given Detector) {
	d.Detector = one(d.dice, Perfect, Late, Wrong, Wrong)
	if given != "" {
		d.Detector = given
	}
	d.Sight = one(d.dice, seesCrashes, seesPaths, seesLinks)
	d.Notice = d.delta
	if d.Detector != Perfect {
		d.Notice = d.delta * one(d.dice, time.Duration(5), 20, 50)
	}
}

// nothingFails sets what an accurate run has: calm weather, prompt timers, a perfect detector, and
// a start of all nodes at once.
func (d *drafter) nothingFails() {
	d.Weather = calm(d.delta)
	d.TimerLag = 0
	d.Detector, d.Notice = Perfect, d.delta
	clear(d.Starts)
}

// calm returns the weather that Machines plan for. A tenth of Delta is left for the receiver's
// processing and for clocks that run fast.
func calm(delta time.Duration) weather {
	return weather{MinDelay: delta / 100, MaxDelay: delta * 9 / 10}
}

// Lines describes everything that was drawn, for people.
func (p plan) Lines() []string {
	lines := []string{
		fmt.Sprintf("nodes %d, preempt %v, accurate %v", p.Nodes, p.Preempt, p.Accurate),
		fmt.Sprintf("attributes %v", p.Attributes),
		fmt.Sprintf("clock offsets %v, drift in ppm %v", p.Offsets, p.DriftPPM),
		fmt.Sprintf("starts %v", p.Starts),
		fmt.Sprintf("delay %v to %v, loss %v, duplicates %v, %v late by up to %v",
			p.Weather.MinDelay, p.Weather.MaxDelay, p.Weather.Loss, p.Weather.Duplicate,
			p.Weather.Straggle, p.Weather.Straggler),
		fmt.Sprintf("detector %s, sees %s, within %v", p.Detector, p.Sight, p.Notice),
		fmt.Sprintf("timers late by up to %v, spurious %v", p.TimerLag, p.Spurious),
	}
	if len(p.Voters) > 0 || p.Store {
		lines = append(lines, p.leaseLines()...)
	}
	for _, f := range p.Faults {
		lines = append(lines, f.String())
	}
	heal := fmt.Sprintf("%.3f heal", p.Heal.Seconds())
	if len(p.StayDead) > 0 {
		heal += ", but leave dead " + join(p.StayDead)
	}
	if len(p.StayIneligible) > 0 {
		heal += ", but leave not eligible " + join(p.StayIneligible)
	}
	return append(lines, heal)
}

// String formats the probability in per cent.
func (p permille) String() string { return fmt.Sprintf("%d.%d%%", p/10, p%10) }

func join(ids []proto.NodeID) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = id.String()
	}
	return strings.Join(words, " ")
}
