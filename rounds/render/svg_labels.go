package render

import (
	"fmt"
	"html"
)

// tag is a short text on a line or beside it.
type tag struct {
	class, text string
	ends        string  // attributes that name what it belongs to
	x, y        float64 // of the middle of its baseline
}

// box is a part of the drawing that is taken.
type box struct{ left, top, right, bottom float64 }

func (a box) meets(b box) bool {
	return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

const tagSize = 10 // of its font

func (t tag) box() box {
	half := textWidth(t.text, tagSize)/2 + 1
	return box{t.x - half, t.y - tagSize, t.x + half, t.y + 3}
}

// occupy takes the places of all texts and marks that do not move.
func (d *drawing) occupy() {
	d.taken = append(d.taken, box{0, 0, d.width, d.top})
	for _, r := range d.rows {
		for i, p := range r.phases {
			y := phaseAt(r, i)
			d.taken = append(d.taken, box{planMargin, y - 12, planMargin + textWidth(p.title(), 12), y + 4})
		}
		for i := r.first; i < r.last; i++ {
			x, y := d.x[d.lane(d.round.Steps[i].Ref.Node)], d.y[i]
			size := 6.0
			if i == winning(d.round) {
				size = 10
			}
			d.taken = append(d.taken, box{x - size, y - size, x + size, y + size})
		}
	}
}

// tag writes the first of the texts that has room at one of the spots, if one has.
func (d *drawing) tag(class, ends string, texts []string, spots [][2]float64) {
	for _, text := range texts {
		for _, at := range spots {
			t := tag{class, text, ends, at[0], at[1]}
			if b := t.box(); b.left > planMargin+planTime && b.right < d.column-4 && d.free(b) {
				d.taken, d.tags = append(d.taken, b), append(d.tags, t)
				return
			}
		}
	}
}

func (d *drawing) free(b box) bool {
	for i := range d.taken {
		if d.taken[i].meets(b) {
			return false
		}
	}
	return true
}

// writeTags writes all tags, above all lines.
func (d *drawing) writeTags() {
	for _, t := range d.tags {
		d.put(`<text class="label %s" %s x="%.1f" y="%.1f">%s</text>`, t.class, t.ends, t.x, t.y,
			html.EscapeString(t.text))
	}
}

// along returns places for a tag on a line, and beside it.
func along(x1, y1, x2, y2 float64) (spots [][2]float64) {
	for _, beside := range []float64{-4, 4, 12, -15, 24} {
		for _, part := range []float64{.62, .5, .74, .38, .86, .26, .56, .68, .44, .8, .32, .2, .14} {
			spots = append(spots, [2]float64{x1 + (x2-x1)*part, y1 + (y2-y1)*part + beside})
		}
	}
	return spots
}

// named returns how the tag of so many messages of a kind may read: in full where lanes are wide, or with the
// kind's letter.
func (d *drawing) named(kind string, count int, suffix string) (texts []string) {
	if count > 1 {
		suffix = fmt.Sprintf(" ×%d", count) + suffix
	}
	if d.gap >= planWide {
		texts = append(texts, clean(kind)+suffix)
	}
	return append(texts, d.letter[kind]+suffix)
}
