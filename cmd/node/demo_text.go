package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/cluster"
	"github.com/ringleader-dev/ringleader/trace"
)

// margin stands before every line but the titles.
const margin = "   "

// teller prints the demo's story as plain text.
type teller struct{ out io.Writer }

func (t teller) title(entry catalog.Entry, nodes int) {
	fmt.Fprintf(t.out, "%d nodes elect a leader with the %s algorithm (%s):\n%s.\n",
		nodes, entry.Name, entry.Guarantee, entry.Summary)
}

// chapter opens a part of the story.
func (t teller) chapter(number int, format string, args ...any) {
	fmt.Fprintf(t.out, "\n%d. %s\n\n", number, fmt.Sprintf(format, args...))
}

// say prints sentences, each line of them wrapped.
func (t teller) say(format string, args ...any) {
	fmt.Fprintln(t.out)
	for sentence := range strings.Lines(fmt.Sprintf(format, args...)) {
		for _, line := range wrap(sentence, textWidth-len(margin)) {
			fmt.Fprintf(t.out, "%s%s\n", margin, line)
		}
	}
}

func (t teller) started(n cluster.Node, pid int) {
	fmt.Fprintf(t.out, margin+"node %-2v  pid %-7d  gossip %-15s  election %s\n",
		n.ID, pid, n.Gossip, n.Election)
}

// noticed prints who noticed the death, when and how.
func (t teller) noticed(r cluster.Round) {
	fmt.Fprintln(t.out, margin+"Who noticed, after how many ms, and how:")
	for _, n := range r.Notices {
		t.line(n.At.Sub(r.Since), n.Node, n.Evidence)
	}
}

// messages prints what was said, and why, in causal order.
func (t teller) messages(r cluster.Round) {
	fmt.Fprintf(t.out, "\n"+margin+"What they said in term %d, in causal order:\n", r.Result.Term)
	for _, step := range r.Steps {
		t.line(step.At.Sub(r.Since), step.Node, slices.Concat(step.Why, bursts(step.Sent))...)
	}
}

// bursts joins messages of one kind that follow each other: "ELECTION > 4 5".
func bursts(sent []string) []string {
	var lines []string
	last := ""
	for _, s := range sent {
		kind, to, _, err := trace.SentID(s)
		if err != nil {
			continue // no node writes that
		}
		if kind != last {
			lines, last = append(lines, kind+" >"), kind
		}
		lines[len(lines)-1] += " " + to.String()
	}
	return lines
}

// line prints what a node did some time after the chapter began.
func (t teller) line(after time.Duration, node uint64, texts ...string) {
	const indent = 22
	head := fmt.Sprintf("%s%8.2f  node %-2d  ", margin, inMillis(after), node)
	for _, text := range texts {
		for _, line := range wrap(text, textWidth-indent) {
			fmt.Fprintf(t.out, "%*s%s\n", indent, head, line)
			head = ""
		}
	}
}

func (t teller) end(took time.Duration) {
	fmt.Fprintf(t.out, "\nEvery step held, in %.1f s. No process is left.\n", took.Seconds())
}

func inMillis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func millis(d time.Duration) string { return fmt.Sprintf("%.1f ms", inMillis(d)) }
