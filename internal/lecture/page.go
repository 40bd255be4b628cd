package lecture

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/proto"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// Page writes a figure and its scenes as one HTML page, without anything from elsewhere. Each scene draws the ring
// as a circle, with the messages of its step.
func Page(w io.Writer, f Figure, scenes []Scene) error {
	type view struct {
		Scene
		Marked []template.HTML
		Ring   template.HTML
	}
	views := make([]view, len(scenes))
	for i, s := range scenes {
		views[i] = view{Scene: s, Ring: circle(s)}
		for _, p := range s.Sentences {
			views[i].Marked = append(views[i].Marked, marked(p))
		}
	}
	if err := page.Execute(w, struct {
		Figure
		Scenes []view
	}{f, views}); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// marked escapes a paragraph and marks what it quotes.
func marked(text string) template.HTML {
	parts := strings.Split(text, `"`)
	for i, p := range parts {
		parts[i] = template.HTMLEscapeString(p)
		if i%2 == 1 && i < len(parts)-1 {
			parts[i] = "<mark>“" + parts[i] + "”</mark>"
		}
	}
	return template.HTML(strings.Join(parts, "")) //nolint:gosec // each part is escaped
}

// The size of a circle, in pixels.
const (
	size   = 320
	radius = 120
	dot    = 20
	// mostLabels is the greatest number of arrows that have a text beside them.
	mostLabels = 8
)

// circle draws the nodes clockwise, and an arrow for each way that messages of the step took. The numbers on an
// arrow are the places of its messages in the step.
func circle(s Scene) template.HTML {
	place := map[proto.NodeID][2]float64{}
	for i, id := range s.Ring {
		angle := 2*math.Pi*float64(i)/float64(len(s.Ring)) - math.Pi/2
		place[id] = [2]float64{size/2 + radius*math.Cos(angle), size/2 + radius*math.Sin(angle)}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="-80 0 %d %d" role="img" aria-label="the nodes, and %d messages">`,
		size+160, size, len(s.Sent))
	fmt.Fprintf(&b, `<circle class="ring" cx="%d" cy="%d" r="%d"/>`, size/2, size/2, radius)
	all := ways(s.Sent)
	crowded := len(all) > mostLabels
	for _, way := range all {
		from, to := place[way.from], place[way.to]
		dx, dy := to[0]-from[0], to[1]-from[1]
		length := math.Hypot(dx, dy)
		if length == 0 {
			continue
		}
		dx, dy = dx/length, dy/length
		// The way back is beside the way there.
		x1, y1 := from[0]+dx*dot-dy*4, from[1]+dy*dot+dx*4
		x2, y2 := to[0]-dx*(dot+6)-dy*4, to[1]-dy*(dot+6)+dx*4
		fmt.Fprintf(
			&b,
			`<line class="way" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" marker-end="url(#tip)"><title>%s</title></line>`,
			x1, y1, x2, y2, template.HTMLEscapeString(way.label()),
		)
		if crowded {
			continue // the pointer shows them
		}
		x, y, anchor := beside(x1*0.62+x2*0.38, y1*0.62+y2*0.38) // that of the way back is elsewhere
		fmt.Fprintf(&b, `<text class="kind" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`,
			x, y, anchor, template.HTMLEscapeString(way.label()))
	}
	for _, id := range s.Ring {
		at := place[id]
		class, says := "node", "is up"
		switch {
		case slices.Contains(s.Lead, id):
			class, says = "node leads", "leads"
		case slices.Contains(s.Down, id):
			class, says = "node down", "has crashed"
		}
		fmt.Fprintf(
			&b,
			`<g class="%s"><title>%d %s</title><circle cx="%.1f" cy="%.1f" r="%d"/>`+
				`<text x="%.1f" y="%.1f">%d</text></g>`,
			class, id, says, at[0], at[1], dot, at[0], at[1]+5, id,
		)
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) //nolint:gosec // numbers, and text that is escaped
}

// beside returns where the text beside an arrow's middle is: further out, and which of its ends is there.
func beside(x, y float64) (outX, outY float64, anchor string) {
	dx, dy := x-size/2, y-size/2
	length := math.Hypot(dx, dy)
	if length < 1 {
		return x, y - 8, "middle"
	}
	switch anchor = "middle"; {
	case dx > radius/4:
		anchor = "start"
	case dx < -radius/4:
		anchor = "end"
	}
	return x + dx/length*10, y + dy/length*12 + 3, anchor
}

// way is the messages from one node to another.
type way struct {
	from, to proto.NodeID
	places   []string
	kinds    []string
}

func (w way) label() string { return strings.Join(w.places, ",") + " " + strings.Join(w.kinds, ",") }

// ways groups messages by sender and receiver, in the order of the first.
func ways(sent []Message) (all []way) {
	index := map[[2]proto.NodeID]int{}
	for i, m := range sent {
		key := [2]proto.NodeID{m.From, m.To}
		at, ok := index[key]
		if !ok {
			at = len(all)
			index[key] = at
			all = append(all, way{from: m.From, to: m.To})
		}
		w := &all[at]
		w.places = append(w.places, fmt.Sprint(i+1))
		if !slices.Contains(w.kinds, m.Kind) {
			w.kinds = append(w.kinds, m.Kind)
		}
	}
	for i := range all { // a step may repeat a message for long
		if n := len(all[i].places); n > 3 {
			all[i].places = []string{all[i].places[0], "…", all[i].places[n-1]}
		}
		if len(all[i].kinds) > 2 {
			all[i].kinds = append(all[i].kinds[:2], "…")
		}
	}
	return all
}
