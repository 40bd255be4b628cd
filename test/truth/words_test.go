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
