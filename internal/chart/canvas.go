package chart

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
)

// canvas is a drawing that is being written as SVG.
type canvas struct{ bytes.Buffer }

// open begins a drawing of this width and height, in pixels. title describes it to people who
// cannot see it.
func (c *canvas) open(title string, width, height float64) {
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 %.0f %.0f" `+
		`width="%.0f" height="%.0f"><title>%s</title>`+"\n", width, height, width, height, html.EscapeString(title))
}

// done ends the drawing, and returns it. open, text and mark have escaped all text in it.
func (c *canvas) done() template.HTML {
	c.WriteString("</svg>\n")
	return template.HTML(c.String())
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(c, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`+"\n", class, x1, y1, x2, y2)
}

func (c *canvas) text(class, anchor string, x, y float64, s string) {
	fmt.Fprintf(c, `<text class="%s" text-anchor="%s" x="%.1f" y="%.1f">%s</text>`+"\n",
		class, anchor, x, y, html.EscapeString(s))
}

// colours is how many colours the style sheet has: the classes c0, c1 and so on.
const colours = 8

// shapes are drawn around the point 0, 0. Each series has another shape, so that it can be told
// from the others without colours.
var shapes = []string{
	"M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z", // circle
	"M-4 -4h8v8h-8z",              // square
	"M0 -5.5L5 4H-5z",             // triangle
	"M0 -5.5L5.5 0L0 5.5L-5.5 0z", // diamond
	"M0 5.5L5 -4H-5z",             // triangle upside down
	"M-5 -1.5H-1.5V-5H1.5V-1.5H5V1.5H1.5V5H-1.5V1.5H-5z", // cross
}

// mark draws a point of a series. tip describes the point.
func (c *canvas) mark(series int, hollow bool, x, y float64, tip string) {
	class := fmt.Sprintf("c%d", series%colours)
	if hollow {
		class += " hollow"
	}
	fmt.Fprintf(c, `<path class="%s" transform="translate(%.1f %.1f)" d="%s"><title>%s</title></path>`+"\n",
		class, x, y, shapes[series%len(shapes)], html.EscapeString(tip))
}
