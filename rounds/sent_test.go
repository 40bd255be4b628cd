package rounds_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// "Term 5 took 9 messages", and it took eleven: a node whose log begins in term 4 had asked for the next one before.
func TestMessagesOfATermBeforeTheLogsBegin(t *testing.T) {
	for begins, want := range map[uint64]bool{2: false, 4: true} {
		v := newVoters()
		for node := uint64(1); node <= 3; node++ {
			if begins < 4 {
				v.start(node, 0)
			} else {
				v.seq[fmt.Sprintf("n%dlife0", node)] = 19
			}
			v.add(node, 10, trace.Record{Term: begins, Event: "timeout"})
			v.add(node, 2000, trace.Record{Term: 4, Event: "peers", Alive: []uint64{1, 2, 3}})
		}
		v.wins(2, 4000, 5, 1, 3)
		for _, r := range v.b.History().Groups[0].Rounds {
			if r.Term == 5 && r.AtLeast != want {
				t.Errorf("from term %d on: at least: %v, want %v: %+v", begins, r.AtLeast, want, r)
			}
		}
	}
}

// "Term 5 took eight messages", and it took more: a node had called it in vain while node 3 led term 4, in records that
// are missing.
func TestMessagesOfATermThatWasCalledInVainBefore(t *testing.T) {
	for missing, want := range map[uint64]bool{0: false, 7: true} {
		v := newVoters()
		for node := uint64(1); node <= 3; node++ {
			v.start(node, 0)
			v.add(node, 10, trace.Record{Term: 4, Event: "peers", Alive: []uint64{1, 2, 3}})
		}
		v.ask(3, 200, 4)
		v.lead(3, 500, 4)
		v.follow(1, 510, 3, 4)
		v.follow(2, 510, 3, 4)
		v.add(2, 1000, trace.Record{Term: 4, Event: "timeout", Leader: 3, Token: 4, ValidUntil: atMS(1900)})
		v.lost(2, missing)
		v.add(2, 1100, trace.Record{
			Term: 4, Event: "peers", Leader: 3, Token: 4, ValidUntil: atMS(1900), Alive: []uint64{1, 2, 3},
		})
		v.expire(3, 2000, 4)
		v.miss(1, 2010, 3)
		v.wins(2, 8000, 5, 1, 3)
		for node := uint64(1); node <= 3; node++ {
			v.add(node, 9000, trace.Record{Term: 5, Event: "lend", Leader: 2, Token: 5, ValidUntil: atMS(9400)})
		}
		for _, r := range v.b.History().Groups[0].Rounds {
			if r.Term == 5 && r.AtLeast != want {
				t.Errorf("%d missing: at least: %v, want %v: %+v", missing, r.AtLeast, want, r)
			}
		}
	}
}

// wins writes that a node asks the others for a term, that they vote for it, and follow.
func (v *voters) wins(node uint64, ms int, term uint64, others ...uint64) {
	v.ask(node, ms, term)
	for _, other := range others {
		v.add(other, ms+10, trace.Record{
			Term: term - 1, Round: term, Event: "receive", From: node, Msg: "PRE_VOTE",
			MsgID: fmt.Sprintf("%d:%d", node, 10*ms+int(other)),
			Why:   []string{fmt.Sprintf("%d asks for term %d -> yes", node, term)},
			Sent:  []string{fmt.Sprintf("PRE_VOTE_REPLY>%d#%d:7", node, other)},
		})
		v.add(node, ms+20, trace.Record{
			Term: term - 1, Round: term, Event: "receive", From: other, Msg: "PRE_VOTE_REPLY",
			MsgID: fmt.Sprintf("%d:7", other),
		})
	}
	v.add(node, ms+500, trace.Record{
		Term: term, Event: "receive", Leader: node, Token: term, LeaderChange: trace.Elected,
		ValidUntil: atMS(ms + 1400), Alive: append(others, node),
		Why: []string{fmt.Sprintf("a majority voted in term %d -> lead", term)},
	})
	for _, other := range others {
		v.follow(other, ms+600, node, term)
	}
}

// "Term 6 took one message", and it took four: a former process of the node, before its log begins, had called it in
// vain, and terms that a node calls are not saved.
func TestMessagesOfATermThatAFormerProcessCalled(t *testing.T) {
	for how, want := range map[string]bool{"whole": false, "cut": true, "a gap": true} {
		v := newVoters()
		for node := uint64(1); node <= 3; node++ {
			if how == "cut" {
				v.seq[fmt.Sprintf("n%dlife0", node)] = 19
			} else {
				v.start(node, 0)
			}
			if how == "a gap" && node == 3 { // of node 1, to the end of the process, and into the next one
				v.lose(2, 5, "link-closed 1, dial-refused 1", 2, 3)
				v.life[1]++
				v.seq["n1life2"] = 5
			}
			v.add(node, 10, trace.Record{Event: "timeout"})
		}
		v.add(1, 1000, trace.Record{Event: "timeout"})
		v.ask(2, 4000, 6)
		for _, node := range []uint64{1, 3} {
			v.add(node, 4010, trace.Record{
				Round: 6, Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: fmt.Sprintf("2:%d", 40000+node),
				Why:  []string{"2 asks for term 6 -> no, just started"},
				Sent: []string{fmt.Sprintf("PRE_VOTE_REPLY>2#%d:7", node)},
			})
			v.add(2, 4020, trace.Record{
				Round: 6, Event: "receive", From: node, Msg: "PRE_VOTE_REPLY", MsgID: fmt.Sprintf("%d:7", node),
			})
		}
		for node := uint64(1); node <= 3; node++ {
			v.add(node, 9000, trace.Record{Event: "timeout"})
		}
		for _, r := range v.b.History().Groups[0].Rounds {
			if r.Term == 6 && r.AtLeast != want {
				t.Errorf("%s: at least: %v, want %v: %+v", how, r.AtLeast, want, r)
			}
		}
	}
}

// "Term 1 took twelve messages", and it took 16: the last node followed in records that are missing, long after the
// others.
func TestMessagesUntilTheLastOneFollowed(t *testing.T) {
	for missing, want := range map[uint64]bool{0: false, 7: true} {
		v := newVoters()
		for node := uint64(1); node <= 3; node++ {
			v.start(node, 0)
			v.add(node, 10, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		}
		v.wins(2, 1000, 1, 1)
		v.add(3, 1010, trace.Record{
			Round: 1, Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:10003", Why: []string{"x -> no"},
		})
		v.add(2, 2000, trace.Record{Term: 1, Event: "peers", Leader: 2, Token: 1, Alive: []uint64{1, 2, 3}})
		if missing == 0 {
			v.follow(3, 2010, 2, 1)
		}
		for node := uint64(1); node <= 3; node++ {
			v.add(node, 2500, trace.Record{Term: 1, Event: "timeout"})
			v.lost(node, missing*(node/3)) // of node 3
			v.ask(node, 9000, 2)
		}
		for _, r := range v.b.History().Groups[0].Rounds {
			if r.Term == 1 && r.AtLeast != want {
				t.Errorf("%d missing: at least: %v, want %v: %+v", missing, r.AtLeast, want, r)
			}
		}
	}
}

// "Term 2 took 15 messages", and it took one more: a question that never arrived, as it seemed, was answered after the
// log of its receiver ends.
func TestMessagesOfATermWhoseQuestionWasHeldUp(t *testing.T) {
	for lost, want := range map[bool]bool{false: false, true: true} {
		v := newVoters()
		for node := uint64(1); node <= 3; node++ {
			v.start(node, 0)
			v.add(node, 10, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
			v.add(node, 600, trace.Record{Event: "timeout"})
		}
		v.ask(2, 1000, 1)
		for _, other := range []uint64{1, 3} {
			if lost && other == 3 {
				continue
			}
			v.add(other, 1010, trace.Record{
				Round: 1, Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: fmt.Sprintf("2:%d", 10000+other),
				Why:  []string{"2 asks for term 1 -> no, just started"},
				Sent: []string{fmt.Sprintf("PRE_VOTE_REPLY>2#%d:7", other)},
			})
			v.add(2, 1020, trace.Record{
				Round: 1, Event: "receive", From: other, Msg: "PRE_VOTE_REPLY", MsgID: fmt.Sprintf("%d:7", other),
			})
		}
		for ms := 1200; ms < 9000; ms += 500 {
			for node := uint64(1); node <= 3; node++ {
				v.add(node, ms, trace.Record{Event: "timeout"})
			}
		}
		for _, r := range v.b.History().Groups[0].Rounds {
			if r.Term == 1 && r.AtLeast != want {
				t.Errorf("lost %v: at least: %v, want %v: %+v", lost, r.AtLeast, want, r.Messages)
			}
		}
	}
}

// "Term 2 took 23 messages", and it took one more: node 2 did not see node 3 when it asked it, which read that and
// answered, long after its log ends.
func TestMessagesOfATermWithAQuestionToOneThatSeemedGone(t *testing.T) {
	for whole, want := range map[bool]bool{true: false, false: true} {
		v := newVoters()
		for node := uint64(1); node <= 3; node++ {
			v.start(node, 0)
			v.add(node, 10, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		}
		v.lose(2, 900, "unreachable 3", 1, 2)
		v.ask(2, 1000, 1)
		v.add(1, 1010, trace.Record{
			Round: 1, Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:10001",
			Why: []string{"2 asks for term 1 -> no, just started"}, Sent: []string{"PRE_VOTE_REPLY>2#1:7"},
		})
		v.add(2, 1020, trace.Record{Round: 1, Event: "receive", From: 1, Msg: "PRE_VOTE_REPLY", MsgID: "1:7"})
		for ms := 1200; ms < 9000; ms += 500 {
			for node := uint64(1); node <= 3; node++ {
				if node < 3 || whole || ms < 3000 {
					v.add(node, ms, trace.Record{Term: 2, Event: "timeout"})
				}
			}
		}
		for _, r := range v.b.History().Groups[0].Rounds {
			if r.Term == 1 && r.AtLeast != want {
				t.Errorf("whole %v: at least: %v, want %v: %+v", whole, r.AtLeast, want, r.Messages)
			}
		}
	}
}

// "Node 2 asked the voters" for term 4, which node 1 had called: it answered that one five seconds late, in the record
// in which it asked for term 7.
func TestALateAnswerBesideAQuestionOfALaterTerm(t *testing.T) {
	v := newVoters()
	v.ask(1, 0, 4)
	v.add(2, 5000, trace.Record{
		Term: 6, Event: "idle", Detail: "as leader of term 6",
		Why: []string{
			"the work of term 6 has stopped -> release it",
			"this node is nominated and nobody leads -> ask the voters for term 7", "1 asks for term 4 -> no, voted 2",
		},
		Sent: []string{"RELEASE>1#2:15", "PRE_VOTE>1#2:16", "PRE_VOTE_REPLY>1#2:17"},
	})
	for _, r := range v.b.History().Groups[0].Rounds {
		for _, s := range r.Steps {
			if want := map[uint64]uint64{4: 1, 7: 2}[r.Term]; s.Ref.Node != want {
				t.Errorf("term %d: a record of node %d, want of %d", r.Term, s.Ref.Node, want)
			}
		}
	}
}

// "Term 8 took no messages", and it took one: the next process of a node that had ended sent it, and no record of that
// process is here.
func TestMessagesOfAProcessWithoutRecords(t *testing.T) {
	for _, again := range []bool{false, true} {
		v := newVoters()
		for node := uint64(1); node <= 3; node++ {
			v.start(node, 0)
			v.add(node, 10, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		}
		v.lead(2, 1000, 1)
		v.follow(1, 1010, 2, 1)
		v.follow(3, 1010, 2, 1)
		v.add(3, 2490, trace.Record{Term: 1, Event: "timeout", Leader: 2, Token: 1})
		for _, node := range []uint64{1, 2} {
			v.add(node, 2500, trace.Record{
				Term: 1, Event: "peers", Leader: 2, Token: 1, Alive: []uint64{1, 2},
				Evidence: "link-closed 3, dial-refused 3",
			})
		}
		if again {
			v.add(2, 3000, trace.Record{Term: 1, Event: "peers", Leader: 2, Token: 1, Alive: []uint64{1, 2, 3}})
		}
		v.expire(2, 3500, 1)
		v.miss(1, 3510, 2)
		v.wins(2, 4000, 2, 1)
		for _, r := range v.b.History().Groups[0].Rounds {
			if r.Term == 2 && r.AtLeast != again {
				t.Errorf("again %v: at least: %v: %+v", again, r.AtLeast, r)
			}
		}
	}
}

// "Records are missing that may have sent others", and "the records of sending it are not here", were told of a term of
// which all records are here: node 3 sent a message in one that gives no reason.
func TestMessagesOfRecordsThatDecidedNothing(t *testing.T) {
	v := newVoters()
	for node := uint64(1); node <= 3; node++ {
		v.start(node, 0)
		v.add(node, 10, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		v.follow(node, 1000+int(node), 1, 1)
	}
	v.ask(2, 3000, 2)
	for _, other := range []uint64{1, 3} {
		rec := trace.Record{
			Term: 1, Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: fmt.Sprintf("2:%d", 30000+other),
			Leader: 1, Token: 1, Sent: []string{fmt.Sprintf("PRE_VOTE_REPLY>2#%d:7", other)},
		}
		if other == 1 {
			rec.Round, rec.Why = 2, []string{"2 asks for term 2 -> yes"}
		}
		v.add(other, 3010, rec)
		v.add(2, 3020, trace.Record{
			Term: 1, Round: 2, Event: "receive", From: other, Msg: "PRE_VOTE_REPLY",
			Sender: fmt.Sprintf("n%dlife1", other), MsgID: fmt.Sprintf("%d:7", other),
		})
	}
	v.add(2, 3500, trace.Record{
		Term: 2, Event: "receive", Leader: 2, Token: 2, LeaderChange: trace.Elected, ValidUntil: atMS(4400),
		Alive: []uint64{1, 2, 3}, Why: []string{"a majority voted in term 2 -> lead"},
	})
	for _, other := range []uint64{1, 3} {
		v.follow(other, 3600, 2, 2)
	}
	for node := uint64(1); node <= 3; node++ {
		v.add(node, 9000, trace.Record{Term: 2, Event: "timeout"})
	}
	text := told(t, v.b.History().Groups[0])
	for _, want := range []string{
		"Term 2 took at least 3 messages (PRE_VOTE 2, PRE_VOTE_REPLY 1): records that decided nothing sent others.",
		"Why 1 message was sent: the record that sent it decided nothing, and gives no reason.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in: %s", want, text)
		}
	}
}
