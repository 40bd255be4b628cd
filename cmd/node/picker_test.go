package main

import "testing"

// "Explain 3-4" was an error, although a line of the list has that for its term: the one that brought a leader is the
// last of them.
func TestTermsOfALineNameItsLeadersTerm(t *testing.T) {
	for word, want := range map[string]uint64{
		"3": 3, "3-4": 4, "9-12": 12, lastTerm: 0,
	} {
		if term, err := termNamed(word); err != nil || term != want {
			t.Errorf("%q: %d, %v", word, term, err)
		}
	}
	for _, word := range []string{"0", "0-2", "4-3", "3-3", "-4", "3-", "3-4-5", "+3-4", "x"} {
		if term, err := termNamed(word); err == nil {
			t.Errorf("%q: %d", word, term)
		}
	}
}
