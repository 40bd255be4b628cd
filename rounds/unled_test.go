package rounds_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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
		"a log begins before the round, with a later process": {true, func(v *voters) {
			v.life[2]++
			v.add(2, 900, trace.Record{Event: "start", Term: 1})
			v.add(2, 3000, trace.Record{Term: 3, Event: "timeout"})
		}, true},
		"a log ends just before the others, and more came of it": {false, func(v *voters) {
			v.add(2, 2500, trace.Record{Term: 1, Event: "timeout"})
			v.add(1, 2990, trace.Record{Term: 2, Event: "receive", From: 2, Msg: "ID", MsgID: "2:7", Round: 2})
		}, true},
		"a crash":                            {false, crash, false},
		"a crash, where records are missing": {false, func(v *voters) { lost(v); crash(v) }, true},
		"records are missing before":         {false, lost, false},
	} {
		v := newVoters()
		v.algo, v.guarantee = "hs", "best-effort"
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
			if name == "a log ends just before the others, and more came of it" && node == 2 {
				continue
			}
			if node != 2 || !c.missing {
				v.add(node, 3000, trace.Record{Term: 3, Event: "timeout"})
			}
		}
		if got := v.perhapsLed(t, 2); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// "Nobody led the term" was told of one which a process led that is in no log: the one before it of its node had ended,
// and others saw or heard the node again.
func TestTermThatAProcessWithoutALogMayHaveLed(t *testing.T) {
	hear := func(ms int) func(v *voters) {
		return func(v *voters) {
			v.add(1, ms, trace.Record{Term: 2, Event: "receive", From: 2, Msg: "COORDINATOR", MsgID: "2:1"})
		}
	}
	see := func(v *voters) { v.add(1, 1200, trace.Record{Term: 2, Event: "peers", Alive: []uint64{1, 2, 3}}) }
	for name, c := range map[string]struct {
		after func(v *voters)
		want  bool
	}{
		"nobody saw it again":             {func(*voters) {}, false},
		"a message was on its way":        {hear(550), false},
		"others heard it":                 {hear(1200), true},
		"others saw it":                   {see, true},
		"others saw what wrote no record": {func(v *voters) { v.greet(2, 1150); see(v) }, false},
	} {
		v := newVoters()
		v.algo, v.guarantee = "raft", "best-effort"
		for node := uint64(1); node <= 3; node++ {
			v.start(node, 0)
			v.add(node, 5, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		}
		v.lose(1, 500, "link-closed 2, dial-refused 2", 1, 3)
		v.nominate(3, 530, 2, "no leader was heard of")
		c.after(v)
		v.nominate(3, 2000, 3, "no leader was heard of")
		v.add(1, 3000, trace.Record{Term: 3, Event: "timeout"})
		if got := v.perhapsLed(t, 2); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// "Nobody led the term" was told of one that node 2 had led. Its log may end before, by a clock that is an hour ahead:
// no messages compare that with the others.
func TestTermThatANodeMayHaveLedWhoseClockIsNotCompared(t *testing.T) {
	for ahead, want := range map[int]bool{0: false, 3600e3: true} { // ms
		v := newVoters()
		v.algo, v.guarantee = "hs", "best-effort"
		for node, off := range map[uint64]int{1: 0, 2: ahead, 3: 0} {
			v.start(node, off)
			v.add(node, off+5, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		}
		v.ask(3, 1100, 2)
		v.ask(3, 2000, 3)
		v.add(1, 3000, trace.Record{Term: 3, Event: "timeout"})
		v.add(3, 3000, trace.Record{Term: 3, Event: "timeout"})
		v.add(2, 3000+ahead, trace.Record{Event: "timeout"})
		if got := v.perhapsLed(t, 2); got != want {
			t.Errorf("%d ms ahead: %v", ahead, got)
		}
	}
}

// "Nobody led the term" was told of one that a node led whose log ends before: the others end soon after, but they got
// what it sent then, or records are missing, so that its last ones may be, too.
func TestTermThatANodeMayHaveLedAfterItsLog(t *testing.T) {
	for name, c := range map[string]struct {
		sent bool
		lost uint64 // records of node 1, long before
		want bool
	}{
		"all records are here": {false, 0, false},
		"more came of it":      {true, 0, true},
		"records are missing":  {false, 7, true},
	} {
		v := newVoters()
		v.algo, v.guarantee = "hs", "best-effort"
		for node := uint64(1); node <= 3; node++ {
			v.start(node, 0)
			if node == 1 {
				v.seq["n1life1"] += c.lost
			}
			v.add(node, 5, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		}
		v.nominate(3, 100, 2, "no leader was heard of")
		if c.sent {
			v.add(1, 200, trace.Record{Term: 2, Event: "receive", From: 2, Msg: "COORDINATOR", MsgID: "2:1"})
		}
		v.nominate(3, 300, 3, "no leader was heard of")
		v.add(1, 500, trace.Record{Term: 3, Event: "timeout"})
		if got := v.perhapsLed(t, 2); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// perhapsLed reports whether a term that was superseded is told to have perhaps been led.
func (v *voters) perhapsLed(t *testing.T, term uint64) bool {
	t.Helper()
	rs := v.b.History().Groups[0].Rounds
	i := slices.IndexFunc(rs, func(r *rounds.Round) bool { return r.Term == term })
	if i < 0 || rs[i].State != rounds.Superseded {
		t.Fatalf("round %d of %+v", i, rs)
	}
	return rs[i].PerhapsLed
}

// A node leads under a lease only if a majority of the voters votes for it: where the logs of the others are here, and
// tell of no vote, it did not lead, whatever is missing of its own.
func TestTermThatTooFewVotersKnow(t *testing.T) {
	const all, one, most = 3, 2, 1 // logs
	for name, c := range map[string]struct {
		logs  uint64
		votes bool
		want  bool
	}{
		"all logs are here":                  {all, false, false},
		"a log is missing":                   {one, false, false},
		"a log is missing, and a vote to it": {one, true, true},
		"most logs are missing":              {most, false, true},
	} {
		v := newVoters()
		for node := uint64(1); node <= c.logs; node++ {
			v.start(node, 0)
			v.add(node, 5, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		}
		v.ask(1, 1100, 2)
		if c.votes {
			v.add(2, 1200, trace.Record{
				Term: 1, Round: 2, Event: "receive", From: 3, Msg: "REQUEST_VOTE", MsgID: "3:1",
				Why: []string{"nothing binds this voter -> vote for 3 in term 2"}, Sent: []string{"VOTE>3#2:9"},
			})
		}
		v.ask(1, 2000, 3)
		for node := uint64(1); node <= c.logs; node++ {
			v.add(node, 3000, trace.Record{Term: 3, Event: "timeout"})
		}
		if got := v.perhapsLed(t, 2); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A node whose next process began in a saved term was said to have perhaps led the terms before it in records that are
// missing: it had voted in it before, or wrote no start, as at level info, and so may have passed terms since.
func TestNextProcessThatBeginsInALaterTerm(t *testing.T) {
	for name, c := range map[string]struct {
		guarantee string
		why       string // of the last record of the process before
		event     string // with which the next one begins
		want      bool
	}{
		"it had not known of the term":   {"lease", "x -> y", "start", true},
		"it had asked for the term":      {"lease", "nobody leads -> ask the voters for term 3", "start", true},
		"it had voted in the term":       {"lease", "nothing binds this voter -> vote for 2 in term 3", "start", false},
		"it wrote no start":              {"lease", "x -> y", "receive", false},
		"it wrote no start, and no vote": {"best-effort", "x -> y", "receive", true},
	} {
		v := newVoters()
		v.guarantee = c.guarantee
		for node := uint64(1); node <= 3; node++ {
			v.start(node, 0)
			v.add(node, 5, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		}
		for node := uint64(1); node <= 2; node++ { // a majority
			v.add(node, 900, trace.Record{Term: 1, Event: "timeout"})
			v.add(node, 1000, trace.Record{Term: 1, Event: "timeout", Why: []string{c.why}})
		}
		v.ask(3, 1100, 2)
		v.ask(3, 2000, 3)
		for node := uint64(1); node <= 2; node++ {
			v.life[node]++
			v.add(node, 2500, trace.Record{Term: 1, Round: 3, Event: c.event})
		}
		for node := uint64(1); node <= 3; node++ {
			v.add(node, 3000, trace.Record{Term: 3, Event: "timeout"})
		}
		if got := v.perhapsLed(t, 2); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// "Nobody led for 1 s" was told, and beside it that no record tells that a node led the term that was called meanwhile.
func TestTimeInWhichSomebodyMayHaveLed(t *testing.T) {
	for missing, want := range map[bool]string{false: "Nobody led for 1 s in all", true: "the longest at most 1 s"} {
		v := newVoters()
		v.algo, v.guarantee = "bully", "best-effort"
		for node := uint64(1); node <= 3; node++ {
			if node != 2 || !missing {
				v.start(node, 0)
				v.add(node, 5, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
			}
		}
		v.callAndLead(1, 100, 1)
		v.resign(1, 1000, 1)
		v.nominate(3, 1100, 2, "no leader was heard of")
		v.callAndLead(3, 2000, 3)
		v.add(1, 2100, trace.Record{Term: 3, Event: "timeout"})
		if !missing {
			v.add(2, 2100, trace.Record{Term: 3, Event: "timeout"})
		}
		g := v.b.History().Groups[0]
		in := g.Incidents[len(g.Incidents)-1]
		list := told(t, g)
		if in.Leaderless != time.Second || in.PerhapsLed != missing || !strings.Contains(list, want) ||
			strings.Contains(list, "≤1 s") != missing {
			t.Errorf("missing %v: want %q: %+v in\n%s", missing, want, in, list)
		}
	}
}

// "Nobody led for 3.31 s" was told of the time before the first leadership, while node 3 led a term of which no log
// tells: they begin later.
func TestSomebodyMayHaveLedBeforeTheLogsBegin(t *testing.T) {
	for first, want := range map[bool]bool{true: false, false: true} {
		v := newVoters()
		for node := uint64(1); node <= 3; node++ {
			if !first {
				v.seq[fmt.Sprintf("n%dlife0", node)] = 8
			} else {
				v.start(node, 0)
			}
		}
		v.ask(1, 1000, 2)
		v.add(2, 1100, trace.Record{Event: "receive"})
		v.lead(1, 1200, 2)
		v.follow(2, 1210, 1, 2)
		v.add(3, 60000, trace.Record{Event: "timeout"})
		in := v.b.History().Groups[0].Incidents[0]
		if in.Former != 0 || in.Leaderless == 0 || in.PerhapsLed != want {
			t.Errorf("from the first process on: %v: %+v", first, in)
		}
	}
}

// "Nobody led for 1.63 s" was told of the time before the first leadership, while node 3 had a lease that voters had
// promised it before they were started again. Its own log begins with its next process.
func TestSomebodyMayLeadAsTheLogsBegin(t *testing.T) {
	for _, heard := range []bool{false, true} {
		v := newVoters()
		v.add(1, 800, trace.Record{Term: 1, Event: "timeout"})
		v.add(2, 900, trace.Record{Term: 1, Event: "timeout"})
		if heard {
			v.add(1, 950, trace.Record{
				Term: 1, Event: "receive", From: 3, Msg: "COORDINATOR", MsgID: "3:9", Why: []string{"x -> y"},
			})
		}
		v.ask(1, 1000, 2)
		v.start(3, 1500)
		v.lead(1, 2600, 2)
		v.follow(2, 2610, 1, 2)
		in := v.b.History().Groups[0].Incidents[0]
		if in.Former != 0 || in.Leaderless == 0 || in.PerhapsLed != heard {
			t.Errorf("heard of %v: %+v", heard, in)
		}
	}
}

// "Nobody led for 5.9 s" was told from the end of term 1 until term 3 began, though no record is of term 2: a process
// that led it wrote that in its last record of level info, which is lost. The next one knew of the term as it began.
func TestNoRecordIsOfATermMeanwhile(t *testing.T) {
	for next, want := range map[uint64]bool{2: false, 3: true} {
		v := newVoters()
		v.level = "info"
		v.start(1, 0)
		v.leadAlone(1, 1000, 1)
		v.resign(1, 1500, 1)
		v.life[1]++
		why := fmt.Sprintf("nobody leads -> ask the voters for term %d", next)
		v.add(1, 6000, trace.Record{Event: "timeout", Round: next, Why: []string{why}})
		v.leadAlone(1, 7000, next)
		if in := v.last(); in.Leaderless != 5500*time.Millisecond || in.PerhapsLed != want {
			t.Errorf("term %d is the next: %+v", next, in)
		}
	}
}

// "Nobody led" was shown from the beginning of the logs on, since node 1 had not heard of a later term than the first.
// The log of node 2 begins in a later one: somebody had led before.
func TestTheFirstTermIsCalledByOneThatIsBehind(t *testing.T) {
	for begins, want := range map[uint64]rounds.PeriodState{1: rounds.PeriodNobody, 4: rounds.PeriodUnknown} {
		v := newVoters()
		for node := uint64(1); node <= 3; node++ {
			if begins == 1 {
				v.start(node, 0)
			}
		}
		v.add(1, 5, trace.Record{Round: 1, Event: "peers", Alive: []uint64{1, 2, 3}, Why: []string{"x -> y"}})
		v.ask(2, 700, begins)
		g := v.b.History().Groups[0]
		if list := g.Periods(g.Limits()); len(list) != 1 || list[0].State != want {
			t.Errorf("term %d: want %s: %+v", begins, want, list)
		}
	}
}

// "Nobody led" was shown until node 1 followed the first leader, whose log begins later: it had won before.
func TestTheFirstLeaderOfWhichOthersTell(t *testing.T) {
	v := newVoters()
	v.start(1, 0)
	v.start(3, 0)
	v.follow(1, 1100, 2, 1)
	v.nominate(3, 1400, 1, "no better node called an election")
	v.follow(3, 1500, 2, 1)
	v.seq["n2life0"] = 20
	for i, node := range []int{1, 3, 1, 3} { // which compare the clocks
		id := 50 + i
		rec := trace.Record{Event: "timeout", Term: 1, Leader: 2, Token: 1, Why: []string{"x -> y"}}
		rec.Sent = []string{fmt.Sprintf("HEARTBEAT>%d#2:%d", node, id)}
		v.add(2, 1600+40*i, rec)
		rec.Event, rec.From, rec.Msg, rec.MsgID = "receive", 2, "HEARTBEAT", fmt.Sprint("2:", id)
		rec.Sent = []string{fmt.Sprintf("HEARTBEAT_REPLY>2#%d:%d", node, id)}
		v.add(uint64(node), 1610+40*i, rec)
		rec.From, rec.Msg, rec.MsgID, rec.Sent = uint64(node), "HEARTBEAT_REPLY", fmt.Sprint(node, ":", id), nil
		v.add(2, 1620+40*i, rec)
	}
	g := v.b.History().Groups[0]
	if list := g.Periods(g.Limits()); len(list) != 2 || list[0].State != rounds.PeriodUnknown {
		t.Errorf("%+v: %+v", list, g.Incidents)
	}
}

// "Nobody led the term" was told of one in which the log of node 2 begins: node 1 led it, in a process before its log.
func TestTermInWhichALogBegins(t *testing.T) {
	for missing, want := range map[uint64]bool{0: false, 1: true} {
		v := newVoters()
		for node := uint64(1); node <= 3; node += 2 {
			v.start(node, 0)
			v.add(node, 5, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		}
		v.seq["n2life0"] = missing
		v.add(2, 1000, trace.Record{Round: 5, Event: "timeout", Why: []string{"leader 1 is silent -> ask the others"}})
		v.ask(2, 1100, 6)
		v.add(1, 1200, trace.Record{Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:11001"})
		for node := uint64(1); node <= 3; node++ {
			v.add(node, 3000, trace.Record{Term: 6, Event: "timeout"})
		}
		if got := v.perhapsLed(t, 5); got != want {
			t.Errorf("%d missing: %v", missing, got)
		}
	}
}

// "Nobody led the term" was told of one that node 1 had led. Only a question to it, of a later term, is here: no log,
// and nobody's view.
func TestTermThatAVoterMayHaveLedOfWhomNobodyWrites(t *testing.T) {
	v := newVoters()
	v.seq["n2life0"] = 15
	v.add(2, 0, trace.Record{Term: 1, Round: 2, Event: "timeout", Sent: []string{"PRE_VOTE>1#2:11"}})
	v.add(2, 500, trace.Record{Term: 1, Event: "lend"})
	if !v.perhapsLed(t, 1) {
		t.Error("nobody led it")
	}
}

// "Nobody led for 4.42 s in all" was told while node 1 had led for a part of it, which is in nobody's view, and has no
// log: only messages to it are here.
func TestTermThatOneMayHaveLedOfWhomOnlyMessagesTell(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee = "zookeeper", "quorum"
	v.start(2, 0)
	v.leadAlone(2, 100, 1)
	v.resign(2, 1000, 1)
	v.add(2, 1100, trace.Record{
		Term: 2, Event: "receive", From: 1, Msg: "COORDINATOR", MsgID: "1:6", Why: []string{"1 stands -> answer"},
		Sent: []string{"PRE_VOTE_REPLY>1#2:8"},
	})
	v.leadAlone(2, 3000, 3)
	if in := v.last(); !v.perhapsLed(t, 2) || !in.PerhapsLed {
		t.Errorf("nobody led: %+v", in)
	}
}

// "Nobody led" was shown from the beginning of the logs on, since their first records are of term 1. They are of
// processes that were started again in it: the lease of who had led it may have gone on. One that is started after the
// first call may have heard of it in a process before.
func TestTheFirstTermIsOneInWhichNodesWereStartedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		saved map[uint64]uint64 // the term that each node had saved as it started
		last  int               // ms: when node 3 started
		want  rounds.PeriodState
	}{
		"nothing was saved":              {nil, 300, rounds.PeriodNobody},
		"all were started again":         {map[uint64]uint64{1: 1, 2: 1, 3: 1}, 300, rounds.PeriodUnknown},
		"one was, before the first call": {map[uint64]uint64{3: 1}, 300, rounds.PeriodUnknown},
		"one was, after the first call":  {map[uint64]uint64{3: 1}, 750, rounds.PeriodNobody},
	} {
		v := newVoters()
		for node, at := range map[uint64]int{1: 100, 2: 200, 3: c.last} {
			v.add(node, at, trace.Record{Event: "start", Round: c.saved[node]})
		}
		v.add(1, 600, trace.Record{Round: 1, Event: "peers", Alive: []uint64{1, 2, 3}, Why: []string{"x -> y"}})
		v.ask(2, 700, 2)
		v.lead(2, 1000, 2)
		v.follow(1, 1010, 2, 2)
		v.follow(3, 1020, 2, 2)
		g := v.b.History().Groups[0]
		if list := g.Periods(g.Limits()); len(list) < 2 || list[0].State != c.want {
			t.Errorf("%s: %+v", name, list)
		}
	}
}
