// Package chart presents what was measured: as text, or as a page with drawings. A page
// fetches nothing from elsewhere, and is light or dark as the viewer prefers.
package chart

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Report is the result of a measurement, ready to be shown.
type Report struct {
	Title string
	// Lines say where and when the measurement was made, and of what. Partial says what is missing;
	// it is empty if nothing is.
	Lines   []string
	Partial string
	Legend  []string // what the figures mean
	Key     []string // the names of the series in the charts; if there are none, no key is drawn
	Charts  []Chart
	Tables  []Table
}

// Table is one table of a Report. Each field may be empty.
type Table struct {
	Title, Note string // above it
	Columns     []Column
	Rows        []Row
	After       []string // lines below it
}

// Column is one column of a Table. Width is its width in characters as package fmt takes
// it: negative for words, which are aligned to the left. A table whose last column has no
// name has no line of names.
type Column struct {
	Name  string
	Width int
}

// Columns makes a column of this width for each name.
func Columns(width int, names ...string) []Column {
	columns := make([]Column, len(names))
	for i, name := range names {
		columns[i] = Column{name, width}
	}
	return columns
}

// Row is one row of a Table. If it has fewer cells than there are columns, a remark takes the place
// of the missing cells.
type Row struct {
	Cells  []string
	Remark string
}

// Cells returns a row without a remark.
func Cells(cells ...string) Row { return Row{Cells: cells} }

// Partial returns a text that says how many of all things were measured; "" if all were. The
// parameter what names the things; it may be empty.
func Partial(done, of int, what string) string {
	if done >= of {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("PARTIAL: ended after %d of %d %s", done, of, what))
}

// Text writes the report without its charts, for a terminal.
func (r Report) Text(w io.Writer) error {
	out := bufio.NewWriter(w)
	lines := append([]string{r.Title}, r.Lines...)
	if r.Partial != "" {
		lines = append(lines, r.Partial)
	}
	if len(r.Legend) > 0 {
		lines = append(append(lines, ""), r.Legend...)
	}
	for _, t := range r.Tables {
		lines = append(append(lines, ""), t.lines()...)
	}
	for _, line := range lines {
		fmt.Fprintln(out, line)
	}
	return out.Flush()
}

// lines formats the table as text. Its rows are indented more than its title and notes.
func (t Table) lines() (lines []string) {
	switch {
	case t.Note != "":
		lines = append(lines, t.Title+": "+t.Note)
	case t.Title != "":
		lines = append(lines, t.Title)
	}
	if t.named() {
		names := fmt.Sprintf("%-*s", 2+max(t.Columns[0].Width, -t.Columns[0].Width), t.Columns[0].Name)
		for _, c := range t.Columns[1:] {
			names += fmt.Sprintf(" %*s", c.Width, c.Name)
		}
		lines = append(lines, names)
	}
	for _, r := range t.Rows {
		line := " "
		for i, cell := range r.Cells {
			line += fmt.Sprintf(" %*s", t.Columns[i].Width, cell)
		}
		if r.Remark != "" {
			line += " " + r.Remark
		}
		lines = append(lines, line)
	}
	return append(lines, t.After...)
}

// named reports whether the columns have names.
func (t Table) named() bool { return len(t.Columns) > 0 && t.Columns[len(t.Columns)-1].Name != "" }
