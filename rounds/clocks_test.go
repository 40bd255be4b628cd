package rounds_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// "Clocks that were compared in one direction only count as exactly right": where all messages go one way, that is said
// of all clocks, if one of them is certainly wrong, or if what the nodes wrote is of other times. That one is
// corrected, and not all the others.
func TestMessagesInOneDirection(t *testing.T) {
	for _, sender := range []uint64{1, 3} {
		for _, ahead := range []int{0, 3600e3, -3600e3} { // by how much the clock of the sender is ahead, in ms
			group := sendInOneDirection(sender, ahead)
			unknown := strings.Join(group.Unknown, "\n")
			told := strings.Contains(unknown, "No messages compare the clocks of nodes 1, 2 and 3")
			if told != (ahead != 0) {
				t.Errorf("%d ms ahead: %q", ahead, unknown)
			}
			// If it is ahead, its messages came before they were sent.
			part := fmt.Sprintf("but those of node %d are corrected as far as messages", sender)
			if corrected := strings.Contains(unknown, part); corrected != (ahead > 0) {
				t.Errorf("%d ms ahead: %q of times that are corrected", ahead, unknown)
			}
		}
	}
}

// sendInOneDirection returns what is told of a node that sends two others a message, by a clock that is so many ms
// ahead.
func sendInOneDirection(sender uint64, ahead int) *rounds.Group {
	s := newScript()
	first, second := 1+sender%3, 1+(sender+1)%3
	s.add(sender, ahead, trace.Record{
		Term: 1, Event: "timeout", Leader: sender, Why: []string{"no higher node is alive -> lead term 1"},
		Sent: []string{
			fmt.Sprintf("COORDINATOR>%d#%d:%d", first, sender, first),
			fmt.Sprintf("COORDINATOR>%d#%d:%d", second, sender, second),
		},
	})
	for _, node := range []uint64{first, second} {
		s.add(node, 1, trace.Record{
			Term: 1, Event: "receive", From: sender, Msg: "COORDINATOR", MsgID: fmt.Sprint(sender, ":", node),
			Leader: sender, Why: []string{fmt.Sprintf("%d leads term 1 -> follow it", sender)},
		})
	}
	return s.b.History().Groups[0]
}

// "Suspected, but it was dead": no message compares two clocks, and what both nodes wrote is of the same time by them.
// But one saw the other before that began, as it shows its own start: so the clocks differ.
func TestSeenBeforeItBegan(t *testing.T) {
	for _, began := range []int{40, 54000} { // of node 1, in ms by its own clock
		v := newVoters()
		v.guarantee = "best-effort"
		v.start(2, 0)
		v.add(2, 60, trace.Record{Event: "peers", Alive: []uint64{1, 2}})
		v.start(2, 3000)
		v.add(2, 60000, trace.Record{Term: 3, Event: "timeout", Leader: 2})
		v.start(1, began)
		v.add(1, began+10, trace.Record{Event: "peers", Alive: []uint64{1, 2}})
		v.add(1, 55000, trace.Record{Event: "peers", Alive: []uint64{1}, Evidence: "unreachable 2"})
		group := v.b.History().Groups[0]
		lost := false // node 1 lost sight of the process
		for _, e := range group.Nodes[1].Lives[1].Events {
			lost = lost || e.Ref.Node == 1
		}
		if same := began == 40; lost != same {
			t.Errorf("node 1 began at %d ms: %+v", began, group.Nodes[1].Lives[1].Events)
		}
		unknown := strings.Join(group.Unknown, "\n")
		if told := strings.Contains(unknown, "No messages compare the clocks of nodes 1 and 2"); told != (began != 40) {
			t.Errorf("node 1 began at %d ms: %q", began, unknown)
		}
	}
}

// "The wall clock of node 4 is 1h ahead of the others', give or take 10 ms": so it is of the clock of node 3 alone. No
// messages compare the two with the others, of which node 2 is ahead of node 1, as is said.
func TestErrorOfAClockThatIsNotCompared(t *testing.T) {
	v := newVoters()
	v.guarantee = "best-effort"
	for _, pair := range []struct {
		node, other uint64
		ahead       int
	}{{1, 2, 3 * 3600e3}, {3, 4, 3600e3}} {
		exchange := func(from, to uint64, sent, received int) {
			id := fmt.Sprintf("%d:1", from)
			v.add(from, sent, trace.Record{
				Event: "timeout", Term: 1, Why: []string{"x -> y"},
				Sent: []string{fmt.Sprintf("PRE_VOTE>%d#%s", to, id)},
			})
			v.add(to, received, trace.Record{
				Event: "receive", From: from, Msg: "PRE_VOTE", MsgID: id, Term: 1, Why: []string{"x -> y"},
			})
		}
		v.start(pair.node, 0)
		v.start(pair.other, pair.ahead)
		exchange(pair.node, pair.other, 100, pair.ahead+110)
		exchange(pair.other, pair.node, pair.ahead+200, 210)
	}
	g := v.b.History().Groups[0]
	for _, c := range g.Clocks {
		if compared := c.Node <= 2; compared != (c.Error > 0) {
			t.Errorf("%+v; %q", c, g.Unknown)
		}
	}
	if len(g.Clocks) != 2 {
		t.Errorf("%+v", g.Clocks)
	}
}

// newPairThatMet returns nodes 1 and 2, whose messages show that their clocks are alike.
func newPairThatMet() *voters {
	v := newVoters()
	v.guarantee = "best-effort"
	v.start(1, 0)
	v.start(2, 0)
	v.exchange(1, 1, 100, 110)
	v.exchange(2, 1, 200, 210)
	return v
}

// "The wall clock of node 2 is 5s ahead of the others', give or take 8.12 s": it was set by 10 s. Two leaderships that
// overlap by less than the error that is told did not certainly lead at once.
func TestOverlapWithinTheErrorOfAClockThatWasSet(t *testing.T) {
	for ends, overlaps := range map[int]bool{20000: false, 28000: true} { // when node 1 ceased to lead, in ms
		v := newPairThatMet()
		v.leadAlone(1, 1000, 1)
		v.resign(1, ends, 1)
		v.leadAlone(2, 22000, 2)
		v.resign(2, 40000, 2)
		v.exchange(1, 2, 50000, 60010)
		v.exchange(2, 2, 60100, 50110)
		g := v.b.History().Groups[0]
		if len(g.Clocks) != 1 || g.Clocks[0].Error < 5*time.Second {
			t.Errorf("%+v", g.Clocks)
		}
		found := slices.ContainsFunc(g.Findings, func(f rounds.Finding) bool { return f.Name == rounds.Overlap })
		if found != overlaps {
			t.Errorf("node 1 ceased to lead at %d ms: %+v %+v", ends, g.Findings, g.Clocks)
		}
	}
}

// "Nobody leads" was told of the end of logs that a line seemed to go on for half a minute: it was of a process that is
// up, and a process before had told by how much its clock was set.
func TestLineOfAProcessThatIsUpAfterItsClockWasSet(t *testing.T) {
	const by = 30 * time.Second
	v := newPairThatMet()
	v.leadAlone(1, 1000, 1)
	v.set[1] = by
	v.add(1, 15000, trace.Record{Event: "peers", Term: 1, Leader: 1, Alive: []uint64{1, 2}})
	v.resign(1, 20000, 1)
	v.b.Up(trace.Greeting{Time: atMS(21000).Add(by), Cluster: "c", Node: 1, Incarnation: "n1life1"})
	if in := v.last(); in.Leader != 0 || !in.Until.Equal(atMS(21000)) {
		t.Errorf("nobody led until %v: %+v", in.Until, in)
	}
}

// "Two led at once", "nobody led for 10.5 s", and a clock that is "5s ahead": somebody set the clock of node 1, by its
// own word. All its times since, and those of its next process, are told as if nobody had.
func TestClockThatWasSetByItsOwnWord(t *testing.T) {
	for way, by := range map[string]time.Duration{"back": -10 * time.Second, "forward": 10 * time.Second} {
		v := newPairThatMet()
		v.leadAlone(1, 1000, 1)
		v.set[1] = by
		v.add(1, 15000, trace.Record{Event: "peers", Term: 1, Leader: 1, Alive: []uint64{1, 2}})
		v.resign(1, 20000, 1)
		v.leadAlone(2, 20500, 2)
		v.exchange(1, 2, 50000, 50010)
		v.exchange(2, 2, 50100, 50110)
		v.b.Left(trace.Farewell{Time: atMS(52000).Add(by), ClockSet: by, Cluster: "c", Node: 1})
		v.start(1, 53000)
		v.b.Line("c", 1, atMS(55000).Add(by))
		g := v.b.History().Groups[0]
		if len(g.Findings) > 0 || len(g.Clocks) > 0 {
			t.Errorf("set by %v: %+v %+v", by, g.Findings, g.Clocks)
		}
		i := slices.IndexFunc(g.Incidents, func(in rounds.Incident) bool { return in.Term == 2 })
		if i < 0 || g.Incidents[i].Leaderless != 500*time.Millisecond {
			t.Errorf("set by %v: %+v", by, g.Incidents)
		}
		first, next := g.Nodes[0].Lives[0], g.Nodes[0].Lives[1]
		if told := first.ClockSets; len(told) != 1 || told[0].By != by || !told[0].At.Equal(atMS(15000)) ||
			len(next.ClockSets) > 0 {
			t.Errorf("set by %v: told %+v %+v", by, told, next.ClockSets)
		}
		var out bytes.Buffer
		if err := errors.Join(report.List(&out, g, report.Selection{}), report.Remarks(&out, g)); err != nil {
			t.Error(err)
		}
		for _, says := range []string{
			fmt.Sprintf("its clock was set %s by 10 s by 12:00:15.000 [1:5]; was told to stop, and ended", way),
			"Somebody set the clock of node 1; times since are told as if nobody had.",
		} {
			if !strings.Contains(out.String(), says) {
				t.Errorf("no %q in\n%s", says, out.String())
			}
		}
		end := first.Events[len(first.Events)-1]
		if end.Kind != rounds.Ended || !end.At.Equal(atMS(52000)) || !next.From.Equal(atMS(53000)) {
			t.Errorf("set by %v: %+v, then %v", by, end, next.From)
		}
	}
}

// A process began "10 s" before it did, if its log was read behind that of the next one, whose clock was set: its own
// clock was set only later.
func TestClockThatWasSetInTheNextProcess(t *testing.T) {
	v := newVoters()
	v.life[1] = 2
	v.add(1, 20000, trace.Record{Event: "start"})
	v.set[1] = 10 * time.Second
	v.add(1, 30000, trace.Record{Event: "peers", Alive: []uint64{1, 2}})
	v.life[1], v.set[1] = 1, 0
	v.add(1, 0, trace.Record{Event: "start"})
	lives := v.b.History().Groups[0].Nodes[0].Lives
	if len(lives) != 2 || !lives[0].From.Equal(atMS(0)) || !lives[1].Until.Equal(atMS(30000)) {
		t.Errorf("%+v", lives)
	}
}

// "A dead node cannot know of a leader": node 2 began after the first leader of the term had ceased to lead, by its
// clock. But that was set by 10 s: messages prove it, though it counts as right, 5 s off in either direction.
func TestTwoLeadersWithAClockThatWasSet(t *testing.T) {
	for began, found := range map[int]bool{22000: true, 32000: false} {
		v := newVoters()
		v.guarantee = "best-effort"
		v.start(1, 0)
		v.start(2, 5000)
		v.exchange(1, 1, 100, 5110)
		v.exchange(2, 1, 5200, 210)
		v.leadAlone(1, 1000, 1)
		v.resign(1, 20000, 1)
		v.start(2, began)
		v.leadAlone(2, began+100, 1)
		v.resign(2, 34000, 1)
		v.exchange(1, 2, 50000, 45010)
		v.exchange(2, 2, 45100, 50110)
		g := v.b.History().Groups[0]
		if len(g.Clocks) != 0 {
			t.Errorf("%+v", g.Clocks)
		}
		told := slices.ContainsFunc(g.Findings, func(f rounds.Finding) bool { return f.Name == rounds.TwoLeaders })
		if told != found {
			t.Errorf("node 2 began at %d ms: %+v", began, g.Findings)
		}
	}
}

// "Nobody led for at least 1h0m0s": no messages compare the clock of the node that called the election, and it is an
// hour behind the others.
func TestNobodyLedByAClockThatIsNotCompared(t *testing.T) {
	const hour = 3_600_000
	v := newVoters()
	v.guarantee, v.algo = "best-effort", "bully"
	v.exchange(1, 1, 0, 2001) // the clock of node 2 is 2 s ahead
	v.exchange(2, 2, 2010, 11)
	v.leadAlone(2, 2100, 3)
	v.add(1, 101, trace.Record{
		Term: 3, Event: "receive", From: 2, Msg: "COORDINATOR", MsgID: "2:9", Leader: 2,
		Why: []string{"2 leads term 3 -> follow it"},
	})
	v.add(3, 100-hour, trace.Record{Term: 3, Event: "receive", Leader: 2, Why: []string{"2 leads term 3 -> follow it"}})
	v.add(3, 5000-hour, trace.Record{
		Event: "peers", Term: 4, Evidence: "link-closed 2, dial-refused 2", Alive: []uint64{1, 3},
		Why: []string{"leader 2 is gone -> call an election of term 4"},
	})
	v.add(1, 5001, trace.Record{
		Event: "peers", Term: 4, Evidence: "link-closed 2, dial-refused 2", Alive: []uint64{1, 3}, Leader: 1,
		Why: []string{"leader 2 is gone -> call an election of term 4", "no higher node is alive -> lead term 4"},
	})
	if in := v.last(); in.Leaderless > time.Minute {
		t.Errorf("nobody led for %v: %+v", in.Leaderless, in)
	}
}

// exchange writes that node 1 or 2 sends the other one a message, and that this receives it.
func (v *voters) exchange(from, term uint64, sent, received int) {
	id, later := fmt.Sprintf("%d:%d", from, term), atMS(max(sent, received)).UnixMicro()
	v.add(from, sent, trace.Record{
		Event: "timeout", Term: term, Why: []string{"x -> y"},
		Sent: []string{fmt.Sprintf("PRE_VOTE>%d#%s", 3-from, id)},
	})
	v.add(3-from, received, trace.Record{
		Event: "receive", From: from, Msg: "PRE_VOTE", MsgID: id, Term: term, Why: []string{"x -> y"},
		HLC: fmt.Sprintf("%d.1", later),
	})
}

// leadAlone writes that a node leads a term without votes.
func (v *voters) leadAlone(node uint64, ms int, term uint64) {
	why := fmt.Sprintf("no higher node is alive -> lead term %d", term)
	v.add(node, ms, trace.Record{Term: term, Event: "timeout", Leader: node, Why: []string{why}})
}

// resign writes that a node ceases to lead a term.
func (v *voters) resign(node uint64, ms int, term uint64) {
	why := "asked to resign -> step down, nobody is there to take over"
	v.add(node, ms, trace.Record{Term: term, Event: "resign", Why: []string{why}})
}

// "Nobody led for 6h36m46s", on a healthy run: the call of the election is by the clock of node 2, and its end by that
// of node 1, and no messages compare the two.
func TestElectionByClocksThatAreNotCompared(t *testing.T) {
	const hours = 6 * 3600e3
	for _, compared := range []bool{false, true} {
		v := newVoters()
		v.guarantee = "best-effort"
		v.seq["n1life0"], v.seq["n2life0"] = 12, 12
		if compared {
			v.exchange(1, 2, -200, -190)
			v.exchange(2, 2, -100, -90)
		}
		v.add(2, 0, trace.Record{
			Event: "campaign", Term: 2, Why: []string{"the operator asked -> call an election of term 2"},
		})
		v.add(1, hours-100, trace.Record{Event: "timeout", Term: 2})
		v.leadAlone(1, hours, 2)
		g := v.b.History().Groups[0]
		found := slices.ContainsFunc(g.Findings, func(f rounds.Finding) bool { return f.Name == rounds.NoEnd })
		if found != compared || (g.Incidents[0].Leaderless > 0) != compared {
			t.Errorf("compared %v: %+v, %+v", compared, g.Findings, g.Incidents[0])
		}
	}
}

// "Called lost, and received, by a record that is missing": the clocks of two nodes differ by 88 s, so that the log
// seems to begin long before the message came. No message compares them, but the hybrid clock of the one follows the
// other's, and is that far ahead of its own.
func TestHybridClockTellsThatClocksDiffer(t *testing.T) {
	for _, behind := range []int{0, 88e3} { // of node 1's own clock, in ms
		v := newVoters()
		v.start(2, 0)
		v.add(2, 7000, trace.Record{
			Event: "timeout", Term: 1, Why: []string{"x -> y"}, Sent: []string{"PRE_VOTE>1#2:4"},
		})
		v.add(2, 190e3, trace.Record{Event: "timeout", Term: 1})
		v.seq["n1life0"] = 60
		for ms := 6000; ms < 12000; ms += 500 { // by its own clock
			v.add(1, ms, trace.Record{
				Event: "receive", From: 2, Msg: "HEARTBEAT", MsgID: fmt.Sprint("2:", ms), Term: 1,
				HLC: fmt.Sprintf("%d.1", atMS(ms+behind).UnixMicro()),
			})
		}
		group := v.b.History().Groups[0]
		told := strings.Contains(strings.Join(group.Unknown, "\n"), "No messages compare the clocks of nodes 1 and 2")
		if told != (behind > 0) {
			t.Errorf("%d ms behind: %q", behind, group.Unknown)
		}
		for _, m := range group.Rounds[0].Messages {
			if m.ID == "2:4" && (m.Delivery == rounds.Lost) != (behind == 0) {
				t.Errorf("%d ms behind: %+v", behind, m)
			}
		}
	}
}

// "No messages compare the clocks": the hybrid clock of node 1 is ahead of its own, since it follows that of node 2,
// which was set forward, or since its own was set back, by the words of the nodes. That shows of no clocks that they
// differ.
func TestHybridClockFollowsAClockThatWasSet(t *testing.T) {
	for _, set := range []struct {
		node  uint64
		by    time.Duration
		ahead int // node 1's hybrid clock, in ms
		told  bool
	}{
		{1, 0, 10e3, true},
		{2, 10 * time.Second, 10e3, false},
		{2, 10 * time.Second, 30e3, true},
		{1, -10 * time.Second, 0, false},
	} {
		v := newVoters()
		v.start(1, 0)
		v.start(2, 0)
		v.set[set.node] = set.by
		v.add(set.node, 1000, trace.Record{Event: "timeout", Term: 1})
		v.add(2, 1000, trace.Record{Event: "timeout", Term: 1})
		v.life[1]++
		for ms := 2000; ms < 4000; ms += 500 {
			v.add(1, ms, trace.Record{
				Event: "receive", From: 2, Msg: "HEARTBEAT", MsgID: fmt.Sprint("2:", ms), Term: 1,
				HLC: fmt.Sprintf("%d.1", atMS(ms+set.ahead).UnixMicro()),
			})
		}
		unknown := strings.Join(v.b.History().Groups[0].Unknown, "\n")
		if strings.Contains(unknown, "No messages compare the clocks of nodes 1 and 2") != set.told {
			t.Errorf("%+v: %q", set, unknown)
		}
	}
}

// senders returns the script of nodes whose clocks are ahead by so many ms, and what writes that a message of one took
// so many ms to another.
func senders(ahead map[uint64]int) (s *script, send func(from, to uint64, took int)) {
	s = newScript()
	for _, node := range slices.Sorted(maps.Keys(ahead)) {
		s.add(node, ahead[node], trace.Record{Event: "start"})
	}
	id := 0
	return s, func(from, to uint64, took int) {
		id++
		msg := fmt.Sprint(from, ":", id)
		s.add(from, 1000*id+ahead[from], trace.Record{
			Term: 1, Event: "timeout", Sent: []string{fmt.Sprint("OK>", to, "#", msg)}, Why: []string{"x -> y"},
		})
		s.add(to, 1000*id+took+ahead[to], trace.Record{
			Term: 1, Event: "receive", From: from, Msg: "OK", MsgID: msg, Why: []string{"x -> y"},
		})
	}
}

// "An error that is too small": the clocks of nodes 2 and 3 count as right, since no message proves the opposite, but
// differ by 100 ms. That of node 1 is compared with both, and its error is the larger one of the two.
func TestErrorAgainstEachClock(t *testing.T) {
	ahead := map[uint64]int{1: -4 * 3600e3, 2: 0, 3: -100} // in ms
	s, send := senders(ahead)
	send(2, 3, 110)
	send(3, 2, 110)
	send(1, 2, 54)
	send(2, 1, 36)
	send(1, 3, 81)
	send(3, 1, 36)
	clocks := s.b.History().Groups[0].Clocks
	if len(clocks) != 1 || clocks[0].Node != 1 {
		t.Fatalf("%+v", clocks)
	}
	for _, other := range []uint64{2, 3} {
		off := clocks[0].Offset - time.Duration(ahead[1]-ahead[other])*time.Millisecond
		if off.Abs() > clocks[0].Error {
			t.Errorf("off by %v against node %d: %+v", off, other, clocks[0])
		}
	}
}

// "The wall clock of node 2 is 8h ahead of the others'": so it is of the clock of node 1 alone, which no messages
// compare with any other, as is said. One of the others is the one to which the clocks are compared.
func TestErrorBesideAClockThatIsNotCompared(t *testing.T) {
	ahead := map[uint64]int{1: -5 * 3600e3, 2: 3 * 3600e3, 3: -4 * 3600e3, 4: -1 * 3600e3} // in ms
	s, send := senders(ahead)
	for _, way := range [][2]uint64{{2, 3}, {3, 2}, {3, 4}, {4, 3}, {3, 1}} {
		send(way[0], way[1], 10)
	}
	g := s.b.History().Groups[0]
	if told := strings.Join(g.Unknown, "\n"); !strings.Contains(told, "compare the clock of node 1 with the others'") {
		t.Errorf("%q", told)
	}
	compared := 0
	for _, c := range g.Clocks {
		if c.Node != 1 {
			compared++
		}
		if (c.Node != 1) != (c.Error > 0) {
			t.Errorf("%+v", c)
		}
	}
	if compared != 2 {
		t.Errorf("%+v", g.Clocks)
	}
}

// "The fastest messages took less": the clocks of nodes 3 and 4 are compared, and so their error is known. Those of
// nodes 1 and 2 are not, neither with each other nor with these, and tell nothing of who is right.
func TestErrorBesideClocksThatAreNotCompared(t *testing.T) {
	ahead := map[uint64]int{1: -600e3, 2: 60e3, 3: 0, 4: 300e3} // in ms
	s, send := senders(ahead)
	send(3, 4, 10)
	send(4, 3, 30)
	send(3, 1, 10)
	send(3, 2, 10)
	clocks := s.b.History().Groups[0].Clocks
	if !slices.ContainsFunc(clocks, func(c rounds.Clock) bool { return c.Node > 2 && c.Error > 0 }) {
		t.Errorf("%+v", clocks)
	}
}

// "Clocks differ, so these are estimates, right within 0.55 ms": so they are between nodes whose clocks messages
// compare. How far off those are that are by another clock, too, nobody knows.
func TestErrorOfARoundByAClockThatIsNotCompared(t *testing.T) {
	ahead := map[uint64]int{1: 0, 2: 3600e3, 3: -600e3, 4: 0} // in ms
	for winner, compared := range map[uint64]bool{2: true, 3: false, 4: true} {
		s, send := senders(ahead)
		send(1, 2, 10)
		send(2, 1, 30)
		send(1, 4, 10)
		send(4, 1, 10)
		send(1, 3, 10)
		s.add(1, 20000, trace.Record{
			Event: "campaign", Term: 2, Why: []string{"the operator asked -> call an election of term 2"},
		})
		s.add(winner, 20100+ahead[winner], trace.Record{
			Term: 2, Event: "timeout", Leader: winner, Why: []string{"no higher node is alive -> lead term 2"},
		})
		g := s.b.History().Groups[0]
		split := g.Rounds[len(g.Rounds)-1].Split
		if !split.Estimated || split.ElectKnown != true || (split.Error > 0) != compared {
			t.Errorf("node %d won: %+v; %+v", winner, split, g.Clocks)
		}
	}
}

// "An announcement takes 1 h 30": no messages compare the clock of the follower with the winner's.
func TestAnnouncementByAClockThatIsNotCompared(t *testing.T) {
	for ahead, known := range map[int]bool{0: true, 5400e3: false} { // ms
		s := newScript()
		s.add(1, 0, trace.Record{Term: 0, Event: "peers", Alive: []uint64{1, 2}})
		s.add(2, ahead, trace.Record{Term: 0, Event: "peers", Alive: []uint64{1, 2}})
		s.add(1, 100, trace.Record{
			Term: 1, Event: "timeout", Leader: 1, Sent: []string{"COORDINATOR>2#1:1"},
			Why: []string{
				"no leader was heard of -> call an election of term 1", "no higher node is alive -> lead term 1",
			},
		})
		s.add(2, 101+ahead, trace.Record{
			Term: 1, Event: "peers", Leader: 1, Why: []string{"1 leads term 1 -> follow it"},
		})
		s.add(1, 200, trace.Record{Term: 1, Event: "timeout", Leader: 1})
		all := s.b.History().Groups[0].Rounds
		if split := all[len(all)-1].Split; split.AnnounceKnown != known {
			t.Errorf("%d ms ahead: %+v", ahead, split)
		}
	}
}

// "Node 5 leads term 1, as far as the records go", though the others found that it was gone, and elected others: nobody
// sends messages to the highest node of the bully algorithm, so that they compare its clock in one direction only. Its
// process ended by the word of who had followed it, or exchanged a message with it, whatever the clocks show. Who saw
// the end of a process before that saw the one of a former process.
func TestEndByAClockThatIsNotCompared(t *testing.T) {
	const hour = 3600e3
	for _, before := range []bool{false, true} { // node 1 followed it
		v := newVoters()
		v.guarantee = "best-effort"
		v.exchange(1, 1, 100, 110)
		v.exchange(2, 1, 200, 210)
		v.add(3, hour, trace.Record{Event: "start", Term: 1})
		v.add(3, hour+800, trace.Record{
			Term: 1, Event: "timeout", Leader: 3, Why: []string{"no higher node is alive -> lead term 1"},
			Sent: []string{"COORDINATOR>1#3:1"},
		})
		lost := trace.Record{Term: 1, Event: "peers", Alive: []uint64{1, 2}, Evidence: "link-closed 3, dial-refused 3"}
		if !before {
			v.add(1, 850, lost)
		}
		v.add(1, 900, trace.Record{Term: 1, Event: "receive", From: 3, Msg: "COORDINATOR", MsgID: "3:1", Leader: 3})
		if before {
			v.add(1, 1100, lost)
		}
		v.leadAlone(2, 1200, 2)
		g := v.b.History().Groups[0]
		i := slices.IndexFunc(g.Leaderships, func(l rounds.Leadership) bool { return l.Leader == 3 })
		led, events := g.Leaderships[i], g.Nodes[2].Lives[0].Events
		gone := len(events) == 2 && events[1].Kind == rounds.Ended && events[1].Known == rounds.PeersSaw
		if gone != before || (led.Ended.Kind == rounds.EndedByProcess) != before || led.End.IsZero() == before {
			t.Errorf("followed before: %v: %+v; %+v; %+v", before, led, events, g.Clocks)
		}
	}
}

// "The process did not crash then": the lease of the leader had run out before, and who had followed it saw the end of
// its next process, by a clock that no messages compare. It had lost the node, and seen it again, since it last heard
// of the former one. If it hears of that again, it is its end that it saw.
func TestEndOfTheNextProcessByAClockThatIsNotCompared(t *testing.T) {
	const hour = 3600e3
	for _, c := range []struct{ back, heard bool }{{false, false}, {true, false}, {true, true}} {
		v := newVoters()
		v.start(1, 0)
		v.exchange(1, 1, 100, 110)
		v.exchange(2, 1, 200, 210)
		v.start(3, hour)
		v.lead(3, hour+800, 1)
		v.follow(1, 900, 3, 1)
		if c.back {
			v.lose(1, 1100, "unreachable 3", 1, 2)
			v.lose(1, 3000, "", 1, 2, 3)
		}
		if c.heard {
			v.follow(1, 3100, 3, 1)
		}
		v.lose(1, 3500, "link-closed 3, dial-refused 3", 1, 2)
		v.start(3, hour+2900)
		events := v.livesOf(3)[0].Events
		saw := events[len(events)-1].Known == rounds.PeersSaw
		if want := !c.back || c.heard; saw != want || events[len(events)-1].Kind != rounds.Ended {
			t.Errorf("%+v: %+v", c, events)
		}
	}
}

// "The process ended, but it lived on": who received a message of it finds only then that another process is the node
// than a former one, which it still listed. No messages compare the clocks.
func TestEndOfTheFormerProcessByAClockThatIsNotCompared(t *testing.T) {
	const hour = 3600e3
	for _, former := range []bool{true, false} {
		v := newVoters()
		v.guarantee = "best-effort"
		v.start(1, 0)
		v.exchange(1, 1, 100, 110)
		v.exchange(2, 1, 200, 210)
		if former {
			v.start(3, hour)
		}
		v.start(3, hour+700)
		v.add(3, hour+800, trace.Record{
			Term: 1, Event: "timeout", Leader: 3, Why: []string{"no higher node is alive -> lead term 1"},
			Sent: []string{"COORDINATOR>1#3:1"},
		})
		v.add(1, 900, trace.Record{Term: 1, Event: "receive", From: 3, Msg: "COORDINATOR", MsgID: "3:1", Leader: 3})
		v.lose(1, 920, "link-closed 3, other-incarnation 3", 1, 2)
		lives := v.livesOf(3)
		events := lives[len(lives)-1].Events
		if ended := events[len(events)-1].Kind == rounds.Ended; ended == former {
			t.Errorf("a former one %v: %+v", former, events)
		}
	}
}

// Who sent a process a message that it received, and saw the end of its node later, tells that it ended. The message
// may have been sent to a former process, though, and its end be the one that was seen: also where nothing tells of
// that one but that something was saved, or that others saw the node long before.
func TestEndOfWhoReceivedByAClockThatIsNotCompared(t *testing.T) {
	const hour = 3600e3
	for _, c := range []struct {
		lost   int    // when node 1 lost node 3, in ms
		former bool   // node 3 ran a process before
		saved  uint64 // the term that node 3 had saved
		seen   bool   // node 1 saw node 3 long before
		told   bool
	}{
		{lost: 850},
		{lost: 1100, told: true},
		{lost: 1100, former: true},
		{lost: 1100, saved: 1},
		{lost: 1100, seen: true},
	} {
		v := newVoters()
		v.guarantee = "best-effort"
		v.start(1, -4000)
		if c.seen {
			v.add(1, -3000, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		}
		v.exchange(1, 1, 100, 110)
		v.exchange(2, 1, 200, 210)
		if c.former {
			v.start(3, -2*hour)
		}
		v.life[3]++
		v.add(3, -hour, trace.Record{Event: "start", Term: c.saved})
		v.add(3, -hour+910, trace.Record{
			Term: 2, Event: "receive", From: 1, Msg: "COORDINATOR", MsgID: "1:9", Leader: 1,
			Why: []string{"1 leads term 2 -> follow it"}, HLC: fmt.Sprintf("%d.9", atMS(900).UnixMicro()),
		})
		gone := trace.Record{Event: "peers", Term: 1, Alive: []uint64{1, 2}, Evidence: "link-closed 3, dial-refused 3"}
		if c.lost < 900 {
			v.add(1, c.lost, gone)
		}
		v.add(1, 900, trace.Record{
			Term: 2, Event: "timeout", Leader: 1, Why: []string{"x -> lead term 2"},
			Sent: []string{"COORDINATOR>3#1:9"},
		})
		if c.lost > 900 {
			gone.Term, gone.Leader = 2, 1
			v.add(1, c.lost, gone)
		}
		g := v.b.History().Groups[0]
		lives := g.Nodes[2].Lives
		events := lives[len(lives)-1].Events
		ended := len(events) == 2 && events[1].Kind == rounds.Ended && events[1].Known == rounds.PeersSaw
		if ended != c.told {
			t.Errorf("%+v: %+v; %+v %q", c, events, g.Clocks, g.Unknown)
		}
	}
}

// "Called lost, and received, by a record that is missing": the log of the receiver was rotated. Its first record tells
// by its hybrid clock, which is ahead of its own, that it had heard of the sender's clock before, and so perhaps
// received the messages.
func TestLostBeforeARotatedLogByClocksThatAreNotCompared(t *testing.T) {
	for _, ahead := range []int{0, 16e3} { // ms of the sender's clock
		v := newVoters()
		v.guarantee, v.level = "best-effort", "debug"
		v.start(1, ahead)
		v.send(1, ahead+100, 1, "1:1", "x -> y")
		v.seq["n2life0"] = 15
		v.b.Add(&trace.Record{
			Cluster: "c", Algo: v.algo, Guarantee: v.guarantee, Level: v.level, Node: 2, Incarnation: "n2life0",
			Seq: 15, Time: atMS(0), HLC: fmt.Sprintf("%d.3", atMS(ahead).UnixMicro()), Event: "timeout", Term: 1,
		})
		for ms := 500; ms < 30e3; ms += 500 {
			v.add(2, ms, trace.Record{Event: "timeout", Term: 1})
			v.add(1, ahead+100+ms, trace.Record{Event: "timeout", Term: 1})
		}
		rs := v.b.History().Groups[0].Rounds
		m := rs[len(rs)-1].Messages[0]
		if lost := m.Delivery == rounds.Lost; lost != (ahead == 0) {
			t.Errorf("%d ms ahead: %+v", ahead, m)
		}
	}
}

// "Nobody led for at most -545 ms": the former leader seems to have led on until after the next one began, by clocks
// that no messages compare. Nobody knows for how long nobody led.
func TestEndAfterTheNextByClocksThatAreNotCompared(t *testing.T) {
	const hour = 3600e3
	v := newVoters()
	v.guarantee = "best-effort"
	v.start(3, hour)
	v.add(3, hour+500, trace.Record{
		Term: 1, Event: "timeout", Leader: 3, Why: []string{"no higher node is alive -> lead term 1"},
		Sent: []string{"COORDINATOR>1#3:9"},
	})
	v.add(1, 490, trace.Record{Term: 1, Event: "receive", From: 3, Msg: "COORDINATOR", MsgID: "3:9"})
	v.follow(1, 1000, 2, 2)
	v.add(3, hour+2500, trace.Record{Term: 1, Event: "peers", Alive: []uint64{3}, Leader: 3})
	v.start(3, hour+5000)
	v.follow(3, hour+5010, 2, 2)
	g := v.b.History().Groups[0]
	for _, in := range g.Incidents {
		if in.AtMost() < 0 || in.Former == 3 && (in.Bounded() || in.Ended.Kind != rounds.EndedUnseen) {
			t.Errorf("%v at most: %+v; %+v; %q", in.AtMost(), in, g.Clocks, g.Unknown)
		}
	}
	if len(g.Incidents) != 2 || len(g.Clocks) != 1 {
		t.Errorf("%+v %+v", g.Incidents, g.Clocks)
	}
}

// "Nobody led for 500 ms in all, after 1 leadership": another node led the last term later, or at once. No messages
// compare its clock with the others', so that nothing tells for how long nobody led before.
func TestNobodyLedForLongerThanTheClocksTell(t *testing.T) {
	const hour = 3_600_000
	v := newVoters()
	v.guarantee, v.algo = "best-effort", "bully"
	v.exchange(1, 1, 0, 2001) // the clock of node 2 is 2 s ahead
	v.exchange(2, 1, 2010, 11)
	v.callAndLead(1, 100, 1)
	v.resign(1, 1000, 1)
	v.callAndLead(2, 3500, 2)
	v.resign(2, 5000, 2)
	v.callAndLead(3, 8000+hour, 2)
	g := v.b.History().Groups[0]
	if text := told(t, g); !g.Leaderless.AtLeast || !strings.Contains(text, "at least") {
		t.Errorf("told:\n%s", text)
	}
}
