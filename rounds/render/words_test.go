package render

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
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
