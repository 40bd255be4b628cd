package chart

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"strings"
	"sync"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

// page is parsed when it is first needed, and by a node never.
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

// Drawings are the charts for the page.
func (r Report) Drawings() (all []Drawing) {
	for _, one := range r.Charts {
		var c canvas
		c.open(one.name(), width, one.height())
		one.draw(&c)
		all = append(all, Drawing{one.name(), c.done()})
	}
	return all
}

// KeyDrawing says what the marks in the charts mean, "" without a key.
func (r Report) KeyDrawing() template.HTML {
	if len(r.Key) == 0 {
		return ""
	}
	var c canvas
	key(&c, r.Key)
	return c.done()
}

// Rest is over how many columns the remark of a row stands in the page.
func (t Table) Rest(r Row) int { return max(len(t.Columns)-len(r.Cells), 1) }

// SVG writes the first chart as a drawing that stands for itself.
func (r Report) SVG(w io.Writer) error {
	const head = 60
	var c canvas
	c.open(r.Title, width, head+r.Charts[0].height())
	fmt.Fprintf(&c, "<style>%s</style>\n", pageCSS)
	c.text("label", "start", 16, 24, r.Title)
	c.text("note", "start", 16, 44, strings.TrimSpace(r.Partial+" "+strings.Join(r.Lines, " ")))
	fmt.Fprintf(&c, `<g transform="translate(0 %d)">`+"\n", head)
	r.Charts[0].draw(&c)
	c.WriteString("</g>\n")
	_, err := io.WriteString(w, string(c.done()))
	return err
}

// ErrFile says that a file's name asks for no form that there is.
var ErrFile = errors.New("a plot is a file that ends in .svg or .html")

// CheckFile refuses a name that Draw could not serve.
func CheckFile(name string) error {
	switch filepath.Ext(name) {
	case ".svg", ".html":
		return nil
	}
	return fmt.Errorf("%w, not %q", ErrFile, name)
}

// Draw writes the first chart, or the whole page, in the form that the name of a file
// asks for. Errors wrap ErrFile when there is no such form.
func (r Report) Draw(w io.Writer, name string) error {
	if err := CheckFile(name); err != nil {
		return err
	}
	if filepath.Ext(name) == ".svg" {
		return r.SVG(w)
	}
	return r.HTML(w)
}
