package rounds

import (
	"testing"
	"time"
)

// "Voters 1, 2, 3 and 4 ended: 1 of 5 remains" was said of a whole outage, of which it was true for eight seconds: of
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
		"voters 1, 2 and 3 ended: 2 of 5 remain": {
			[]shortage{lack(0, 9, one, dead(2), dead(3))}, 9, false,
		},
		"voters 1, 2 and 3 ended: 2 of 5 remain, too few to elect for at least 9 s of the 11 s": {
			[]shortage{lack(0, 9, one, dead(2), dead(3))}, 11, false,
		},
		"voters 1, 2 and 3 ended, for a time 4 ended: 1 of 5 at the fewest": {[]shortage{
			lack(0, 1, one, dead(2), dead(3)), lack(1, 9, one, dead(2), dead(3), dead(4)),
			lack(9, 10, one, dead(2), dead(3)),
		}, 10, false},
		"voters 2 and 3 ended, 1 paused and then ended, later 4 ended: 1 of 5 remains": {[]shortage{
			lack(0, 1, asleep, dead(2), dead(3)), lack(1, 9, one, dead(2), dead(3), dead(4)),
		}, 9, true},
		"voters 1 and 2 ended, at first 3 ended, later 4 ended: 2 of 5 at the fewest," +
			" too few to elect for at least 4 s of the 9 s": {[]shortage{
			lack(0, 2, one, dead(2), dead(3)), lack(7, 9, one, dead(2), dead(4)),
		}, 9, false},
		"at first voters 1 and 2 ended, later 3 and 4 ended: 3 of 5 at the fewest": {[]shortage{
			lack(0, 2, one, dead(2)), lack(2, 9, dead(3), dead(4)),
		}, 9, false},
	} {
		if got := tellShortages(c.all, "voter", 5, zero, at(c.until), c.open); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// "Voters 1 and 3 dead: 1 of 3 remains, too few for 1.06 s of it": it was so for 1.4 s. What else tells in a part of
// that time that one of them was away makes no other time of it.
func TestForHowLongVotersWereMissing(t *testing.T) {
	zero := time.Date(2026, time.November, 28, 12, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return zero.Add(time.Duration(ms) * time.Millisecond) }
	away := []absence{
		{id: 1, from: at(-900), until: at(1398), how: "dead"},
		{id: 1, from: at(252), until: at(1398), how: silent},
		{id: 1, from: at(-200), until: at(1311), how: silent},
		{id: 3, from: at(-890), until: at(1416), how: "dead"},
	}
	all := shortages(away, 3, 1, zero, at(2334))
	if len(all) != 1 || all[0].length() != 1398*time.Millisecond {
		t.Errorf("%+v", all)
	}
}
