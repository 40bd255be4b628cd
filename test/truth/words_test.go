//go:build realtruth

package truth_test

import (
	"fmt"
	"testing"
)

// "Voter 1 dead, 3 down or paused: at most 1 of 3 remains" was read as of a voter that was "down", which no incident
// says: so it was sought at no time, and true was called false.
func TestHowVotersWereMissingIsReadWhole(t *testing.T) {
	const why = "voter 1 dead, 3 down or paused, later 4 and 5 ended and not seen since: at most 1 of 5 remains"
	got := ""
	for _, part := range votersDid.FindAllStringSubmatch(why, -1) {
		got += fmt.Sprintf("[%s: %s]", part[1], part[2])
	}
	if want := "[1: dead][3: down or paused][4 and 5: ended and not seen since]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// "Because of a request that was none" was said of a leader that had died, since another node had been asked to resign:
// that one stood aside.
func TestWhyOthersStoodAsideIsNoRequest(t *testing.T) {
	for why, want := range map[string]string{
		"the process of node 2 ended, and node 3 stood aside: asked to resign at 2026-11-29T14:06:44Z by 127.0.0.1": "" +
			"the process of node 2 ended",
		"nodes 1 and 3 stood aside: asked to resign at 2026-11-29T14:06:44Z by 127.0.0.1": "",
		"node 1 handed over: asked to resign, and node 1 stood aside for the same reason": "" +
			"node 1 handed over: asked to resign",
	} {
		if got := aside.ReplaceAllString(why, ""); got != want {
			t.Errorf("%q: %q, want %q", why, got, want)
		}
	}
}
