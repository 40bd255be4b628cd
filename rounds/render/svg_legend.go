package render

import (
	"slices"
	"strconv"

	"github.com/ringleader-dev/ringleader/rounds"
)

// legendItem is one sign of a drawing with its meaning.
type legendItem struct {
	sign string // message, lane or mark
	kind string // of a message
	look string // its classes
	text string
	x, y float64
}

const legendSample = 24 // width of a sign

// legendOf returns what the drawing of a round needs to be read: each kind of message with its letter, each
// look of a lane, and whatever else is in this round.
func legendOf(s *layout) (items []legendItem) {
	for _, k := range s.kinds() {
		items = append(items, legendItem{sign: "message", kind: k, text: clean(k)})
	}
	for _, about := range []struct {
		text, look string
		when       []rounds.Delivery
	}{
		{"never arrived", " lost", []rounds.Delivery{rounds.Lost, rounds.ToGone}},
		{"no receipt in the records", " unseen", []rounds.Delivery{rounds.Unseen}},
	} {
		has := func(m rounds.Message) bool { return slices.Contains(about.when, m.Delivery) }
		if slices.ContainsFunc(s.round.Messages, has) {
			items = append(items, legendItem{sign: "message", look: about.look, text: about.text})
		}
	}
	items = append(items,
		legendItem{sign: "mark", look: "step looking", text: "takes a step"},
		legendItem{sign: "mark", look: "step leader h0", text: "wins"},
		legendItem{sign: "lane", look: "leader h0", text: "leads"},
		legendItem{sign: "lane", look: "follower h0", text: "follows (the number is its leader)"},
		legendItem{sign: "lane", look: "looking", text: "knows no leader"},
		legendItem{sign: "lane", look: "unknown", text: "not known"},
		legendItem{sign: "cross", text: "is gone"})
	return items
}

// lettersOf gives each kind of message a letter of its own, its first one if that is free, or else a number.
func lettersOf(kinds []string) map[string]string {
	of, taken := map[string]string{}, map[string]bool{}
	for i, k := range kinds {
		letter := strconv.Itoa(i + 1)
		for _, c := range clean(k) {
			if c >= 'A' && c <= 'Z' && !taken[string(c)] {
				letter = string(c)
				break
			}
		}
		of[k], taken[letter] = letter, true
	}
	return of
}

// keys draws the legend.
func (d *drawing) keys() {
	for _, item := range d.legend {
		x, y := item.x, item.y-4
		switch end := x + legendSample; item.sign {
		case "message":
			colour := "soft"
			if item.kind != "" {
				colour = "k" + strconv.Itoa(d.kind[item.kind])
			}
			d.put(`<path class="message %s%s" d="M%.1f %.1fH%.1f"/>`, colour, item.look, x, y, end)
			switch {
			case item.kind != "":
				d.put(`<path class="head %s" d="M%.1f %.1fl-6 -3v6Z"/>`, colour, end, y)
				d.put(`<text class="label %s" x="%.1f" y="%.1f">%s</text>`, colour, x+9, y+4, d.letter[item.kind])
			case item.look == " lost":
				d.cross(end-4, y, "")
			default:
				d.put(`<text class="label" x="%.1f" y="%.1f">?</text>`, x+9, y+4)
			}
		case "lane":
			d.put(`<path class="lane %s" d="M%.1f %.1fH%.1f"/>`, item.look, x+2, y, end-2)
			if item.look == "follower h0" {
				d.put(`<text class="label h0 of" x="%.1f" y="%.1f">5</text>`, x+12, y+4)
			}
		case "cross":
			d.cross(x+12, y, "")
		default:
			if item.text == "wins" {
				d.put(`<circle class="won h0" cx="%.1f" cy="%.1f" r="8"/>`, x+12, y)
			}
			d.put(`<circle class="%s" cx="%.1f" cy="%.1f" r="4.5"/>`, item.look, x+12, y)
		}
		d.text(x+legendSample+6, item.y, "soft", item.text)
	}
}
