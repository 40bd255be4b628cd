package rounds_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// frozen writes that a leader was frozen until its lease had ended, and that the others saw it again as it woke.
func frozen(v *voters, level string) {
	v.level = level
	v.exchange(1, 1, -200, -190)
	v.exchange(2, 1, -180, -170)
	v.elect(1, 1, 2, 3)
	for _, node := range []uint64{2, 3} {
		v.add(node, 850, trace.Record{
			Term: 1, Event: "peers", Evidence: "heartbeat-missed 1", Alive: []uint64{2, 3}, Leader: 1, Token: 1,
			ValidUntil: atMS(1500),
		})
	}
	v.miss(2, 1500, 1)
	v.miss(3, 1500, 1)
	v.sleep(1, 1800, 69)
	for _, node := range []uint64{2, 3} {
		v.add(node, 1802, trace.Record{Term: 1, Event: "peers", Evidence: "heartbeat-back 1", Alive: []uint64{1, 2, 3}})
	}
	v.ask(2, 1803, 2)
}

// sleep writes that the leader of term 1 wakes, so many ms after its lease had ended.
func (v *voters) sleep(node uint64, ms int, late uint64) {
	v.add(node, ms, trace.Record{
		Term: 1, Event: "timeout", LeaderChange: trace.Deposed, PrevLeader: &node,
		Why: []string{fmt.Sprintf(
			"the lease ran out at least %d ms ago, while this process did not run -> lead term 1 no more", late)},
		Reasons: []trace.Reason{{Code: "lease.step-down", Args: []trace.Arg{
			{Is: trace.Cause, Reason: &trace.Reason{
				Code: "lease.ran-out-late", Args: []trace.Arg{{Is: trace.Number, Number: late}},
			}},
			{Is: trace.Number, Number: 1},
		}}},
	})
}

// "So it hung, was paused or was cut off" was told of a leader that says itself that it did not run. Who led next had
// called since that was gone.
func TestALeaderThatSaysThatItSleptWasNotCutOff(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.elect(1, 1, 2, 3)
	v.add(2, 850, trace.Record{
		Term: 2, Event: "peers", Evidence: "heartbeat-missed 1", Alive: []uint64{2, 3},
		Why: []string{"leader 1 is gone -> call an election of term 2"},
	})
	v.ask(2, 1600, 2)
	v.lead(2, 1610, 2)
	v.sleep(1, 2900, 1300)
	const want = "Node 1 had not died: the same process wrote again 2.05 s after the first sign, " +
		"so it hung or was paused [2:2 1:2]."
	if text := told(t, v.b.History().Groups[0]); !strings.Contains(text, want) {
		t.Errorf("want %q in\n%s", want, text)
	}
}

// "The lease of node 1 ended", and "was lost to node 2, but wrote on", was told of a leader that was frozen until its
// lease had ended, and woke just before the next one was elected. So it was where the next one's log is missing.
func TestALeaderThatWokeBeforeTheNextOneLedWasSilent(t *testing.T) {
	for _, leader := range []uint64{2, 4} {
		v := newVoters()
		frozen(v, "info")
		if leader == 2 {
			v.lead(2, 1810, 2)
		} else {
			v.follow(2, 1812, leader, 2)
		}
		v.follow(3, 1812, leader, 2)
		text := told(t, v.b.History().Groups[0])
		for _, want := range []string{
			" node 1 stopped answering (no answer to heartbeats): its process hung or was paused [",
			"Nodes 2 and 3 had noticed from 12:00:00.850 on that node 1 did not answer [2:4 3:2].",
			"Node 1 had not died: the same process wrote again 950 ms after that, so it hung or was paused [1:4].",
			"1 was silent to node 2 from 12:00:00.850 at the latest [peers saw: 2:4] to 12:00:01.800 [1:4]",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("leader %d: want %q in\n%s", leader, want, text)
			}
		}
	}
}

// "Who called the election of term 2, and why, is not known: no record of term 2 says so" was told where voters wrote
// who asked them, and who noticed the death of the leader was not told at all: only the log of the next one was
// missing.
func TestVotersTellWhoAskedThem(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.elect(3, 1, 1, 2)
	for _, node := range []uint64{1, 2} {
		v.lose(node, 500+int(node), "link-closed 3, dial-refused 3", 1, 2, 4)
	}
	v.add(1, 510, trace.Record{
		Term: 1, Event: "receive", From: 4, Msg: "PRE_VOTE", MsgID: "4:9",
		Why: []string{"4 asks for term 2 -> yes"}, Sent: []string{"PRE_VOTE_REPLY>4#1:1"},
	})
	v.follow(1, 520, 4, 2)
	v.follow(2, 521, 4, 2)
	text := told(t, v.b.History().Groups[0])
	for _, want := range []string{
		"Nodes 1 and 2 had noticed from 12:00:00.501 on that the process of node 3 had ended [1:2 2:2].",
		"Node 4 had asked for term 2 by 12:00:00.510 [1:3].",
		"Why node 4 asked for term 2, and whether another one called before: no record of term 2 says so.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
}

// "Too few to elect for 2.51 s of the 4.51 s": why the other two seconds went by, when a majority was there again, was
// not told.
func TestAVoterThatHadJustStartedKeptTheOthersFromALeader(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.elect(3, 1, 1, 2)
	v.lose(1, 500, "link-closed 3, dial-refused 3", 1, 2)
	v.lose(1, 501, "link-closed 2, dial-refused 2", 1)
	for ms := 600; ms <= 3000; ms += 400 {
		v.ask(1, ms, 2)
	}
	v.start(2, 3010)
	v.ask(1, 3100, 2)
	v.add(2, 3101, trace.Record{
		Term: 1, Round: 2, Event: "receive", From: 1, Msg: "PRE_VOTE", MsgID: "1:31002",
		Why: []string{"1 asks for term 2 -> no, just started"}, Sent: []string{"PRE_VOTE_REPLY>1#2:1"},
	})
	v.add(1, 5000, trace.Record{
		Term: 2, Event: "receive", From: 2, Msg: "PRE_VOTE_REPLY", MsgID: "2:2",
		Why:  []string{"a majority would vote for this node in term 2 -> become candidate"},
		Sent: []string{"REQUEST_VOTE>2#1:60000", "REQUEST_VOTE>3#1:60001"},
	})
	v.add(2, 5005, trace.Record{
		Term: 2, Event: "receive", From: 1, Msg: "REQUEST_VOTE", MsgID: "1:60000",
		Why: []string{"nothing binds this voter -> vote for 1 in term 2"}, Sent: []string{"VOTE>1#2:3"},
	})
	v.add(1, 5010, trace.Record{
		Term: 2, Event: "receive", From: 2, Msg: "VOTE", MsgID: "2:3", Leader: 1, Token: 2, LeaderChange: trace.Elected,
		ValidUntil: atMS(6000), Why: []string{"a majority voted in term 2 -> lead"},
	})
	const want = ", and voter 2 had just started, and voted for nobody at first"
	if in := v.last(); !strings.Contains(in.Why, "too few to elect for ") || !strings.HasSuffix(in.Why, want) {
		t.Errorf("%q, want %q: %+v", in.Why, want, in)
	}
}
