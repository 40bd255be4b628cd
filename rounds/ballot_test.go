package rounds_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// "A vote counted that was granted after the win": the voter's clock is a little behind, and the winner, which writes
// down all that it receives, did not receive the vote.
func TestVoteAfterTheWin(t *testing.T) {
	for level, want := range map[string]bool{"debug": false, "info": true} {
		v := newVoters()
		v.level = level
		v.add(1, 0, trace.Record{
			Term: 1, Event: "timeout", Sent: []string{"REQUEST_VOTE>2#1:1", "REQUEST_VOTE>3#1:2"},
			Why: []string{"a majority would vote for this node in term 1 -> become candidate"},
		})
		for node := uint64(2); node <= 3; node++ {
			ask, sent := "1:1", "VOTE>1#2:1"
			if node == 3 {
				ask, sent = "1:2", "VOTE>1#3:1"
			}
			v.add(node, int(3+node), trace.Record{
				Term: 1, Event: "receive", From: 1, Msg: "REQUEST_VOTE", MsgID: ask, Sent: []string{sent},
				Why: []string{"nothing binds this voter -> vote for 1 in term 1"},
			})
		}
		v.add(1, 10, trace.Record{
			Term: 1, Event: "receive", From: 2, Msg: "VOTE", MsgID: "2:1", Leader: 1, Token: 1,
			LeaderChange: trace.Elected, ValidUntil: atMS(1000), Why: []string{"a majority voted in term 1 -> lead"},
		})
		r := v.b.History().Groups[0].Rounds[0]
		for _, voice := range r.Ballot.Voices {
			if voice.Voter == 3 && (!voice.Granted || voice.Counted != want) {
				t.Errorf("at level %s: %+v", level, voice)
			}
		}
		if len(r.Ballot.Voices) != 3 {
			t.Errorf("%+v", r.Ballot)
		}
	}
}

// "A vote counted that was granted after the win": records of the voter are missing, and a vote of its former process
// comes after its present one was asked. That one sends a message with a lower number later.
func TestVoteOfTheFormerProcess(t *testing.T) {
	for number, want := range map[string]bool{"3:23": false, "3:2": true} {
		v := newVoters()
		v.add(3, 0, trace.Record{Event: "start"})
		v.seq["n3life0"]++
		v.add(1, 5, trace.Record{
			Term: 1, Event: "timeout", Sent: []string{"REQUEST_VOTE>2#1:1", "REQUEST_VOTE>3#1:2"},
			Why: []string{"a majority would vote for this node in term 1 -> become candidate"},
		})
		v.add(2, 7, trace.Record{
			Term: 1, Event: "receive", From: 1, Msg: "REQUEST_VOTE", MsgID: "1:1", Sent: []string{"VOTE>1#2:1"},
			Why: []string{"nothing binds this voter -> vote for 1 in term 1"},
		})
		v.add(1, 8, trace.Record{Term: 1, Event: "receive", From: 3, Msg: "VOTE", MsgID: number})
		v.add(1, 10, trace.Record{
			Term: 1, Event: "receive", From: 2, Msg: "VOTE", MsgID: "2:1", Leader: 1, Token: 1,
			LeaderChange: trace.Elected, ValidUntil: atMS(1000), Sent: []string{"HEARTBEAT>3#1:3"},
			Why: []string{"a majority voted in term 1 -> lead"},
		})
		v.add(3, 15, trace.Record{
			Term: 1, Event: "receive", From: 1, Msg: "HEARTBEAT", MsgID: "1:3", Leader: 1, Token: 1,
			LeaderChange: trace.Elected, Why: []string{"1 leads term 1 -> follow it"},
			Sent: []string{"HEARTBEAT_REPLY>1#3:6"},
		})
		r := v.b.History().Groups[0].Rounds[0]
		for _, voice := range r.Ballot.Voices {
			if voice.Voter == 3 && voice.Counted != want {
				t.Errorf("with the number %s: %+v", number, voice)
			}
		}
		if len(r.Ballot.Voices) != 3 {
			t.Errorf("%+v", r.Ballot)
		}
	}
}

// "A vote counted that was granted after the win": the log of the voter is not here, and its vote in a former term came
// after it was asked again. It refuses then, as it has voted for nobody in this term.
func TestVoteBeforeARefusal(t *testing.T) {
	for number, want := range map[string]bool{"3:4": false, "3:6": true} { // of the vote
		v := newVoters()
		v.add(1, 5, trace.Record{
			Term: 1, Event: "timeout", Sent: []string{"REQUEST_VOTE>2#1:1", "REQUEST_VOTE>3#1:2"},
			Why: []string{"a majority would vote for this node in term 1 -> become candidate"},
		})
		v.add(2, 7, trace.Record{
			Term: 1, Event: "receive", From: 1, Msg: "REQUEST_VOTE", MsgID: "1:1", Sent: []string{"VOTE>1#2:1"},
			Why: []string{"nothing binds this voter -> vote for 1 in term 1"},
		})
		v.add(1, 8, trace.Record{
			Term: 1, Event: "receive", From: 3, Msg: "VOTE", Detail: "VOTE", MsgID: number, Why: []string{"x -> y"},
		})
		v.add(1, 10, trace.Record{
			Term: 1, Event: "receive", From: 2, Msg: "VOTE", MsgID: "2:1", Leader: 1, Token: 1,
			LeaderChange: trace.Elected, ValidUntil: atMS(1000), Why: []string{"a majority voted in term 1 -> lead"},
		})
		v.add(1, 12, trace.Record{
			Term: 1, Event: "receive", From: 3, Msg: "VOTE", Detail: "VOTE no, promised 1", MsgID: "3:5", Leader: 1,
			Token: 1, ValidUntil: atMS(1000), Why: []string{"x -> y"},
		})
		for _, voice := range v.b.History().Groups[0].Rounds[0].Ballot.Voices {
			if voice.Voter == 3 && voice.Counted != want {
				t.Errorf("a vote with the id %s: %+v", number, voice)
			}
		}
	}
}

// "A vote that was never granted": a vote of the voter's former process, whose log was rotated, comes after that was
// proven dead, and the candidate asked anew. All records are here of the process that runs since, or the numbers of its
// messages tell that it has not sent the vote.
func TestVoteOfAProvenDeadProcess(t *testing.T) {
	for name, want := range map[string]bool{
		"all records": false, "a missing record": true, "a missing record, and lower numbers later": false,
	} {
		v := newVoters()
		v.seq["n3life0"] = 40
		v.add(3, 0, trace.Record{Event: "timeout"})
		v.add(2, 500, trace.Record{Event: "gone", About: 3, Detail: "3 n3life0"})
		v.add(1, 1000, trace.Record{
			Term: 1, Event: "timeout", Sent: []string{"REQUEST_VOTE>2#1:1", "REQUEST_VOTE>3#1:2"},
			Why: []string{"a majority would vote for this node in term 1 -> become candidate"},
		})
		v.start(3, 1005)
		if name != "all records" {
			v.seq["n3life1"]++
		}
		v.add(1, 1010, trace.Record{Term: 1, Event: "receive", From: 3, Msg: "VOTE", MsgID: "3:12"})
		v.add(2, 1011, trace.Record{
			Term: 1, Event: "receive", From: 1, Msg: "REQUEST_VOTE", MsgID: "1:1", Sent: []string{"VOTE>1#2:1"},
			Why: []string{"nothing binds this voter -> vote for 1 in term 1"},
		})
		v.add(1, 1012, trace.Record{
			Term: 1, Event: "receive", From: 2, Msg: "VOTE", MsgID: "2:1", Leader: 1, Token: 1,
			LeaderChange: trace.Elected, ValidUntil: atMS(2000), Why: []string{"a majority voted in term 1 -> lead"},
		})
		next := "ELECTED>2#3:13"
		if strings.HasSuffix(name, "lower numbers later") {
			next = "ELECTED>2#3:1"
		}
		v.add(3, 1100, trace.Record{Term: 2, Event: "timeout", Sent: []string{next}})
		for _, voice := range v.b.History().Groups[0].Rounds[0].Ballot.Voices {
			if voice.Voter == 3 && voice.Granted != want {
				t.Errorf("%s: %+v", name, voice)
			}
		}
	}
}

// "A vote that was never granted": the log of the voter is not here, and its vote in a former term comes after it was
// asked again. It had answered with a higher number that it would vote.
func TestVoteBeforeAnAnswer(t *testing.T) {
	for number, want := range map[string]bool{"3:4": false, "3:6": true} { // of the vote
		v := newVoters()
		v.add(1, 5, trace.Record{
			Term: 1, Event: "receive", From: 3, Msg: "PRE_VOTE_REPLY", Detail: "PRE_VOTE_REPLY yes", MsgID: "3:5",
			Sent: []string{"REQUEST_VOTE>2#1:1", "REQUEST_VOTE>3#1:2", "REQUEST_VOTE>4#1:3", "REQUEST_VOTE>5#1:4"},
			Why:  []string{"a majority would vote for this node in term 1 -> become candidate"},
		})
		v.add(1, 8, trace.Record{
			Term: 1, Event: "receive", From: 3, Msg: "VOTE", Detail: "VOTE", MsgID: number, Why: []string{"x -> y"},
		})
		for _, voice := range v.b.History().Groups[0].Rounds[0].Ballot.Voices {
			if voice.Voter == 3 && voice.Granted != want {
				t.Errorf("a vote with the id %s: %+v", number, voice)
			}
		}
	}
}

// "A vote that was never granted": the voter refused the candidate this term, by its own record, and then votes for it
// in an earlier term, whose request was long under way. The record of that is missing.
func TestVoteAfterARefusal(t *testing.T) {
	for refused, want := range map[bool]bool{true: false, false: true} {
		v := newVoters()
		v.add(1, 5, trace.Record{
			Term: 2, Event: "timeout",
			Sent: []string{"REQUEST_VOTE>2#1:1", "REQUEST_VOTE>3#1:2", "REQUEST_VOTE>4#1:3", "REQUEST_VOTE>5#1:4"},
			Why:  []string{"a majority would vote for this node in term 2 -> become candidate"},
		})
		if refused {
			v.add(3, 7, trace.Record{
				Term: 0, Round: 2, Event: "receive", From: 1, Msg: "REQUEST_VOTE", MsgID: "1:2",
				Sent: []string{"VOTE>1#3:1"}, Why: []string{"1 wants term 2 -> deny it: no, just started"},
			})
		} else {
			v.add(3, 7, trace.Record{Event: "timeout"})
		}
		v.seq["n3life0"]++
		v.add(1, 20, trace.Record{Term: 2, Event: "receive", From: 3, Msg: "VOTE", Detail: "VOTE", MsgID: "3:2"})
		v.add(3, 30, trace.Record{Term: 0, Round: 2, Event: "timeout", Sent: []string{"ELECTED>2#3:3"}})
		rs := v.b.History().Groups[0].Rounds
		for _, voice := range rs[len(rs)-1].Ballot.Voices {
			if voice.Voter == 3 && voice.Granted != want {
				t.Errorf("refused %v: %+v", refused, voice)
			}
		}
	}
}

// "A vote that was never granted": it was for a term in which the candidate had stood before, and that says so.
func TestVoteOfAFormerTerm(t *testing.T) {
	stale := trace.Reason{Code: "lease.stale-vote", Args: []trace.Arg{{Number: 1}, {Number: 2}}}
	for want, reasons := range map[bool][]trace.Reason{true: nil, false: {stale}} {
		v := newVoters()
		v.add(1, 5, trace.Record{
			Term: 2, Event: "timeout",
			Sent: []string{"REQUEST_VOTE>2#1:1", "REQUEST_VOTE>3#1:2", "REQUEST_VOTE>4#1:3", "REQUEST_VOTE>5#1:4"},
			Why:  []string{"a majority would vote for this node in term 2 -> become candidate"},
		})
		got := trace.Record{
			Term: 2, Event: "receive", From: 3, Msg: "VOTE", Detail: "VOTE", MsgID: "3:2", Reasons: reasons,
		}
		for range reasons {
			got.Why = append(got.Why, "VOTE of term 1 is below term 2 -> drop it")
		}
		v.add(1, 20, got)
		rs := v.b.History().Groups[0].Rounds
		for _, voice := range rs[len(rs)-1].Ballot.Voices {
			if voice.Voter == 3 && voice.Granted != want {
				t.Errorf("%v: %+v", reasons, voice)
			}
		}
	}
}

// "A vote that was never granted": a vote comes with the number of one that the voter sent in a former term, which took
// so long that it need not be the same. The records of the voter's next process are missing.
func TestVoteWithTheNumberOfAFormerOne(t *testing.T) {
	for term, want := range map[uint64]bool{1: false, 2: true} { // in which the voter sent a vote
		v := newVoters()
		v.add(3, 7, trace.Record{
			Term: 1, Event: "receive", From: 1, Msg: "REQUEST_VOTE", MsgID: "1:1", Sent: []string{"VOTE>1#3:6"},
			Why: []string{fmt.Sprintf("nothing binds this voter -> vote for 1 in term %d", term)},
		})
		v.start(3, 3000)
		v.seq["n3life1"] += 5
		v.add(3, 6000, trace.Record{Term: 2, Event: "timeout", Sent: []string{"RELEASE>1#3:9"}})
		v.add(1, 4900, trace.Record{
			Term: 2, Event: "timeout",
			Sent: []string{"REQUEST_VOTE>2#1:1", "REQUEST_VOTE>3#1:2", "REQUEST_VOTE>4#1:3", "REQUEST_VOTE>5#1:4"},
			Why:  []string{"a majority would vote for this node in term 2 -> become candidate"},
		})
		v.add(1, 5000, trace.Record{Term: 2, Event: "receive", From: 3, Msg: "VOTE", Detail: "VOTE", MsgID: "3:6"})
		rs := v.b.History().Groups[0].Rounds
		for _, voice := range rs[len(rs)-1].Ballot.Voices {
			if voice.Voter == 3 && voice.Granted != want {
				t.Errorf("a vote in term %d: %+v", term, voice)
			}
		}
	}
}

// "A vote that was never granted": the log of the voter is not here, and its vote in a former term comes while the
// candidate stands again. With a vote in this term it would have won. But a voter's own record of its vote counts: the
// candidate may have given up before it came.
func TestVoteThatWouldHaveWon(t *testing.T) {
	for _, c := range []struct {
		voters     int
		told, want bool
	}{{3, false, false}, {5, false, true}, {3, true, true}} {
		v := newVoters()
		rec := trace.Record{
			Term: 1, Event: "timeout",
			Why: []string{"a majority would vote for this node in term 1 -> become candidate"},
		}
		for id := 2; id <= c.voters; id++ {
			rec.Sent = append(rec.Sent, fmt.Sprintf("REQUEST_VOTE>%d#1:%d", id, id))
		}
		v.add(1, 5, rec)
		if c.told {
			v.add(3, 7, trace.Record{
				Term: 1, Event: "receive", From: 1, Msg: "REQUEST_VOTE", MsgID: "1:3", Sent: []string{"VOTE>1#3:6"},
				Why: []string{"nothing binds this voter -> vote for 1 in term 1"},
			})
		}
		v.add(1, 8, trace.Record{Term: 1, Event: "receive", From: 3, Msg: "VOTE", Detail: "VOTE", MsgID: "3:6"})
		v.add(1, 900, trace.Record{
			Term: 1, Event: "timeout",
			Why: []string{"no majority voted for this node in time -> release term 1, wait 100ms"},
		})
		for _, voice := range v.b.History().Groups[0].Rounds[0].Ballot.Voices {
			if voice.Voter == 3 && voice.Granted != c.want {
				t.Errorf("%+v: %+v", c, voice)
			}
		}
	}
}

// "Counted, and granted after the win": a vote for the candidate's former term comes while it stands again, and the log
// of its voter is not here. With a vote in this term the candidate would have won before it did.
func TestVoteThatWouldHaveWonSooner(t *testing.T) {
	for _, c := range []struct {
		late, again bool // a vote of 3 comes before the one with which the candidate wins; one more comes after it
		granted     bool // node 3 voted
		counted     map[uint64]bool
	}{
		{false, false, false, map[uint64]bool{1: true, 2: true, 4: true}},
		{true, false, false, map[uint64]bool{1: true, 2: true, 4: true}},
		{true, true, true, map[uint64]bool{1: true, 2: true, 4: true}},
	} {
		v := newVoters()
		v.add(1, 5, trace.Record{
			Term: 1, Event: "timeout",
			Why:  []string{"a majority would vote for this node in term 1 -> become candidate"},
			Sent: []string{"REQUEST_VOTE>2#1:1", "REQUEST_VOTE>3#1:2", "REQUEST_VOTE>4#1:3", "REQUEST_VOTE>5#1:4"},
		})
		v.add(2, 7, trace.Record{
			Term: 1, Event: "receive", From: 1, Msg: "REQUEST_VOTE", MsgID: "1:1", Sent: []string{"VOTE>1#2:6"},
			Why: []string{"nothing binds this voter -> vote for 1 in term 1"},
		})
		vote := func(ms int, from uint64, id string) {
			v.add(1, ms, trace.Record{Term: 1, Event: "receive", From: from, Msg: "VOTE", Detail: "VOTE", MsgID: id})
		}
		vote(8, 2, "2:6")
		if c.late {
			vote(9, 3, "3:6")
		}
		v.add(1, 10, trace.Record{
			Term: 1, Event: "receive", From: 4, Msg: "VOTE", Detail: "VOTE", MsgID: "4:6", Leader: 1, Token: 1,
			LeaderChange: trace.Elected, Why: []string{"a majority voted in term 1 -> lead"},
			Reasons: []trace.Reason{{Code: "lease.lead", Args: []trace.Arg{{Number: 1}}}},
		})
		if c.again {
			vote(300, 3, "3:8")
		}
		for _, voice := range v.b.History().Groups[0].Rounds[0].Ballot.Voices {
			granted := c.counted[voice.Voter] || voice.Voter == 3 && c.granted
			if voice.Granted != granted || voice.Counted != c.counted[voice.Voter] {
				t.Errorf("%+v: %+v", c, voice)
			}
		}
	}
}

// A candidate with a majority waits for a former leader to be fenced before it leads: its votes did not come late.
func TestVotesOfACandidateThatWaits(t *testing.T) {
	v := newVoters()
	v.add(1, 5, trace.Record{
		Term: 1, Event: "timeout", Sent: []string{"REQUEST_VOTE>2#1:1", "REQUEST_VOTE>3#1:2"},
		Why: []string{"a majority would vote for this node in term 1 -> become candidate"},
	})
	v.add(1, 8, trace.Record{
		Term: 1, Event: "receive", From: 3, Msg: "VOTE", Detail: "VOTE", MsgID: "3:6",
		Why: []string{"a majority voted in term 1, but node 2 not seen to stop -> see to that first"},
		Reasons: []trace.Reason{{Code: "lease.fence-first", Args: []trace.Arg{
			{Number: 1}, {Is: trace.Words, Words: "node 2"},
		}}},
	})
	r := v.b.History().Groups[0].Rounds[0]
	if r.Winner != nil || !r.Ballot.Voices[2].Granted {
		t.Errorf("%+v: %+v", r.Winner, r.Ballot.Voices)
	}
}

// "Node 2 outranks nodes 2 and 3, and said so": who proposes itself outranks the others only.
func TestNobodyOutranksItself(t *testing.T) {
	v := newVoters()
	v.algo = "consensus"
	v.ask(2, 0, 1)
	for node, why := range map[uint64]string{
		2: "a majority promised -> ask all to accept 2", 3: "2 proposes 2 -> accept",
	} {
		v.add(node, 1, trace.Record{Term: 0, Round: 1, Event: "timeout", Why: []string{why}})
	}
	v.lead(2, 10, 1)
	text := told(t, v.b.History().Groups[0])
	if want := "Node 2 outranks node 3 [3:1]."; !strings.Contains(text, want) {
		t.Errorf("want %q in:\n%s", want, text)
	}
}

// "1 of 3 would grant" was told by the record that says "a majority would vote for this node in term 2": of the votes
// that it then asked for, it got none.
func TestWhoWouldGrantDidNot(t *testing.T) {
	for requests, want := range map[bool]string{
		false: "2 of 3 would grant", true: "1 of 3 granted; 2 are needed [2:3]",
	} {
		v := newVoters()
		v.elect(1, 1, 2, 3)
		v.expire(1, 1000, 1)
		v.ask(2, 1100, 2)
		yes := trace.Record{
			Term: 1, Round: 2, Event: "receive", From: 3, Msg: "PRE_VOTE_REPLY", MsgID: "3:1",
			Why: []string{"3 says yes -> wait"},
		}
		if requests {
			yes.Why = []string{"a majority would vote for this node in term 2 -> become candidate"}
			yes.Sent = []string{"REQUEST_VOTE>1#2:70", "REQUEST_VOTE>3#2:71"}
		}
		v.add(3, 1101, trace.Record{
			Term: 1, Round: 2, Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:11003",
			Why: []string{"2 asks for term 2 -> yes"}, Sent: []string{"PRE_VOTE_REPLY>2#3:1"},
		})
		v.add(2, 1102, yes)
		if requests {
			v.add(3, 1103, trace.Record{
				Term: 1, Round: 2, Event: "receive", From: 2, Msg: "REQUEST_VOTE", MsgID: "2:71",
				Why: []string{"2 wants term 2 -> deny it: no, promised 1"}, Sent: []string{"VOTE>2#3:2"},
			})
		}
		if text := told(t, v.b.History().Groups[0]); !strings.Contains(text, want) {
			t.Errorf("requests %v: want %q in:\n%s", requests, want, text)
		}
	}
}

// "In term 2 node 3 refused node 2 its vote" was told, although node 2 had asked for term 1: that decided nothing here.
func TestARefusalOfAnotherTermIsNoVerdict(t *testing.T) {
	for term, want := range map[int]int{1: 0, 2: 1} {
		v := newVoters()
		v.ask(1, 0, 2)
		v.add(3, 5, trace.Record{Term: 1, Round: 2, Event: "timeout", Why: []string{
			fmt.Sprintf("2 asks for term %d -> no, voted 1", term), "1 asks for term 2 -> yes",
		}})
		v.lead(1, 10, 2)
		v.follow(2, 20, 1, 2)
		v.follow(3, 20, 1, 2)
		all := v.b.History().Groups[0].Rounds
		if r := all[len(all)-1]; r.Term != 2 || len(r.Verdicts) != want {
			t.Errorf("asked for term %d: %d: %+v", term, r.Term, r.Verdicts)
		}
	}
}

// "No answer of node 3 is in the records": it read the question when another one had won, as after a pause, and said
// no. What it answers to a HEARTBEAT then is no answer to the question.
func TestARefusalAfterTheWinIsAnAnswer(t *testing.T) {
	for ask, want := range map[string]string{"REQUEST_VOTE": "voted 3", "HEARTBEAT": ""} {
		v := newVoters()
		v.add(1, 0, trace.Record{
			Term: 2, Event: "timeout", Sent: []string{"REQUEST_VOTE>2#1:1", "REQUEST_VOTE>3#1:2"},
			Why: []string{"a majority would vote for this node in term 2 -> become candidate"},
		})
		v.add(2, 5, trace.Record{
			Term: 2, Event: "receive", From: 1, Msg: "REQUEST_VOTE", MsgID: "1:1", Sent: []string{"VOTE>1#2:1"},
			Why: []string{"nothing binds this voter -> vote for 1 in term 2"},
		})
		v.add(1, 10, trace.Record{
			Term: 2, Event: "receive", From: 2, Msg: "VOTE", MsgID: "2:1", Leader: 1, Token: 2,
			LeaderChange: trace.Elected, ValidUntil: atMS(1000), Why: []string{"a majority voted in term 2 -> lead"},
			Sent: []string{"HEARTBEAT>2#1:3", "HEARTBEAT>3#1:4"},
		})
		v.add(2, 12, trace.Record{
			Term: 2, Event: "receive", From: 1, Msg: "HEARTBEAT", MsgID: "1:3", Leader: 1,
			LeaderChange: trace.Elected, ValidUntil: atMS(1000), Why: []string{"1 leads term 2 -> follow it"},
		})
		id := map[string]string{"REQUEST_VOTE": "1:2", "HEARTBEAT": "1:4"}[ask]
		v.add(3, 900, trace.Record{
			Term: 1, Round: 2, Event: "receive", From: 1, Msg: ask, MsgID: id, Sent: []string{"VOTE>1#3:1"},
			Why: []string{"1 wants term 2 -> deny it: no, voted 3"},
		})
		r := v.b.History().Groups[0].Rounds[0]
		if r.Winner == nil || r.Winner.Node != 1 || r.Ballot == nil || len(r.Ballot.Voices) != 3 {
			t.Fatalf("%s: %+v, %+v", ask, r.Winner, r.Ballot)
		}
		if got := r.Ballot.Voices[2]; got.No != want || got.Granted || got.Yes {
			t.Errorf("%s: %+v, want the answer %q", ask, got, want)
		}
	}
}

// "Node 3, which stood itself, or led, said no" was told without when: it read the question when node 2 had won.
func TestAVoterThatRefusedWhenTheCandidateHadWon(t *testing.T) {
	for late, want := range map[bool]string{
		true:  "Node 3, which stood itself, or led, said no after node 2 had won [3:1].",
		false: "Node 3, which stood itself, or led, said no [3:1].",
	} {
		v, ms := newVoters(), 1010
		if late {
			ms = 2000
		}
		refuse := func() {
			v.add(3, ms, trace.Record{
				Term: 0, Round: 1, Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:10003",
				Why: []string{"2 asks for term 1 -> no, stands itself 3"}, Sent: []string{"PRE_VOTE_REPLY>2#3:1"},
			})
			v.add(2, ms+2, trace.Record{
				Term: uint64(ms / 2000), Round: 1, Event: "receive", From: 3, Msg: "PRE_VOTE_REPLY", MsgID: "3:1",
				Leader: 2 * uint64(ms/2000), Token: uint64(ms / 2000),
			})
		}
		v.wins(2, 1000, 1, 1)
		refuse()
		if text := told(t, v.b.History().Groups[0]); !strings.Contains(text, want) {
			t.Errorf("want %q in: %s", want, text)
		}
	}
}
