package demo

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/storeserver"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/rounds/render"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// textWidth is the width of a terminal and of a code block in a README.
const textWidth = 80

// margin is the space before every line except the titles.
const margin = "   "

// teller prints the demo's story as plain text.
type teller struct{ out io.Writer }

func (t teller) title(entry catalog.Entry, nodes int) {
	fmt.Fprintf(t.out, "%d nodes elect a leader with the %s algorithm (%s):\n%s.\n",
		nodes, entry.Name, entry.Guarantee, entry.Summary)
	if entry.Leased {
		fmt.Fprintf(t.out, "It nominates. A majority of the %d voters makes its nominee the leader, for the\n"+
			"time of a lease; --voters none shows the algorithm alone.\n", nodes)
	}
}

// titleOnStore prints the title of the story on a store.
func (t teller) titleOnStore(entry catalog.Entry, nodes int, s *storeserver.Server) {
	fmt.Fprintf(t.out, "%d nodes elect a leader with the %s algorithm:\n%s.\n", nodes, entry.Name, entry.Summary)
	fmt.Fprintf(t.out, "It nominates. An entry in a store makes its nominee the leader, for the time of\n"+
		"a lease. The store is %s, pid %d, at %s, only for\nthis demo.\n", s.Kind(), s.PID(), s.Address())
}

// quote prints text as it is.
func (t teller) quote(text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(t.out, "%s  %s\n", margin, strings.TrimRight(line, "\n"))
	}
}

// chapter prints the title of the next part of the story.
func (t teller) chapter(number int, format string, args ...any) {
	fmt.Fprintf(t.out, "\n%d. %s\n\n", number, fmt.Sprintf(format, args...))
}

// say prints sentences as a paragraph, and wraps its lines.
func (t teller) say(format string, args ...any) {
	fmt.Fprintln(t.out)
	t.begin(format, args...)
}

// begin prints a paragraph without the blank line before it.
func (t teller) begin(format string, args ...any) {
	for sentence := range strings.Lines(fmt.Sprintf(format, args...)) {
		for _, line := range report.Wrap(sentence, textWidth-len(margin)) {
			fmt.Fprintf(t.out, "%s%s\n", margin, line)
		}
	}
}

func (t teller) started(n testcluster.Node, pid int) {
	fmt.Fprintf(t.out, margin+"node %-2v  pid %-7d  gossip %-15s  election %s\n",
		n.ID, pid, n.Gossip, n.Election)
}

// draw prints each round of an election as a diagram with a lane for each node.
func (t teller) draw(e election) {
	for i, r := range e {
		if i > 0 {
			fmt.Fprintln(t.out)
		}
		var diagram bytes.Buffer
		_ = render.Text(&diagram, inShort(r), textWidth-len(margin)) // a Buffer takes all
		for line := range strings.Lines(diagram.String()) {
			if line != "\n" {
				line = margin + line
			}
			fmt.Fprint(t.out, line)
		}
	}
}

// cost describes the time and the messages of an election, over all its terms: "detect 2.8 ms + elect 0.1 ms,
// 11 messages". It gives a time to detect only if the death caused the election's first term.
func cost(e election, dead death) string {
	began, last := e[0].Split.Began, e.last().Split
	var parts []string
	for _, part := range []struct {
		name  string
		took  time.Duration
		known bool
	}{
		{"detect", began.Sub(dead.at), e[0].Cause.Lost == uint64(dead.node)},
		{"elect", e.last().Winner.At.Sub(began) - last.LedOn, last.ElectKnown},
		{"announce", last.Announce, last.AnnounceKnown},
	} {
		if part.known {
			parts = append(parts, part.name+" "+millis(part.took))
		}
	}
	sent := 0
	for _, r := range e {
		for _, c := range r.Counts {
			sent += c.Sent
		}
	}
	text := fmt.Sprintf("%s, %d messages", strings.Join(parts, " + "), sent)
	if last.LedOn > 0 {
		text += fmt.Sprintf("; the former leader led on for %s before", millis(last.LedOn))
	}
	return text
}

func (t teller) end(took time.Duration) {
	fmt.Fprintf(t.out, "\nEvery step held, in %.1f s. No process is left.\n", took.Seconds())
}

func millis(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
