package rounds_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// "An operator told a leader to stop, and Ended is missing": it wrote on for a moment after it had said good-bye.
func TestEndAfterGoodbye(t *testing.T) {
	v := newVoters()
	v.follow(2, 20, 1, 1)
	v.lose(1, 1000, "joined 2, joined 3", 1, 2, 3)
	v.lose(1, 1010, "left 2", 1, 3)
	v.add(2, 1800, trace.Record{Event: "timeout"})
	v.lose(1, 9000, "", 1, 3)
	for _, n := range v.b.History().Groups[0].Nodes {
		if n.ID != 2 {
			continue
		}
		e := n.Lives[0].Events
		if len(e) == 0 || e[len(e)-1].Kind != rounds.Ended || !e[len(e)-1].At.Equal(atMS(1800)) {
			t.Errorf("%+v", e)
		}
	}
}

// "Its own word, what peers saw, or inferred": peers saw it say good-bye, and it ended by its own word half a second
// later.
func TestEndByItsOwnWordAfterGoodbye(t *testing.T) {
	v := newVoters()
	v.elect(1, 1, 2)
	v.lose(1, 1000, "joined 2, joined 3", 1, 2, 3)
	v.lose(1, 1010, "left 2", 1, 3)
	v.add(1, 9000, trace.Record{Event: "timeout"})
	v.b.Left(trace.Farewell{Time: atMS(1500), Cluster: "c", Node: 2})
	e := v.livesOf(2)[0].Events
	if end := e[len(e)-1]; end.Kind != rounds.Ended || end.Known != rounds.OwnWord || !end.At.Equal(atMS(1500)) {
		t.Errorf("%+v", e)
	}
}

// "Node 2, which it believed alive, had ended" was said of one that said good-bye as the leader won, and ran on for
// half a second.
func TestWhoEndedAfterTheLeaderWonHadNotEnded(t *testing.T) {
	v := newVoters()
	v.guarantee = "best-effort"
	v.add(2, 5, trace.Record{Event: "timeout"})
	v.lose(1, 6, "joined 2", 1, 2)
	v.add(1, 10, trace.Record{
		Term: 1, Event: "timeout", Leader: 1, LeaderChange: trace.Elected, Alive: []uint64{1, 2}, Why: []string{
			"no leader was heard of -> call an election of term 1", "no higher node is alive -> lead term 1",
		},
	})
	v.add(1, 12, trace.Record{Term: 1, Event: "peers", Leader: 1, Alive: []uint64{1}, Evidence: "left 2"})
	v.add(1, 900, trace.Record{Term: 1, Event: "timeout", Leader: 1})
	v.b.Left(trace.Farewell{Time: atMS(500), Cluster: "c", Node: 2})
	text := told(t, v.b.History().Groups[0])
	if want := "Node 2, which the winner believed alive, ended [2:1]."; !strings.Contains(text, want) {
		t.Errorf("want %q in: %s", want, text)
	}
}

// "Node 3, which the winner believed alive, ended" was said of one that ended long after the leader had won, and whose
// log ends before that. Or the next process of it ran by then: another one had seen it, or had a message of it, or it
// says so itself. Where records are missing at random, its own may be.
func TestWhoEndedLongAfterTheLeaderWonWasNoneThatHadEnded(t *testing.T) {
	for _, c := range []struct {
		ended int    // ms
		next  string // how it shows
		want  bool
	}{
		{800, "", true},
		{1500, "", true},
		{9000, "", false},
		{800, "seen", false},
		{800, "came", false},
		{800, "seen soon", false},
		{1500, "heard", false},
		{800, "began before", false},
		{800, "began later", true},
		{800, "lost", false},
	} {
		v := newVoters()
		v.algo, v.guarantee = "bully", "best-effort"
		for node := uint64(1); node <= 3; node++ {
			v.add(node, 10, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		}
		v.add(1, 20, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		lose := func() { v.lose(2, c.ended, "link-closed 3, dial-refused 3", 1, 2) }
		if c.ended < 1000 {
			lose()
		}
		switch c.next {
		case "seen":
			v.add(2, 900, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		case "came": // into the view of the winner, which began after the end
			v.life[1]++
			v.add(1, 870, trace.Record{Event: "peers", Alive: []uint64{1, 2}})
			v.add(1, 900, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		case "heard":
			v.add(2, 900, trace.Record{Event: "receive", From: 3, Msg: "ELECTION", MsgID: "3:77"})
		}
		v.callAndLead(1, 1000, 1)
		v.follow(2, 1010, 1, 1)
		if c.ended > 1000 {
			lose()
		}
		switch c.next {
		case "lost":
			v.lost(2, 1)
		case "seen soon": // it takes a moment to come into a view
			v.add(2, 1050, trace.Record{Term: 1, Event: "peers", Leader: 1, Alive: []uint64{1, 2, 3}})
		}
		if began := map[string]int{"began before": 900, "began later": 8000}[c.next]; began > 0 {
			v.greet(3, began)
			v.level = "info"
			v.add(3, 9000, trace.Record{Term: 1, Event: "peers", Alive: []uint64{1, 2, 3}})
		}
		v.add(2, 12000, trace.Record{Term: 1, Event: "timeout", Leader: 1})
		for _, p := range v.b.History().Groups[0].Rounds[0].Participants {
			if p.Node == 3 && (p.Part == rounds.PartDead) != c.want {
				t.Errorf("%+v: %+v", c, p)
			}
		}
	}
}

// "Node 2, which the winner believed alive, had ended", and its next process ran: the winner had seen that again. By
// its own clock, of which messages tell only within 300 ms how far it is ahead, it began later.
func TestWhoHadEndedWasSeenAgainBeforeItsClockTellsThatItBegan(t *testing.T) {
	for _, seen := range []bool{true, false} {
		v := newVoters()
		v.algo, v.guarantee = "bully", "best-effort"
		const ahead = 3600e3
		v.start(1, 0)
		v.start(2, ahead)
		v.exchange(1, 0, 10, 310+ahead)
		v.exchange(2, 0, 320+ahead, 620)
		v.lose(1, 800, "link-closed 2, dial-refused 2", 1)
		if seen {
			v.add(1, 900, trace.Record{Event: "peers", Alive: []uint64{1, 2}})
		}
		v.callAndLead(1, 1000, 1)
		v.start(2, 1050+ahead)
		v.add(1, 9000, trace.Record{Term: 1, Event: "timeout", Leader: 1})
		rs := v.b.History().Groups[0].Rounds
		for _, p := range rs[len(rs)-1].Participants {
			if p.Node == 2 && (p.Part == rounds.PartDead) == seen {
				t.Errorf("seen %v: %+v", seen, p)
			}
		}
	}
}

// "It was suspected, and it was dead": the evidence came before the process began, by a clock that counts as right. No
// message between the two took less than 50 ms.
func TestEvidenceWithinTheErrorOfTheClocks(t *testing.T) {
	s := newScript()
	for i, way := range [][2]uint64{{1, 2}, {2, 1}} {
		id := fmt.Sprint(way[0], ":1")
		s.add(way[0], 100*i, trace.Record{
			Term: 1, Event: "timeout", Sent: []string{fmt.Sprint("OK>", way[1], "#", id)}, Why: []string{"x -> y"},
		})
		s.add(way[1], 100*i+50, trace.Record{
			Term: 1, Event: "receive", From: way[0], Msg: "OK", MsgID: id, Why: []string{"x -> y"},
		})
	}
	s.add(1, 1010, trace.Record{Term: 1, Event: "peers", Alive: []uint64{1}, Evidence: "unreachable 2"})
	s.incarnation, s.seq[2] = "bbbbbbbb", 0
	for _, ms := range []int{1000, 1100} {
		s.add(2, ms, trace.Record{Term: 1, Event: "timeout"})
	}
	for _, n := range s.b.History().Groups[0].Nodes {
		for _, l := range n.Lives {
			if l.Incarnation == "bbbbbbbb" && len(l.Events) > 0 {
				t.Errorf("%+v", l.Events)
			}
		}
	}
}

// "Told as suspected, but it was dead": the evidence came shortly after the process began, or before it ended, by
// clocks that no messages compare. If they differ by a little, it is about the process before, or about the end.
func TestEvidenceByClocksThatAreNotCompared(t *testing.T) {
	for ms, sure := range map[int]bool{1020: false, 2500: true, 3990: false} {
		for _, compared := range []bool{false, true} {
			v := newVoters()
			v.start(1, 0)
			v.start(2, 1)
			if compared {
				v.exchange(1, 1, 10, 15)
				v.exchange(2, 1, 20, 25)
			}
			v.lose(1, 30, "", 1, 2)
			v.start(2, 1000)
			v.lose(1, ms, "unreachable 2", 1)
			v.add(2, ms+9, trace.Record{Event: "timeout"})
			v.add(2, 4000, trace.Record{Event: "timeout"})
			v.start(2, 5000)
			suspected := slices.ContainsFunc(v.livesOf(2)[1].Events, func(e rounds.LifeEvent) bool {
				return e.Kind == rounds.Suspected
			})
			if suspected != (sure || compared) {
				t.Errorf("at %d ms, compared %v: %+v", ms, compared, v.livesOf(2)[1].Events)
			}
		}
	}
}

// "It resumed, and it was dead", or stopped again: the node that lost sight of it saw the next process, or had slept
// meanwhile. Its own next record tells when it was there.
func TestSeenAgainTooLate(t *testing.T) {
	for name, back := range map[string]func(v *voters){
		"the next process was seen": func(v *voters) {
			v.add(1, 4900, trace.Record{Event: "timeout"})
			v.start(2, 4950)
		},
		"the peer slept": func(v *voters) {
			v.ask(2, 3000, 2)
			v.add(1, 4950, trace.Record{Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:30001", Round: 2})
		},
		"it may have ended": func(v *voters) { v.add(1, 4900, trace.Record{Event: "timeout"}) },
	} {
		v := newVoters()
		v.exchange(1, 1, 0, 5)
		v.exchange(2, 1, 10, 15)
		v.follow(1, 20, 3, 1)
		v.follow(2, 20, 3, 1)
		v.lose(1, 1500, "heartbeat-missed 2", 1, 3)
		v.add(2, 1600, trace.Record{Event: "timeout"})
		back(v)
		v.lose(1, 5000, "heartbeat-back 2", 1, 2, 3)
		for _, n := range v.b.History().Groups[0].Nodes {
			if n.ID != 2 {
				continue
			}
			e := n.Lives[0].Events
			back := len(e) >= 2 && e[1].Kind == rounds.Resumed && e[1].At.Equal(atMS(1600))
			if !back || e[0].Kind != rounds.Suspected {
				t.Errorf("%s: %+v", name, e)
			}
		}
	}
}

// "It ended, and it ran": a node that slept while a process of another one ended and the next began finds, as it wakes,
// that another process is there. The log of that one ends before.
func TestAnotherProcessSinceItSlept(t *testing.T) {
	for _, slept := range []bool{true, false} {
		v := newVoters()
		v.follow(1, 20, 3, 1)
		v.follow(2, 20, 3, 1)
		v.start(2, 2000)
		if !slept {
			v.lose(1, 2100, "new-incarnation 2", 1, 2, 3)
		}
		v.add(2, 3000, trace.Record{Event: "timeout"})
		v.lose(1, 5000, "link-closed 2, other-incarnation 2", 1, 3)
		for _, n := range v.b.History().Groups[0].Nodes {
			if n.ID != 2 {
				continue
			}
			e := n.Lives[1].Events
			if ended := e[len(e)-1].Kind == rounds.Ended; ended == slept {
				t.Errorf("slept %v: %+v", slept, e)
			}
		}
	}
}

// "The process ended, by its own word", and it ran: one that was to be its node too ended at once, since its settings
// were wrong. A process that was told to end says so itself. What it refused for is a code, and the words of its error
// tell it only of a former release.
func TestEndOfOneThatWasRefused(t *testing.T) {
	const port = "--election-bind: listen for elections on 127.0.0.1:7947: address already in use"
	const dir = "data directory d/2: in use by another process (pid 4659): stop it"
	for bye, ended := range map[trace.Farewell]bool{
		{Error: "why"}: true, {Error: "why", Code: 2}: false, {Error: "why", Code: 4}: false,
		{Error: port, Code: 1}: false, {Error: dir, Code: 5}: false, {Error: "why", Code: 1}: true,
		{Error: "why", Code: 1, Reason: trace.InUse}:          false,
		{Error: "port in use", Code: 1, Reason: trace.Failed}: true,
	} {
		v := newVoters()
		v.level = "info"
		v.start(2, 0)
		v.follow(2, 20, 1, 1)
		bye.Time, bye.Cluster, bye.Node = atMS(1000), "c", 2
		v.b.Left(bye)
		events := v.livesOf(2)[0].Events
		if got := events[len(events)-1].Kind == rounds.Ended; got != ended {
			t.Errorf("%+v: %+v", bye, events)
		}
	}
}

// "Another process was to be node 2" was said where node 2 was started again after its end, in a directory that was in
// use: nothing else was node 2 then.
func TestWhoFoundItsDirectoryInUseAfterItsEndRefusedToRun(t *testing.T) {
	v := newVoters()
	v.elect(1, 1, 2)
	v.lose(1, 30, "", 1, 2)
	v.lose(1, 1000, "link-closed 2, dial-refused 2", 1)
	v.b.Left(trace.Farewell{
		Time: atMS(2000), Cluster: "c", Node: 2, Error: "data directory d/1: in use by another process", Code: 5,
	})
	v.add(1, 3000, trace.Record{Event: "timeout"})
	for _, n := range v.b.History().Groups[0].Nodes {
		if n.ID == 2 && (n.Refused == nil || n.Refused.Taken) {
			t.Errorf("%+v", n.Refused)
		}
	}
}

// Nothing was told of a node that was started again with the label of another cluster, in the directory of this one.
func TestWhoWasStartedAsANodeOfAnotherClusterRefusedToRun(t *testing.T) {
	const keeps = `--data-dir: data directory d/2: belongs to another node or cluster: it keeps the state of node %d ` +
		`of cluster "c", this is node 2 of cluster "other": give each node a directory of its own`
	for node, refused := range map[int]bool{2: true, 3: false} {
		v := newVoters()
		v.elect(1, 1, 2)
		v.lose(1, 30, "", 1, 2)
		v.lose(1, 1000, "link-closed 2, dial-refused 2", 1)
		v.b.Left(trace.Farewell{Time: atMS(2000), Cluster: "other", Node: 2, Code: 4, Error: fmt.Sprintf(keeps, node)})
		v.add(1, 3000, trace.Record{Event: "timeout"})
		for _, n := range v.b.History().Groups[0].Nodes {
			if is := n.Refused != nil; n.ID == 2 && is != refused {
				t.Errorf("the directory of node %d: %+v", node, n.Refused)
			}
		}
	}
}

// "Node 2 is silent", by the word of node 1, which saw it again two seconds later: the log of node 2 ends before.
func TestWhoWasSeenAgainIsNotSilent(t *testing.T) {
	for again, last := range map[bool]rounds.LifeEventKind{false: rounds.Silent, true: rounds.Resumed} {
		v := newVoters()
		v.elect(1, 1, 2)
		v.exchange(1, 1, 25, 26)
		v.exchange(2, 1, 27, 28)
		v.lose(1, 30, "", 1, 2)
		v.lose(1, 1000, "heartbeat-missed 2", 1)
		if again {
			v.lose(1, 3000, "", 1, 2)
		}
		v.add(1, 9000, trace.Record{Event: "timeout"})
		events := v.livesOf(2)[0].Events
		if len(events) == 0 || events[len(events)-1].Kind != last {
			t.Errorf("seen again %v: %+v", again, events)
		}
	}
}

// "Silent", and it led others on: its record just after node 1 had lost it did not count, since the clocks of the two
// may be off by more, and the next one came a second later, as it does with nothing to write. That is no long silence.
func TestSilentByClocksThatAreOff(t *testing.T) {
	for next, silent := range map[int]bool{2015: false, 3010: true} { // ms
		v := newVoters()
		v.elect(2, 1, 1)
		v.exchange(1, 1, 100, 130)
		v.exchange(2, 1, 140, 170)
		v.lose(1, 200, "", 1, 2)
		v.lose(1, 1000, "unreachable 2", 1)
		for _, ms := range []int{900, 1005, next} {
			v.add(2, ms, trace.Record{Event: "timeout", Term: 1, Leader: 2, Token: 1})
		}
		v.add(1, 9000, trace.Record{Event: "timeout"})
		is := func(e rounds.LifeEvent) bool { return e.Kind == rounds.Silent }
		if events := v.livesOf(2)[0].Events; slices.ContainsFunc(events, is) != silent {
			t.Errorf("next at %d ms: %+v", next, events)
		}
	}
}

// "The process ended, but it lived on": who listed the former process of the node finds, as this one runs, that another
// process is there, or hears that the former one left. So the process itself ended only if its peer had seen it come.
func TestEndOfTheFormerProcessSeenLate(t *testing.T) {
	for evidence, late := range map[string]bool{
		"link-closed 2, other-incarnation 2": true, "left 2": true, "link-closed 2, dial-refused 2": false,
	} {
		for _, came := range []bool{true, false} {
			v := newVoters()
			v.level = "info"
			v.start(1, 0)
			v.start(2, 0)
			v.exchange(1, 1, 100, 101)
			v.exchange(2, 1, 200, 201)
			v.start(2, 1000)
			if came {
				v.lose(1, 1020, "new-incarnation 2", 1, 2, 3)
			}
			v.lose(1, 1050, evidence, 1, 3)
			events := v.livesOf(2)[1].Events
			if ended := events[len(events)-1].Kind == rounds.Ended; ended != (came || !late) {
				t.Errorf("%s, had seen it %v: %+v", evidence, came, events)
			}
		}
	}
}

// "Two processes were node 2": not so where one ended in the moment in which the next one began, and its log was
// rotated just before.
func TestBeganAsTheOtherEnded(t *testing.T) {
	v := newVoters()
	v.life[2], v.seq["n2life9"] = 9, 7
	for range 3 {
		v.add(2, 1000, trace.Record{Event: "peers", Alive: []uint64{1, 2}})
	}
	v.life[2] = 0
	v.start(2, 1000)
	v.add(2, 2000, trace.Record{Event: "timeout"})
	g := v.b.History().Groups[0]
	if lives := v.livesOf(2); len(g.Findings) > 0 || len(lives) != 2 || lives[0].Incarnation != "n2life9" {
		t.Errorf("%+v, found %+v", lives, g.Findings)
	}
}

// "Paused: it slept past the end of a lease that it watched", by its own word. That a peer saw it end later does not
// take this back: "does not say that there was no majority", where a follower and the leader had slept at once.
func TestSleptBeforeItEnded(t *testing.T) {
	for name, end := range map[string]func(v *voters){
		"it runs on":         func(*voters) {},
		"it said good-bye":   func(v *voters) { v.lose(3, 5000, "left 1", 2, 3) },
		"it is proven dead":  func(v *voters) { v.lose(3, 5000, "link-closed 1, dial-refused 1", 2, 3) },
		"its next one began": func(v *voters) { v.start(1, 5000) },
	} {
		v := newVoters()
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		v.miss(1, 2500, 3)
		v.expire(3, 2510, 1)
		v.ask(1, 2600, 2)
		v.lead(1, 2610, 2)
		end(v)
		var told []rounds.LifeEventKind
		for _, e := range v.livesOf(1)[0].Events {
			told = append(told, e.Kind)
		}
		if len(told) < 2 || told[0] != rounds.Paused || told[1] != rounds.Resumed {
			t.Errorf("%s: %v", name, told)
		}
		in := v.b.History().Groups[0].Incidents[1]
		if want := "voters 1 and 3 paused: at most 1 of 3 remains"; in.Term != 2 || in.Why != want {
			t.Errorf("%s: %q, want %q: %+v", name, in.Why, want, in)
		}
	}
}

// "The process ended, but it lived on": the evidence came just before it began, and was of the one before it. No
// messages compare the clocks, which differ by as little as nobody notices.
func TestEndedJustBeforeItBegan(t *testing.T) {
	for ms, told := range map[int]bool{1010: false, 2500: true} {
		v := newVoters()
		v.start(2, 0)
		v.start(3, 0)
		v.start(2, 1000)
		v.lose(3, ms, "link-closed 2, dial-refused 2", 3)
		v.start(2, 4000)
		if got := slices.ContainsFunc(v.livesOf(2)[1].Events, func(e rounds.LifeEvent) bool {
			return e.Kind == rounds.Ended && e.Known == rounds.PeersSaw
		}); got != told {
			t.Errorf("%d ms: %v", ms, got)
		}
	}
}

// "The process ended, but it lived on": two processes of a node wrote their only records in one moment, and nothing
// tells which came first.
func TestTwoProcessesAtOnce(t *testing.T) {
	for _, ms := range []int{0, 1} {
		v := newVoters()
		v.start(1, 0)
		v.start(1, ms)
		ended := 0
		for _, l := range v.livesOf(1) {
			for _, e := range l.Events {
				if e.Kind == rounds.Ended {
					ended++
				}
			}
		}
		if ended != ms {
			t.Errorf("%d ms later: %d ended", ms, ended)
		}
	}
}

// "When and how": a process that failed says why in its last line. That counts, also where a peer saw its end at once.
func TestWhyAProcessFailedIsToldAlsoIfPeersSawItsEnd(t *testing.T) {
	v := newVoters()
	v.elect(1, 1, 2, 3)
	v.follow(2, 900, 1, 1)
	v.b.Left(trace.Farewell{Time: atMS(1000), Cluster: "c", Node: 2, Error: "the disk is full", Code: 1})
	v.lose(1, 1001, "link-closed 2, dial-refused 2", 1, 3)
	g := v.b.History().Groups[0]
	want := "Of 3 nodes, node 2 ended with an error [2:2] and the other 2 run, as far as the records tell"
	if text := told(t, g); !strings.Contains(text, want) {
		t.Errorf("want %q in:\n%s", want, text)
	}
	var out bytes.Buffer
	if err := report.WhyNot(&out, g, 2); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	want = "Node 2 does not run: its process ended at 12:00:01.000, by its own word: the disk is full [2:2]."
	if !strings.Contains(text, want) {
		t.Errorf("want %q in:\n%s", want, text)
	}
}

// "Ended without a good-bye at 12:00:08.010" was told of a process that had ended six seconds before: who saw it had
// slept until then.
func TestAnEndSeenByWhoHadSleptWasSooner(t *testing.T) {
	for woke, want := range map[bool]string{true: " by 12:00:08.010 ", false: " at 12:00:08.010 "} {
		v := newVoters()
		v.level = "info"
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		if woke {
			v.wake(1, 8000, 3, 2)
		} else {
			v.miss(1, 8000, 3)
		}
		v.lose(1, 8010, "link-closed 3, dial-refused 3", 1, 2)
		text := told(t, v.b.History().Groups[0])
		if !strings.Contains(text, " 3 ended without a good-bye"+want) {
			t.Errorf("woke %v: want %q in\n%s", woke, want, text)
		}
	}
}

// "Was silent from 12:00:01.000 to 12:01:00.000" was told of a follower that the leader had seen again after a second:
// at level info it had nothing to write for long.
func TestASilenceEndsWithWhatAPeerSaw(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.exchange(1, 1, -200, -190)
	v.exchange(2, 1, -180, -170)
	v.elect(1, 1, 2, 3)
	seen := trace.Record{Event: "peers", Term: 1, Leader: 1, Token: 1}
	seen.Alive, seen.Evidence = []uint64{1, 3}, "heartbeat-missed 2"
	v.add(1, 1000, seen)
	seen.Alive, seen.Evidence = []uint64{1, 2, 3}, "heartbeat-back 2"
	v.add(1, 2500, seen)
	v.follow(2, 60000, 1, 1)
	const want = "2 was silent to node 1 from 12:00:01.000 at the latest [peers saw: 1:4] " +
		"to 12:00:02.500 at the latest [peers saw: 1:5]"
	if text := told(t, v.b.History().Groups[0]); !strings.Contains(text, want) {
		t.Errorf("want %q in\n%s", want, text)
	}
}

// "Node 3 was silent to node 5": the peer's records of the end of its former process are missing, and the present one
// was never in the peer's view.
func TestGoneFromViewOverMissingRecords(t *testing.T) {
	for name, c := range map[string]struct {
		missing uint64
		events  int
	}{"all records are here": {0, 2}, "a gap": {3, 1}} {
		v := newVoters()
		v.guarantee = "best-effort"
		v.start(2, 0)
		v.lose(1, 100, "joined 2, joined 3", 1, 2, 3)
		v.start(2, 2000)
		v.seq[fmt.Sprint("n1life", v.life[1])] += c.missing
		v.lose(1, 3000, "joined 4", 1, 3, 4)
		v.add(2, 4000, trace.Record{Event: "timeout"})
		lives := v.livesOf(2)
		if e := lives[1].Events; len(e) != c.events {
			t.Errorf("%s: %+v", name, e)
		}
	}
}
