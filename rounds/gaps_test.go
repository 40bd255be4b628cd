package rounds_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// lost leaves out the numbers of so many records of the node's process.
func (v *voters) lost(node, records uint64) {
	for incarnation := range v.seq {
		if incarnation[:2] == "n"+string(rune('0'+node)) {
			v.seq[incarnation] += records
		}
	}
}

// "Node 3 led term 1 and node 2 led term 2 at once, for 3.8 s": the records are missing in which node 3 stopped. It may
// have led no longer than until the last one before, or until its follower heard that it stopped.
func TestEndInAGap(t *testing.T) {
	for name, c := range map[string]struct {
		released bool
		end      int // ms
		want     rounds.EndKind
	}{
		"nobody tells the end": {false, 1200, rounds.EndedUnseen},
		"a follower tells it":  {true, 900, rounds.EndedByWord},
	} {
		v := newVoters()
		v.level = "info"
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		if c.released {
			leader := uint64(3)
			v.add(1, 900, trace.Record{
				Event: "receive", From: 3, Msg: "RELEASE", MsgID: "3:90", Term: 1, PrevLeader: &leader,
				LeaderChange: trace.Lost, Why: []string{"leader 3 released the term -> nobody leads"},
			})
		}
		v.lead(2, 1200, 2)
		v.follow(1, 1210, 2, 2)
		v.lost(3, 7)
		v.add(3, 5000, trace.Record{Event: "receive", Term: 2, Round: 2, Why: []string{"x -> y"}})
		g := v.b.History().Groups[0]
		if l := g.Leaderships[0]; len(g.Findings) > 0 || !l.End.Equal(atMS(c.end)) || l.Ended.Kind != c.want {
			t.Errorf("%s: %+v, found %v", name, l, g.Findings)
		}
	}
}

// "They led at once" all the same, as far as the leader wrote that it led.
func TestOverlapBeforeAGap(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.lead(3, 10, 1)
	v.lead(2, 1200, 2)
	v.add(3, 3000, trace.Record{Event: "timeout", Term: 1, Leader: 3, Token: 1, ValidUntil: atMS(4000)})
	v.add(2, 3100, trace.Record{Event: "timeout", Term: 2, Leader: 2, Token: 2, ValidUntil: atMS(4100)})
	v.lost(3, 7)
	v.add(3, 5000, trace.Record{Event: "receive", Term: 2, Round: 2, Why: []string{"x -> y"}})
	found := v.b.History().Groups[0].Findings
	if len(found) != 1 || found[0].Name != rounds.Overlap ||
		found[0].Records[1] != (rounds.Ref{Node: 3, Incarnation: "n3life0", Seq: 2}) {
		t.Errorf("found %+v", found)
	}
}

// "Node 3 led term 1 and node 2 led term 2 at once, for 902 ms" was 2.87 s: the records are missing in which node 2
// stopped. It is exact where those of node 3 are missing, and node 2 had stopped before.
func TestOverlapAtLeastUntilAGap(t *testing.T) {
	for node, want := range map[uint64]string{3: "at once, for 1 s. ", 2: "at once, for at least 800 ms. "} {
		v := newVoters()
		v.algo, v.guarantee = "bully", "best-effort"
		v.leadAlone(3, 0, 1)
		v.leadAlone(2, 1000, 2)
		v.add(2, 1800, trace.Record{Event: "timeout", Term: 2, Leader: 2})
		v.add(3, 3000, trace.Record{Event: "timeout", Term: 1, Leader: 3})
		if v.lost(node, 7); node == 3 {
			v.resign(2, 2000, 2)
		}
		v.add(node, 5000, trace.Record{Event: "receive", Term: 3, Why: []string{"x -> y"}})
		found := v.b.History().Groups[0].Findings
		if len(found) != 1 || !strings.Contains(found[0].Text, want) {
			t.Errorf("without records of node %d: %+v, want %q", node, found, want)
		}
	}
}

// "Nobody led for 9 s": the record is missing in which node 3 won, and its follower tells of it sooner.
func TestBeginInAGap(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.ask(3, 0, 1)
	v.follow(1, 30, 3, 1)
	v.lost(3, 7)
	v.add(3, 9000, trace.Record{Event: "timeout", Term: 1, Leader: 3, Token: 1, ValidUntil: atMS(9990)})
	g := v.b.History().Groups[0]
	in := g.Incidents[0]
	if len(g.Findings) > 0 || in.Leaderless != 0 || in.AtMost() != atMS(30).Sub(atMS(0)) {
		t.Errorf("nobody led for %v to %v, found %v", in.Leaderless, in.AtMost(), g.Findings)
	}
	if s := g.Rounds[0].Split; s.ElectKnown {
		t.Errorf("elect %v", s.Elect)
	}
}

// "Nobody led for 11 s", where the records are missing in which node 3 won and led, and others followed it.
func TestLeadershipInAGap(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.start(3, 0)
	v.lost(3, 7)
	v.follow(1, 20, 3, 1)
	v.follow(2, 20, 3, 1)
	v.add(3, 5000, trace.Record{Event: "receive", Term: 1, Why: []string{"x -> y"}})
	v.add(3, 5010, trace.Record{Event: "receive", Term: 2, Round: 2, Why: []string{"x -> y"}})
	if g := v.b.History().Groups[0]; len(g.Leaderships) != 1 {
		t.Errorf("%+v", g.Leaderships)
	}
}

// "--check ends with 0, where one file is missing": the call of node 3 is not here, but its question is.
func TestCallWithoutLog(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.ask(1, 0, 1)
	v.lead(2, 10, 1)
	v.follow(1, 20, 2, 1)
	v.add(1, 2000, trace.Record{
		Event: "gone", About: 2, Detail: "2 n2life0", Term: 1, LeaderChange: trace.Lost,
		Why: []string{"leader 2 is proven dead -> nobody leads"},
	})
	v.add(1, 2100, trace.Record{
		Event: "receive", From: 3, Msg: "PRE_VOTE", MsgID: "3:71", Term: 1, Round: 2,
		Why: []string{"3 asks for term 2 -> yes"},
	})
	v.start(2, 8990)
	v.add(1, 8995, trace.Record{
		Event: "timeout", Term: 1, Round: 2, Why: []string{"nobody leads -> ask the voters for term 2"},
	})
	v.lead(1, 9000, 2)
	found := v.b.History().Groups[0].Findings
	if len(found) != 1 || found[0].Name != rounds.NoEnd || found[0].Records[0] != (rounds.Ref{
		Node: 1, Incarnation: "n1life0", Seq: 4,
	}) {
		t.Errorf("found %+v", found)
	}
}

// "Nobody led for 10 ms", as those who held for the leader noticed only as they woke that its lease had ended. What
// they wrote before tells when that was.
func TestSleepersWithoutTheLog(t *testing.T) {
	v := newVoters()
	v.ask(1, 0, 1)
	v.follow(1, 20, 3, 1)
	v.follow(2, 20, 3, 1)
	v.miss(1, 9000, 3)
	v.miss(2, 9000, 3)
	v.ask(1, 9010, 2)
	v.lead(1, 9020, 2)
	in := v.last()
	if in.Leaderless < 7*time.Second || !in.Perhaps.Equal(atMS(1000)) {
		t.Errorf("%+v", in)
	}
}

// "Node 1 won at once": the lease of the leader before may have run until then, or have ended before.
func TestElectWhileTheLeaseMayRun(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.ask(3, 0, 1)
	v.elect(3, 1, 1, 2)
	v.miss(1, 1500, 3)
	v.ask(1, 1510, 2)
	v.miss(2, 1520, 3)
	v.lead(1, 1800, 2)
	rs := v.b.History().Groups[0].Rounds
	if s := rs[len(rs)-1].Split; s.ElectKnown || s.Won != 290*time.Millisecond {
		t.Errorf("%+v", s)
	}
}

// "Two nodes led the term", and one did: nodes followed the other one, that was nominated, and had to recover from a
// split before it led. The record is missing in which it was nominated, and the next one leaves it with no leader.
func TestNominatedInAGap(t *testing.T) {
	nominated := uint64(3)
	for name, c := range map[string]struct {
		missing uint64
		next    trace.Record
		want    int // findings
	}{
		"one record is missing": {1, trace.Record{}, 0},
		"the next one tells that it led": {
			1, trace.Record{LeaderChange: trace.Deposed, PrevLeader: &nominated}, 1,
		},
		"two records are missing": {2, trace.Record{}, 1},
	} {
		v := newVoters()
		v.algo, v.guarantee = "broadcast", "best-effort"
		for node := uint64(1); node <= 3; node++ { // the logs begin with the first processes
			v.start(node, 0)
		}
		v.add(3, 900, trace.Record{Event: "timeout", Term: 2})
		v.lost(3, c.missing)
		c.next.Event, c.next.Term = "timeout", 3
		v.add(3, 1100, c.next)
		v.add(1, 1050, trace.Record{
			Event: "receive", Term: 3, Leader: 3, LeaderChange: trace.Elected,
			Why: []string{"3 leads term 3 -> follow it"},
		})
		v.add(2, 1150, trace.Record{
			Event: "timeout", Term: 3, Leader: 2, LeaderChange: trace.Elected,
			Why: []string{"no more ids came in time, mine is the largest -> lead term 3"},
		})
		if found := v.b.History().Groups[0].Findings; len(found) != c.want {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// "Node 3 did not lead the term": the head of its log is cut, in which it did.
func TestLeadershipInACutHead(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.seq["n3life0"] = 7
	v.follow(1, 20, 3, 1)
	v.follow(2, 20, 3, 1)
	v.add(3, 5000, trace.Record{Event: "receive", Term: 1, Round: 2, Why: []string{"x -> y"}})
	v.add(3, 5010, trace.Record{Event: "receive", Term: 1, Why: []string{"x -> y"}})
	v.add(3, 5020, trace.Record{Event: "receive", Term: 2, Round: 2, Why: []string{"x -> y"}})
	if g := v.b.History().Groups[0]; len(g.Leaderships) != 1 {
		t.Errorf("%+v", g.Leaderships)
	}
}

// "Nobody led for 2 s": the records are missing in which the follower of a leader without records began to follow.
func TestFollowerInAGap(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.ask(1, 0, 1)
	v.lost(1, 7)
	v.add(1, 2000, trace.Record{Event: "timeout", Term: 1, Leader: 3, Token: 1, ValidUntil: atMS(2900)})
	if in := v.b.History().Groups[0].Incidents[0]; in.Leaderless != 0 || in.AtMost() != 2*time.Second {
		t.Errorf("nobody led for %v to %v", in.Leaderless, in.AtMost())
	}
}

// "Node 3 led term 1 until 2 s": node 1 heard of it no more, and the record is missing in which node 2 began to follow
// it, at the end of a log or in a gap.
func TestVoterThatMayFollow(t *testing.T) {
	for name, c := range map[string]struct {
		goesOn, gap, over bool // the log of node 2
	}{
		"the end is missing": {},
		"a gap":              {goesOn: true, gap: true},
		"none":               {goesOn: true, over: true},
	} {
		v := newVoters()
		v.level = "info"
		v.ask(3, 0, 1)
		v.add(2, 5, trace.Record{
			Event: "receive", Term: 1, Why: []string{"nothing binds this voter -> vote for 3 in term 1"},
		})
		v.elect(3, 1, 1)
		v.miss(1, 1500, 3)
		if c.gap {
			v.lost(2, 1)
		}
		if c.goesOn {
			v.add(2, 1600, trace.Record{Event: "receive", Term: 1, Round: 2, Why: []string{"1 asks for term 2 -> yes"}})
		}
		v.add(1, 3000, trace.Record{Event: "timeout", Term: 1}) // the lease had ended by then
		led := v.b.History().Groups[0].Leaderships
		if len(led) != 1 || led[0].End.IsZero() == c.over {
			t.Errorf("%s: %+v", name, led)
		}
	}
}

// "Node 1 led term 1 and node 2 led term 2 at once": the record is missing in which node 1 began to lead term 2, and
// the next one says which term it was in before.
func TestReElectedInAGap(t *testing.T) {
	for why, want := range map[string]int{
		"two leaders of term 2 meet, 2 stands over 1 -> step down": 0,
		"term 2 is above 1 -> adopt it":                            1,
	} {
		s, self := newScript(), uint64(1)
		lead := func(node uint64, ms int, term uint64) {
			s.add(node, ms, trace.Record{
				Event: "timeout", Term: term, Leader: node, LeaderChange: trace.Elected,
				Why: []string{fmt.Sprintf("no higher node is alive -> lead term %d", term)},
			})
		}
		lead(1, 0, 1)
		lead(2, 500, 2)
		s.seq[1]++
		s.add(1, 900, trace.Record{
			Event: "receive", From: 2, Msg: "COORDINATOR", MsgID: "2:9", Term: 2, Leader: 2,
			PrevLeader: &self, LeaderChange: trace.Deposed, Why: []string{why, "2 leads term 2 -> follow it"},
		})
		if found := s.b.History().Groups[0].Findings; len(found) != want {
			t.Errorf("%q: found %+v", why, found)
		}
	}
}

// "Node 3 led term 1 until 5 s": node 2 had followed it no more since 1.5 s, but may have come back to it in a gap, and
// renewed its lease until then.
func TestFollowerThatMayBeBack(t *testing.T) {
	for name, gap := range map[string]bool{"a gap": true, "none": false} {
		v := newVoters()
		v.level = "info"
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		v.miss(2, 1500, 3)
		if gap {
			v.lost(2, 2)
		}
		v.miss(1, 5000, 3)
		v.add(2, 5100, trace.Record{Event: "receive", Term: 1, Round: 2, Why: []string{"1 asks for term 2 -> yes"}})
		v.add(1, 7000, trace.Record{Event: "timeout", Term: 1}) // the lease had ended by then
		led := v.b.History().Groups[0].Leaderships
		if len(led) != 1 || led[0].End.IsZero() != gap {
			t.Errorf("%s: %+v", name, led)
		}
	}
}

// "Node 3 led term 1 until 1.5 s": node 2 began later, with nothing saved. Where its log is cut, a process before that
// may have followed the leader, and lost its disk. Another log that is cut tells that it may be, and so does whoever
// saw node 2 before.
func TestFollowerThatLostItsDisk(t *testing.T) {
	for name, c := range map[string]struct {
		cut, seen bool
	}{
		"all logs are whole": {},
		"another log is cut": {cut: true},
		"it was in a view":   {seen: true},
	} {
		v := newVoters()
		v.level = "info"
		if !c.cut {
			v.start(1, 0)
		}
		v.start(3, 0)
		if c.seen {
			v.add(3, 4, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		}
		v.ask(3, 5, 1)
		v.elect(3, 1, 1)
		v.miss(1, 1500, 3)
		v.start(2, 9000)
		led := v.b.History().Groups[0].Leaderships
		if over := !c.cut && !c.seen; len(led) != 1 || led[0].End.IsZero() == over {
			t.Errorf("%s: %+v", name, led)
		}
	}
}

// "Its lease ended": the leader may have renewed it after its last record. The first record of the next process of its
// node is missing, and with it perhaps the end of the log before.
func TestLeaseInAGap(t *testing.T) {
	for lost, want := range map[uint64]rounds.EndKind{0: rounds.EndedByLease, 1: rounds.EndedUnseen} {
		v := newVoters()
		v.start(1, 0)
		v.lead(1, 10, 1)
		v.life[1]++
		v.seq["n1life2"] = lost
		v.add(1, 9000, trace.Record{Event: "timeout", Term: 1})
		l := v.b.History().Groups[0].Leaderships[0]
		if l.Ended.Kind != want || l.End.Equal(l.Lease) != (lost == 0) {
			t.Errorf("%d records lost: %+v", lost, l)
		}
	}
}

// "By the process, which did not crash then": a message of node 1, whose sending is in no record, came long after its
// last record. By its number, it was sent before one that is in a record: it was held up, and the lease was not
// renewed.
func TestAHeldUpMessageIsNotSentAfterTheLastRecord(t *testing.T) {
	for id, want := range map[string]rounds.EndKind{"1:5": rounds.EndedByLease, "1:10": rounds.EndedUnseen} {
		v := newVoters()
		v.start(1, 0)
		v.lead(1, 10, 1)
		v.lost(1, 1)
		v.send(1, 100, 1, "1:9")
		v.add(2, 2000, trace.Record{
			Event: "receive", From: 1, Sender: "n1life1", Msg: "VOTE", MsgID: id, Term: 1, Why: []string{"x -> y"},
		})
		v.start(1, 9000)
		if l := v.b.History().Groups[0].Leaderships[0]; l.Ended.Kind != want || l.End.Equal(l.Lease) != (id == "1:5") {
			t.Errorf("%s: %+v", id, l)
		}
	}
}

// "The process of node 1 ended" is told as the end of its leadership, whose lease had run out before: its follower was
// asleep until long after that, and noticed it then. The records are missing in which the leader noticed it.
func TestLeaseThatASleeperHeld(t *testing.T) {
	v := newVoters()
	v.start(1, 0)
	v.lead(1, 10, 1)
	v.follow(2, 20, 1, 1)
	v.life[1]++
	v.seq["n1life2"] = 1
	v.add(1, 1300, trace.Record{Event: "timeout", Term: 1})
	v.miss(2, 4000, 1)
	if l := v.b.History().Groups[0].Leaderships[0]; l.Ended.Kind != rounds.EndedUnseen || !l.End.Equal(atMS(1300)) {
		t.Errorf("%+v", l)
	}
}

// "Node 3 led term 1 until 4 s": the log of the leader ends at 1 s, and a HEARTBEAT that came late kept its lease
// until 4.4 s. A lease runs from the last HEARTBEAT that a majority answered. The clock of who tells its length may be
// 1 % fast, and that of the leader 1 % slow.
func TestLeaseWithALateHeartbeat(t *testing.T) {
	for level, end := range map[string]int{"debug": 4410, "info": 4510} {
		v := newVoters()
		v.level = level
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		v.add(3, 1000, trace.Record{
			Event: "timeout", Term: 1, Leader: 3, Token: 1, ValidUntil: atMS(1900), Sent: []string{"HEARTBEAT>1#3:50"},
		})
		for _, node := range []uint64{1, 2} {
			v.add(node, 3400, trace.Record{
				Event: "receive", From: 3, Msg: "HEARTBEAT", MsgID: fmt.Sprintf("3:%d", 90+node), Term: 1, Leader: 3,
				Token: 1, ValidUntil: atMS(3500),
			})
			v.miss(node, 3500, 3)
		}
		v.add(1, 5000, trace.Record{Event: "timeout", Term: 1})
		l := v.b.History().Groups[0].Leaderships[0]
		if l.Ended.Kind != rounds.EndedByLease || !l.End.Equal(atMS(end)) {
			t.Errorf("level %s: %+v, want an end at %d ms", level, l, end)
		}
	}
}

// "Its lease ended": node 1, alone, began again in a term that it knows by no record of its process before, so that the
// end of that one's log is missing, and perhaps a renewal. With chubby it begins in the term after the last one.
func TestLeaseBeforeAMissingProcess(t *testing.T) {
	for _, c := range []struct {
		algo  string
		round uint64
		want  rounds.EndKind
	}{
		{"raft", 1, rounds.EndedByLease},
		{"raft", 2, rounds.EndedUnseen},
		{"chubby", 2, rounds.EndedByLease},
		{"chubby", 3, rounds.EndedUnseen},
	} {
		v := newVoters()
		v.algo = c.algo
		v.start(1, 0)
		v.lead(1, 10, 1)
		v.life[1]++
		v.add(1, 9000, trace.Record{Event: "start", Round: c.round})
		l := v.b.History().Groups[0].Leaderships[0]
		if l.Ended.Kind != c.want {
			t.Errorf("%s, round %d: %+v", c.algo, c.round, l)
		}
	}
}

// "Node 4 leads on, when the logs end": of four voters, node 1 noticed that no heartbeat came, and the process of node
// 3 ended. The next one follows nobody, so that the rest is no majority.
func TestLeaseOfFollowersThatBeganAgain(t *testing.T) {
	for name, again := range map[string]bool{"it began again": true, "its log ends": false} {
		v := newVoters()
		v.level = "info"
		for _, node := range []uint64{1, 3, 4} { // node 2 has no log
			v.start(node, 0)
		}
		v.add(4, 5, trace.Record{
			Event: "timeout", Round: 1, Sent: []string{"PRE_VOTE>1#4:1", "PRE_VOTE>2#4:2", "PRE_VOTE>3#4:3"},
			Why: []string{"nobody leads -> ask the voters for term 1"},
		})
		v.elect(4, 1, 1, 3)
		if again {
			v.start(3, 700)
		}
		v.miss(1, 1200, 4)
		if again {
			v.add(3, 9000, trace.Record{Event: "peers", Alive: []uint64{1, 3}})
		}
		if l := v.b.History().Groups[0].Leaderships[0]; l.End.IsZero() == again {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

// "Node 3 led term 1 until 1 s": the logs end before that. The processes of its followers had ended, and the next ones
// may promise the lease again as long as it runs.
func TestLeaseAfterTheLogsEnd(t *testing.T) {
	for last, over := range map[int]bool{700: false, 1100: true} {
		v := newVoters()
		for node := uint64(1); node <= 3; node++ {
			v.start(node, 0)
		}
		v.ask(3, 5, 1)
		v.elect(3, 1, 1, 2)
		for _, node := range []uint64{1, 2} {
			v.start(node, 500)
			v.add(node, last, trace.Record{Event: "peers", Alive: []uint64{1, 2}})
		}
		l := v.b.History().Groups[0].Leaderships[0]
		if l.End.IsZero() == over || over && !l.End.Equal(l.Lease) {
			t.Errorf("the logs end at %d ms: %+v", last, l)
		}
	}
}

// "Node 3 led term 1 until 4.5 s": node 2 noticed at 3.5 s that no heartbeat came, but the leader may still renew the
// lease where the logs end before it does.
func TestLeaseThatRunsAsTheLogsEnd(t *testing.T) {
	for last, over := range map[int]bool{3600: false, 5000: true} {
		v := newVoters()
		v.level = "info"
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		for _, node := range []uint64{1, 2} {
			v.miss(node, 3500, 3)
			v.add(node, last, trace.Record{Event: "timeout", Term: 1})
		}
		if l := v.b.History().Groups[0].Leaderships[0]; l.End.IsZero() == over {
			t.Errorf("the logs end at %d ms: %+v", last, l)
		}
	}
}

// "The lease ended long before", and its leader had renewed it: the record is missing in which the followers follow it
// again, after they had noticed that no HEARTBEAT came in time.
func TestFollowersThatCameBackInAGap(t *testing.T) {
	for _, gap := range []bool{false, true} {
		v := newVoters()
		v.level = "info"
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		for node := uint64(1); node <= 2; node++ {
			v.miss(node, 1500, 3)
			if gap {
				v.seq[fmt.Sprintf("n%dlife0", node)]++
			}
			v.miss(node, 9000, 3)
		}
		v.expire(3, 8900, 1)
		v.ask(1, 9100, 2)
		v.lead(1, 9110, 2)
		if in := v.last(); in.From.After(atMS(8000)) != gap {
			t.Errorf("gap %v: %+v", gap, in)
		}
	}
}

// "No finding on a healthy run": "Node 1 called term 2 because the operator asked, and nobody led for 9.95 s" was told
// of logs that begin in the middle. By its first record here, node 3 led until it won the term.
func TestSomebodyLedBeforeTheRecords(t *testing.T) {
	for name, before := range map[string]uint64{"somebody led": 3, "nobody led": 0} {
		v := newVoters()
		v.algo, v.guarantee = "bully", "best-effort"
		v.seq["n1life0"], v.seq["n3life0"] = 90, 90
		v.add(1, 0, trace.Record{
			Event: "campaign", Detail: "the operator asked", Term: 2, LeaderChange: trace.Lost, PrevLeader: &before,
			Why: []string{"the operator asked -> call an election of term 2"}, Sent: []string{"ELECTION>3#1:1"},
		})
		v.add(3, 9900, trace.Record{
			Event: "receive", From: 1, Msg: "ELECTION", MsgID: "1:1", Term: 2, Leader: 3, LeaderChange: trace.Elected,
			PrevLeader: &before,
			Why:        []string{"term 2 is above 1 -> adopt it", "no higher node is alive -> lead term 2"},
			Sent:       []string{"COORDINATOR>1#3:1"},
		})
		v.add(1, 9905, trace.Record{
			Event: "receive", From: 3, Msg: "COORDINATOR", MsgID: "3:1", Term: 2, Leader: 3,
			LeaderChange: trace.Elected, Why: []string{"3 leads term 2 -> follow it"},
		})
		g := v.b.History().Groups[0]
		in := g.Incidents[0]
		if known := in.Leaderless == 9900*time.Millisecond; known == (before != 0) {
			t.Errorf("%s: nobody led for %v", name, in.Leaderless)
		}
		if found := len(g.Findings) > 0; found == (before != 0) {
			t.Errorf("%s: %v", name, g.Findings)
		}
	}
}

// "No finding on a healthy run": "Node 2 called term 1, and nobody led for 7.07 s, until node 2 led term 2" was told
// where the record is missing in which it won term 1. By its next one, it led until then. What a node says later that
// the new leader led until then tells nothing of before.
func TestSomebodyLedInAGap(t *testing.T) {
	for name, c := range map[string]struct {
		ms   int // when node 1 says that node 2 led until then
		led  uint64
		told bool
	}{
		"somebody led":            {7000, 2, false},
		"nobody led":              {7000, 0, true},
		"the new leader led":      {9500, 2, true},
		"somebody, perhaps later": {9500, 3, false},
	} {
		v := newVoters()
		v.algo, v.guarantee = "consensus", "quorum"
		v.add(2, 1000, trace.Record{
			Event: "timeout", Term: 1, Why: []string{"no leader was heard of -> call an election of term 1"},
		})
		v.add(1, 1010, trace.Record{Event: "receive", Term: 1, Why: []string{"term 1 is above 0 -> adopt it"}})
		v.lost(1, 1)
		left := trace.Record{
			Event: "receive", Term: 2, Why: []string{"term 2 is above 1 -> adopt it"}, LeaderChange: trace.Lost,
			PrevLeader: &c.led,
		}
		if c.led == 0 {
			left.LeaderChange = ""
		}
		v.add(1, c.ms, left)
		v.add(2, 8000, trace.Record{
			Event: "receive", Term: 2, Leader: 2, LeaderChange: trace.Elected, PrevLeader: new(uint64),
			Why: []string{"a majority accepted this node's proposal -> lead term 2"},
		})
		g := v.b.History().Groups[0]
		if told := g.Incidents[0].Leaderless == 7*time.Second; told != c.told || len(g.Findings) > 0 != c.told {
			t.Errorf("%s: nobody led for %v, and %v", name, g.Incidents[0].Leaderless, g.Findings)
		}
	}
}

// "Nobody led for 7.86 s": two nodes followed node 2, whose records of that time are missing. Its next process began in
// the term that it had led, and passed through it.
func TestLeaderOfAFormerProcess(t *testing.T) {
	for name, c := range map[string]struct {
		began int // ms
		term  uint64
		led   bool
	}{
		"a later process":            {5000, 3, true},
		"one that began just before": {1500, 3, true}, // as late
		"one that lost its disk":     {500, 0, true},  // what the former one had sent was long on its way
		"the same one":               {500, 3, false},
	} {
		v := newVoters()
		v.start(2, 0)
		v.follow(1, 2000, 2, 4)
		v.follow(3, 2010, 2, 4)
		v.life[2]++
		v.add(2, c.began, trace.Record{Event: "start", Term: c.term})
		v.add(2, 5010, trace.Record{Event: "timeout", Term: 4})
		v.add(2, 5020, trace.Record{Event: "timeout", Term: 5})
		if led := v.b.History().Groups[0].Led(2, 4); (led != nil) != c.led {
			t.Errorf("%s: %+v", name, led)
		}
	}
}

// "Missing, and a node followed it": the logs begin as a process of node 3 starts with nothing saved, and the others
// follow node 3. They followed its former process, which is in no log and whose disk was lost. Where all logs begin
// with a first process, there is no former one.
func TestLeaderThatLostItsDiskAsTheLogsBegin(t *testing.T) {
	for name, cut := range map[string]bool{"the logs are cut": true, "the logs are whole": false} {
		v := newVoters()
		v.start(3, 0)
		for _, node := range []uint64{1, 2} {
			if cut {
				v.seq[fmt.Sprintf("n%dlife0", node)] = 7
			} else {
				v.start(node, 0)
			}
			v.add(node, 12, trace.Record{Event: "peers", Term: 6, Alive: []uint64{1, 2, 3}, Leader: 3, Token: 6})
		}
		v.add(3, 4000, trace.Record{Event: "receive", Term: 6, Round: 7})
		v.add(3, 5000, trace.Record{Event: "receive", Term: 7, Round: 7})
		if led := v.b.History().Groups[0].Led(3, 6); (led != nil) != cut {
			t.Errorf("%s: %+v", name, led)
		}
	}
}

// "Missing, and a node followed it": a node followed node 3 in a term that this had reserved as it was killed, and the
// next process of node 3 began in the term before. No clock tells that this one ran then, or another one followed in
// records that are missing, or told the follower: it may have followed the former process for long.
func TestLeaderOfAFormerProcessOfWhichOthersTold(t *testing.T) {
	for name, c := range map[string]struct {
		compared bool
		from     uint64 // who told it
		late     bool   // another one followed in records that are missing
		led      bool
	}{
		"by the leader itself":             {true, 3, false, false},
		"by a clock that nothing compares": {false, 3, false, true},
		"by a node without a log":          {true, 4, false, true},
		"after one whose log was cut":      {true, 3, true, true},
	} {
		v := newVoters()
		v.algo, v.guarantee = "bully", "best-effort"
		v.exchange(1, 1, 5000, 1) // their clocks differ
		v.exchange(2, 1, 10, 5011)
		v.add(3, 100, trace.Record{Event: "start", Term: 1, Sent: []string{"COORDINATOR>2#3:1"}})
		if c.compared {
			v.add(2, 101, trace.Record{Event: "receive", Term: 1, From: 3, Msg: "COORDINATOR", MsgID: "3:1"})
			v.add(2, 110, trace.Record{Event: "timeout", Term: 1, Sent: []string{"REPORT>3#2:9"}})
			v.add(3, 111, trace.Record{Event: "receive", Term: 1, From: 2, Msg: "REPORT", MsgID: "2:9"})
		}
		if c.late {
			v.seq["n4life0"] = 7
			v.add(4, 2050, trace.Record{Event: "peers", Term: 2, Alive: []uint64{2, 3, 4}, Leader: 3})
		}
		v.add(2, 2000, trace.Record{
			Event: "receive", Term: 2, From: c.from, Msg: "COORDINATOR", MsgID: fmt.Sprintf("%d:7", c.from), Leader: 3,
			PrevLeader: new(uint64), LeaderChange: trace.Elected, Why: []string{"3 leads term 2 -> follow it"},
		})
		v.add(3, 15000, trace.Record{Event: "peers", Term: 1, Alive: []uint64{2, 3}})
		v.leadAlone(3, 15010, 3)
		if led := v.b.History().Groups[0].Led(3, 2); (led != nil) != c.led {
			t.Errorf("%s: %+v", name, led)
		}
	}
}

// "Missing, and a node followed it": a follower that had slept read late that node 2 leads, when this one had written
// for long that it leads nothing. Its records of that time are missing, and the next one says that it had led.
func TestLeaderThatSaysThatItLed(t *testing.T) {
	for _, says := range []bool{true, false} {
		v := newVoters()
		v.start(1, 0)
		v.start(2, 0)
		v.seq["n2life1"] += 14
		if says {
			v.expire(2, 15600, 2)
		} else {
			v.add(2, 15600, trace.Record{Term: 2, Event: "timeout"})
		}
		for ms := 15700; ms < 19000; ms += 500 {
			v.add(2, ms, trace.Record{Term: 2, Event: "timeout"})
		}
		v.follow(1, 17200, 2, 2)
		if led := v.b.History().Groups[0].Led(2, 2); (led != nil) != says {
			t.Errorf("says it %v: %+v", says, led)
		}
	}
}

// Node 2 led once more in records that are missing, and says so: "nobody led for 7 s" was told, since it ceased to lead
// the term of which there are records. So it was where another node heard of that only when the next one led already.
func TestSomebodyLedInAGapBetween(t *testing.T) {
	for name, c := range map[string]struct {
		led     uint64 // who led until then, by what node 2 says after the gap
		least   time.Duration
		between uint64
		heard   int // when another one followed it, in ms; 0 for never
	}{
		"it led":                   {2, 3 * time.Second, 2, 0},
		"it led, and was heard of": {2, 3 * time.Second, 2, 9100},
		"nobody led":               {0, 7 * time.Second, 0, 0},
		"another led":              {1, 7 * time.Second, 0, 0}, // it may have been late to follow
	} {
		v := newVoters()
		v.algo, v.guarantee = "consensus", "quorum"
		lead := func(ms int, term uint64) {
			v.add(2, ms, trace.Record{
				Event: "receive", Term: term, Leader: 2, LeaderChange: trace.Elected, PrevLeader: new(uint64),
				Why: []string{fmt.Sprintf("a majority accepted this node's proposal -> lead term %d", term)},
			})
		}
		cease := func(ms int, term, was uint64) {
			change := trace.Deposed
			if was != 2 {
				change = trace.Lost
			}
			rec := trace.Record{Event: "receive", Term: term, LeaderChange: change, PrevLeader: &was}
			rec.Why = []string{fmt.Sprintf("term %d is above %d -> adopt it", term, term-1)}
			if was == 0 {
				rec.LeaderChange, rec.PrevLeader = "", nil
			}
			v.add(2, ms, rec)
		}
		lead(1000, 1)
		cease(2000, 2, 2)
		v.add(1, 2100, trace.Record{Event: "receive", Term: 2})
		v.lost(2, 3)
		cease(6000, 4, c.led)
		lead(9000, 5)
		if c.heard > 0 {
			v.add(3, c.heard, trace.Record{
				Event: "receive", Term: 3, Leader: 2, LeaderChange: trace.Elected, PrevLeader: new(uint64),
				Why: []string{"2 leads term 3 -> follow it"},
			})
		}
		g := v.b.History().Groups[0]
		in := g.Incidents[len(g.Incidents)-1]
		if in.Leaderless != c.least || in.AtMost() != 7*time.Second || in.Between != c.between ||
			in.AtLeast() != (c.between > 0) {
			t.Errorf("%s: nobody led for %s, at most %v, and %d between: %+v", name, in.Length(), in.AtMost(),
				in.Between, in)
		}
	}
}

// "Nobody led for 2.08 s": the log of who led in between begins with the record in which it ceased to. It had led an
// earlier term, too, as a follower tells. That one may have ended only now, if the record does not say which term did.
func TestSomebodyLedBetweenBeforeItsLogBegins(t *testing.T) {
	for why, c := range map[string]struct {
		between uint64
		want    time.Duration
	}{
		"term 4 is above 3 -> adopt it":                    {2, time.Second},
		"the operator asked -> call an election of term 4": {0, 3 * time.Second},
	} {
		v := newVoters()
		v.algo, v.guarantee = "invitation", "best-effort"
		v.add(1, 500, trace.Record{
			Event: "receive", Term: 1, Leader: 2, LeaderChange: trace.Elected, PrevLeader: new(uint64),
			Why: []string{"2 leads term 1 -> follow it"},
		})
		lead := func(id uint64, ms int, term uint64) {
			v.add(id, ms, trace.Record{
				Event: "timeout", Term: term, Leader: id, LeaderChange: trace.Elected, PrevLeader: new(uint64),
				Why: []string{fmt.Sprintf("no higher node is alive -> lead term %d", term)},
			})
		}
		cease := func(id uint64, ms int, term uint64, why string) {
			v.add(id, ms, trace.Record{
				Event: "receive", Term: term, LeaderChange: trace.Deposed, PrevLeader: &id, Why: []string{why},
			})
		}
		lead(1, 2000, 2)
		cease(1, 3000, 3, "term 3 is above 2 -> adopt it")
		v.seq[fmt.Sprint("n2life", v.life[2])] = 14
		cease(2, 5000, 4, why)
		lead(2, 6000, 4)
		if in := v.last(); in.Former != 1 || in.Between != c.between || in.Leaderless != c.want {
			t.Errorf("%s: between: node %d, for %v: %+v", why, in.Between, in.Leaderless, in)
		}
	}
}

// "Nobody led for at most 4.3 s" was told while node 2 had led in between, by its own word: the log begins with that.
// It had led an earlier term, too, but the lease of that had ended before another one led.
func TestSomebodyLedBetweenAfterItsEarlierLeaseEnded(t *testing.T) {
	v := newVoters()
	v.follow(1, 500, 2, 1)
	v.miss(1, 1500, 2)
	v.lead(1, 4000, 2)
	v.expire(1, 5000, 2)
	v.seq["n2life0"] = 14
	v.add(2, 7000, trace.Record{
		Term: 3, Event: "timeout", LeaderChange: trace.Deposed, PrevLeader: new(uint64(2)),
		Why: []string{"the lease ran out -> lead term 3 no more"},
	})
	v.lead(2, 9000, 4)
	if in := v.last(); in.Former != 1 || in.Leader != 2 || in.Between != 2 {
		t.Errorf("between: node %d: %+v", in.Between, in)
	}
}

// "Nobody led for 134 ms" was told while node 2 had led in between, as it says in the record in which it ceased to. An
// earlier term, of which only a follower tells that it led it, was over: it had led a later one since.
func TestSomebodyLedBetweenLongAfterAnEarlierTerm(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee = "invitation", "best-effort"
	asked := func(ms int, term uint64) {
		why := fmt.Sprintf("the operator asked -> call an election of term %d", term)
		v.add(2, ms, trace.Record{
			Event: "campaign", Term: term, LeaderChange: trace.Deposed, PrevLeader: new(uint64(2)), Why: []string{why},
		})
	}
	v.add(2, 10, trace.Record{Event: "timeout", Term: 1})
	v.lost(2, 3)
	v.follow(1, 500, 2, 1)
	v.leadAlone(2, 2000, 4)
	asked(3000, 5)
	v.lost(2, 1)
	asked(5000, 6)
	v.leadAlone(2, 6000, 6)
	if in := v.last(); in.FormerTerm != 4 || in.Between != 2 || in.Leaderless != time.Second {
		t.Errorf("between: node %d, for %v: %+v", in.Between, in.Leaderless, in)
	}
}
