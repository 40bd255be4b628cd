package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/ringleader-dev/ringleader/rounds"
)

// width is the number of columns of a line: that of a terminal with its usual size.
const width = 80

// page collects lines.
type page struct {
	strings.Builder
	names  *rounds.Names
	theory bool // with formulas, and sentences of the sources
}

// line writes one line, made printable, since arguments come from logs.
func (p *page) line(format string, args ...any) {
	p.WriteString(rounds.Printable(fmt.Sprintf(format, args...)))
	p.WriteByte('\n')
}

// field writes text beside a label, wrapped. What is wrapped stands two columns further to the right.
func (p *page) field(label, format string, args ...any) {
	const indent = 12
	text := rounds.Printable(fmt.Sprintf(format, args...))
	for _, line := range Wrap(text, width-indent-2) {
		fmt.Fprintf(p, "%-*s%s\n", indent, label, line)
		label = strings.Repeat(" ", indent+2)
	}
}

// paragraph writes sentences, wrapped. An empty line stands before each paragraph but the
// first.
func (p *page) paragraph(sentences ...string) {
	if len(sentences) == 0 {
		return
	}
	if p.Len() > 0 {
		p.WriteByte('\n')
	}
	text := rounds.Printable(strings.Join(sentences, " "))
	for _, line := range Wrap(text, width) {
		p.WriteString(line + "\n")
	}
}

// items writes a list as a paragraph: a title, and below it each item behind a dash.
func (p *page) items(title string, items []string) {
	p.paragraph(title)
	for _, item := range items {
		mark := "- "
		for _, line := range Wrap(rounds.Printable(item), width-len(mark)) {
			p.WriteString(mark + line + "\n")
			mark = "  "
		}
	}
}

func (p *page) to(w io.Writer) error {
	_, err := io.WriteString(w, p.String())
	return err
}

// Wrap breaks text between words into lines of at most that many characters. A longer word stands
// alone.
func Wrap(text string, most int) []string {
	lines := []string{""}
	length := 0
	for word := range strings.FieldsSeq(text) {
		size := utf8.RuneCountInString(word)
		last := &lines[len(lines)-1]
		switch {
		case length == 0:
			*last, length = word, size
		case length+1+size <= most:
			*last += " " + word
			length += 1 + size
		default:
			lines = append(lines, word)
			length = size
		}
	}
	return lines
}
