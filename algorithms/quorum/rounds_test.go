package quorum_test

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/quorum"
)

// "One that comes late counts for its own round, and for a lease from when that began."
func TestRounds(t *testing.T) {
	v := quorum.Voters{1, 2, 3, 4, 5}
	at := func(nonce uint64) time.Time { return time.Unix(int64(nonce), 0) }
	var present quorum.Count
	var r quorum.Rounds
	enough := func(c *quorum.Count) bool { return c.Of(v) }
	present.Add(1)
	for nonce := uint64(1); nonce <= 5; nonce++ {
		r.Keep(nonce, at(nonce), present)
	}
	present.Add(2) // the count goes on with the next round
	for _, c := range []struct {
		nonce uint64
		from  int
		ok    bool
	}{
		{1, 2, false},
		{1, 3, false},
		{2, 2, false},
		{3, 3, false},
		{2, 2, false},
		{2, 4, true},
		{9, 5, false},
		{3, 4, true},
	} {
		noted, ok := r.Add(c.nonce, v[c.from-1], enough)
		if ok != c.ok || ok && !noted.Equal(at(c.nonce)) {
			t.Errorf("round %d, voter %d: %v, %v", c.nonce, c.from, noted, ok)
		}
	}
	r.Reset()
	if _, ok := r.Add(2, 5, enough); ok {
		t.Error("it was to forget all")
	}
}
