package rounds_test

import (
	"fmt"
	"slices"
	"strings"
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
	r := g.Rounds[len(g.Rounds)-1]
	untold := strings.Contains(strings.Join(r.Unknown, " "), "Whether node 2 followed: ")
	if len(g.Rounds) != 2 || len(r.LeftBehind) > 0 || !untold || len(g.Findings) > 0 {
		t.Errorf("%+v, not known %q, found %+v", r.LeftBehind, r.Unknown, g.Findings)
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
// named the winner before, whatever a later process of it wrote.
func TestLogBeginsAfterTheWin(t *testing.T) {
	for name, rotated := range map[string]bool{
		"rotated": true, "rotated, and started again": true, "rotated at a start": true, "whole": false,
		"rotated at a start with a new disk": true,
	} {
		v := newVoters()
		if !rotated {
			v.add(2, 5, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		} else if !strings.HasPrefix(name, "rotated at a start") {
			v.seq["n2life0"] = 7
		}
		v.add(1, 5, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		v.ask(1, 10, 1)
		v.add(1, 20, trace.Record{
			Term: 1, Event: "receive", From: 2, Msg: "VOTE", MsgID: "2:1", Leader: 1, Token: 1,
			LeaderChange: trace.Elected, ValidUntil: atMS(1010), Why: []string{"a majority voted in term 1 -> lead"},
		})
		v.follow(3, 30, 1, 1)
		if name == "rotated, and started again" {
			v.add(2, 500, trace.Record{Event: "timeout"})
			v.start(2, 4000)
		}
		if name == "rotated at a start with a new disk" {
			v.add(2, 4500, trace.Record{Event: "start"})
			v.exchange(1, 1, 4600, 4601)
			v.exchange(2, 1, 4602, 4603)
		}
		for ms := 5000; ms < 8000; ms += 500 {
			v.add(2, ms, trace.Record{Term: 1, Event: "timeout"})
		}
		v.add(1, 9000, trace.Record{Term: 1, Event: "timeout", Leader: 1, Token: 1, ValidUntil: atMS(9990)})
		g := v.b.History().Groups[0]
		if behind := slices.Contains(names(g.Findings), rounds.LeftBehind); behind == rotated {
			t.Errorf("%s: %+v, found %+v", name, g.Rounds[len(g.Rounds)-1].LeftBehind, g.Findings)
		}
	}
}

// "Node 2 never followed 3 in term 1": its process before had, and lost its disk. The logs begin later, with the record
// in which node 1 saw that process end.
func TestLogBeginsWithANewDisk(t *testing.T) {
	for evidence, want := range map[string]bool{"link-closed 2, dial-refused 2": false, "unreachable 2": true} {
		v := newVoters()
		v.seq["n1life0"] = 7
		v.add(1, 4300, trace.Record{
			Term: 1, Event: "peers", Alive: []uint64{1, 3}, Evidence: evidence, Leader: 3, Token: 1,
			ValidUntil: atMS(5000),
		})
		v.add(2, 4500, trace.Record{Event: "start"})
		v.exchange(1, 1, 4600, 4601)
		v.exchange(2, 1, 4602, 4603)
		for ms := 5000; ms < 15000; ms += 500 {
			v.add(2, ms, trace.Record{Term: 1, Event: "timeout"})
		}
		g := v.b.History().Groups[0]
		if behind := slices.Contains(names(g.Findings), rounds.LeftBehind); behind != want {
			t.Errorf("%s: %+v, found %+v", evidence, g.Rounds[len(g.Rounds)-1].LeftBehind, g.Findings)
		}
	}
}

// "Node 2 never followed 1 in term 1: it followed node 3 in the term": not known of a node whose log begins later, or
// has a gap. It may have followed node 1 before.
func TestFollowsARivalWhereRecordsAreMissing(t *testing.T) {
	for name, missing := range map[string]uint64{"whole": 0, "rotated": 7, "a gap": 7} {
		v := newVoters()
		v.algo, v.guarantee = "broadcast", ""
		if name != "rotated" {
			v.add(2, 5, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		}
		v.seq["n2life0"] += missing
		v.add(1, 5, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		elected := trace.Record{Term: 1, Event: "timeout", LeaderChange: trace.Elected, Why: []string{"x -> lead it"}}
		for i, node := range []uint64{1, 3, 2} {
			if elected.Leader = node; node == 2 {
				elected.Leader = 3
			}
			v.add(node, 20+10*i, elected)
		}
		for ms := 1000; ms < 8000; ms += 500 {
			v.add(2, ms, trace.Record{Term: 1, Event: "timeout", Leader: 3})
		}
		v.add(1, 9000, trace.Record{Term: 1, Event: "timeout", Leader: 1})
		g := v.b.History().Groups[0]
		if behind := slices.Contains(names(g.Findings), rounds.LeftBehind); behind != (missing == 0) {
			t.Errorf("%s: %+v, found %+v", name, g.Rounds[0].LeftBehind, g.Findings)
		}
	}
}

// "Node 2 never followed 1": its log ends 3 s after node 1 had won, and it followed later, since what it had been sent
// was lost. If its process ended, it never did.
func TestLogEndsBeforeItFollows(t *testing.T) {
	for _, ended := range []bool{false, true} {
		v := newVoters()
		v.add(2, 5, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		v.add(1, 5, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		v.ask(1, 10, 1)
		v.lead(1, 20, 1)
		v.follow(3, 30, 1, 1)
		for ms := 500; ms <= 3000; ms += 500 {
			v.add(2, ms, trace.Record{Term: 1, Event: "timeout"})
		}
		if ended {
			v.start(2, 4000)
		}
		g := v.b.History().Groups[0]
		if slices.Contains(names(g.Findings), rounds.LeftBehind) != ended {
			t.Errorf("ended %v: %+v, found %+v", ended, g.Rounds[len(g.Rounds)-1].LeftBehind, g.Findings)
		}
		const want = "Node 2 did not follow 1 in term 1 until it was started again: "
		says := func(f rounds.Finding) bool { return strings.HasPrefix(f.Text, want) }
		if slices.ContainsFunc(g.Findings, says) != ended { // the next process may follow after the logs end
			t.Errorf("ended %v: %+v", ended, g.Findings)
		}
	}
}

// "Node 2 was left behind: its next records are of term 2 and later" was said of one that followed 3 s after node 1
// had won: its process ended, and the records before that are missing, and the first ones of the next process.
func TestProcessEndsInAGapBeforeItFollows(t *testing.T) {
	for missing, want := range map[uint64]int{0: 1, 2: 0} {
		v := newVoters()
		for node := uint64(1); node <= 3; node++ {
			v.start(node, 0)
			v.add(node, 5, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		}
		v.ask(1, 10, 1)
		v.lead(1, 20, 1)
		v.follow(3, 30, 1, 1)
		v.add(2, 1200, trace.Record{Round: 2, Event: "timeout"})
		v.add(2, 3000, trace.Record{Round: 3, Event: "timeout"})
		v.life[2]++
		v.seq["n2life2"] = missing
		v.add(2, 9000, trace.Record{Term: 1, Round: 3, Event: "timeout"})
		v.add(1, 9000, trace.Record{Term: 1, Event: "timeout", Leader: 1, Token: 1, ValidUntil: atMS(9990)})
		r := v.b.History().Groups[0].Rounds[0]
		if behind := r.LeftBehind; len(behind) != want {
			t.Errorf("%d missing: %+v, not known %+v", missing, behind, r.Untold)
		}
	}
}

// "It wrote on, and never named the winner": not so where the log of the winner begins long after it won, as all logs
// do that are read from one time on. An earlier process of the node may have followed.
func TestLogsBeginAfterTheWin(t *testing.T) {
	for _, cut := range []bool{true, false} {
		v := newVoters()
		if cut {
			v.seq["n1life0"] = 88
		}
		v.start(2, 5)
		v.add(2, 10, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		v.add(1, 20, trace.Record{
			Term: 1, Event: "peers", Alive: []uint64{1, 2, 3}, Leader: 1, Token: 1, ValidUntil: atMS(1010),
		})
		v.follow(3, 30, 1, 1)
		for ms := 5000; ms < 8000; ms += 500 {
			v.add(2, ms, trace.Record{Term: 1, Event: "timeout"})
		}
		v.add(1, 9000, trace.Record{Term: 1, Event: "timeout", Leader: 1, Token: 1, ValidUntil: atMS(9990)})
		g := v.b.History().Groups[0]
		if behind := slices.Contains(names(g.Findings), rounds.LeftBehind); behind == cut {
			t.Errorf("cut %v: %+v, found %+v", cut, g.Rounds[len(g.Rounds)-1].LeftBehind, g.Findings)
		}
	}
}

// "It wrote on, and never named the winner": not so of a node whose clock no messages compare with the winner's, where
// clocks are off. Its records may end before.
func TestStragglerOfAnotherTime(t *testing.T) {
	for _, off := range []bool{true, false} {
		v := newVoters()
		v.start(1, 0)
		v.start(2, 0)
		v.start(3, 0)
		v.lead(1, 20, 1)
		v.follow(3, 30, 1, 1)
		shift := 0
		if off {
			shift = 200e3
		}
		v.add(1, 1000, trace.Record{
			Event: "timeout", Term: 1, Leader: 1, Token: 1, ValidUntil: atMS(1990), Why: []string{"x -> y"},
			Sent: []string{"HEARTBEAT>3#1:9"},
		})
		v.receive(3, 1001+shift, 1, "1:9")
		v.add(3, 1010+shift, trace.Record{
			Event: "timeout", Term: 1, Leader: 1, Token: 1, Why: []string{"x -> y"}, Sent: []string{"PRE_VOTE>1#3:1"},
		})
		v.add(1, 1011, trace.Record{
			Event: "receive", From: 3, Msg: "PRE_VOTE", MsgID: "3:1", Term: 1, Leader: 1, Token: 1,
			Why: []string{"x -> y"}, HLC: fmt.Sprintf("%d.1", atMS(1010+shift).UnixMicro()),
		})
		v.add(1, 1100, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}, Term: 1, Leader: 1, Token: 1})
		for ms := 200; ms < 8000; ms += 500 {
			v.add(2, ms, trace.Record{Term: 1, Event: "timeout"})
		}
		g := v.b.History().Groups[0]
		if behind := slices.Contains(names(g.Findings), rounds.LeftBehind); behind == off {
			t.Errorf("off %v: %+v, found %+v", off, g.Rounds[len(g.Rounds)-1].LeftBehind, g.Findings)
		}
	}
}

// "Node 2 was left behind: its next records are of term 2 and later" was said of one that had followed: its log begins
// after that, but before it by the estimate of its clock, which is right within 1.5 s.
func TestStragglerWhoseLogBeginsAboutThen(t *testing.T) {
	for began, want := range map[int]int{-480: 0, -4000: 1} {
		const off = 200e3
		v := newVoters()
		v.algo, v.guarantee = "invitation", "best-effort"
		v.start(1, 0)
		v.start(3, 0)
		v.add(1, 10, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		v.lead(1, 20, 1)
		v.follow(3, 30, 1, 1)
		v.life[2]++
		v.seq["n2life1"] = 29
		v.add(2, off+began, trace.Record{Term: 2, Event: "timeout"})
		v.exchange(1, 2, 5000, off+6500)
		v.exchange(2, 3, off+6600, 8100)
		v.add(2, off+20000, trace.Record{Term: 3, Event: "timeout"})
		v.add(1, 20000, trace.Record{Term: 3, Event: "timeout"})
		r := v.b.History().Groups[0].Rounds[0]
		if behind := r.LeftBehind; len(behind) != want {
			t.Errorf("began at %d ms: %+v, not known %+v", began, behind, r.Untold)
		}
	}
}
