package rounds_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// "Messages never arrived": not those to a node that was stopped, nor those into a connection whose process at the
// other end was another one by then.
func TestMessagesIntoTheVoid(t *testing.T) {
	for name, c := range map[string]struct {
		evidence string
		steps    int // in ms, between the records of the receiver
		want     rounds.Delivery
	}{
		"a receiver that was stopped": {"", 4000, rounds.ToGone},
		"a process that had ended":    {"link-closed 2, other-incarnation 2, new-incarnation 2", 200, rounds.ToGone},
		"a process that was replaced": {"new-incarnation 2", 200, rounds.ToGone}, // while the sender slept
		"a receiver that was well":    {"", 200, rounds.Lost},
	} {
		v := newVoters()
		v.add(2, 0, trace.Record{Event: "start"})
		v.start(2, 3000)
		for ms := 3200; ms < 10000; ms += c.steps {
			v.add(2, ms, trace.Record{Event: "timeout"})
		}
		v.ask(1, 5000, 2)
		v.lose(1, 5010, c.evidence, 1, 2, 3)
		for _, r := range v.b.History().Groups[0].Rounds {
			for _, m := range r.Messages {
				if m.To == 2 && m.Delivery != c.want {
					t.Errorf("%s: %+v", name, m)
				}
			}
		}
	}
}

// "Messages never arrived": not those of a node that was stopped a few milliseconds later, and missed by the
// others. They were still in its own memory, and it had ended the connection when it went on.
func TestMessagesOfOneThatStops(t *testing.T) {
	for missed, want := range map[bool]rounds.Delivery{true: rounds.ToGone, false: rounds.Lost} {
		v := newVoters()
		v.add(2, 0, trace.Record{Event: "start"})
		for ms := 3200; ms < 10000; ms += 200 {
			if v.add(2, ms, trace.Record{Event: "timeout"}); missed && ms == 5200 {
				v.lose(2, 5330, "heartbeat-missed 1", 2, 3)
			}
		}
		v.ask(1, 5000, 2)
		v.add(1, 8600, trace.Record{Event: "timeout"})
		for _, r := range v.b.History().Groups[0].Rounds {
			for _, m := range r.Messages {
				if m.To == 2 && m.Delivery != want {
					t.Errorf("missed %v: %+v", missed, m)
				}
			}
		}
	}
}

// "Messages never arrived": not those of a node that has just woken, nor those to one. Their connections end then.
func TestMessagesOfOneThatWakes(t *testing.T) {
	for _, sleeper := range []uint64{1, 2} {
		for missed, want := range map[bool]rounds.Delivery{true: rounds.ToGone, false: rounds.Lost} {
			v := newVoters()
			for ms := 1000; ms < 10000; ms += 150 {
				for node := uint64(1); node <= 2; node++ {
					if node != sleeper || ms <= 1150 || ms >= 4900 {
						v.add(node, ms, trace.Record{Event: "timeout"})
					}
				}
				if missed && ms == 1450 {
					v.lose(3, ms, fmt.Sprint("heartbeat-missed ", sleeper), 3-sleeper, 3)
				}
				if ms == 4900 {
					v.ask(1, 4950, 2)
				}
			}
			for _, r := range v.b.History().Groups[0].Rounds {
				for _, m := range r.Messages {
					if m.To == 2 && m.Delivery != want {
						t.Errorf("node %d slept, missed %v: %+v", sleeper, missed, m)
					}
				}
			}
		}
	}
}

// "A message never arrived, and it did": the log of its receiver ends a little after a later message came.
func TestOvertakenAtTheEndOfALog(t *testing.T) {
	v := newVoters()
	v.add(2, 0, trace.Record{Event: "timeout"})
	v.ask(1, 100, 1)
	v.ask(1, 150, 1)
	v.add(2, 160, trace.Record{Event: "receive", From: 1, Msg: "PRE_VOTE", MsgID: "1:1502", Round: 1})
	v.add(1, 9000, trace.Record{Event: "timeout"})
	for _, r := range v.b.History().Groups[0].Rounds {
		for _, m := range r.Messages {
			if m.ID == "1:1002" && m.Delivery != rounds.Unseen {
				t.Errorf("%+v", m)
			}
		}
	}
}

// "A message never arrived, and it did", seconds later, in a record that is missing: the log of its receiver has a gap
// long after the message was sent.
func TestReceiptInALaterGap(t *testing.T) {
	for _, missing := range []bool{false, true} {
		v, want := newVoters(), rounds.Lost
		for ms := 0; ms < 10000; ms += 200 {
			if missing && ms == 6000 {
				v.seq["n2life0"]++
				want = rounds.Unseen
			}
			v.add(2, ms, trace.Record{Event: "timeout"})
		}
		v.ask(1, 1000, 2)
		for _, r := range v.b.History().Groups[0].Rounds {
			for _, m := range r.Messages {
				if m.To == 2 && m.Delivery != want {
					t.Errorf("missing %v: %+v", missing, m)
				}
			}
		}
	}
}

// "Messages never arrived": not those that may have come before the log of their receiver begins, as far as the clocks
// are known.
func TestLostBeforeTheLogBegins(t *testing.T) {
	for ms, want := range map[int]rounds.Delivery{1200: rounds.Unseen, 2200: rounds.Lost} {
		v := newVoters()
		const ahead, took = 10000, 400 // so the clock of node 2 is known with an error of as much
		v.start(1, 0)
		v.seq["n2life0"] = 6
		for at := 1100; at < 8000; at += 200 {
			v.add(2, ahead+at, trace.Record{Event: "timeout"})
		}
		v.send(1, ms, 1, "1:1", "x -> y")
		v.send(1, 8000, 1, "1:2", "x -> y")
		v.receive(2, ahead+8000+took, 1, "1:2")
		v.add(2, ahead+8500, trace.Record{
			Event: "timeout", Term: 1, Why: []string{"x -> y"}, Sent: []string{"PRE_VOTE>1#2:1"},
		})
		v.add(1, 8500+took, trace.Record{
			Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:1", Term: 1, Why: []string{"x -> y"},
			HLC: fmt.Sprintf("%d.1", atMS(ahead+8500).UnixMicro()),
		})
		found := false
		for _, r := range v.b.History().Groups[0].Rounds {
			for _, m := range r.Messages {
				if m.ID == "1:1" && m.To == 2 {
					if found = true; m.Delivery != want {
						t.Errorf("sent at %d ms: %+v", ms, m)
					}
				}
			}
		}
		if !found {
			t.Error("no message")
		}
	}
}

// "Called lost, and received": the receiver slept before it had read the message, since another node missed it, and its
// log ends as it woke.
func TestSleptBeforeItRead(t *testing.T) {
	for until, want := range map[int]rounds.Delivery{10000: rounds.Unseen, 11500: rounds.Lost} {
		v := newVoters()
		v.start(1, 0)
		v.start(2, 0)
		v.send(1, 100, 1, "1:9", "x -> y")
		v.lose(1, 110, "", 1, 2)
		for _, ms := range []int{90, 500, 10000, until} {
			v.add(2, ms, trace.Record{Event: "timeout", Term: 1})
		}
		v.lose(1, 1500, "unreachable 2", 1)
		for _, r := range v.b.History().Groups[0].Rounds {
			for _, m := range r.Messages {
				if m.Delivery != want {
					t.Errorf("until %d ms: %+v", until, m)
				}
			}
		}
	}
}

// "1 message of term 4 never arrived": the sender asks all voters, and did not see yet that this one had begun. Nothing
// was lost between the two.
func TestSentBeforeItWasSeen(t *testing.T) {
	for _, seen := range []bool{false, true} {
		v := newVoters()
		v.start(1, 0)
		v.lose(1, 1, "", 1, 3)
		v.start(2, 99)
		if seen {
			v.lose(1, 99, "", 1, 2, 3)
		}
		v.send(1, 100, 1, "1:9", "x -> y")
		if !seen {
			v.lose(1, 101, "", 1, 2, 3)
		}
		for ms := 110; ms < 2000; ms += 300 {
			v.add(2, ms, trace.Record{Event: "timeout", Term: 1})
		}
		found := slices.Contains(names(v.b.History().Groups[0].Findings), rounds.MessagesLost)
		if found != seen {
			t.Errorf("seen %v: found %v", seen, found)
		}
	}
}

// "Called lost, and received": the receiver may have slept before it read the message, and its log ends as it wakes. No
// other node would have missed it: the others had ended.
func TestMessageToOneThatNobodyMissed(t *testing.T) {
	for until, want := range map[int]rounds.Delivery{1100: rounds.Unseen, 6000: rounds.Lost} { // of the sender
		v := newVoters()
		for ms := 0; ms <= 1120; ms += 40 {
			v.add(2, ms, trace.Record{Event: "timeout", Term: 1})
		}
		v.send(1, 1090, 1, "1:9", "x -> y")
		v.add(1, until, trace.Record{Event: "timeout", Term: 1})
		v.add(2, 5740, trace.Record{Event: "timeout", Term: 1})
		for _, r := range v.b.History().Groups[0].Rounds {
			for _, m := range r.Messages {
				if m.Delivery != want {
					t.Errorf("the sender wrote until %d ms: %+v", until, m)
				}
			}
		}
	}
}

// "ELECTED > 3 (gone)" was told of an answer to node 3 itself, and of what was sent to it in the record in which it was
// there again: whether that arrived is not known at level info.
func TestAnAnswerIsToNobodyWhoIsGone(t *testing.T) {
	for name, c := range map[string]struct {
		evidence string
		from     uint64
		want     rounds.Delivery
	}{
		"answers it":                   {"heartbeat-missed 3", 3, rounds.Unseen},
		"sees it again":                {"heartbeat-missed 3", 0, rounds.Unseen},
		"answers another one":          {"heartbeat-missed 3", 1, rounds.ToGone},
		"answers one that ended since": {"link-closed 3, dial-refused 3", 3, rounds.ToGone},
	} {
		v := newVoters()
		v.level = "info"
		v.add(3, 0, trace.Record{Event: "timeout"})
		v.add(2, 10, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		v.lose(2, 1000, c.evidence, 1, 2)
		answer := trace.Record{
			Event: "receive", From: c.from, Msg: "ELECTION", MsgID: fmt.Sprintf("%d:4", c.from), Term: 2,
			Why: []string{"x -> y"}, Sent: []string{"ELECTION>3#2:8"},
		}
		if c.from == 0 {
			answer.Event, answer.Msg, answer.MsgID = "peers", "", ""
			answer.Alive, answer.Evidence = []uint64{1, 2, 3}, "heartbeat-back 3"
		}
		v.add(2, 2000, answer)
		v.add(3, 2100, trace.Record{Event: "timeout"})
		messages := v.b.History().Groups[0].Rounds[0].Messages
		at := slices.IndexFunc(messages, func(m rounds.Message) bool { return m.To == 3 })
		if at < 0 || messages[at].Delivery != c.want {
			t.Errorf("%s: %+v", name, messages)
		}
	}
}

// "Term 2 took 9 messages", and it took ten: of an answer to the leader that was lost, and back, it was told that it
// was for one that was gone. It answered that, in a record that is missing.
func TestAnAnswerToTheLeaderThatWasLost(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee = "bully", "best-effort"
	v.leadAlone(3, 0, 1)
	v.follow(2, 10, 3, 1)
	v.add(2, 1000, trace.Record{
		Event: "peers", Term: 2, Leader: 2, Alive: []uint64{1, 2}, Evidence: "unreachable 3",
		Why: []string{"leader 3 is gone -> call an election of term 2", "no higher node is alive -> lead term 2"},
	})
	v.add(2, 1400, trace.Record{Event: "peers", Term: 2, Leader: 2, Alive: []uint64{1, 2, 3}})
	v.add(3, 1500, trace.Record{
		Event: "timeout", Term: 2, Leader: 3, Why: []string{"x -> y"}, Sent: []string{"COORDINATOR>2#3:7"},
	})
	v.add(2, 1510, trace.Record{
		Event: "receive", From: 3, Msg: "COORDINATOR", MsgID: "3:7", Term: 2, Leader: 3,
		Why: []string{"x -> y"}, Sent: []string{"REPORT>3#2:8"},
	})
	v.lost(3, 4)
	v.add(3, 9000, trace.Record{Event: "timeout", Term: 2, Leader: 3})
	for _, r := range v.b.History().Groups[0].Rounds {
		for _, m := range r.Messages {
			if m.ID == "2:8" && m.Delivery != rounds.Unseen {
				t.Errorf("%+v", m)
			}
		}
	}
}
