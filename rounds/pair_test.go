package rounds_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// "A message paired with the receipt of another": each process numbers its messages anew. What the first one sent came
// just before the second one sent its own, and the receiver's clock is ahead, so that the hybrid clock tells nothing.
func TestReceiptBeforeTheNextProcess(t *testing.T) {
	const hour = 3600e3
	send := func(v *voters, ms int, ids ...int) {
		rec := trace.Record{Event: "timeout", Term: 1, Why: []string{"x -> y"}}
		for _, id := range ids {
			rec.Sent = append(rec.Sent, fmt.Sprint("PRE_VOTE>2#1:", id))
		}
		v.add(1, ms, rec)
	}
	receive := func(v *voters, ms, id int) {
		v.add(2, hour+ms, trace.Record{
			Event: "receive", From: 1, Msg: "PRE_VOTE", MsgID: fmt.Sprint("1:", id), Term: 1, Why: []string{"x -> y"},
		})
	}
	for name, links := range map[string]bool{"other messages tell how far": true, "no other message": false} {
		v := newVoters()
		if links {
			send(v, 0, 2, 3, 4, 5)
			for i, took := range []int{1, 20, 40, 60} {
				receive(v, took, 2+i)
			}
		}
		send(v, 1850, 1)
		receive(v, 1960, 1)
		v.start(1, 1990)
		send(v, 2000, 1)
		all := v.b.History().Groups[0].Rounds
		r := all[len(all)-1]
		for _, m := range r.Messages {
			if m.ID == "1:1" && m.SendStep >= 0 && m.Delivery == rounds.Arrived {
				t.Errorf("%s: %+v", name, m)
			}
		}
	}
}

// "A clock: an error that is too small": a process wrote nothing for long before it ended, and its last message came as
// the next one ran, just before that sent one with the same id. The sender's clock is behind, and its hybrid clock
// shows what the receiver's did long before, so that it tells nothing.
func TestReceiptAfterASilentEnd(t *testing.T) {
	const ahead = 20 * 60e3 // of node 2, in ms
	v := newVoters()
	add := func(node uint64, ms int, rec trace.Record) {
		rec.Term, rec.Why = 1, []string{"x -> y"}
		if node == 1 {
			rec.HLC = fmt.Sprintf("%d.%d", atMS(ahead+min(ms, 1000)).UnixMicro(), ms)
		}
		v.add(node, ms+ahead*int(node-1), rec)
	}
	send := func(from uint64, ms int, id string) {
		add(from, ms, trace.Record{Event: "timeout", Sent: []string{fmt.Sprint("PRE_VOTE>", 3-from, "#", id)}})
	}
	receive := func(to uint64, ms int, id string) {
		add(to, ms, trace.Record{Event: "receive", From: 3 - to, Msg: "PRE_VOTE", MsgID: id})
	}
	v.start(1, 0)
	v.start(2, ahead)
	for n, took := range []int{10, 20, 40, 60} {
		id := fmt.Sprint("1:", 2+n)
		send(1, 100*n, id)
		receive(2, 100*n+took, id)
	}
	send(2, 1000, "2:1")
	receive(1, 1060, "2:1")
	send(1, 1750, "1:1")
	v.start(1, 1960)
	receive(2, 1970, "1:1")
	send(1, 2000, "1:1")
	for _, c := range v.b.History().Groups[0].Clocks {
		truth := ahead * time.Millisecond
		if c.Node == 1 {
			truth = -truth
		}
		if (c.Offset - truth).Abs() > c.Error {
			t.Errorf("%+v", c)
		}
	}
	if ids := v.arrivedOf("n1life1"); slices.Contains(ids, "1:1") {
		t.Errorf("%v arrived", ids)
	}
}

// The only pair of two nodes proves nothing: the message was one that an earlier process sent in a record which changed
// nothing, and the one that counted as received was sent long after.
func TestOnlyPairOfALink(t *testing.T) {
	for _, ahead := range []int{3600e3, -5 * 3600e3} { // of node 2
		v := newVoters()
		v.start(1, 0)
		v.lead(1, 10, 1)
		v.send(1, 1000, 1, "1:9")
		v.follow(2, ahead+20, 1, 1)
		v.receive(2, ahead+1020, 1, "1:9")
		v.start(1, 8000)
		v.lead(1, 8010, 2)
		v.send(1, 9000, 2, "1:9", "x -> y")
		for _, r := range v.b.History().Groups[0].Rounds {
			for _, m := range r.Messages {
				if m.ID == "1:9" && m.SendStep >= 0 && m.Delivery == rounds.Arrived {
					t.Errorf("node 2 is %d ms ahead, term %d: %+v", ahead, r.Term, m)
				}
			}
		}
	}
}

// The only pair of two nodes is wrong, and with it what their messages seem to take: so it proves nothing of another
// message, whose id both processes of the sender used.
func TestWrongPairOfALink(t *testing.T) {
	const ahead = 5 * 3600e3
	v := newVoters()
	v.lead(1, ahead, 1)
	v.follow(2, 20, 1, 1)
	v.send(1, ahead+1000, 1, "1:2", "x -> y")
	v.send(1, ahead+1500, 1, "1:5", "x -> y")
	v.start(1, ahead+6000)
	v.lead(1, ahead+6010, 2)
	v.send(1, ahead+8000, 2, "1:2", "x -> y")
	v.receive(2, 8300, 2, "1:2")
	v.send(1, ahead+8400, 2, "1:5")
	v.receive(2, 8410, 2, "1:5")
	for _, r := range v.b.History().Groups[0].Rounds {
		for _, m := range r.Messages {
			if r.Term == 1 && m.SendStep >= 0 && m.Delivery == rounds.Arrived {
				t.Errorf("term %d: %+v", r.Term, m)
			}
		}
	}
}

// A later process sent the message that was received. Its hybrid clock, which follows that of others, was too far ahead
// for the receiver to follow: so the receiver's proves nothing, though it is from before that process began.
func TestHybridClockAheadOfItsNode(t *testing.T) {
	const ahead, more = 3000e3, 2400e3 // 50 and 40 minutes
	v := newVoters()
	v.lead(1, ahead, 1)
	v.follow(2, 20, 1, 1)
	v.add(1, ahead+1000, trace.Record{
		Event: "timeout", Term: 1, Leader: 1, Token: 1, ValidUntil: atMS(ahead + 1990), Why: []string{"x -> y"},
		Sent: []string{"HEARTBEAT>2#1:9"}, HLC: fmt.Sprintf("%d.0", atMS(ahead+more+1000).UnixMicro()),
	})
	v.start(1, ahead+6000)
	v.lead(1, ahead+6010, 2)
	v.send(1, ahead+8000, 2, "1:9")
	v.receive(2, 8010, 2, "1:9")
	for _, r := range v.b.History().Groups[0].Rounds {
		for _, m := range r.Messages {
			if m.ID == "1:9" && m.SendStep >= 0 && m.Delivery == rounds.Arrived {
				t.Errorf("term %d: %+v", r.Term, m)
			}
		}
	}
}

// "Called arrived, and never received": the message seems to have come 3 s after it was sent. The receiver had not
// slept until then, or the sender was started again since, and the log of the sender ends before the receipt: its next
// process may have sent it.
func TestPairThatIsSlow(t *testing.T) {
	for name, c := range map[string]struct {
		starts uint64 // who is started again
		awake  bool   // the receiver writes just before
		later  bool   // the sender writes later than the receipt
		again  bool   // the sender is started again later than the receipt
		apart  bool   // the log of the receiver begins when that of the sender has ended
		want   rounds.Delivery
	}{
		"to one that slept":            {want: rounds.Arrived},
		"to one that was awake":        {awake: true, want: rounds.Unseen},
		"held up, all is here":         {awake: true, later: true, want: rounds.Arrived},
		"by a process or after it":     {starts: 1, want: rounds.Unseen},
		"by a process, all is here":    {starts: 1, later: true, want: rounds.Arrived},
		"to the next process":          {starts: 2, want: rounds.Unseen},
		"to the next one, all is here": {starts: 2, later: true, want: rounds.Arrived},
		"between two processes":        {awake: true, again: true, want: rounds.Unseen},
		"by a log that ended before":   {apart: true, want: rounds.Unseen},
	} {
		v := newVoters()
		v.start(1, 0)
		if !c.apart {
			v.start(2, 0)
		}
		v.send(1, 1200, 1, "1:9", "x -> y")
		if c.starts > 0 {
			v.start(c.starts, 3000)
		}
		if c.awake || c.apart {
			v.add(2, 4000, trace.Record{Event: "timeout", Term: 1})
		}
		if c.later {
			v.add(1, 5000, trace.Record{Event: "timeout", Term: 1})
		}
		if c.again {
			v.start(1, 9000)
		}
		v.receive(2, 4550, 1, "1:9")
		for _, r := range v.b.History().Groups[0].Rounds {
			for _, m := range r.Messages {
				if m.SendStep >= 0 && m.Delivery != c.want {
					t.Errorf("%s: %+v", name, m)
				}
			}
		}
	}
}

// "Called arrived, and never received": the next process of the sender began just before the receipt, or long before,
// as far as the messages compare the clocks. The log of the sender ends then.
func TestPairByUncertainClocks(t *testing.T) {
	v := newVoters()
	v.start(1, 0)
	v.start(2, 600_000)
	v.add(2, 600_600, trace.Record{
		Event: "timeout", Term: 1, Sent: []string{"HEARTBEAT_REPLY>1#2:1"}, Why: []string{"x -> y"},
	})
	v.add(1, 1000, trace.Record{
		Event: "receive", Term: 1, From: 2, Msg: "HEARTBEAT_REPLY", MsgID: "2:1",
		HLC: fmt.Sprintf("%d.1", atMS(600_600).UnixMicro()),
	})
	v.send(1, 1200, 1, "1:9", "x -> y")
	v.start(1, 1400)
	v.receive(2, 601_300, 1, "1:9")
	for _, r := range v.b.History().Groups[0].Rounds {
		for _, m := range r.Messages {
			if m.ID == "1:9" && m.SendStep >= 0 && m.Delivery != rounds.Unseen {
				t.Errorf("%+v", m)
			}
		}
	}
}

// "Called arrived, and never received": the log of the sender is cut short, and its next process sent the message that
// came, 9 s later. This pair and the one the other way are all that compares the clocks: so they leave open whether it
// took no time or 9 s, and if so, whether the receiver slept meanwhile.
func TestPairThatComparesTheClocksBadly(t *testing.T) {
	const ahead = 600_000 // of the receiver
	for name, c := range map[string]struct {
		took   int // how long the message was on its way, in ms
		wrote  int // when the receiver wrote its record before that
		onward int // how long after the receipt the sender wrote its last record, 0 if it did not
		want   rounds.Delivery
	}{
		"to one that was awake":  {took: 9000, wrote: 8500, want: rounds.Unseen},
		"to one that had slept":  {took: 9000, wrote: 6500, want: rounds.Unseen},
		"it came soon":           {took: 90, wrote: 60, want: rounds.Arrived},
		"the sender's log is on": {took: 9000, wrote: 8500, onward: 9100, want: rounds.Arrived},
	} {
		v := newVoters()
		v.start(1, 0)
		v.start(2, ahead)
		v.add(2, ahead+1000, trace.Record{
			Event: "timeout", Term: 1, Sent: []string{"HEARTBEAT_REPLY>1#2:1"}, Why: []string{"x -> y"},
		})
		v.add(1, 1090, trace.Record{
			Event: "receive", Term: 1, From: 2, Msg: "HEARTBEAT_REPLY", MsgID: "2:1",
			HLC: fmt.Sprintf("%d.1", atMS(ahead+1000).UnixMicro()),
		})
		v.send(1, 1100, 1, "1:9", "x -> y")
		if c.onward > 0 {
			v.add(1, 1100+c.took+c.onward, trace.Record{Event: "timeout", Term: 1})
		}
		v.add(2, ahead+1100+c.wrote, trace.Record{Event: "timeout", Term: 1})
		v.receive(2, ahead+1100+c.took, 1, "1:9")
		for _, r := range v.b.History().Groups[0].Rounds {
			for _, m := range r.Messages {
				if m.ID == "1:9" && m.SendStep >= 0 && m.Delivery != c.want {
					t.Errorf("%s: %+v", name, m)
				}
			}
		}
	}
}

// "Called arrived, and never received": the next process of the sender sent the message that came. The records are
// missing in which it began, or it wrote none of them at level info, and its first one here is later than the receipt.
func TestReceiptInAGapOfTheSender(t *testing.T) {
	for name, c := range map[string]struct {
		took  int    // how long the message seems to have taken, in ms
		event string // of the first record of the next process, 70 ms later
		lost  uint64 // how many records before that are missing
		want  rounds.Delivery
	}{
		"the start is here":            {took: 2130, event: "start", want: rounds.Arrived},
		"the start was not written":    {took: 2130, event: "timeout", want: rounds.Unseen},
		"nor was it, but it came soon": {took: 90, event: "timeout", want: rounds.Arrived},
		"the start is missing":         {took: 2130, event: "timeout", lost: 1, want: rounds.Unseen},
	} {
		v := newVoters()
		v.level = "info"
		v.start(2, 0)
		v.send(1, 1200, 1, "1:9", "x -> y")
		v.receive(2, 1200+c.took, 1, "1:9")
		v.life[1]++
		v.seq["n1life1"] = c.lost
		v.add(1, 1270+c.took, trace.Record{Event: c.event, Term: 1})
		for _, r := range v.b.History().Groups[0].Rounds {
			for _, m := range r.Messages {
				if m.SendStep >= 0 && m.Delivery != c.want {
					t.Errorf("%s: %+v", name, m)
				}
			}
		}
	}
}

// "A message arrived", and it was of the next process of its node, whose record of it is missing: the receiver had seen
// long before it came that the process had ended.
func TestAMessageThatCameLongAfterTheEndOfItsSenderWasSeen(t *testing.T) {
	for seen, want := range map[int]bool{700: true, 300: false} {
		v := newVoters()
		v.level = "info"
		v.start(2, 0)
		v.send(1, 100, 1, "1:9", "x -> y")
		v.lose(2, seen, "link-closed 1, dial-refused 1", 2)
		v.receive(2, 750, 1, "1:9")
		for _, r := range v.b.History().Groups[0].Rounds {
			for _, m := range r.Messages {
				if m.SendStep >= 0 && (m.Delivery == rounds.Arrived) != want {
					t.Errorf("seen at %d: %+v", seen, m)
				}
			}
		}
	}
}

// send writes that a node sends a message to node 2; without a reason, the record is one that is not kept.
func (v *voters) send(node uint64, ms int, term uint64, id string, why ...string) {
	v.add(node, ms, trace.Record{
		Event: "timeout", Term: term, Leader: node, Token: term, ValidUntil: atMS(ms + 990),
		Why: why, Sent: []string{"HEARTBEAT>2#" + id},
	})
}

// receive writes that a node receives a message of node 1.
func (v *voters) receive(node uint64, ms int, term uint64, id string) {
	v.add(node, ms, trace.Record{
		Event: "receive", From: 1, Msg: "HEARTBEAT", MsgID: id,
		Term: term, Leader: 1, Token: term, Why: []string{"x -> y"},
	})
}

// "A message paired with the receipt of another": a copy of what the first process sent came just before the second one
// sent a message with its number. The receiver's clock is ahead, and other messages tell by how much.
func TestReceiptBeforeItsSend(t *testing.T) {
	for name, got := range map[string]int{"before": 14000, "after": 14043} {
		v := newVoters()
		const ahead = 3600e3
		v.start(1, -10)
		v.start(2, ahead-10)
		send := func(node uint64, ms int, msg string) {
			v.add(node, ms, trace.Record{Event: "timeout", Term: 1, Why: []string{"x -> y"}, Sent: []string{msg}})
		}
		receive := func(node uint64, ms int, id string) {
			v.add(node, ms, trace.Record{
				Event: "receive", From: 3 - node, Msg: "PRE_VOTE", MsgID: id, Term: 1, Why: []string{"x -> y"},
			})
		}
		send(1, 0, "PRE_VOTE>2#1:9")
		v.start(1, 2000)
		for id := 2; id < 6; id++ {
			send(1, 13000+id, fmt.Sprint("PRE_VOTE>2#1:", id))
			receive(2, 13001+id+ahead, fmt.Sprint("1:", id))
		}
		send(2, 13010+ahead, "PRE_VOTE>1#2:1")
		receive(1, 13011, "2:1")
		send(1, 14041, "PRE_VOTE>2#1:9")
		receive(2, got+ahead, "1:9")
		all := v.b.History().Groups[0].Rounds
		r := all[len(all)-1]
		arrived := false
		for _, m := range r.Messages {
			if m.ID == "1:9" && m.SendStep >= 0 && r.Steps[m.SendStep].Ref.Incarnation == "n1life2" {
				arrived = m.Delivery == rounds.Arrived || m.ReceiveStep >= 0
			}
		}
		if arrived != (name == "after") {
			t.Errorf("%s: %+v", name, r.Messages)
		}
	}
}

// A log that was rotated need not begin with the first process of its node. Where hybrid clocks tell nothing, an
// earlier one may have sent the message that was received: the only pair proves nothing of the clocks. Nor need it if
// nothing was saved when it begins, where a proof of the end of another process tells of one that is in no log.
func TestPairOfARotatedLog(t *testing.T) {
	for _, ahead := range []int{5 * 3600e3, -5 * 3600e3} { // of node 1
		for _, begins := range []string{
			"with the first process", "with a later process", "within one", "after one that is proven dead",
		} {
			v := newVoters()
			v.life[1] = 1
			switch begins {
			case "with the first process", "after one that is proven dead":
				v.add(1, ahead+5000, trace.Record{Event: "start"})
			case "with a later process":
				v.add(1, ahead+5000, trace.Record{Event: "start", Term: 3}) // that was saved
			default:
				v.seq["n1life1"] = 6
			}
			v.start(2, 1000)
			v.send(1, ahead+5010, 1, "1:1", "x -> y")
			v.receive(2, 5020, 1, "1:1")
			v.send(1, ahead+9000, 1, "1:9", "x -> y")
			v.receive(2, 2000, 1, "1:9") // in truth it is of a process before
			why := []string{"x -> y"}
			v.add(2, 9100, trace.Record{Event: "timeout", Term: 1, Why: why, Sent: []string{"PRE_VOTE>1#2:1"}})
			v.add(1, ahead+9110, trace.Record{
				Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:1", Term: 1, Why: why,
			})
			if begins == "after one that is proven dead" {
				v.add(2, 9200, trace.Record{Event: "gone", About: 1, Detail: "1 n1life0", Term: 1})
			}
			known := false
			for _, c := range v.b.History().Groups[0].Clocks {
				known = known || c.Error > 0
			}
			if known != (begins == "with the first process") {
				t.Errorf("node 1 is %d ms ahead, its log begins %s: known %v", ahead, begins, known)
			}
		}
	}
}

// "A message paired with the receipt of another", to which it was an answer: the receiver's record, or a later one of
// its process, sent what the sender's record received. The clocks differ by more than hybrid clocks follow, and an
// earlier process sent the other.
func TestReceiptThatCausedTheSend(t *testing.T) {
	for _, ahead := range []int{4 * 3600e3, -4 * 3600e3} { // of node 2
		for _, later := range []bool{false, true} {
			v := newVoters()
			exchange := func(node uint64, ms int, from uint64, id string, sends ...string) {
				rec := trace.Record{Event: "timeout", Term: 1, Why: []string{"x -> y"}, Sent: sends}
				if id != "" {
					rec.Event, rec.From, rec.Msg, rec.MsgID = "receive", from, "PRE_VOTE", id
				}
				v.add(node, ms, rec)
			}
			v.start(1, 0)
			v.start(2, ahead)
			exchange(1, 2870, 0, "", "PRE_VOTE>2#1:2")
			v.start(1, 3000)
			for id := 5; id < 9; id++ {
				exchange(1, 3000+10*id, 0, "", fmt.Sprint("PRE_VOTE>2#1:", id))
				exchange(2, ahead+3020+10*id, 1, fmt.Sprint("1:", id))
			}
			if later {
				exchange(2, ahead+3208, 1, "1:2")
				exchange(2, ahead+3209, 0, "", "PRE_VOTE>1#2:8")
			} else {
				exchange(2, ahead+3208, 1, "1:2", "PRE_VOTE>1#2:8")
			}
			exchange(1, 3230, 2, "2:8", "PRE_VOTE>2#1:2")
			exchange(2, ahead+3247, 1, "1:2")
			all := v.b.History().Groups[0].Rounds
			r := all[len(all)-1]
			for _, m := range r.Messages {
				by := rounds.Ref{Node: 1, Incarnation: "n1life2", Seq: 6}
				got := rounds.Ref{Node: 2, Incarnation: "n2life1", Seq: 6}
				both := m.SendStep >= 0 && m.ReceiveStep >= 0
				if both && r.Steps[m.SendStep].Ref == by && r.Steps[m.ReceiveStep].Ref == got {
					t.Errorf("node 2 is %d ms ahead, in a later record %v: %+v", ahead, later, m)
				}
			}
		}
	}
}

// An earlier process may have sent the message, too, where the sender's clock is behind, and its process had not yet
// heard of the receiver's: that the hybrid clock of the receipt is later tells nothing then. Several messages tell it.
func TestPairOfARotatedLogOfASlowClock(t *testing.T) {
	const behind = 40 * 60e3
	for _, several := range []bool{true, false} {
		v := newVoters()
		v.seq["n1life0"] = 6
		v.start(2, 1000)
		for id := 1; several && id < 5; id++ {
			v.send(1, 8000+id-behind, 1, fmt.Sprint("1:", id), "x -> y")
			v.receive(2, 8010+id, 1, fmt.Sprint("1:", id))
		}
		v.send(1, 9000-behind, 1, "1:9", "x -> y")
		v.receive(2, 2000, 1, "1:9") // in truth it is of a process before
		why := []string{"x -> y"}
		v.add(2, 9100, trace.Record{Event: "timeout", Term: 1, Why: why, Sent: []string{"PRE_VOTE>1#2:1"}})
		v.add(1, 9110-behind, trace.Record{
			Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:1", Term: 1, Why: why,
			HLC: fmt.Sprintf("%d.1", atMS(9100).UnixMicro()),
		})
		clocks := v.b.History().Groups[0].Clocks
		if compared := len(clocks) > 0 && clocks[0].Error > 0; compared != several {
			t.Errorf("several messages %v: %+v", several, clocks)
		}
	}
}

// "The wall clock of node 2 is 4h ahead of the others', give or take 110 ms": all logs begin at one time. What came
// soon after may be of a process before, also before one that began with nothing saved, since it lost its disk. It has
// the number of a message that the next process sent later, and seems to have been too fast: so it is not that one.
func TestPairAtTheBeginningOfALog(t *testing.T) {
	for _, ahead := range []int{4 * 3600e3, -4 * 3600e3} { // of node 2
		for _, begins := range []string{
			"with a process that has nothing saved", "within a process",
			"with a process after one that another log shows",
		} {
			v := newVoters()
			if begins == "with a process after one that another log shows" {
				v.start(3, 4400)
			} else {
				v.seq["n3life0"] = 6
			}
			v.add(3, 4500, trace.Record{Event: "timeout", Term: 1})
			if begins == "within a process" {
				v.seq["n1life0"] = 6
				v.send(1, 4500, 1, "1:1", "x -> y")
			}
			v.start(1, 5000)
			v.start(2, ahead+1000)
			if begins == "with a process after one that another log shows" {
				v.receive(2, ahead+4980, 1, "1:7") // none of the records sent it
			}
			v.receive(2, ahead+4990, 1, "1:9") // in truth it is of a process before
			v.send(1, 5040, 1, "1:9", "x -> y")
			for id := 10; id < 14; id++ {
				v.send(1, 7000+id, 1, fmt.Sprint("1:", id), "x -> y")
				v.receive(2, ahead+7100+id, 1, fmt.Sprint("1:", id))
			}
			why := []string{"x -> y"}
			v.add(2, ahead+8000, trace.Record{Event: "timeout", Term: 1, Why: why, Sent: []string{"PRE_VOTE>1#2:1"}})
			v.add(1, 8100, trace.Record{
				Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:1", Term: 1, Why: why,
			})
			g := v.b.History().Groups[0]
			if len(g.Clocks) != 1 {
				t.Fatalf("%+v; %q", g.Clocks, g.Unknown)
			}
			off := g.Clocks[0].Offset.Abs() - 4*time.Hour
			if err := g.Clocks[0].Error; err == 0 || off.Abs() > err {
				t.Errorf("node 2 is %d ms ahead, the log begins %s: %v off; %+v", ahead, begins, off, g.Clocks)
			}
			for _, m := range g.Rounds[0].Messages {
				if m.ID == "1:9" && m.SendStep >= 0 && m.Delivery == rounds.Arrived {
					t.Errorf("node 2 is %d ms ahead, the log begins %s: %+v", ahead, begins, m)
				}
			}
		}
	}
}

// A receipt that names the process of the sender is of no other one, whatever clocks and numbers tell: neither of an
// earlier process than the last that sent such a message, nor of one that is in the log if its own is not.
func TestReceiptNamesTheProcess(t *testing.T) {
	for _, ahead := range []int{0, 2000, -3600e3} { // of node 2
		v := newVoters()
		receive := func(ms, life int) {
			v.add(2, ahead+ms, trace.Record{
				Event: "receive", From: 1, Msg: "HEARTBEAT", MsgID: "1:9", Sender: fmt.Sprint("n1life", life),
				Term: 1, Leader: 1, Token: 1, Why: []string{"x -> y"},
			})
		}
		v.start(1, 0)
		v.start(2, ahead)
		v.send(1, 1000, 1, "1:9", "x -> y")
		v.start(1, 3000)
		v.send(1, 4000, 1, "1:9", "x -> y")
		v.start(1, 6000)
		v.send(1, 7000, 1, "1:9", "x -> y")
		receive(7500, 2) // it was held up
		receive(7600, 4) // whose log is cut away
		for life, want := range map[string][]string{"n1life1": nil, "n1life2": {"1:9"}, "n1life3": nil} {
			if got := v.arrivedOf(life); !slices.Equal(got, want) {
				t.Errorf("node 2 is %d ms ahead: %v of %s arrived, want %v", ahead, got, life, want)
			}
		}
	}
}

// "COORDINATOR from 4 to 5 never arrived": node 5 read it, in a record that sends a message with the number of that
// which it answers. A former process had sent that, in a record that is not kept.
func TestReceiptThatSendsTheNumberOfWhatItAnswers(t *testing.T) {
	const hour = 3600e3
	for former, want := range map[bool]rounds.Delivery{false: rounds.Lost, true: rounds.Unseen} {
		v := newVoters()
		v.algo, v.guarantee = "bully", "best-effort"
		v.start(4, 0)
		v.add(4, 10, trace.Record{Term: 2, Event: "timeout", Leader: 4, LeaderChange: trace.Elected})
		if former {
			v.start(5, 3*hour)
		}
		v.start(5, 3*hour+100)
		v.add(4, 150, trace.Record{Term: 2, Event: "peers", Leader: 4, Alive: []uint64{4, 5}})
		exchange := func(ms, n int) { // which tells how the clocks differ
			v.add(5, 3*hour+ms, trace.Record{
				Term: 2, Event: "timeout", Why: []string{"x -> y"}, Sent: []string{fmt.Sprintf("ELECTION>4#5:%d", n)},
			})
			v.add(4, ms+5, trace.Record{
				Term: 2, Event: "receive", From: 5, Msg: "ELECTION", MsgID: fmt.Sprintf("5:%d", n), Leader: 4,
				Why: []string{"x -> y"}, Sent: []string{fmt.Sprintf("OK>5#4:%d", n)},
			})
			v.add(5, 3*hour+ms+10, trace.Record{
				Term: 2, Event: "receive", From: 4, Msg: "OK", MsgID: fmt.Sprintf("4:%d", n), Why: []string{"x -> y"},
			})
		}
		for n := range 6 {
			exchange(200+220*n, 20+n)
		}
		v.add(4, 1500, trace.Record{
			Term: 2, Event: "receive", From: 5, Msg: "COORDINATOR", MsgID: "5:9", Leader: 4,
			Why:  []string{"COORDINATOR of term 1 is below term 2 -> drop it, tell 5 that 4 leads"},
			Sent: []string{"COORDINATOR>5#4:4"},
		})
		v.add(5, 3*hour+1900, trace.Record{
			Term: 2, Event: "receive", From: 4, Msg: "COORDINATOR", MsgID: "4:4", Why: []string{"x -> y"},
			Sent: []string{"COORDINATOR>4#5:9"},
		})
		for ms := 2000; ms < 6000; ms += 500 { // and both go on
			v.add(4, ms, trace.Record{Term: 2, Event: "timeout", Leader: 4})
			v.add(5, 3*hour+ms, trace.Record{Term: 2, Event: "timeout"})
		}
		for _, r := range v.b.History().Groups[0].Rounds {
			for _, m := range r.Messages {
				if m.ID == "4:4" && m.SendStep >= 0 && m.Delivery != want {
					t.Errorf("a former process %v: %s, want %s", former, m.Delivery, want)
				}
			}
		}
	}
}
