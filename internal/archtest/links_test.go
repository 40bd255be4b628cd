package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	pageLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	// notInAnchor is what GitHub leaves out of the anchor of a heading.
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// A page that was moved leaves links behind that lead nowhere.
func TestPagesLinkToWhatIsThere(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, page := range append(pages, "../../README.md", "../../examples/README.md") {
		for _, found := range pageLink.FindAllStringSubmatch(read(t, page), -1) {
			target, anchor, _ := strings.Cut(found[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			links++
			to := page
			if target != "" {
				to = filepath.Join(filepath.Dir(page), target)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s: %v", page, found[1], err)
				continue
			}
			if anchor != "" && !hasAnchor(read(t, to), anchor) {
				t.Errorf("%s links to %s: there is no such heading", page, found[1])
			}
		}
	}
	if links == 0 {
		t.Error("no link was looked at")
	}
}

// "README of at most 150 lines that a user reads in three minutes".
func TestReadmeIsShort(t *testing.T) {
	if lines := strings.Count(read(t, "../../README.md"), "\n"); lines > 150 {
		t.Errorf("the README has %d lines", lines)
	}
}

func hasAnchor(page, anchor string) bool {
	for _, found := range heading.FindAllStringSubmatch(page, -1) {
		plain := notInAnchor.ReplaceAllString(strings.ToLower(found[1]), "")
		if strings.ReplaceAll(plain, " ", "-") == anchor {
			return true
		}
	}
	return false
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
