package render

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ringleader-dev/ringleader/rounds"
)

const (
	minNotes  = 26 // columns that the notes need to be easy to read
	maxLane   = 8
	minLane   = 2
	laneNames = "abcdefghijklmnopqrstuvwxyz"
)

// Text draws a round for a screen with this many columns, at least 40. It draws a diagram with a lane
// for each node if the lanes fit, otherwise a list of what happened.
func Text(w io.Writer, r *rounds.Round, columns int) error {
	s := newLayout(r, nil, nil)
	t := &text{layout: s, out: bufio.NewWriter(w), columns: max(columns, 40), now: s.before}
	t.time = utf8.RuneCountInString(t.stamp(len(r.Steps) - 1))
	for i := range r.Steps {
		t.time = max(t.time, utf8.RuneCountInString(t.stamp(i)))
	}
	if len(s.lanes) > 0 {
		t.lane = min((t.columns-t.time-2-minNotes)/len(s.lanes), maxLane)
	}
	t.head()
	if t.lane < minLane {
		t.list()
	} else {
		t.diagram()
	}
	return t.out.Flush()
}

// text draws a round for a screen.
type text struct {
	*layout
	out     *bufio.Writer
	columns int
	time    int // columns of a time
	lane    int // columns of a lane
	now     []belief
}

func (t *text) head() {
	for _, l := range hang(title(t.round), t.columns, "  ") {
		t.line("%s", l)
	}
	if c := cause(t.round); c != "" {
		for _, l := range hang("  "+c, t.columns, "  ") {
			t.line("%s", l)
		}
	}
	t.line("")
}

func (t *text) line(format string, args ...any) {
	fmt.Fprintln(t.out, strings.TrimRight(fmt.Sprintf(format, args...), " "))
}

// stamp returns the time of a step in ms; for a negative step it returns "ms".
func (t *text) stamp(step int) string {
	if step < 0 {
		return "ms"
	}
	return millis(t.since(step))
}

// phase prints a line over the whole width, with the title of the phase that begins there.
func (t *text) phase(p phase) {
	title := "── " + p.title() + " "
	t.line("%s%s", title, strings.Repeat("─", max(t.columns-utf8.RuneCountInString(title), 0)))
}

// list prints the round without lanes.
func (t *text) list() {
	for _, b := range t.bands {
		for _, p := range t.phaseAt(b.first) {
			t.phase(p)
		}
		stamp := t.stamp(b.first)
		for i, n := range t.listNotes(b) {
			indent := ""
			if i > 0 && n.about != aboutWho {
				indent = "  "
			}
			for _, l := range hang(indent+n.text, t.columns-t.time-2, indent+"  ") {
				t.line("%*s  %s", t.time, stamp, l)
				stamp = ""
			}
		}
	}
}

// listNotes returns the notes of a band. First come the nodes that took its steps.
func (t *text) listNotes(b band) []note {
	notes := t.notes(b)
	if b.single() {
		notes = append([]note{{about: aboutWho, text: t.doers([]int{b.first})}}, notes...)
	}
	return notes
}

// names returns the rows of text above the lanes: the nodes' ids, one digit per row if the lanes are
// narrow. If ids are too long for that, letters stand for them, and legend says which.
func (t *text) names() (rows []string, legend []string) {
	label := make([]string, len(t.lanes))
	longest := 0
	for i, id := range t.lanes {
		label[i] = strconv.FormatUint(id, 10)
		longest = max(longest, len(label[i]))
	}
	if longest > max(t.lane-1, 3) {
		longest = 1
		for i, id := range t.lanes {
			label[i] = letters(i)
			longest = max(longest, len(label[i]))
			legend = append(legend, fmt.Sprintf("%s is %d", label[i], id))
		}
	}
	if longest < t.lane {
		return []string{t.across(label)}, legend
	}
	for digit := range longest {
		row := make([]string, len(label))
		for i, l := range label {
			if place := digit - longest + len(l); place >= 0 {
				row[i] = l[place : place+1]
			}
		}
		rows = append(rows, t.across(row))
	}
	return rows, legend
}

// across returns a row of text with a label over each lane.
func (t *text) across(labels []string) string {
	var b strings.Builder
	for _, l := range labels {
		fmt.Fprintf(&b, "%-*s", t.lane, l)
	}
	return b.String()
}

// letters returns the i-th of the names a, b, … z, ba, bb, …
func letters(i int) string {
	name := ""
	for {
		name = laneNames[i%26:i%26+1] + name
		if i /= 26; i == 0 {
			return name
		}
	}
}

// wrap breaks s into lines of at most this many columns.
func wrap(s string, columns int) []string { return hang(s, columns, "") }

// hang breaks s into lines of at most this many columns, and indents all lines except the first.
func hang(s string, columns int, indent string) (lines []string) {
	r := []rune(s)
	for len(r) > columns {
		end := columns
		for i := columns; i > len(indent); i-- {
			if r[i] == ' ' {
				end = i
				break
			}
		}
		lines = append(lines, string(r[:end]))
		r = []rune(indent + strings.TrimLeft(string(r[end:]), " "))
	}
	return append(lines, string(r))
}
