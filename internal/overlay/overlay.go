// Package overlay lets a test build programs from this module with some source files replaced. In
// this way a test takes a rule out of the code, and checks that another test then fails.
package overlay

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Sources are the source files that are replaced. They belong to one test and its goroutine.
type Sources struct {
	t     testing.TB
	files map[string]string // contents by absolute path
}

// New returns Sources that replace nothing.
func New(t testing.TB) *Sources { return &Sources{t, map[string]string{}} }

// Add replaces the file at path by content, or adds it. The path is relative to the working directory.
func (s *Sources) Add(path, content string) {
	s.t.Helper()
	s.files[s.abs(path)] = content
}

// Replace replaces old by text in the file at path, after earlier replacements in it. The file must
// contain old exactly once. If not, Replace fails the test; the parameter what names the rule in
// its message.
func (s *Sources) Replace(what, path, old, text string) {
	s.t.Helper()
	content, ok := s.files[s.abs(path)]
	if !ok {
		data, err := os.ReadFile(path)
		if err != nil {
			s.t.Fatal(err)
		}
		content = string(data)
	}
	s.Add(path, ReplaceOnce(s.t, what, path, content, old, text))
}

// ReplaceOnce replaces old by text in the content of the file at path, which must contain old
// exactly once.
func ReplaceOnce(t testing.TB, what, path, content, old, text string) string {
	t.Helper()
	if n := strings.Count(content, old); n != 1 {
		t.Fatalf("%q: %q is %d times in %s, want once", what, old, n, path)
	}
	return strings.Replace(content, old, text, 1)
}

// Build writes the replaced files to disk. It returns the path of the program, and the arguments of
// the go command that builds it: first verb, then the flags for the replaced files and the output,
// then args. The last of args is the package.
func (s *Sources) Build(verb string, args ...string) (program string, arguments []string) {
	s.t.Helper()
	temp, replaced := s.t.TempDir(), map[string]string{}
	for path, content := range s.files {
		replaced[path] = filepath.Join(temp, strconv.Itoa(len(replaced))+".go")
		if err := os.WriteFile(replaced[path], []byte(content), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		s.t.Fatal(err)
	}
	path, program := filepath.Join(temp, "overlay.json"), filepath.Join(temp, "program")
	if err := os.WriteFile(path, list, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return program, append([]string{verb, "-overlay", path, "-o", program}, args...)
}

func (s *Sources) abs(path string) string {
	s.t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		s.t.Fatal(err)
	}
	return abs
}
