package render

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ringleader-dev/ringleader/rounds"
)

// laneLines draws the lane of each node from top to bottom, in the style of the node's belief.
func (d *drawing) laneLines() {
	type run struct {
		from float64
		belief
	}
	now := append([]belief(nil), d.before...)
	runs := make([]run, len(now))
	for i, b := range now {
		runs[i] = run{d.top, b}
	}
	end := func(lane int, y float64) {
		r := runs[lane]
		if y > r.from && r.stand != gone {
			d.put(`<path class="lane %v%s" data-n="%d" d="M%.1f %.1fV%.1f"/>`, r.stand, d.hue(r.belief), lane,
				d.x[lane], r.from, y)
		}
		if y > r.from && r.stand == follower && d.gap >= planWide/3 {
			d.follows(r.belief, lane, r.from)
		}
	}
	for lane, b := range now {
		if b.stand == gone {
			d.cross(d.x[lane], d.top+4, ofLane(lane))
		}
	}
	for i := range d.round.Steps {
		d.apply(i, now)
		for lane := range now {
			if now[lane].stand == runs[lane].stand && now[lane].leader == runs[lane].leader {
				continue
			}
			end(lane, d.y[i])
			if now[lane].stand == gone {
				d.cross(d.x[lane], d.y[i], ofLane(lane))
			}
			runs[lane] = run{d.y[i], now[lane]}
		}
	}
	for lane := range runs {
		end(lane, d.bottom)
	}
}

// follows writes beside a lane whom its node follows from here on.
func (d *drawing) follows(b belief, lane int, y float64) {
	x := d.x[lane]
	text := strconv.FormatUint(b.leader, 10)
	beside := textWidth(text, tagSize)/2 + 4
	d.tag("of"+d.hue(b), ofLane(lane), []string{text}, [][2]float64{
		{x + beside, y + 16}, {x - beside, y + 16}, {x + beside, y + 30}, {x - beside, y + 30},
	})
}

// hue returns the CSS class for the colour of the leader that b names; "" if b names none.
func (d *drawing) hue(b belief) string {
	if b.leader == 0 {
		return ""
	}
	return fmt.Sprintf(" h%d", d.hueOf(b.leader))
}

// cross draws a cross. The attributes of name what it belongs to.
func (d *drawing) cross(x, y float64, of string) {
	d.put(`<path class="cross" %s d="M%.1f %.1fl8 8m0 -8l-8 8"/>`, of, x-4, y-4)
}

// ofLane returns an attribute that names a lane.
func ofLane(lane int) string { return fmt.Sprintf(`data-n="%d"`, lane) }

// steps draws a mark on a node's lane for each step of a row.
func (d *drawing) steps(r row) {
	radius := 4.5
	if !r.single() {
		radius = max(min(d.gap/4, 2.5), 1.5)
	}
	won := winning(d.round)
	seen := map[[2]int]bool{} // where there is a mark already
	for i := r.first; i < r.last; i++ {
		st := &d.round.Steps[i]
		b := after(st, d.round.Term)
		lane := d.lane(st.Ref.Node)
		x, y := d.x[lane], d.y[i]
		at := [2]int{lane, int(y)}
		if seen[at] {
			continue
		}
		seen[at] = true
		if i == won {
			d.put(`<circle class="won%s" data-n="%d" cx="%.1f" cy="%.1f" r="9"/>`, d.hue(b), lane, x, y)
		}
		d.put(`<circle class="step %v%s" data-n="%d" cx="%.1f" cy="%.1f" r="%.1f"/>`, b.stand, d.hue(b), lane,
			x, y, radius)
	}
}

// messages draws the arrows of a step, each from its send to its receipt. Where lanes are narrow, it draws the
// messages of one kind to many receivers as a bundle.
func (d *drawing) messages(r row) {
	st, y := &d.round.Steps[r.first], d.y[r.first]
	for i, alike := range d.alikeSent(st) {
		if d.gap < planWide && len(alike) >= manyAlike {
			d.bundle(alike, y+4*float64(i))
			continue
		}
		for _, m := range alike {
			if m.ReceiveStep < 0 { // it would hide the one before
				d.arrow(m, y+4*float64(i))
			} else {
				d.arrow(m, y)
			}
		}
	}
	if st.Received >= 0 && d.round.Messages[st.Received].SendStep < 0 {
		// Where its send is not in the records, it comes from just above.
		d.arrow(d.round.Messages[st.Received], y-10)
	}
}

// manyAlike is the least number of messages that are a bundle.
const manyAlike = 3

// alikeSent returns the messages that a step sent, those of one kind and one delivery together.
func (d *drawing) alikeSent(st *rounds.Step) (groups [][]rounds.Message) {
	for _, i := range st.Sent {
		m := d.round.Messages[i]
		at := slices.IndexFunc(groups, func(g []rounds.Message) bool {
			return g[0].Kind == m.Kind && g[0].Delivery == m.Delivery
		})
		if at < 0 {
			at, groups = len(groups), append(groups, nil)
		}
		groups[at] = append(groups[at], m)
	}
	return groups
}

// bundle draws messages of one kind as one line across the lanes, with a tick at each receiver.
func (d *drawing) bundle(alike []rounds.Message, y float64) {
	m := alike[0]
	x := d.x[d.lane(m.From)]
	class := deliveryClass(m.Delivery)
	var path strings.Builder
	left, right := x, x
	for _, m := range alike {
		to := d.x[d.lane(m.To)]
		fmt.Fprintf(&path, "M%.0f %.1fH%.0fM%.0f %.1fv6", x, y, to, to, y-3)
		left, right = min(left, to), max(right, to)
	}
	d.put(`<path class="message k%d%s" %s d="%s"/>`, d.kind[m.Kind], class, d.source(m), &path)
	for _, m := range alike {
		if class == " lost" {
			d.cross(d.x[d.lane(m.To)], y, d.ends(m))
		} else if to := d.x[d.lane(m.To)]; to == left || to == right {
			d.tip(m, x, y, to, y)
		}
	}
	d.tagMessages(m, d.source(m), len(alike), along(left, y, right, y))
}

// deliveryClass returns the CSS class for the arrows of messages with this delivery.
func deliveryClass(d rounds.Delivery) string {
	switch d {
	case rounds.Lost, rounds.ToGone:
		return " lost"
	case rounds.Unseen:
		return " unseen"
	}
	return ""
}

// tagMessages writes how many messages like m there are, and of which kind.
func (d *drawing) tagMessages(m rounds.Message, ends string, count int, spots [][2]float64) {
	suffix := ""
	if m.Delivery == rounds.Unseen {
		suffix = " ?"
	}
	d.tag(fmt.Sprintf("k%d", d.kind[m.Kind]), ends, d.named(m.Kind, count, suffix), spots)
}

func (d *drawing) arrow(m rounds.Message, y1 float64) {
	from, to := d.lane(m.From), d.lane(m.To)
	x1, x2, y2 := d.x[from], d.x[to], d.arrives(m, y1)
	class := deliveryClass(m.Delivery)
	if class == " lost" {
		x2, y2 = x1+(x2-x1)*.8, y1+(y2-y1)*.8
	}
	d.put(`<path class="message k%d%s" %s d="M%.1f %.1fL%.1f %.1f"/>`, d.kind[m.Kind], class, d.ends(m), x1, y1, x2, y2)
	if class == " lost" {
		d.cross(x2, y2, d.ends(m))
	} else {
		d.tip(m, x1, y1, x2, y2)
	}
	if from != to {
		d.tagMessages(m, d.ends(m), 1, along(x1, y1, x2, y2))
	}
}

// ends returns attributes that name the kind and the lanes of a message.
func (d *drawing) ends(m rounds.Message) string {
	return fmt.Sprintf(`%s data-t="%d"`, d.source(m), d.lane(m.To))
}

// source returns attributes that name the kind of a message and the lane of its sender.
func (d *drawing) source(m rounds.Message) string {
	return fmt.Sprintf(`data-k="%d" data-f="%d"`, d.index[m.Kind], d.lane(m.From))
}

// arrives returns the y at which the arrow of message m ends. sent is the y at which it begins.
func (d *drawing) arrives(m rounds.Message, sent float64) float64 {
	if m.ReceiveStep >= 0 {
		return d.y[m.ReceiveStep]
	}
	return sent + 10
}

// tip draws the head of an arrow. Its tip is beside the mark of the step that receives the message.
func (d *drawing) tip(m rounds.Message, x1, y1, x2, y2 float64) {
	length := math.Hypot(x2-x1, y2-y1)
	if length == 0 {
		return
	}
	ux, uy := (x2-x1)/length, (y2-y1)/length
	size := min(d.gap/3, 7)
	x, y := x2-ux*size*.8, y2-uy*size*.8
	d.put(`<path class="head k%d" %s d="M%.1f %.1fL%.1f %.1fL%.1f %.1fZ"/>`, d.kind[m.Kind], d.ends(m), x, y,
		x-ux*size-uy*size/2, y-uy*size+ux*size/2, x-ux*size+uy*size/2, y-uy*size-ux*size/2)
}

// manyMessages draws the messages of a folded band as thin lines, without drawing any line twice. The messages of one
// kind from one step to many receivers are one line, where lanes are narrow.
func (d *drawing) manyMessages(r row) {
	paths, counts := map[string]*strings.Builder{}, map[string]int{}
	spots := map[string][][2]float64{}
	seen := map[string]bool{}
	for i := r.first; i < r.last; i++ {
		for _, alike := range d.alikeSent(&d.round.Steps[i]) {
			kind := alike[0].Kind
			if paths[kind] == nil {
				paths[kind] = &strings.Builder{}
			}
			counts[kind] += len(alike)
			for _, m := range alike {
				x1, y1, x2, y2 := d.x[d.lane(m.From)], d.y[i], d.x[d.lane(m.To)], d.arrives(m, d.y[i])
				line := fmt.Sprintf("M%.0f %.0fL%.0f %.0f", x1, y1, x2, y2)
				if d.gap < planWide && len(alike) >= manyAlike {
					line, y2 = fmt.Sprintf("M%.0f %.1fH%.0fM%.0f %.1fv2.4", x1, y1, x2, x2, y1-1.2), y1
				}
				if !seen[kind+line] {
					seen[kind+line] = true
					paths[kind].WriteString(line)
				}
				if len(spots[kind]) < maxSpots {
					spots[kind] = append(spots[kind], along(x1, y1, x2, y2)...)
				}
			}
		}
	}
	for at, kind := range d.kinds() {
		if p := paths[kind]; p != nil {
			d.put(`<path class="message%s k%d" data-k="%d" d="%s"/>`, many(p.Len()), d.kind[kind], at, p)
			d.tag(fmt.Sprintf("k%d", d.kind[kind]), fmt.Sprintf(`data-k="%d"`, at),
				d.named(kind, counts[kind], ""), spots[kind])
		}
	}
}

// maxSpots bounds the places that are tried for the tag of a folded band.
const maxSpots = 400

// many returns a CSS class that makes lines fainter, if their path has so many bytes that the lines
// would hide the rest of the drawing. Otherwise it returns "".
func many(bytes int) string {
	if bytes > 4000 {
		return " many"
	}
	return ""
}
