package chart

import (
	_ "embed"
	"html/template"
	"io"
	"sync"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

// page is the template of a page. It is parsed when it is first used, so not in a node.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"style": func() template.CSS { return template.CSS(pageCSS) }, // a file of ours
	}).Parse(pageHTML))
})

// Chart is Dots or Curves.
type Chart interface {
	name() string
	height() float64 // in pixels
	draw(c *canvas)
}

// HTML writes the report as one file.
func (r Report) HTML(w io.Writer) error { return page().Execute(w, r) }

// Drawing is a chart as SVG, with its title.
type Drawing struct {
	Title string
	SVG   template.HTML
}

// Drawings returns the charts as SVG.
func (r Report) Drawings() (all []Drawing) {
	for _, one := range r.Charts {
		var c canvas
		c.open(one.name(), width, one.height())
		one.draw(&c)
		all = append(all, Drawing{one.name(), c.done()})
	}
	return all
}

// KeyDrawing draws the marks of the series with their names. It returns "" if there is no key.
func (r Report) KeyDrawing() template.HTML {
	if len(r.Key) == 0 {
		return ""
	}
	var c canvas
	key(&c, r.Key)
	return c.done()
}

// Rest returns how many columns the remark of a row spans on the page.
func (t Table) Rest(r Row) int { return max(len(t.Columns)-len(r.Cells), 1) }
