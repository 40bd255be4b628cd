package rounds_test

import (
	"slices"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// "Nobody led the term" was told of one that a node had led in records that are missing: before its log begins, within
// it, or after its end; or whose log is not here. So may the last record be of a process that crashed, where others are
// missing.
func TestTermThatSomebodyMayHaveLed(t *testing.T) {
	gap := func(v *voters) {
		v.add(2, 1000, trace.Record{Term: 1})
		v.seq["n2life1"] += 7
	}
	crash := func(v *voters) {
		v.life[2]++
		v.add(2, 2500, trace.Record{Event: "start", Term: 1})
	}
	lost := func(v *voters) { // and it is not known how many
		v.seq["n1life1"] += 7
		v.add(1, 1000, trace.Record{Term: 1})
	}
	for name, c := range map[string]struct {
		missing bool
		spoil   func(v *voters)
		want    bool
	}{
		"all records are here": {false, func(*voters) {}, false},
		"a log is missing":     {true, func(*voters) {}, true},
		"a log begins later":   {false, func(v *voters) { v.seq["n2life1"] = 30 }, true},
		"a gap":                {false, gap, true},
		"a log begins with a later process": {true, func(v *voters) {
			v.life[2]++
			v.add(2, 2500, trace.Record{Event: "start", Term: 1})
		}, true},
		"a crash":                            {false, crash, false},
		"a crash, where records are missing": {false, func(v *voters) { lost(v); crash(v) }, true},
		"records are missing before":         {false, lost, false},
	} {
		v := newVoters()
		for node := uint64(1); node <= 3; node++ {
			if node != 2 || !c.missing {
				v.start(node, 0)
				v.add(node, 5, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
			}
		}
		c.spoil(v)
		v.ask(3, 1100, 2)
		v.ask(3, 2000, 3)
		for node := uint64(1); node <= 3; node++ {
			if node != 2 || !c.missing {
				v.add(node, 3000, trace.Record{Term: 3, Event: "timeout"})
			}
		}
		rs := v.b.History().Groups[0].Rounds
		i := slices.IndexFunc(rs, func(r *rounds.Round) bool { return r.Term == 2 })
		if i < 0 || rs[i].State != rounds.Superseded || rs[i].PerhapsLed != c.want {
			t.Errorf("%s: round %d of %+v", name, i, rs)
		}
	}
}
