package rounds_test

import (
	"slices"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// "A living node never followed": it was dead when others first followed the winner, whose log is missing, and started
// again long after.
func TestDeadBeforeALoglessWinner(t *testing.T) {
	v := newVoters()
	v.ask(1, 0, 1)
	v.lead(1, 10, 1)
	v.follow(2, 20, 1, 1)
	v.add(2, 950, trace.Record{Term: 2, Event: "receive", From: 3, Msg: "REQUEST_VOTE", MsgID: "3:1"})
	v.expire(1, 1000, 1)
	v.follow(1, 1510, 3, 2)
	v.add(1, 9000, trace.Record{Term: 2, Event: "timeout", Leader: 3, Token: 2})
	v.start(2, 8000)
	v.add(2, 9500, trace.Record{Event: "timeout"})
	g := v.b.History().Groups[0]
	if len(g.Rounds) != 2 || len(g.Rounds[1].LeftBehind) != 1 || len(g.Findings) > 0 {
		t.Errorf("%+v, found %+v", g.Rounds[len(g.Rounds)-1].LeftBehind, g.Findings)
	}
}

// "It wrote on, and never named the winner": not so of a node that slept until its log ends. What it was sent meanwhile
// may come behind that.
func TestSleptUntilItsLogEnds(t *testing.T) {
	for name, c := range map[string]struct {
		writes []int // ms
		behind bool
	}{
		"it wrote as it woke": {[]int{6000, 6010}, false},
		"it wrote on":         {[]int{6000, 7500}, true},
	} {
		v := newVoters()
		v.add(2, 5, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		v.add(1, 5, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		v.ask(1, 10, 1)
		v.lead(1, 20, 1)
		v.follow(3, 30, 1, 1)
		for _, ms := range c.writes {
			v.add(2, ms, trace.Record{Term: 1, Event: "timeout"})
		}
		v.add(1, 9000, trace.Record{Term: 1, Event: "timeout", Leader: 1, Token: 1, ValidUntil: atMS(9990)})
		g := v.b.History().Groups[0]
		if behind := slices.Contains(names(g.Findings), rounds.LeftBehind); behind != c.behind {
			t.Errorf("%s: %+v, found %+v", name, g.Rounds[len(g.Rounds)-1].LeftBehind, g.Findings)
		}
	}
}

// "It wrote on, and never named the winner": not so of a node whose log begins later, since it was rotated. It may have
// named the winner before.
func TestLogBeginsAfterTheWin(t *testing.T) {
	for _, rotated := range []bool{true, false} {
		v := newVoters()
		if rotated {
			v.seq["n2life0"] = 7
		} else {
			v.add(2, 5, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		}
		v.add(1, 5, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		v.ask(1, 10, 1)
		v.add(1, 20, trace.Record{
			Term: 1, Event: "receive", From: 2, Msg: "VOTE", MsgID: "2:1", Leader: 1, Token: 1,
			LeaderChange: trace.Elected, ValidUntil: atMS(1010), Why: []string{"a majority voted in term 1 -> lead"},
		})
		v.follow(3, 30, 1, 1)
		for ms := 5000; ms < 8000; ms += 500 {
			v.add(2, ms, trace.Record{Term: 1, Event: "timeout"})
		}
		v.add(1, 9000, trace.Record{Term: 1, Event: "timeout", Leader: 1, Token: 1, ValidUntil: atMS(9990)})
		g := v.b.History().Groups[0]
		if behind := slices.Contains(names(g.Findings), rounds.LeftBehind); behind == rotated {
			t.Errorf("rotated %v: %+v, found %+v", rotated, g.Rounds[len(g.Rounds)-1].LeftBehind, g.Findings)
		}
	}
}
