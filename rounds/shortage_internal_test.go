package rounds

import (
	"testing"
	"time"
)

// "Voters 1, 2, 3 and 4 dead: 1 of 5 remains" was said of a whole outage, of which it was true for eight seconds: of
// what changes, it is told when it was so.
func TestWhichVotersWereMissingAndWhen(t *testing.T) {
	zero := time.Date(2026, time.November, 28, 12, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return zero.Add(time.Duration(s) * time.Second) }
	lack := func(from, until int, missing ...absence) shortage {
		return shortage{at(from), at(until), missing, false}
	}
	dead := func(id uint64) absence { return absence{id: id, how: "dead"} }
	one, asleep := dead(1), absence{id: 1, how: "paused"}
	for want, c := range map[string]struct {
		all   []shortage
		until int
		open  bool
	}{
		"voters 1, 2 and 3 dead: 2 of 5 remain": {
			[]shortage{lack(0, 9, one, dead(2), dead(3))}, 9, false,
		},
		"voters 1, 2 and 3 dead: 2 of 5 remain, too few to elect for 9 s of the 11 s": {
			[]shortage{lack(0, 9, one, dead(2), dead(3))}, 11, false,
		},
		"voters 1, 2 and 3 dead, for a time 4 dead: 1 of 5 at the fewest": {[]shortage{
			lack(0, 1, one, dead(2), dead(3)), lack(1, 9, one, dead(2), dead(3), dead(4)),
			lack(9, 10, one, dead(2), dead(3)),
		}, 10, false},
		"voters 2 and 3 dead, 1 paused and then dead, later 4 dead: 1 of 5 remains": {[]shortage{
			lack(0, 1, asleep, dead(2), dead(3)), lack(1, 9, one, dead(2), dead(3), dead(4)),
		}, 9, true},
		"voters 1 and 2 dead, at first 3 dead, later 4 dead: 2 of 5 at the fewest," +
			" too few to elect for 4 s of the 9 s": {[]shortage{
			lack(0, 2, one, dead(2), dead(3)), lack(7, 9, one, dead(2), dead(4)),
		}, 9, false},
		"at first voters 1 and 2 dead, later 3 and 4 dead: 3 of 5 at the fewest": {[]shortage{
			lack(0, 2, one, dead(2)), lack(2, 9, dead(3), dead(4)),
		}, 9, false},
	} {
		if got := tellShortages(c.all, "voter", 5, zero, at(c.until), c.open); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
