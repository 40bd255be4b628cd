package rounds_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// "At level info an outage of seconds is told as milliseconds": the leader and a follower slept, and noticed as they
// woke that the lease had ended. They read then what was sent to them long before.
func TestOutageOfSleepers(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.ask(3, 0, 1)
	v.elect(3, 1, 1, 2)
	v.miss(2, 1500, 3)
	v.ask(2, 1510, 2)
	v.miss(1, 5000, 3)
	v.add(1, 5002, trace.Record{Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:15101", Term: 1, Round: 2})
	v.expire(3, 5050, 1)
	v.add(3, 5052, trace.Record{Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:15103", Term: 1, Round: 2})
	v.lead(2, 5060, 2)
	in := v.last()
	if in.Leaderless < 2000*time.Millisecond || in.AtMost() > 3560*time.Millisecond {
		t.Errorf("%+v", in)
	}
	if want := "voter 3 paused, 1 not heard to answer and then paused: at most 1 of 3 remains"; in.Why != want {
		t.Errorf("%q, want %q", in.Why, want)
	}
}

// "A leader that woke long after its lease had ended was away": nobody asked for votes meanwhile.
func TestOverslept(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.ask(3, 0, 1)
	v.elect(3, 1, 1, 2)
	v.miss(1, 1000, 3)
	v.miss(2, 1000, 3)
	v.ask(1, 1100, 2)
	v.lead(1, 1110, 2)
	v.follow(2, 1120, 1, 2)
	v.miss(2, 2200, 1)
	v.expire(3, 9000, 1)
	v.expire(1, 9001, 2)
	v.ask(2, 9500, 3)
	v.lead(2, 9510, 3)
	want := "voters 1 and 3 paused: at most 1 of 3 remains"
	if in := v.last(); in.Why != want || in.AtMost() < 7*time.Second {
		t.Errorf("%q, want %q: %+v", in.Why, want, in)
	}
}

// "1 of 3 remains" was told of a machine on which all voters slept at once: who won wrote nothing before it woke,
// either.
func TestWhoWroteNothingNeedNotRemain(t *testing.T) {
	for wrote, want := range map[bool]string{
		false: "voters 1 and 3 paused: at most 1 of 3 remains", true: "voters 1 and 3 paused: 1 of 3 remains",
	} {
		v := newVoters()
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		if wrote {
			v.miss(2, 1800, 3)
		}
		v.miss(1, 2500, 3)
		v.expire(3, 2510, 1)
		v.ask(1, 2600, 2)
		v.lead(1, 2610, 2)
		if in := v.last(); in.Why != want {
			t.Errorf("%q, want %q: %+v", in.Why, want, in)
		}
	}
}

// "The same where the messages that came while they slept are lost": they are asked again as they wake. Or the first
// question was lost, and the leader led on: no record tells which.
func TestSleepersAreAskedAgain(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.ask(3, 0, 1)
	v.elect(3, 1, 1, 2)
	v.miss(2, 1500, 3)
	v.ask(2, 1510, 2)
	v.expire(3, 7000, 1)
	v.add(3, 7005, trace.Record{Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:77", Term: 1, Round: 2})
	v.miss(1, 7010, 3)
	v.lead(2, 7060, 2)
	if in := v.last(); in.Leaderless > time.Second || in.AtMost() != 5560*time.Millisecond {
		t.Errorf("%+v", in)
	}
}

// "An outage of eight seconds is told as 3 ms": all slept, and each noticed as it woke that the lease had ended. The
// last sign of the leader bounds it.
func TestAllSlept(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.ask(3, 0, 1)
	v.elect(3, 1, 1, 2)
	v.wake(1, 8000, 3, 2)
	v.expire(3, 8002, 1)
	v.wake(2, 8003, 3, 2)
	v.add(3, 8004, trace.Record{
		Event: "receive", From: 1, Msg: "HEARTBEAT", MsgID: "1:80049", Term: 2,
		Why:     []string{"this process has just woken, and the HEARTBEAT of 1 may be as old -> wait for the next"},
		Reasons: []trace.Reason{{Code: "lease.woke", Args: []trace.Arg{{Number: 1}}}},
	})
	v.lead(1, 8005, 2)
	in := v.last()
	if !in.LastSign() || in.Leaderless > 10*time.Millisecond || in.AtMost() != 7005*time.Millisecond {
		t.Errorf("%v at most: %+v", in.AtMost(), in)
	}
}

// "Nobody led for 5.57 s" was seven seconds: the last voter that the leader could have renewed its lease with had slept
// when it noticed the end. A follower that was awake noticed it before.
func TestTheLastFollowerSlept(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.ask(3, 0, 1)
	v.elect(3, 1, 1, 2)
	v.miss(2, 1500, 3)
	v.ask(2, 2000, 2)
	v.wake(1, 8000, 3, 2)
	v.lead(2, 8010, 2)
	if in := v.last(); in.From.Before(atMS(1500)) || in.Perhaps != atMS(1500) {
		t.Errorf("%v at most: %+v", in.AtMost(), in)
	}
}

// "It was paused, and it wrote all the while": a HEARTBEAT that was held up renews the lease after its leader is dead.
func TestHeldUpHeartbeat(t *testing.T) {
	v := newVoters()
	v.ask(3, 0, 1)
	v.grant(1, 3, 1)
	v.grant(2, 3, 1)
	v.elect(3, 1, 1, 2)
	leader := uint64(3)
	v.add(1, 900, trace.Record{
		Term: 1, Event: "gone", About: 3, Detail: "3 n3life0", LeaderChange: trace.Lost, PrevLeader: &leader,
		Why: []string{"leader 3 is proven dead -> nobody leads"},
	})
	for ms := 1500; ms < 4000; ms += 500 {
		v.add(2, ms, trace.Record{Event: "idle", Term: 1, Leader: 3, Token: 1, ValidUntil: atMS(ms + 500)})
	}
	v.miss(2, 4500, 3)
	v.ask(1, 4800, 2)
	v.lead(1, 4810, 2)
	if in := v.last(); in.Voters() || in.Leaderless < 2*time.Second {
		t.Errorf("%q: %+v", in.Why, in)
	}
}

// "Voters 1 and 2 paused", and they were well: what was held up renewed the lease for them after the process of its
// leader had ended, and no renewal is in a log of level info. Unless they woke: two of their timers were due at once.
func TestHeldUpHeartbeatAtLevelInfo(t *testing.T) {
	for want, notice := range map[string]func(v *voters, node uint64){
		"the process of node 3 ended": func(v *voters, node uint64) {
			v.miss(node, 5000, 3)
		},
		"voters 1 and 2 paused: at most 1 of 3 remains," +
			" too few to elect for at least 3.39 s of the 4.41 s": func(v *voters, node uint64) {
			v.wake(node, 5000, 3, 2)
		},
	} {
		v := newVoters()
		v.level = "info"
		v.ask(3, 0, 1)
		v.grant(1, 3, 1)
		v.grant(2, 3, 1)
		v.elect(3, 1, 1, 2)
		v.add(1, 600, trace.Record{
			Event: "peers", Alive: []uint64{1, 2}, Evidence: "link-closed 3, dial-refused 3",
			Term: 1, Leader: 3, Token: 1,
		})
		v.start(3, 1000)
		notice(v, 1)
		notice(v, 2)
		v.ask(3, 5005, 2)
		v.lead(3, 5010, 2)
		if in := v.last(); in.Why != want {
			t.Errorf("%q, want %q: %+v", in.Why, want, in)
		}
	}
}

// "Voter 1 paused", and it was well: it had answered when it was asked, and was bound to the leader by a HEARTBEAT that
// was held up. It is asked again soon after that is over, which is also how one that slept is found.
func TestAnsweredWhileBoundAtLevelInfo(t *testing.T) {
	for _, answers := range []bool{false, true} {
		v := newVoters()
		v.level = "info"
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		v.expire(3, 1400, 1)
		v.miss(2, 1500, 3)
		v.ask(2, 1510, 2)
		read := "2:15101"
		if answers {
			read = "2:77"
			v.add(2, 1512, trace.Record{
				Term: 1, Round: 2, Event: "receive", From: 1, Msg: "PRE_VOTE_REPLY", MsgID: "1:8",
				Detail: "PRE_VOTE_REPLY no, promised 3", Why: []string{"1 says no, promised 3"},
			})
		}
		v.miss(1, 5000, 3)
		v.add(1, 5150, trace.Record{Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: read, Term: 1, Round: 2})
		v.lead(2, 5200, 2)
		in := v.last()
		const missing = "1 not heard to answer and then paused"
		if strings.Contains(in.Why, missing) == answers || in.Leaderless < 3*time.Second {
			t.Errorf("answers %v: %q: %+v", answers, in.Why, in)
		}
	}
}

// "During an outage with a frozen leader, it says that the dead leader leads": a voter that lost its leader asks the
// others, and none gives a sign of life. They may all be cut off from it, and go on.
func TestFrozenLeader(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.ask(3, 0, 1)
	v.elect(3, 1, 1, 2)
	v.miss(2, 1500, 3)
	v.ask(2, 1900, 2)
	if in := v.last(); in.Unsure() {
		t.Errorf("nobody answered at once: %+v", in)
	}
	v.ask(2, 7000, 2)
	in := v.last()
	if want := "voters 1 and 3 without a sign of life here: 1 of 3 remains"; !in.Unsure() || in.Why != want {
		t.Errorf("%q, want %q: %+v", in.Why, want, in)
	}
	if in.Leaderless != 0 || in.AtMost() != 5500*time.Millisecond || in.Perhaps != atMS(1500) {
		t.Errorf("%v at most: %+v", in.AtMost(), in)
	}
	found := v.b.History().Groups[0].Findings
	said := "no record tells of a leader for 5.5 s"
	if len(found) != 1 || found[0].Name != rounds.NoEnd || !strings.Contains(found[0].Text, said) {
		t.Errorf("found %+v", found)
	}
	v.follow(2, 8000, 3, 1)
	if in := v.last(); in.Unsure() {
		t.Errorf("the leader was heard again: %+v", in)
	}
}

// "Perhaps nobody leads … voters 1 and 3 silent: 1 of 3 remains" was told of a node that was cut off, as it tells it
// itself: the two others had lost it before, and had each other. So it is told where one of them had not, or saw it
// again.
func TestWhoIsCutOffDoesNotTellThatTheOthersAreAway(t *testing.T) {
	for name, c := range map[string]struct {
		lost  []uint64 // who lost node 2
		how   string
		told  string // what node 2 says of the others
		again bool   // they saw it again
		hedge bool
	}{
		"it asks them": {lost: []uint64{1, 3}, how: "heartbeat-missed 2"},
		"it lost them": {
			lost: []uint64{1, 3}, how: "heartbeat-missed 2", told: "heartbeat-missed 1, heartbeat-missed 3",
		},
		"they had not lost it":     {hedge: true},
		"one had not lost it":      {lost: []uint64{3}, how: "heartbeat-missed 2", hedge: true},
		"they saw its process end": {lost: []uint64{1, 3}, how: "left 2", hedge: true},
		"they saw it again":        {lost: []uint64{1, 3}, how: "heartbeat-missed 2", again: true, hedge: true},
	} {
		v := newVoters()
		v.level = "info"
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		see := func(node uint64, ms int, evidence string, alive ...uint64) {
			v.add(node, ms, trace.Record{
				Event: "peers", Term: 1, Leader: 3, Token: 1, ValidUntil: atMS(ms + 500),
				Alive: alive, Evidence: evidence,
			})
		}
		for _, id := range c.lost {
			see(id, 1400, c.how, 1, 3)
			if c.again {
				see(id, 1450, "", 1, 2, 3)
			}
		}
		if c.told != "" {
			see(2, 1490, c.told, 2)
		}
		v.miss(2, 1500, 3)
		for ms := 1510; ms < 9000; ms += 1000 {
			v.ask(2, ms, 2)
		}
		if in := v.last(); in.Unsure() != c.hedge || !c.hedge && in.Leader != 3 {
			t.Errorf("%s: %q: %+v", name, in.Why, in)
		}
	}
}

// "Perhaps nobody leads since 1.5 s" was told where a follower had the leader's lease still, long after that: it had
// been renewed. So it is where the leader has no log.
func TestNobodyLeadsPerhapsSinceTheLastSignOfTheLeader(t *testing.T) {
	for wrote, since := range map[int]int{0: 1500, 1600: 1500, 4000: 4500} { // when node 1 wrote, in ms
		v := newVoters()
		v.level = "info"
		v.follow(1, 20, 3, 1)
		v.follow(2, 20, 3, 1)
		if wrote > 0 {
			v.add(1, wrote, trace.Record{
				Event: "peers", Term: 1, Leader: 3, Token: 1, ValidUntil: atMS(wrote + 500), Alive: []uint64{1, 2, 3},
			})
		}
		v.miss(2, 1500, 3)
		for ms := 1510; ms < 9000; ms += 1000 {
			v.ask(2, ms, 2)
		}
		if in := v.last(); !in.Unsure() || !in.Perhaps.Equal(atMS(since)) {
			t.Errorf("wrote at %d ms: since %v: %+v", wrote, in.Perhaps, in)
		}
	}
}

// "Perhaps nobody leads" was told though two of three voters were there: the one that was away had found before that
// the lease was not renewed, and counted twice.
func TestAVoterThatFoundTheLeaseOverIsAwayOnce(t *testing.T) {
	for heard, hedge := range map[bool]bool{true: false, false: true} {
		v := newVoters()
		v.level = "info"
		v.follow(2, 20, 3, 1)
		v.miss(2, 1500, 3)
		v.start(1, 4000)
		for ms := 4050; ms <= 8000; ms += 50 {
			v.ask(1, ms, 2)
		}
		if heard {
			v.add(1, 8010, trace.Record{
				Event: "receive", From: 3, Msg: "PRE_VOTE_REPLY", MsgID: "3:9", Term: 1, Round: 2,
				Why: []string{"3 says no, promised 3"},
			})
		}
		if in := v.last(); in.Unsure() != hedge {
			t.Errorf("heard %v: %q: %+v", heard, in.Why, in)
		}
	}
}

// "Node 2 leads term 2, as far as the records go", though it was killed, and the only voter that is there asks the
// others for four seconds, in vain: it follows nobody, since it was started again, and so noticed no end of a lease.
func TestLeaderKilledThatNobodyFollowed(t *testing.T) {
	for until, over := range map[int]bool{4100: false, 8000: true} { // when node 1 asked last, in ms
		v := newVoters()
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		v.add(2, 1000, trace.Record{Event: "idle", Term: 1, Leader: 3, Token: 1, ValidUntil: atMS(2000)})
		v.add(3, 1000, trace.Record{Event: "idle", Term: 1, Leader: 3, Token: 1, ValidUntil: atMS(2000)})
		v.add(3, 1500, trace.Record{
			Event: "peers", Term: 1, Leader: 3, Token: 1, Alive: []uint64{3}, Evidence: "left 2",
			ValidUntil: atMS(2000),
		})
		v.start(1, 4000)
		for ms := 4050; ms <= until; ms += 50 {
			v.ask(1, ms, 2)
		}
		if in := v.last(); in.Unsure() != over {
			t.Errorf("asked until %d ms: %q: %+v", until, in.Why, in)
		}
	}
}

// "The lost quorum is forgotten once the old leader is started again": it had not answered for all the time before.
func TestFrozenLeaderStartsAgain(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.ask(3, 0, 1)
	v.elect(3, 1, 1, 2)
	v.miss(2, 1500, 3)
	v.ask(2, 2000, 2)
	v.wake(1, 8000, 3, 2)
	v.add(2, 8001, trace.Record{
		Term: 1, Round: 2, Event: "gone", About: 3, Detail: "3 n3life0", Why: []string{"3 is proven dead"},
	})
	v.lead(2, 8010, 2)
	v.start(3, 12000)
	if in, want := v.last(), "voters 1 and 3 not heard to answer: 1 of 3 remains"; in.Why != want {
		t.Errorf("%q, want %q: %+v", in.Why, want, in)
	}
}

// "Nobody led for 250 ms" was five seconds: the log of the node that is left goes on, with lines that are no records.
func TestLogsGoOnBehindTheRecords(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.ask(3, 0, 1)
	v.elect(3, 1, 1, 2)
	v.expire(3, 3000, 1)
	v.ask(3, 3250, 2)
	v.b.Line("c", 3, atMS(8000))
	v.b.Line("c", 3, atMS(7000))
	v.b.Line("c", 9, atMS(9000))
	in := v.last()
	want := "voters 1 and 2 without a sign of life here: 1 of 3 remains"
	if in.Why != want || in.Leaderless != 5*time.Second {
		t.Errorf("%q, want %q: %+v", in.Why, want, in)
	}
}

// "Nobody led for 4.67 ms until the logs end" of a cluster that was told to stop was 504 ms: the last line of a
// process, with which it leaves, is one of its log.
func TestLogsGoOnUntilTheLastNodeLeaves(t *testing.T) {
	v := newVoters()
	v.elect(3, 1, 1, 2)
	v.resign(3, 3000, 1)
	v.b.Left(trace.Farewell{Time: atMS(3500), Cluster: "c", Node: 3})
	v.b.Left(trace.Farewell{Time: atMS(3400), Cluster: "c", Node: 2})
	if in := v.last(); in.Leader != 0 || in.Leaderless != 500*time.Millisecond || !in.Until.Equal(atMS(3500)) {
		t.Errorf("nobody led for %v: %+v", in.Leaderless, in)
	}
}

// unheeded is a leader of three, at level info, whom nobody answers any more, and whose lease ends at 3 s, if records
// tell that it does.
func unheeded(told bool) *voters {
	v := newVoters()
	v.level = "info"
	v.ask(3, 0, 1)
	v.elect(3, 1, 1, 2)
	v.add(3, 2800, trace.Record{
		Term: 1, Event: "timeout", Leader: 3, Token: 1, ValidUntil: atMS(3000),
		Why:     []string{"no majority answered 2 rounds of heartbeats -> ask no more"},
		Reasons: []trace.Reason{{Code: "lease.no-majority", Args: []trace.Arg{{Number: 2}}}},
	})
	if told {
		v.expire(3, 3000, 1)
	}
	return v
}

// "Who is missing is not told while a quorum loss of three nodes goes on": the leader says that no majority answers it.
func TestLeaderUnheeded(t *testing.T) {
	v := unheeded(true)
	if in, want := v.last(), "voters 1 and 2 without a sign of life here: 1 of 3 remains"; in.Why != want {
		t.Errorf("%q, want %q: %+v", in.Why, want, in)
	}
	v.miss(1, 3010, 3) // it is there, and so the leader was cut off
	if in := v.last(); in.Voters() {
		t.Errorf("%+v", in)
	}
}

// "No leader was known" was five seconds without a majority: the last thing that a leader of three wrote is that nobody
// answered it, and the next processes of the others began long after. "Voter 1 not heard to answer", and an answer came
// as soon as that was written, which level info does not tell: the lease was renewed.
func TestLeaderUnheededByProcessesThatEnded(t *testing.T) {
	for told, want := range map[bool]string{
		true:  "voters 1 and 2 not heard to answer: 1 of 3 remains",
		false: "voters 1 and 2 without a sign of life here: 1 of 3 remains",
	} {
		v := unheeded(told)
		v.start(1, 8000)
		v.start(2, 8010)
		if told {
			v.ask(1, 8100, 2)
			v.lead(1, 8110, 2)
		} else { // the leader led on
			v.start(3, 8020)
			v.ask(1, 8100, 2)
		}
		if in := v.last(); !strings.HasPrefix(in.Why, want) {
			t.Errorf("%q, want %q: %+v", in.Why, want, in)
		}
	}
}

// "Node 3 stopped answering", and it was well: who had not heard it had slept, and heard it as soon as it woke. The
// log of the leader is missing.
func TestSilentToOneThatSlept(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.follow(1, 0, 3, 1)
	v.follow(2, 0, 3, 1)
	v.add(2, 6000, trace.Record{Term: 1, Event: "timeout", Why: []string{
		"no heartbeat of leader 3 came in time -> nobody leads",
		"nobody has heard leader 3 of late -> ask the voters for term 2",
	}, Sent: []string{"PRE_VOTE>1#2:20", "PRE_VOTE>3#2:21"}})
	v.follow(2, 6040, 3, 1)
	v.add(2, 6041, trace.Record{Term: 1, Event: "receive", From: 3, Msg: "RELEASE", MsgID: "3:9", Why: []string{
		"3 releases term 1 -> the promise to it is over", "leader 3 released the term -> nobody leads",
	}})
	v.lead(1, 6200, 2)
	if in, want := v.last(), "node 3 stopped leading"; in.Why != want {
		t.Errorf("%q, want %q: %+v", in.Why, want, in)
	}
}

// "Nobody led for at most 4.5 s, from the end of the lease on": all voters were killed at once, and nobody saw the
// leader end. Its process may have ended with its last record, long before its lease.
func TestAllKilledAtOnce(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.ask(3, 0, 1)
	v.elect(3, 1, 1, 2)
	for node := range uint64(3) {
		v.start(node+1, 4000)
	}
	v.ask(3, 5000, 2)
	v.lead(3, 6000, 2)
	in := v.last()
	if in.Leaderless != 2*time.Second || in.AtMost() != 5990*time.Millisecond || !in.LastSign() {
		t.Errorf("%v at least, %v at most: %+v", in.Leaderless, in.AtMost(), in)
	}
}

// "It led until 5.72 s", and it led until 5.97 s: a follower read a question late that had been held up on its way, and
// counted as one that had slept since. Its own records tell that it had promised the lease for longer.
func TestLeaseThatWasPromisedMeanwhile(t *testing.T) {
	for _, promised := range []bool{true, false} {
		v := newVoters()
		v.level = "info"
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		v.add(2, 2000, trace.Record{
			Event: "timeout", Term: 1, Round: 2, Leader: 3, Token: 1, ValidUntil: atMS(2900),
			Why: []string{"x -> y"}, Sent: []string{"PRE_VOTE>1#2:7"},
		})
		v.miss(2, 2910, 3)
		asked := trace.Record{
			Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:7", Term: 1, Leader: 3, Token: 1,
			Why: []string{"2 asks for term 2 -> no, promised 3"},
		}
		want := atMS(2990)
		if promised {
			asked.ValidUntil, want = atMS(4980), atMS(4980)
		}
		v.add(1, 4890, asked)
		v.miss(1, 4985, 3)
		v.add(2, 9000, trace.Record{Event: "timeout", Term: 1})
		if l := v.b.History().Groups[0].Leaderships[0]; l.End.Before(want) || !promised && l.End.After(atMS(4000)) {
			t.Errorf("promised %v: until %v: %+v", promised, l.End, l)
		}
	}
}
