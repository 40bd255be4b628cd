package needs

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
)

// witness is a test of which only the end counts.
type witness struct {
	testing.TB
	ended string
}

func (*witness) Helper() {}

func (*witness) Logf(string, ...any) {}

func (w *witness) SkipNow() {
	w.ended = "skipped"
	runtime.Goexit()
}

func (w *witness) Fatalf(format string, args ...any) {
	w.ended = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// Promise: "skip here, fail in CI".
func TestHere(t *testing.T) {
	missing := errors.New("no browser")
	for _, c := range []struct {
		ci      string
		missing error
		want    string
	}{
		{"", nil, "ran"},
		{"true", nil, "ran"},
		{"", missing, "skipped"},
		{"false", missing, "skipped"},
		{"true", missing, "the page cannot be tested, and CI must not pass without: no browser"},
	} {
		t.Setenv("CI", c.ci)
		w := &witness{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			Here(w, "the page", c.missing)
			w.ended = "ran"
		}()
		<-done
		if w.ended != c.want {
			t.Errorf("CI=%q, missing %v: %s, want %s", c.ci, c.missing, w.ended, c.want)
		}
	}
}
