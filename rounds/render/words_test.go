package render

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/ringleader-dev/ringleader/rounds"
)

// Every text of a log passes through one of these two on its way into a picture:
// what they let through is short, printable, and to Mermaid mere words. This is
// the part of FuzzHostileText that a fuzzer can do thousands of times a second.
func FuzzWords(f *testing.F) {
	for _, text := range []string{
		"", "node 3 is gone", "\x1b[2J\a", "\u202egnp.exe", "\xff\xfe", "end; end #35; %%{init}%%", "endClAssDef",
		"wrap: nowrap: a->>b: c", "</script><img src=x onerror=alert(1)>", strings.Repeat("W", 700), "größer → 1",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cleaned := clean(text)
		if n := utf8.RuneCountInString(cleaned); n > maxText || !utf8.ValidString(cleaned) {
			t.Fatalf("%q became %q, of %d characters", text, cleaned, n)
		}
		for _, c := range cleaned {
			if !unicode.IsPrint(c) {
				t.Fatalf("%U reached the picture", c)
			}
		}
		words := mermaidText(cleaned)
		if strings.ContainsAny(words, "<>&\"'{}[]\n\r%") || keyword.MatchString(words) {
			t.Fatalf("%q became %q", text, words)
		}
	})
}

// keyword are words that Mermaid takes for its own.
var keyword = regexp.MustCompile(`(?i)\bend\b|style|classdef|wrap:`)

// A page has room for sentences: what is missing of each of 50 nodes is read to its end.
func TestSentencesAreWhole(t *testing.T) {
	long := "Records are missing: " + strings.Repeat("267 of node 1, ", 50) + "1 of node 2."
	if got := sentence(long); got != long {
		t.Errorf("the page says %q", got)
	}
	if got := utf8.RuneCountInString(sentence(strings.Repeat(long, 10))); got != maxSentence {
		t.Errorf("a sentence of %d characters", got)
	}
}

// "Words for 3 a.m.: node 5 outranks node 2 and took over": the page tells why the leader changed as the list does.
func TestPageTellsWhyTheLeaderChanged(t *testing.T) {
	r := &rounds.Round{
		Winner:   &rounds.Winner{Node: 4},
		Cause:    rounds.Cause{Text: "5 asks for a leader of the next term", Node: 4},
		Incident: &rounds.Incident{Why: "node 5 handed over: it was asked to resign"},
	}
	if got, want := brief(r), "4 leads: node 5 handed over: it was asked to resign"; got != want {
		t.Errorf("the page says %q, want %q", got, want)
	}
	r.Incident = nil
	if got, want := brief(r), "4 leads: 5 asks for a leader of the next term"; got != want {
		t.Errorf("the page says %q, want %q", got, want)
	}
}
