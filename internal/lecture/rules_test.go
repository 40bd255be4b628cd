package lecture

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write docs/LECTURE.md anew")

const notesPage = "../../docs/LECTURE.md"

// "A page made from the rules that holds each sentence of the seeds against the rule, the command that shows it,
// and what we do differently and why": it is made of the figures and of the rules that acted in each step.
// `go test ./internal/lecture -rewrite` writes it.
func TestNotesBesideTheRules(t *testing.T) {
	want := notesBesideRules(t)
	if *rewrite {
		if err := os.WriteFile(notesPage, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(notesPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("docs/LECTURE.md is not what the figures give: go test ./internal/lecture -rewrite, and read it")
	}
}

// rule is a line of a trace that gives a reason: its sentence, and its code.
var rule = regexp.MustCompile(`(?m)^ {12}(.+)  \[([a-z]+\.[a-z-]+)`)

func notesBesideRules(t *testing.T) string {
	var b strings.Builder
	b.WriteString(`# The lecture notes, sentence by sentence

What the notes say, beside the rules of this program that acted when the sentence was played. "Quoted" is the notes';
what is in italics is ours, and says what is done differently, and why. ` +
		"`ringleader lecture NAME`" + ` plays a figure,
` + "`-o html`" + ` draws it, ` + "`--quiz`" + ` asks. The codes of the rules are those in the records of real nodes.

This page is made of the figures: ` +
		"`go test ./internal/lecture -rewrite`" + `. Beyond them, the notes' uses and anti-patterns
run as programs, and [ALGORITHMS.md](ALGORITHMS.md) says where the notes count in another way.
`)
	for _, f := range All() {
		fmt.Fprintf(
			&b, "\n## %s\n\n%s. `ringleader lecture %s`\n\n| the notes | rules that acted |\n|---|---|\n", f.Title,
			f.From, f.Name,
		)
		for _, s := range played(t, f) {
			fmt.Fprintf(
				&b, "| %s | %s |\n", strings.Join(each(s.Sentences, italics), "<br>"),
				strings.Join(rules(s.Trace), "<br>"),
			)
		}
	}
	return b.String()
}

// rules returns the rules of a trace: of each code the first sentence.
func rules(trace string) (all []string) {
	seen := map[string]bool{}
	for _, m := range rule.FindAllStringSubmatch(trace, -1) {
		if !seen[m[2]] {
			seen[m[2]] = true
			all = append(all, fmt.Sprintf("`%s` %s", m[2], cell(m[1])))
		}
	}
	return all
}

// italics puts what is not quoted into italics.
func italics(paragraph string) string {
	parts := strings.Split(paragraph, `"`)
	for i, p := range parts {
		switch text := strings.TrimSpace(p); {
		case i%2 == 1:
			parts[i] = `"` + cell(p) + `"`
		case len(text) > 1:
			parts[i] = strings.Replace(p, text, "*"+cell(text)+"*", 1)
		}
	}
	return strings.Join(parts, "")
}

// cell escapes what would end a cell of a table, or its markup.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`).Replace(text)
}

func each(all []string, f func(string) string) []string {
	out := make([]string, len(all))
	for i, one := range all {
		out[i] = f(one)
	}
	return out
}
