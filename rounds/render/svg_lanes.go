package render

import (
	"fmt"
	"html"
	"math"
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
			d.put(`<path class="lane %v%s" d="M%.1f %.1fV%.1f"/>`, r.stand, d.hue(r.belief), d.x[lane], r.from, y)
		}
	}
	for lane, b := range now {
		if b.stand == gone {
			d.cross(d.x[lane], d.top+4)
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
				d.cross(d.x[lane], d.y[i])
			}
			runs[lane] = run{d.y[i], now[lane]}
		}
	}
	for lane := range runs {
		end(lane, d.bottom)
	}
}

// hue returns the CSS class for the colour of the leader that b names; "" if b names none.
func (d *drawing) hue(b belief) string {
	if b.leader == 0 {
		return ""
	}
	return fmt.Sprintf(" h%d", d.hueOf(b.leader))
}

func (d *drawing) cross(x, y float64) {
	d.put(`<path class="cross" d="M%.1f %.1fl8 8m0 -8l-8 8"/>`, x-4, y-4)
}

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
		x, y := d.x[d.lane(st.Ref.Node)], d.y[i]
		at := [2]int{d.lane(st.Ref.Node), int(y)}
		if seen[at] {
			continue
		}
		seen[at] = true
		if i == won {
			d.put(`<circle class="won%s" cx="%.1f" cy="%.1f" r="9"/>`, d.hue(b), x, y)
		}
		d.put(`<circle class="step %v%s" cx="%.1f" cy="%.1f" r="%.1f"/>`, b.stand, d.hue(b), x, y, radius)
	}
}

// messages draws the arrows of a step, each from its send to its receipt.
func (d *drawing) messages(r row) {
	st := &d.round.Steps[r.first]
	for _, i := range st.Sent {
		d.arrow(d.round.Messages[i], d.y[r.first])
	}
	if st.Received >= 0 && d.round.Messages[st.Received].SendStep < 0 {
		// Where its send is not in the records, it comes from just above.
		d.arrow(d.round.Messages[st.Received], d.y[r.first]-10)
	}
}

func (d *drawing) arrow(m rounds.Message, y1 float64) {
	from, to := d.lane(m.From), d.lane(m.To)
	x1, x2, y2 := d.x[from], d.x[to], d.arrives(m, y1)
	class := ""
	switch m.Delivery {
	case rounds.Lost, rounds.ToGone:
		class = " lost"
		x2, y2 = x1+(x2-x1)*.8, y1+(y2-y1)*.8
	case rounds.Unseen:
		class = " unseen"
	}
	d.put(`<path class="message k%d%s" d="M%.1f %.1fL%.1f %.1f"/>`, d.kind[m.Kind], class, x1, y1, x2, y2)
	if m.Delivery == rounds.Lost || m.Delivery == rounds.ToGone {
		d.cross(x2, y2)
	} else {
		d.head(m, x1, y1, x2, y2)
	}
	if d.gap >= 70 && from != to {
		d.put(`<text class="label k%d" x="%.1f" y="%.1f">%s</text>`, d.kind[m.Kind],
			x1+(x2-x1)*.62, y1+(y2-y1)*.62-4, label(m))
	}
}

// arrives returns the y at which the arrow of message m ends. sent is the y at which it begins.
func (d *drawing) arrives(m rounds.Message, sent float64) float64 {
	if m.ReceiveStep >= 0 {
		return d.y[m.ReceiveStep]
	}
	return sent + 10
}

func label(m rounds.Message) string {
	text := html.EscapeString(clean(m.Kind))
	if m.Delivery == rounds.Unseen {
		text += " ?"
	}
	return text
}

// head draws the head of an arrow. Its tip is beside the mark of the step that receives the message.
func (d *drawing) head(m rounds.Message, x1, y1, x2, y2 float64) {
	length := math.Hypot(x2-x1, y2-y1)
	if length == 0 {
		return
	}
	ux, uy := (x2-x1)/length, (y2-y1)/length
	size := min(d.gap/3, 7)
	x, y := x2-ux*size*.8, y2-uy*size*.8
	d.put(`<path class="head k%d" d="M%.1f %.1fL%.1f %.1fL%.1f %.1fZ"/>`, d.kind[m.Kind], x, y,
		x-ux*size-uy*size/2, y-uy*size+ux*size/2, x-ux*size+uy*size/2, y-uy*size-ux*size/2)
}

// manyMessages draws the messages of a folded band as thin lines, without drawing any line twice.
func (d *drawing) manyMessages(r row) {
	paths := map[string]*strings.Builder{}
	seen := map[string]bool{}
	for i := r.first; i < r.last; i++ {
		for _, j := range d.round.Steps[i].Sent {
			m := d.round.Messages[j]
			line := fmt.Sprintf("M%.0f %.0fL%.0f %.0f", d.x[d.lane(m.From)], d.y[i],
				d.x[d.lane(m.To)], d.arrives(m, d.y[i]))
			if paths[m.Kind] == nil {
				paths[m.Kind] = &strings.Builder{}
			}
			if !seen[m.Kind+line] {
				seen[m.Kind+line] = true
				paths[m.Kind].WriteString(line)
			}
		}
	}
	for _, kind := range d.kinds() {
		if p := paths[kind]; p != nil {
			d.put(`<path class="message%s k%d" d="%s"/>`, many(p.Len()), d.kind[kind], p)
		}
	}
}

// many returns a CSS class that makes lines fainter, if their path has so many bytes that the lines
// would hide the rest of the drawing. Otherwise it returns "".
func many(bytes int) string {
	if bytes > 4000 {
		return " many"
	}
	return ""
}
