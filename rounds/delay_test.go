package rounds_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// "No leader was known" was all that was told of four seconds in which the later winner itself had just started: its
// own voter did not vote for it until then, which nobody writes down. It asked in time, and became a candidate as a
// timer was due, and not as it was answered. It may have waited for its turn instead, or for the end of a promise.
func TestAWinnerThatHadJustStarted(t *testing.T) {
	because := func(code string, args ...trace.Arg) []trace.Reason { return []trace.Reason{{Code: code, Args: args}} }
	number := func(n uint64) trace.Arg { return trace.Arg{Number: n} }
	for name, told := range map[string]bool{
		"waited": true, "answered": false, "before its turn": false, "had followed": false, "had voted": false,
		"cut": false, "soon": false,
	} {
		v := newVoters()
		v.level = "info"
		v.add(3, 0, trace.Record{Event: "start"})
		v.add(2, 1, trace.Record{Event: "start"})
		if name == "had followed" {
			v.follow(2, 5, 1, 1)
			v.miss(2, 7, 1)
		}
		if name == "had voted" {
			v.add(2, 5, trace.Record{Event: "receive", Reasons: because("lease.vote", number(1), number(1))})
		}
		cause := "lease.nominated"
		if name == "before its turn" {
			cause = "lease.may-be-nominated"
		}
		v.add(2, 10, trace.Record{
			Round: 2, Event: "timeout", Sent: []string{"PRE_VOTE>1#2:1", "PRE_VOTE>3#2:2"},
			Reasons: because("lease.ask", trace.Arg{Is: trace.Cause, Reason: &because(cause)[0]}, number(2)),
		})
		v.add(3, 11, trace.Record{
			Round: 2, Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:2", Sent: []string{"PRE_VOTE_REPLY>2#3:1"},
			Reasons: because("lease.yes", number(2), number(2)),
		})
		if name == "cut" {
			v.seq["n2life0"]++
		}
		at, event := 4000, "timeout"
		switch name {
		case "answered":
			event = "receive"
		case "soon":
			at = 1000
		}
		v.add(2, at, trace.Record{
			Term: 2, Event: event, Sent: []string{"REQUEST_VOTE>1#2:3", "REQUEST_VOTE>3#2:4"},
			Reasons: because("lease.candidate", number(2)),
		})
		v.add(3, 4001, trace.Record{
			Term: 2, Event: "receive", From: 2, Msg: "REQUEST_VOTE", MsgID: "2:4", Sent: []string{"VOTE>2#3:2"},
			Reasons: because("lease.vote", number(2), number(2)),
		})
		v.add(2, 4002, trace.Record{
			Term: 2, Event: "receive", From: 3, Msg: "VOTE", MsgID: "3:2", Leader: 2, Token: 2,
			LeaderChange: trace.Elected, ValidUntil: atMS(5000), Reasons: because("lease.lead", number(2)),
		})
		in := v.last()
		if has := strings.Contains(in.Why, "voter 2 had just started, and voted for nobody at first"); has != told {
			t.Errorf("%s: %q: %+v", name, in.Why, in)
		}
	}
}

// "The process of node 3 ended" was all that was told of the five seconds after all had been started again: a voter
// that had just started wrote once that it refused, and then, as its wait was over, that it would vote for who had
// asked it. If it says so as it is asked, its wait may have been over for long. If it refused while a leader led, it
// may have promised that one to elect nobody else since. So it may if who asked it while that led heard of it later.
func TestAVoterThatHadJustStartedUntilItsWaitWasOver(t *testing.T) {
	for name, over := range map[string]bool{
		"its wait was over": true, "asked again": false, "refused before": false, "heard later": false,
	} {
		v := newVoters()
		v.level = "info"
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		asked := 4100
		before := name == "refused before" || name == "heard later"
		if before {
			asked = 3900
		} else {
			for node := range uint64(3) {
				v.greet(node+1, 4000)
			}
		}
		v.ask(1, asked, 2)
		v.add(2, asked+1, trace.Record{
			Term: 1, Round: 2, Event: "receive", From: 1, Msg: "PRE_VOTE", MsgID: fmt.Sprintf("1:%d2", asked),
			Why: []string{"1 asks for term 2 -> no, just started"}, Sent: []string{"PRE_VOTE_REPLY>1#2:1"},
		})
		if before {
			v.expire(3, 4000, 1)
		}
		if name == "heard later" {
			v.add(1, 8000, trace.Record{
				Term: 1, Round: 2, Event: "receive", From: 2, Msg: "PRE_VOTE_REPLY", MsgID: "2:1",
				Why: []string{"2 says no, just started"},
			})
		}
		yes := trace.Record{
			Term: 1, Round: 2, Event: "timeout", Why: []string{"1 asks for term 2 -> yes"},
			Sent: []string{"PRE_VOTE_REPLY>1#2:2"},
		}
		if name == "asked again" {
			yes.Event, yes.From, yes.Msg, yes.MsgID = "receive", 1, "PRE_VOTE", "1:41008"
		}
		v.add(2, 9000, yes)
		v.add(1, 9001, trace.Record{
			Term: 2, Event: "receive", From: 2, Msg: "PRE_VOTE_REPLY", MsgID: "2:2",
			Why:  []string{"a majority would vote for this node in term 2 -> become candidate"},
			Sent: []string{"REQUEST_VOTE>2#1:60000", "REQUEST_VOTE>3#1:60001"},
		})
		v.add(2, 9005, trace.Record{
			Term: 2, Event: "receive", From: 1, Msg: "REQUEST_VOTE", MsgID: "1:60000",
			Why: []string{"nothing binds this voter -> vote for 1 in term 2"}, Sent: []string{"VOTE>1#2:3"},
		})
		v.add(1, 9010, trace.Record{
			Term: 2, Event: "receive", From: 2, Msg: "VOTE", MsgID: "2:3", Leader: 1, Token: 2,
			LeaderChange: trace.Elected, ValidUntil: atMS(10000), Why: []string{"a majority voted in term 2 -> lead"},
		})
		in, want := v.last(), ", and voter 2 had just started, and voted for nobody at first"
		if strings.HasSuffix(in.Why, want) != over || in.Leaderless < 5*time.Second {
			t.Errorf("%s: %q: %+v", name, in.Why, in)
		}
	}
}
