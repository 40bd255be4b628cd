package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
)

var (
	// aFigure is a command line, and the diagram that it draws, below it.
	aFigure = regexp.MustCompile("(?m)^```sh\n\\$ (ringleader [^`]*)```\n\n```mermaid\n([^`]*)```\n")
	// aSession is a command line, and what it prints, below it. A line of it that ends with | or \ goes on.
	aSession = regexp.MustCompile("(?m)^```\n\\$ ((?:.*[|\\\\]\n)*.*\n)([^`]*)```\n")
)

// The pages whose figures and sessions are what the commands above them print.
var livePages = []string{"ALGORITHMS-STEP-BY-STEP.md", "THEORY.md"}

// Figures and sessions of the pages are what the commands above them print. With -rewrite they
// are printed anew, and to be looked at then.
func TestPagesShowWhatIsPrinted(t *testing.T) {
	t.Parallel()
	for _, name := range livePages {
		file := filepath.Join("..", "..", "docs", name)
		was, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		blocks := len(aFigure.FindAllIndex(was, -1)) + len(aSession.FindAllIndex(was, -1))
		if commands := strings.Count(string(was), "\n$ "); blocks == 0 || blocks != commands {
			t.Errorf("docs/%s has %d commands, and %d of them have what they print", name, commands, blocks)
		}
		now := printed(t, aSession, printed(t, aFigure, string(was)))
		if *rewrite {
			if err := os.WriteFile(file, []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if now != string(was) {
			t.Errorf("docs/%s shows something else than its commands print: write it anew with "+
				"go test ./cmd/node -run TestPagesShowWhatIsPrinted -rewrite, and look at the difference", name)
		}
	}
}

// printed returns the page with the output of each command that the pattern finds in it.
func printed(t *testing.T, pattern *regexp.Regexp, page string) string {
	t.Helper()
	return pattern.ReplaceAllStringFunc(page, func(block string) string {
		found := pattern.FindStringSubmatch(block)
		var complaint bytes.Buffer
		shell := exec.Command("sh", "-c", found[1])
		shell.Stderr = &complaint
		output, err := shell.Output()
		if err != nil || complaint.Len() > 0 || len(output) == 0 {
			t.Errorf("%s%v %s", found[1], err, complaint.String())
		}
		return strings.TrimSuffix(block, found[2]+"```\n") + string(output) + "```\n"
	})
}

// Each algorithm has its steps, and a figure of it.
func TestEachAlgorithmHasItsSteps(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "ALGORITHMS-STEP-BY-STEP.md"))
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]string{}
	for _, section := range strings.Split(string(page), "\n## ")[1:] {
		name, text, _ := strings.Cut(section, "\n")
		of[name] = text
	}
	for _, name := range catalog.Names() {
		steps := regexp.MustCompile(`(?m)^\d\. `).FindAllString(of[name], -1)
		drawn := aFigure.FindStringSubmatch(of[name])
		switch {
		case len(steps) < 4 || len(steps) > 8:
			t.Errorf("%s has %d steps, want 4 to 8", name, len(steps))
		case drawn == nil || !strings.Contains(drawn[2], fmt.Sprintf(", %s: node ", name)):
			t.Errorf("%s has no figure of it", name)
		case !strings.Contains(of[name], "\nCosts"):
			t.Errorf("%s does not say where its costs come from", name)
		}
	}
	if len(of) != len(catalog.Names()) {
		t.Errorf("%d sections for %d algorithms", len(of), len(catalog.Names()))
	}
}
