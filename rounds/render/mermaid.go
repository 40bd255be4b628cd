package render

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/ringleader-dev/ringleader/rounds"
)

const (
	// Mermaid gives up above 50,000 characters, and has no lanes that shrink.
	mermaidLanes  = 30
	mermaidArrows = 40 // in one band; with more messages it has no arrows, only its notes
)

// Mermaid draws a round as a sequenceDiagram of Mermaid. GitHub and others render such a diagram
// in Markdown between ```mermaid and ```, two lines that the caller writes.
func Mermaid(w io.Writer, r *rounds.Round) error {
	s := newLayout(r, nil, nil)
	m := &mermaid{layout: s, out: bufio.NewWriter(w), has: map[uint64]bool{}}
	m.choose()
	m.line("sequenceDiagram")
	m.line("  accTitle: %s", mermaidText(title(r)))
	for _, id := range m.lanes {
		if m.has[id] {
			m.line("  participant n%d as node %d", id, id)
		}
	}
	if len(r.Steps) > 0 {
		began := "0 ms is " + s.zero.UTC().Format("2006-01-02 15:04:05.000 UTC")
		if c := cause(r); c != "" {
			m.note(c, began)
		} else {
			m.note(began)
		}
	}
	for _, b := range m.bands {
		for _, p := range m.phaseAt(b.first) {
			m.note(p.title())
		}
		m.band(b)
	}
	return m.out.Flush()
}

type mermaid struct {
	*layout
	out         *bufio.Writer
	has         map[uint64]bool // the nodes that have a lane
	left, right uint64          // the nodes with the first and the last lane
}

// choose gives a lane to each node. If the nodes are too many, it gives lanes only to nodes with
// a step that is a band of its own.
func (m *mermaid) choose() {
	for _, id := range m.lanes {
		m.has[id] = len(m.lanes) <= mermaidLanes
	}
	for _, b := range m.bands {
		if id := m.round.Steps[b.first].Ref.Node; b.single() && m.count() < mermaidLanes {
			m.has[id] = true
		}
	}
	for _, id := range m.lanes {
		if m.has[id] {
			if m.left == 0 {
				m.left = id
			}
			m.right = id
		}
	}
}

func (m *mermaid) count() (n int) {
	for _, has := range m.has {
		if has {
			n++
		}
	}
	return n
}

func (m *mermaid) line(format string, args ...any) { fmt.Fprintf(m.out, format+"\n", args...) }

// note writes a note that covers all lanes.
func (m *mermaid) note(lines ...string) {
	if m.left == 0 || len(lines) == 0 {
		return
	}
	over := fmt.Sprintf("n%d", m.left)
	if m.right != m.left {
		over += fmt.Sprintf(",n%d", m.right)
	}
	m.line("  Note over %s: %s", over, mermaidLines(lines))
}

// band writes the notes of the band's steps, and then their messages.
func (m *mermaid) band(b band) {
	st := m.round.Steps[b.first]
	var lines []string
	var messages []int
	for _, n := range m.notes(b) {
		received := b.single() && n.about == aboutEvent && st.Received >= 0
		if n.about != aboutSent || !b.single() {
			if !received { // its arrow told
				lines = append(lines, n.text)
			}
		}
		messages = append(messages, n.messages...)
	}
	if len(lines) > 0 {
		lines[0] = m.times(b) + ": " + lines[0]
	}
	switch {
	case !b.single() || !m.has[st.Ref.Node]:
		m.note(lines...)
	case len(lines) > 0:
		m.line("  Note over n%d: %s", st.Ref.Node, mermaidLines(lines))
	}
	if len(messages) > mermaidArrows {
		return
	}
	for _, i := range messages {
		m.arrow(m.round.Messages[i])
	}
}

// times returns when the band's first step was, and its last one, if that was later.
func (m *mermaid) times(b band) string {
	first, last := millis(m.since(b.first)), millis(m.since(b.last-1))
	if first == last {
		return first + " ms"
	}
	return first + "…" + last + " ms"
}

// arrow writes a message, with the times of its sending and its receipt.
func (m *mermaid) arrow(msg rounds.Message) {
	if !m.has[msg.From] || !m.has[msg.To] {
		return
	}
	arrow, mark := "->>", ""
	switch msg.Delivery {
	case rounds.Lost:
		arrow, mark = "-x", " (lost)"
	case rounds.ToGone:
		arrow, mark = "-x", " (gone)"
	case rounds.Unseen:
		arrow, mark = "-->>", " (no receipt)"
	}
	when := ""
	if msg.SendStep >= 0 {
		when = ", " + millis(m.since(msg.SendStep))
		if msg.ReceiveStep >= 0 {
			when += "→" + millis(m.since(msg.ReceiveStep))
		}
		when += " ms"
	}
	m.line("  n%d%sn%d: %s", msg.From, arrow, msg.To, mermaidText(clean(msg.Kind)+when+mark))
}

func mermaidLines(lines []string) string {
	escaped := make([]string, len(lines))
	for i, l := range lines {
		escaped[i] = mermaidText(l)
	}
	return strings.Join(escaped, "<br/>")
}

// mermaidText escapes all text that could have a meaning in Mermaid, or in the HTML that Mermaid
// makes. All characters but letters, digits and a few harmless signs become numeric entities, which
// Mermaid writes like #59;. So does the first letter of Mermaid's keyword "end", and of the words
// that Mermaid looks for when it cleans up the source.
func mermaidText(s string) string {
	if s = strings.ReplaceAll(s, " -> ", " → "); strings.TrimSpace(s) == "" {
		return "…" // its grammar wants some text
	}
	var b strings.Builder
	before := byte(0)
	for i, c := range s {
		harmless := strings.ContainsRune(" .,:()-…★×→", c) || unicode.IsLetter(c) || unicode.IsDigit(c)
		word := mermaidWord().MatchString(s[i:]) || mermaidEnd().MatchString(s[i:]) && !isASCIIWord(before)
		before = s[i]
		if harmless && !word {
			b.WriteRune(c)
			continue
		}
		fmt.Fprintf(&b, "#%d;", c)
	}
	return b.String()
}

// Regular expressions that are compiled at their first use. A node never uses them.
var (
	mermaidWord = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?i:style|classdef|wrap:|nowrap:)`)
	})
	mermaidEnd = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?i:end)`) })
)

func isASCIIWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
