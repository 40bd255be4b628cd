package lecture

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/cost"
	"github.com/ringleader-dev/ringleader/internal/sim"
)

func lookup(s sim.Shape) (sim.Algorithm, error) {
	e, err := catalog.Lookup(s.Algorithm)
	switch {
	case s.Leased:
		e = e.WithLease()
	case s.Recovers:
		e = e.WithRecovery()
	}
	return cost.Simulated(e), err
}

func played(t *testing.T, f Figure) (scenes []Scene) {
	t.Helper()
	if err := f.Play(lookup, func(s Scene) error {
		scenes = append(scenes, s)
		return nil
	}); err != nil {
		t.Error(err)
	}
	return scenes
}

// "Plays each in its own ids with the note's sentence at each step": what a figure expects comes out, and each
// step has something to say.
func TestEveryFigureComesOut(t *testing.T) {
	for _, f := range All() {
		t.Run(f.Name, func(t *testing.T) {
			quoted, expects := false, false
			for i, s := range played(t, f) {
				if len(s.Sentences) == 0 {
					t.Errorf("step %d says nothing", i+1)
				}
				for _, p := range s.Sentences {
					quoted = quoted || strings.Contains(p, `"`)
					if strings.Count(p, `"`)%2 != 0 {
						t.Errorf("step %d: a quotation does not end: %s", i+1, p)
					}
				}
				expects = expects ||
					slices.ContainsFunc(s.Commands, func(c string) bool { return strings.HasPrefix(c, "expect ") })
			}
			if !quoted || !expects {
				t.Errorf("quotes the notes: %v; expects what they say: %v", quoted, expects)
			}
		})
	}
}

// "A test checks every number that the seeds print against the run": the numbers of the notes, where they are
// printed, and the figure that expects them.
func TestTheNotesNumbers(t *testing.T) {
	for _, number := range []struct{ figure, sentence, expects string }{
		{"ring-worst-case", "Message complexity: (3N-1) messages.", "ELECTION=11 ELECTED=6 total=17"},
		{"ring-worst-case", "Completion time: (3N-1) message transmission times.", "times=17"},
		{"ring-best-case", "Message complexity: 2N messages.", "total=12"},
		{"ring-best-case", "Completion time: 2N message transmission times.", "times=12"},
		{"bully-worst-case", "Number of Election messages = N-1 + N-2 + ... + 1 = (N-1)*N/2.", "ELECTION=15"},
		{"bully-worst-case", "Worst-case completion time: 5 message transmission times", "times=5"},
		{"bully-best-case", "Sends (N-2) Coordinator messages.", "COORDINATOR=4 total=4"},
		{"bully-best-case", "Completion time: 1 message transmission time.", "times=1"},
		{"token-ring", "4. A adds self, sends ELECTION(B,C,D,A) to B.", "ELECTION=4"},
		{"lease-ten-seconds", "valid until T+10s.", "leads=3"},
		{"clock-behind", "Leader: thinks lease expires at 10:00:10.", "leads=3"},
	} {
		f, err := Find(number.figure)
		if err != nil {
			t.Fatal(err)
		}
		text, expects := "", ""
		for _, s := range f.Steps {
			text += strings.Join(s.About, " ") + " "
			for _, c := range s.Commands {
				if c.Verb == "expect" {
					expects += c.String() + " "
				}
			}
		}
		if !strings.Contains(text, number.sentence) || !strings.Contains(expects, number.expects) {
			t.Errorf(
				"%s: %q, expecting %q, is not in %q, %q", number.figure, number.sentence, number.expects, text,
				expects,
			)
		}
	}
}

func TestUnknownFigure(t *testing.T) {
	if _, err := Find("token"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "token-ring") {
		t.Error(err)
	}
}

// "The page draws the ring as a circle and marks the sentence."
func TestPage(t *testing.T) {
	for _, f := range All() {
		scenes := played(t, f)
		var out bytes.Buffer
		if err := Page(&out, f, scenes); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if got := strings.Count(text, `<circle class="ring"`); got != len(scenes) {
			t.Errorf("%s: %d circles for %d scenes", f.Name, got, len(scenes))
		}
		if !strings.Contains(text, "<mark>“") || strings.Contains(text, "http") ||
			strings.Contains(text, "ZgotmplZ") {
			t.Errorf("%s: nothing is marked, or something is from elsewhere", f.Name)
		}
	}
}

func TestPageEscapes(t *testing.T) {
	var out bytes.Buffer
	bad := Scene{Sentences: []string{`"<script>" <b>`}, Commands: []string{"<i>"}, Trace: "a <- b"}
	if err := Page(&out, Figure{Title: "<u>"}, []Scene{bad}); err != nil {
		t.Fatal(err)
	}
	for _, tag := range []string{"<script>", "<b>", "<i>", "<u>", "a <-"} {
		if strings.Contains(out.String(), tag) {
			t.Errorf("%s is not escaped", tag)
		}
	}
}

// "Current token is 101, rejecting 100": the stale leader's write is refused, in the notes' own numbers.
func TestStaleTokenIsRejected(t *testing.T) {
	f, err := Find("fencing-tokens")
	if err != nil {
		t.Fatal(err)
	}
	scenes := played(t, f)
	if last := scenes[len(scenes)-1].Trace; !strings.Contains(last, "current token is 101, rejecting 100") {
		t.Error(last)
	}
}
