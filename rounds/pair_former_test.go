package rounds_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// arrivedOf returns the ids of the messages of the process that count as received.
func (v *voters) arrivedOf(incarnation string) (ids []string) {
	for _, r := range v.b.History().Groups[0].Rounds {
		for _, m := range r.Messages {
			sent := m.SendStep >= 0 && r.Steps[m.SendStep].Ref.Incarnation == incarnation
			if sent && m.Delivery == rounds.Arrived {
				ids = append(ids, m.ID)
			}
		}
	}
	return ids
}

// "Called arrived, and never received": a process that is not in the log, which ends before, numbered its messages as
// the one whose messages are here. What came twice came first from that one: this tells how fast messages are, and that
// the others never came.
func TestReceiptsOfALaterProcess(t *testing.T) {
	const ahead = 900e3 // of the receiver
	v := newVoters()
	v.start(1, 0)
	v.start(2, ahead)
	for n := 2; n < 8; n++ {
		v.send(1, 4000+n, 2, fmt.Sprint("1:", n), "x -> y")
	}
	v.receive(2, ahead+4040, 2, "1:3")
	v.receive(2, ahead+4041, 2, "1:4")
	v.start(1, 9300)
	v.add(1, 10200, trace.Record{Event: "timeout", Term: 2})
	for n := 2; n < 8; n++ {
		v.receive(2, ahead+13900+n, 2, fmt.Sprint("1:", n))
	}
	if ids := v.arrivedOf("n1life1"); !slices.Equal(ids, []string{"1:3", "1:4"}) {
		t.Errorf("%v arrived", ids)
	}
}

// "A message paired with the receipt of another": the last record of the former process is missing, which sent the
// message that came. The receiver does not follow the hybrid clock of the sender, and few other messages tell how long
// one takes: with this pair, they seem to be as fast as that.
func TestReceiptOfALostLastRecord(t *testing.T) {
	const ahead = 5 * 3600e3 // of the sender
	for name, former := range map[string]bool{"messages of both": true, "messages of the later one": false} {
		v := newVoters()
		v.start(1, ahead)
		if former {
			v.send(1, ahead+100, 1, "1:1", "x -> y")
			v.receive(2, 180, 1, "1:1")
			v.receive(2, 184, 1, "1:1")
		}
		v.receive(2, 1920, 1, "1:7") // of the record that is missing
		v.start(1, ahead+1990)
		v.send(1, ahead+2091, 1, "1:7", "x -> y")
		if !former {
			v.send(1, ahead+2200, 1, "1:8", "x -> y")
			v.receive(2, 2260, 1, "1:8")
		}
		for _, id := range v.arrivedOf("n1life2") {
			if id == "1:7" {
				t.Errorf("%s: it arrived", name)
			}
		}
	}
}

// "A message paired with the receipt of another": the former process wrote a record only as it began, as at level info,
// and ended long after that, when the next one began. What it sent last may still have come then. If it sent a message
// with that number to another node, or had told that it ended long before, it did not send that one.
func TestReceiptAfterAProcessThatWroteLittle(t *testing.T) {
	for name, c := range map[string]struct {
		sent    string // by the former process, with the same number
		bye     int    // when that said that it ended
		silent  bool   // another one ran since, and wrote no record
		arrived bool
	}{
		"it may be of either":          {},
		"another one had the number":   {sent: "HEARTBEAT>3#1:9", arrived: true},
		"the former one had just left": {bye: 2950},
		"the former one left before":   {bye: 2850, arrived: true},
		"it may be of one in between":  {bye: 2850, silent: true},
	} {
		v := newVoters()
		v.level = "info"
		for node := uint64(1); node <= 3; node++ {
			v.start(node, 0)
		}
		for id := 5; id < 9; id++ {
			v.send(1, 20*id, 1, fmt.Sprint("1:", id), "x -> y")
			v.receive(2, 20*id+1, 1, fmt.Sprint("1:", id))
		}
		if c.sent != "" {
			v.add(1, 200, trace.Record{Event: "timeout", Term: 1, Why: []string{"x -> y"}, Sent: []string{c.sent}})
		}
		if c.bye != 0 {
			v.b.Left(trace.Farewell{Cluster: "c", Node: 1, Time: atMS(c.bye)})
		}
		if c.silent {
			v.greet(1, 2900)
		}
		v.start(1, 3000)
		v.send(1, 3020, 1, "1:9", "x -> y")
		v.receive(2, 3094, 1, "1:9")
		if arrived := slices.Contains(v.arrivedOf(fmt.Sprint("n1life", v.life[1])), "1:9"); arrived != c.arrived {
			t.Errorf("%s: arrived %v", name, arrived)
		}
	}
}

// "A message paired with the receipt of another": what the former process sent just before it ended came, and a copy of
// it came just after the next one had sent a message with its number. What that one sends later is its own.
func TestReceiptOfACopy(t *testing.T) {
	for sent, arrived := range map[int]bool{1050: false, 1150: true} {
		v := newVoters()
		v.start(1, 0)
		v.start(2, 0)
		for id := 5; id < 9; id++ {
			v.send(1, 20*id, 1, fmt.Sprint("1:", id), "x -> y")
			v.receive(2, 20*id+1, 1, fmt.Sprint("1:", id))
		}
		v.send(1, 1000, 1, "1:9", "x -> y")
		v.receive(2, 1001, 1, "1:9")
		v.start(1, 1040)
		v.send(1, sent, 1, "1:9", "x -> y")
		v.receive(2, sent+20, 1, "1:9")
		if got := slices.Contains(v.arrivedOf("n1life2"), "1:9"); got != arrived {
			t.Errorf("sent at %d ms: arrived %v", sent, got)
		}
	}
}

// "A message paired with the receipt of another": a copy of what the former process sent came long after that had
// ended, just before the next one sent a message with its number. That would have been much faster than all others,
// though nothing proves that the copy came before it. The receiver's clock is ahead. Where it wrote nothing for long,
// it may have slept, and read what the former process had sent: then it is enough that it would have been a bit faster.
func TestReceiptFasterThanAnyOther(t *testing.T) {
	const ahead = 4 * 3600e3
	for _, c := range []struct {
		took          int // ms
		awake, paired bool
	}{{-20, false, false}, {5, false, false}, {5, true, true}, {30, false, true}} {
		v := newVoters()
		v.start(1, 0)
		v.start(2, ahead)
		v.send(1, 100, 1, "1:9", "x -> y")
		for n, took := range []int{10, 20, 40, 60} {
			v.send(1, 200+100*n, 1, fmt.Sprint("1:", 10+n), "x -> y")
			v.receive(2, ahead+200+100*n+took, 1, fmt.Sprint("1:", 10+n))
		}
		why := []string{"x -> y"}
		v.add(2, ahead+600, trace.Record{Event: "timeout", Term: 1, Why: why, Sent: []string{"PRE_VOTE>1#2:1"}})
		v.add(1, 660, trace.Record{Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:1", Term: 1, Why: why})
		v.start(1, 1000)
		v.send(1, 5000, 1, "1:9", "x -> y")
		if c.awake {
			v.add(2, ahead+4500, trace.Record{Event: "timeout", Term: 1})
		}
		v.receive(2, ahead+5000+c.took, 1, "1:9")
		if got := slices.Contains(v.arrivedOf("n1life2"), "1:9"); got != c.paired {
			t.Errorf("%+v: arrived %v", c, got)
		}
	}
}

// "Called arrived, and never received": the one message that tells how long messages take was held up. So the message
// of the later process seems to have come before it was sent, and that of the former one to be what came.
func TestReceiptBesideASlowPair(t *testing.T) {
	const ahead = 5 * 3600e3 // of the sender
	v := newVoters()
	v.start(1, ahead)
	v.send(1, ahead+100, 1, "1:2", "x -> y")
	v.receive(2, 2000, 1, "1:2")
	v.send(1, ahead+1560, 1, "1:9", "x -> y")
	v.start(1, ahead+7000)
	v.send(1, ahead+18000, 1, "1:9", "x -> y")
	v.receive(2, 18080, 1, "1:9")
	if ids := v.arrivedOf("n1life1"); !slices.Equal(ids, []string{"1:2"}) {
		t.Errorf("%v arrived", ids)
	}
}

// "Called arrived, and never received": the sender was started again so often since that its process of the time is not
// among those that are compared. The receiver's clock is behind, so that the hybrid clock tells nothing.
func TestReceiptAfterManyProcesses(t *testing.T) {
	const behind = -5 * 3600e3
	v := newVoters()
	v.start(1, 0)
	for i := range 4 {
		v.send(1, 100, 1, fmt.Sprint("1:", 2+i), "x -> y")
		v.receive(2, behind+101+i, 1, fmt.Sprint("1:", 2+i))
	}
	v.send(1, 200, 1, "1:1", "x -> y")
	for ms := 1000; ms <= 5000; ms += 1000 {
		v.start(1, ms)
	}
	v.lead(1, 5500, 2)
	v.send(1, 6000, 2, "1:1")
	v.receive(2, behind+6001, 2, "1:1")
	v.send(1, 6500, 2, "1:2")
	if ids := v.arrivedOf("n1life1"); slices.Contains(ids, "1:1") {
		t.Errorf("%v arrived", ids)
	}
}

// "A HEARTBEAT is called arrived, and was never received": its process led term 1, and the receipt is one of term 2,
// which the next process leads. The log of the sender ends before that began, and the receiver may have slept.
func TestHeartbeatOfALaterTerm(t *testing.T) {
	for term, arrived := range map[uint64]bool{1: true, 2: false} { // of the HEARTBEAT that was received
		v := newVoters()
		v.start(1, 0)
		v.start(2, 0)
		v.send(1, 1000, 1, "1:1", "x -> y")
		v.send(1, 1500, 1, "1:2")
		v.receive(2, 1530, 1, "1:2")
		v.add(2, 3900, trace.Record{Event: "peers", Alive: []uint64{1, 2}})
		v.add(2, 5900, trace.Record{
			Term: term, Event: "receive", From: 1, Msg: "HEARTBEAT", MsgID: "1:1", Leader: 1, Token: term,
			LeaderChange: trace.Elected, Why: []string{fmt.Sprintf("1 leads term %d -> follow it", term)},
		})
		if got := slices.Contains(v.arrivedOf("n1life1"), "1:1"); got != arrived {
			t.Errorf("of term %d: arrived %v", term, got)
		}
	}
}

// "The wall clock of node 2 is 4h ahead of the others', give or take 110 ms": the last records of the first process are
// lost, and it sent the first message that came. Only one message tells how far the clock is ahead.
func TestPairOfLostLastRecords(t *testing.T) {
	for _, ahead := range []int{4 * 3600e3, -4 * 3600e3} { // of node 2
		v := newVoters()
		v.start(1, 0)
		v.start(2, ahead)
		v.start(3, 0)
		why := []string{"x -> y"}
		v.add(2, ahead+10, trace.Record{Event: "timeout", Term: 1, Why: why, Sent: []string{"PRE_VOTE>1#2:1"}})
		v.add(1, 60, trace.Record{Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:1", Term: 1, Why: why})
		v.receive(2, ahead+2039, 1, "1:3") // which no record sent
		v.receive(2, ahead+2040, 1, "1:1") // in truth it is of the first process
		v.start(1, 2500)
		v.send(1, 2900, 1, "1:1", "x -> y")
		v.send(1, 2901, 1, "1:2", "x -> y")
		v.add(1, 2902, trace.Record{Event: "timeout", Term: 1, Why: why, Sent: []string{"HEARTBEAT>3#1:3"}})
		v.receive(2, ahead+2950, 1, "1:2")
		for _, c := range v.b.History().Groups[0].Clocks {
			off := c.Offset.Abs() - 4*time.Hour
			if c.Error > 0 && off.Abs() > c.Error {
				t.Errorf("node 2 is %d ms ahead: %+v", ahead, c)
			}
		}
	}
}

// "Called arrived, and never received": the log of the sender ends before its next process began, and that sent the
// message, in a later term, which the receiver entered by it. Under a lease, a record of the former one may have sent
// it if that is about no lower term, though it voted in an earlier one.
func TestReceiptOfAnotherTerm(t *testing.T) {
	for _, c := range []struct {
		guarantee string
		round     uint64 // that the record of the former process is about
		term      uint64 // of the message that was received
		arrived   bool
	}{
		{"best-effort", 2, 2, true},
		{"best-effort", 2, 4, false},
		{"lease", 2, 2, true},
		{"lease", 2, 4, false},
		{"lease", 4, 4, true},
		{"lease", 5, 4, true},
	} {
		v := newVoters()
		v.algo, v.guarantee = "invitation", c.guarantee
		v.start(1, 0)
		v.start(2, 0)
		v.add(1, 1000, trace.Record{
			Event: "timeout", Term: 2, Round: c.round, Sent: []string{"ELECTION>2#1:1"},
			Why: []string{"nothing binds this voter -> vote for 2 in term 2"},
		})
		v.add(2, 1400, trace.Record{
			Event: "receive", Term: c.term, From: 1, Msg: "ELECTION", MsgID: "1:1",
			Why: []string{fmt.Sprintf("term %d is above 1 -> adopt it", c.term), "1 invites -> accept"},
		})
		if arrived := slices.Contains(v.arrivedOf("n1life1"), "1:1"); arrived != c.arrived {
			t.Errorf("%+v: arrived %v", c, arrived)
		}
	}
}

// "Give or take 55.9 ms", and it was 81 ms: the message was of the former process of its sender, in a record that is
// lost, and held up for long. Its receiver dropped it, since it was of a term that the process was beyond that sent one
// with its number, or that this one had not reached.
func TestReceiptOfATermThatIsOver(t *testing.T) {
	for _, c := range []struct {
		guarantee string
		before    uint64 // the term in which the sender was before
		term      uint64 // of the message that was received
		arrived   bool
	}{
		{"best-effort", 2, 2, true},
		{"best-effort", 3, 2, false},
		{"best-effort", 3, 3, true},
		{"best-effort", 3, 4, false},
		{"lease", 3, 2, true},
		{"lease", 3, 4, false},
	} {
		v := newVoters()
		v.algo, v.guarantee = "bully", c.guarantee
		v.start(1, 0)
		v.start(2, 0)
		v.add(1, 900, trace.Record{Event: "timeout", Term: c.before})
		v.add(1, 1000, trace.Record{
			Event: "receive", Term: 3, From: 3, Msg: "ELECTION", MsgID: "3:1", Sent: []string{"COORDINATOR>2#1:1"},
			Why: []string{"ELECTION of term 2 is below term 3 -> drop it, tell 2 that 1 leads"},
		})
		v.add(2, 1400, trace.Record{
			Event: "receive", Term: 5, From: 1, Msg: "COORDINATOR", MsgID: "1:1",
			Why: []string{fmt.Sprintf("COORDINATOR of term %d is below term 5 -> drop it", c.term)},
			Reasons: []trace.Reason{{Code: "nomination.stale", Args: []trace.Arg{
				{Is: trace.Words, Words: "COORDINATOR"}, {Number: c.term}, {Number: 5},
			}}},
		})
		if arrived := slices.Contains(v.arrivedOf("n1life1"), "1:1"); arrived != c.arrived {
			t.Errorf("%+v: arrived %v", c, arrived)
		}
	}
}

// "Called lost, and received in another term": in one record a node sent a message of its term again, to the next
// neighbour, and called an election of the next term.
func TestMessageOfTheTermThatItsSenderLeaves(t *testing.T) {
	for _, c := range []struct {
		before, term uint64 // in which the sender was before, and of the message that was received
		arrived      bool
	}{{2, 1, false}, {2, 2, true}, {2, 3, true}, {2, 4, false}, {3, 2, false}} {
		v := newVoters()
		v.algo, v.guarantee = "ring", "best-effort"
		v.start(1, 0)
		v.start(2, 0)
		v.add(1, 900, trace.Record{Event: "timeout", Term: c.before})
		v.add(1, 1000, trace.Record{
			Event: "peers", Term: 3, Sent: []string{"ELECTION>2#1:1", "ELECTION>2#1:2"},
			Why: []string{
				"successor 3 is gone -> send ELECTION again to the next",
				"3, the best of the round, is dead -> call an election of term 3",
			},
		})
		v.add(2, 1100, trace.Record{
			Event: "receive", Term: c.term, From: 1, Msg: "ELECTION", MsgID: "1:1",
			Why: []string{fmt.Sprintf("term %d is above 0 -> adopt it", c.term)},
		})
		if arrived := slices.Contains(v.arrivedOf("n1life1"), "1:1"); arrived != c.arrived {
			t.Errorf("%+v: arrived %v", c, arrived)
		}
	}
}

// "Called arrived, and never received": the first process sent the message, in a record that is lost. The next four
// used its number for messages that are known, so that none of them sent it; no message compares the clocks.
func TestReceiptOfAProcessLongAgo(t *testing.T) {
	for lost, arrived := range map[uint64]bool{0: true, 1: false} { // records of the first process
		v := newVoters()
		v.start(2, 5*3600e3)
		v.start(3, 0)
		v.start(1, 0)
		v.seq["n1life1"] += lost
		v.add(1, 90, trace.Record{Event: "timeout", Why: []string{"x -> y"}, Sent: []string{"NO>3#1:2"}})
		v.receive(2, 5*3600e3+60, 1, "1:1")
		for again := 1; again <= 4; again++ {
			v.start(1, 3000*again)
			v.add(1, 3000*again+900, trace.Record{
				Event: "timeout", Why: []string{"x -> y"}, Sent: []string{"NO>3#1:1"},
			})
			v.seq[fmt.Sprintf("n1life%d", again+1)]++
			v.add(1, 3000*again+990, trace.Record{Event: "peers", Alive: []uint64{1, 2}})
		}
		v.start(1, 15000)
		v.send(1, 15900, 1, "1:1", "x -> y")
		if got := slices.Contains(v.arrivedOf("n1life6"), "1:1"); got != arrived {
			t.Errorf("%d lost: arrived %v", lost, got)
		}
	}
}

// "A message paired with the receipt of another": what the former process sent came when the later one had sent a
// message with its number, which came just after. Their words differ, so that they are no copies, and nobody knows
// which is which.
func TestReceiptsWithOtherWords(t *testing.T) {
	for words, arrived := range map[string]bool{"heard 1": true, "heard 1 2": false} {
		v := newVoters()
		v.start(1, 0)
		v.start(2, 0)
		for id := 5; id < 9; id++ {
			v.send(1, 20*id, 1, fmt.Sprint("1:", id), "x -> y")
			v.receive(2, 20*id+1, 1, fmt.Sprint("1:", id))
		}
		v.send(1, 500, 1, "1:9", "x -> y")
		v.start(1, 1000)
		v.send(1, 5000, 1, "1:9", "x -> y")
		for n, detail := range []string{"heard 1", words} {
			v.add(2, 5001+8*n, trace.Record{
				Event: "receive", From: 1, Msg: "HEARTBEAT", MsgID: "1:9", Detail: detail, Term: 1, Leader: 1, Token: 1,
				Why: []string{"x -> y"},
			})
		}
		if got := slices.Contains(v.arrivedOf("n1life2"), "1:9"); got != arrived {
			t.Errorf("%q: arrived %v", words, got)
		}
	}
}
