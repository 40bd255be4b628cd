package rounds_test

import (
	"fmt"
	"testing"

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

// The only pair of two nodes proves nothing: the message was one that an earlier process sent in a record which changed
// nothing, and the one that counted as received was sent long after.
func TestOnlyPairOfALink(t *testing.T) {
	const hour = 3600e3
	v := newVoters()
	v.lead(1, 10, 1)
	heartbeat := trace.Record{
		Event: "timeout", Term: 1, Leader: 1, Token: 1, ValidUntil: atMS(1990), Sent: []string{"HEARTBEAT>2#1:9"},
	}
	v.add(1, 1000, heartbeat)
	v.follow(2, hour+20, 1, 1)
	v.add(2, hour+1020, trace.Record{
		Event: "receive", From: 1, Msg: "HEARTBEAT", MsgID: "1:9", Term: 1, Leader: 1, Token: 1,
		ValidUntil: atMS(hour + 1990),
	})
	v.start(1, 8000)
	v.lead(1, 8010, 2)
	heartbeat.Term, heartbeat.Token, heartbeat.Why = 2, 2, []string{"x -> y"}
	v.add(1, 9000, heartbeat)
	for _, r := range v.b.History().Groups[0].Rounds {
		for _, m := range r.Messages {
			if m.ID == "1:9" && m.SendStep >= 0 && m.Delivery == rounds.Arrived {
				t.Errorf("term %d: %+v", r.Term, m)
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
			if m.ID == "1:9" && m.SendStep >= 0 && r.Steps[m.SendStep].Ref.Incarnation == "n1life1" {
				arrived = m.Delivery == rounds.Arrived || m.ReceiveStep >= 0
			}
		}
		if arrived != (name == "after") {
			t.Errorf("%s: %+v", name, r.Messages)
		}
	}
}
