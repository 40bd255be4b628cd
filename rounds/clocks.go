package rounds

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"
)

// delays has the shortest time that a message took from one node to another, by their wall clocks.
// A negative time proves that the two clocks differ.
type delays map[[2]uint64]time.Duration

// delay is the shortest time that messages of one link took.
type delay struct {
	took  time.Duration
	known bool
}

func (d *delay) sample(sent, received time.Time) {
	if took := elapsed(sent, received); !d.known || took < d.took {
		*d = delay{took, true}
	}
}

// addTo adds the delay to those that are known.
func (d delay) addTo(all delays, way [2]uint64) {
	if best, known := all[way]; d.known && (!known || d.took < best) {
		all[way] = d.took
	}
}

// paths bounds how far any two clocks differ, by the messages between them and those over other nodes. A message
// takes some time, so the clock of its receiver is ahead of the sender's by at most the time that it seems to
// take. Such bounds add up along a path of messages; the shortest path gives the tightest bound. (Marzullo and
// Owicki, "Maintaining the time in a distributed system", 1983, intersect such bounds; here they are the edges of a
// graph of differences, as in Cormen et al., "Introduction to Algorithms", section 24.4.)
type paths struct {
	ids  []uint64
	at   map[uint64]int
	most [][]time.Duration // by how much the second clock is ahead of the first, at most
	// slack was added to each message, since without it the bounds contradict each other: a clock was set, or drifts.
	slack time.Duration
}

const unbounded = time.Duration(math.MaxInt64)

// paths returns the shortest paths between all nodes.
func (d delays) paths() *paths {
	p := &paths{at: map[uint64]int{}}
	for way := range d {
		for _, id := range way {
			if _, known := p.at[id]; !known {
				p.at[id] = 0
				p.ids = append(p.ids, id)
			}
		}
	}
	slices.Sort(p.ids)
	for i, id := range p.ids {
		p.at[id] = i
	}
	for p.slack = 0; !p.shorten(d); p.slack = max(2*p.slack, sameClock) {
		if p.slack > math.MaxInt64/8 {
			break // hostile times
		}
	}
	return p
}

// shorten computes most. It returns false if the bounds contradict each other.
func (p *paths) shorten(d delays) bool {
	n := len(p.ids)
	p.most = make([][]time.Duration, n)
	for i := range p.most {
		p.most[i] = slices.Repeat([]time.Duration{unbounded}, n)
		p.most[i][i] = 0
	}
	for way, took := range d {
		p.most[p.at[way[0]]][p.at[way[1]]] = add(took, p.slack)
	}
	for k := range n {
		for i := range n {
			if p.most[i][k] == unbounded {
				continue
			}
			for j := range n {
				p.most[i][j] = min(p.most[i][j], add(p.most[i][k], p.most[k][j]))
			}
			if p.most[i][i] < 0 {
				return false
			}
		}
	}
	return true
}

// add returns a + b, or the nearest bound if the sum does not fit.
func add(a, b time.Duration) time.Duration {
	switch sum := a + b; {
	case a == unbounded || b == unbounded || a > 0 && b > 0 && sum < 0:
		return unbounded
	case a < 0 && b < 0 && sum >= 0:
		return -unbounded
	default:
		return sum
	}
}

// linked reports whether messages in both directions compare the clocks of two nodes,
// directly or through other nodes.
func (p *paths) linked(one, other uint64) bool {
	if one == other {
		return true
	}
	i, known := p.at[one]
	j, too := p.at[other]
	return known && too && p.most[i][j] != unbounded && p.most[j][i] != unbounded
}

// linkAll reports whether messages compare the clocks of all the nodes.
func (p *paths) linkAll(nodes map[uint64]*member) bool {
	if len(p.ids) == 0 {
		return len(nodes) < 2
	}
	for id := range nodes {
		if !p.linked(p.ids[0], id) {
			return false
		}
	}
	return true
}

// before reports whether the time t of one node's clock was certainly before the time u of the other one's.
func (p *paths) before(t, u time.Time, one, other uint64) bool {
	return p.linked(one, other) && u.Sub(t) > add(p.most[p.at[one]][p.at[other]], p.slack+sameClock)
}

// clockFix has the estimated offset of each clock that is not right.
type clockFix map[uint64]Clock

func (f clockFix) at(node uint64, wall time.Time) time.Time {
	if len(f) == 0 { // nearly always
		return wall
	}
	return wall.Add(-f[node].Offset)
}

// error returns an upper bound on the error between corrected times of different nodes, or 0 if no
// clock was corrected.
func (f clockFix) error() time.Duration {
	worst := time.Duration(0)
	for _, c := range f {
		worst = max(worst, c.Error)
	}
	return worst
}

// sameClock is how far two clocks may seem to differ and still count as one. A node takes the time
// of a record a little after it read or sent the message. So on one machine, where a message takes
// some 50 µs, even one clock seems to differ from itself by as much. The shortest time in any
// output is far longer.
const sameClock = 100 * time.Microsecond

// Differs reports whether the offset is larger than sameClock, so that it shows a real difference.
func (c Clock) Differs() bool { return c.Offset.Abs() > sameClock }

// differ reports whether the offset of any clock is larger than sameClock.
func (f clockFix) differ() bool {
	for _, c := range f {
		if c.Differs() {
			return true
		}
	}
	return false
}

// fix estimates the offset of each clock against the clocks that agree: the largest set of compared clocks that may all
// be the same, as far as the messages tell. The other clocks follow, those first that the placed ones bound best. Each
// gets an offset that keeps the bounds of all placed ones. Such an offset exists, since most has the shortest paths.
func (p *paths) fix() clockFix {
	fix := clockFix{}
	right := p.agreeing()
	placed := slices.Clone(right)
	for len(placed) < len(p.ids) {
		next, best, low, high := -1, unbounded, -unbounded, unbounded
		for i := range p.ids {
			if slices.Contains(placed, i) {
				continue
			}
			if l, h := p.bounds(i, placed, fix); next < 0 || width(l, h) < best {
				next, best, low, high = i, width(l, h), l, h
			}
		}
		placed = append(placed, next)
		if c := clockWithin(p.ids[next], low, high); c.Offset != 0 {
			for i := range right { // which may differ from each other, as far as the messages tell
				if l, h := p.bounds(next, right[i:i+1], fix); width(l, h) != unbounded {
					c.Error = max(c.Error, h-c.Offset+1+p.slack, c.Offset-l+1+p.slack)
				}
			}
			fix[c.Node] = c
		}
	}
	return fix
}

// bounds returns between which offsets a clock is, by the bounds of the other ones.
func (p *paths) bounds(i int, others []int, fix clockFix) (low, high time.Duration) {
	low, high = -unbounded, unbounded
	for _, j := range others {
		at := fix[p.ids[j]].Offset
		high = min(high, add(at, p.most[j][i]))
		if back := p.most[i][j]; back != unbounded {
			low = max(low, add(at, -back))
		}
	}
	return low, high
}

// width returns how far apart two bounds are.
func width(low, high time.Duration) time.Duration {
	if low == -unbounded || high == unbounded {
		return unbounded
	}
	return add(high, -low)
}

// clockWithin returns an estimate of an offset that is between low and high. If 0 lies within the bounds, the clock
// counts as right: no message proves the opposite. Otherwise the fastest messages of both directions count as
// equally fast, as in NTP. With messages in one direction alone, the estimate is the bound that they give.
func clockWithin(node uint64, low, high time.Duration) Clock {
	c := Clock{Node: node}
	switch {
	case low <= 0 && high >= 0:
	case low != -unbounded && high != unbounded:
		c.Offset = low/2 + high/2
	case high != unbounded:
		c.Offset = high
	default:
		c.Offset = low
	}
	return c
}

// apart returns by how much the corrected times of two nodes may be apart. It is 0 if both clocks count as right, and
// no clock was set. It is unbounded if no messages compare the clocks, and some clock of the group is wrong, or the
// times of the two nodes' records have nothing in common, or contradict what they saw (see meet).
func (g *group) apart(one, other uint64) time.Duration {
	if one == other || g.key.run > 0 {
		return 0
	}
	way := [2]uint64{one, other}
	off, known := g.offs[way]
	if !known {
		off = g.findApart(one, other)
		g.offs[way] = off
	}
	return off
}

func (g *group) findApart(one, other uint64) time.Duration {
	switch a, b := g.fix[one], g.fix[other]; {
	case !g.paths.linked(one, other) && !g.fix.differ() && g.meet(one, other):
		return 0
	case !g.paths.linked(one, other):
		return unbounded
	case a.Offset == 0 && b.Offset == 0:
		return g.paths.slack
	default:
		i, j := g.paths.at[one], g.paths.at[other]
		ahead := b.Offset - a.Offset
		return add(max(g.paths.most[i][j]-ahead, g.paths.most[j][i]+ahead, 0), 1+g.paths.slack)
	}
}

// bound returns by how much the corrected times of two nodes may be apart, also if both clocks count as right: no
// message took less time than that.
func (g *group) bound(one, other uint64) time.Duration {
	off := g.apart(one, other)
	corrected := g.fix[one].Offset != 0 || g.fix[other].Offset != 0
	if corrected || one == other || g.key.run > 0 || !g.paths.linked(one, other) {
		return off
	}
	i, j := g.paths.at[one], g.paths.at[other]
	return add(max(g.paths.most[i][j], g.paths.most[j][i], 0), off)
}

// compared reports whether messages compare the clocks of two nodes, or they have one clock.
func (g *group) compared(one, other uint64) bool {
	return one == other || g.key.run > 0 || g.paths.linked(one, other)
}

// ahead reports whether the hybrid clock of the node, which follows those of others, was far ahead of its own clock, as
// in the first record of a log that was rotated: the clocks differ, also where no message compares them. It shows that
// only beyond what somebody set a clock forward by, by the word of its node: the times that are told are without that.
func (g *group) ahead(node uint64) bool {
	lead, set := g.pairing.lead(node), time.Duration(0)
	for _, l := range g.nodes[node].lives {
		lead = max(lead, l.lead)
	}
	for _, m := range g.nodes {
		set = max(set, m.setForward)
	}
	return time.Duration(lead)*time.Microsecond > maxTransit+set
}

// meet reports whether both nodes wrote at some time, by their own clocks, none of them saw the other one before that
// began, and their hybrid clocks do not show that clocks differ. It is true for a node without records.
func (g *group) meet(one, other uint64) bool {
	a, b := g.nodes[one], g.nodes[other]
	if a == nil || b == nil {
		return true
	}
	if g.early[[2]uint64{one, other}] || g.early[[2]uint64{other, one}] || g.ahead(one) || g.ahead(other) {
		return false
	}
	from, until := a.lives[0].from, a.lives[len(a.lives)-1].until
	return !b.lives[0].from.After(until) && !from.After(b.lives[len(b.lives)-1].until)
}

// compared returns the indexes of a largest set of clocks that messages in both directions compare; of all clocks if
// these compare no two.
func (p *paths) compared() []int {
	var all, best []int
	for i, one := range p.ids {
		var with []int
		for j, other := range p.ids {
			if p.linked(one, other) {
				with = append(with, j)
			}
		}
		if all = append(all, i); len(with) > len(best) {
			best = with
		}
	}
	if len(best) == 1 {
		return all
	}
	return best
}

// agreeing returns the indexes of a largest set of compared clocks any two of which may be the same. It starts from
// each clock, and adds the others in the order of how many clocks they agree with. If no two clocks agree, it is the
// one clock that differs least from the others.
func (p *paths) agreeing() (best []int) {
	agrees := func(i, j int) bool { return p.most[i][j] >= -sameClock && p.most[j][i] >= -sameClock }
	order, friends, differs := p.compared(), make([]int, len(p.ids)), make([]time.Duration, len(p.ids))
	for _, i := range order {
		for _, j := range order {
			if agrees(i, j) {
				friends[i]++
			}
			differs[i] = add(differs[i], p.differ(i, j))
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(-cmp.Compare(friends[i], friends[j]), cmp.Compare(differs[i], differs[j]), cmp.Compare(i, j))
	})
	for _, first := range order {
		if friends[first] <= len(best) {
			break
		}
		set := []int{first}
		for _, i := range order {
			if i != first && !slices.ContainsFunc(set, func(j int) bool { return !agrees(i, j) }) {
				set = append(set, i)
			}
		}
		if len(set) > len(best) {
			best = set
		}
	}
	return best
}

// differ returns an estimate of how far two clocks differ.
func (p *paths) differ(i, j int) time.Duration {
	there, back := p.most[i][j], p.most[j][i]
	if there == unbounded || back == unbounded {
		return unbounded
	}
	return (there/2 - back/2).Abs()
}

// list returns the corrected clocks by node id.
func (f clockFix) list() []Clock {
	return slices.SortedFunc(maps.Values(f), func(a, b Clock) int { return cmp.Compare(a.Node, b.Node) })
}
