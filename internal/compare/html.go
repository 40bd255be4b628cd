package compare

import (
	"embed"
	"html/template"
	"io"
	"sync"

	"github.com/ringleader-dev/ringleader/internal/figures"
)

//go:embed page.html growth.html page.css
var files embed.FS

// colours is how many the style has, c0 and on.
const colours = 8

// pages are parsed when they are first needed, and by a node never.
var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"number": figures.Number,
		"inc":    func(i int) int { return i + 1 },
		"cell":   func(row Row, i int) Sample { return row.Samples[i] },
		"total":  totalOf,
		"style":  style,
	}).ParseFS(files, "page.html", "growth.html"))
})

// sum is a row's total, and whether there is one.
type sum struct {
	Sample
	OK bool
}

func totalOf(row Row) sum {
	s, ok := row.total()
	return sum{s, ok}
}

// style is the style sheet, a file of ours.
func style() (template.CSS, error) {
	text, err := files.ReadFile("page.css")
	return template.CSS(text), err
}

// drawing is a chart with its title.
type drawing struct {
	Title string
	SVG   template.HTML
}

// HTML writes the report as one file that fetches nothing.
func (r Report) HTML(w io.Writer) error {
	data := struct {
		Report
		ScriptText string
		Legend     []string
		Done, Of   int
		Key        template.HTML
		Charts     []drawing
	}{Report: r, ScriptText: JoinSteps(r.Script), Legend: legend}
	data.Done, data.Of = r.Count()
	var names []string
	for _, s := range r.kinds() {
		names = append(names, string(s))
	}
	data.Key = key(names)
	for _, d := range charts {
		data.Charts = append(data.Charts, drawing{d.title, d.draw(r)})
	}
	return pages().ExecuteTemplate(w, "page.html", data)
}

// RefusedText is how many stale writes were refused, for a table.
func (s Sample) RefusedText() string { return s.refused() }
