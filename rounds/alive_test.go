package rounds_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

func partOf(r *rounds.Round, node uint64) rounds.Part {
	for _, p := range r.Participants {
		if p.Node == node {
			return p.Part
		}
	}
	return ""
}

// "Node 1 came later and was told", which had voted before the win: at level info the winner's last view may be of the
// process before. So nothing is said of whom it believed alive.
func TestVotersAreAlive(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.follow(1, 0, 3, 1)
	v.follow(2, 0, 3, 1)
	v.add(2, 500, trace.Record{Event: "gone", About: 1, Detail: "1 n1life0", Term: 1, Leader: 3, Token: 1})
	v.life[1]++
	v.follow(1, 900, 3, 1)
	v.ask(2, 2000, 2)
	v.add(1, 2001, trace.Record{
		Event: "receive", From: 2, Msg: "REQUEST_VOTE", MsgID: "2:20001", Term: 2, Sent: []string{"VOTE>2#1:7"},
		Why: []string{"nothing binds this voter -> vote for 2 in term 2"},
	})
	v.add(2, 2002, trace.Record{
		Event: "receive", From: 1, Msg: "VOTE", MsgID: "1:7", Term: 2, Leader: 2, Token: 2,
		LeaderChange: trace.Elected, Why: []string{"a majority voted in term 2 -> lead"},
	})
	v.follow(1, 2010, 2, 2)
	rs := v.b.History().Groups[0].Rounds
	r := rs[len(rs)-1]
	if part := partOf(r, 1); part != rounds.PartFollower || r.Winner.Viewed() {
		t.Errorf("node 1 is a %s, live %v, viewed %v", part, r.Winner.Live, r.Winner.Viewed())
	}
}

// "It was not there when the winner won": the process before had answered, and was dead by then. The records are not
// here that tell whom the winner saw alive.
func TestWhoAnsweredMayHaveEnded(t *testing.T) {
	v := newVoters()
	v.seq["n2life0"] += 7
	v.ask(2, 2000, 2)
	v.add(2, 2001, trace.Record{
		Event: "receive", From: 1, Msg: "PRE_VOTE_REPLY", MsgID: "1:7", Term: 1, Round: 2,
	})
	v.lead(2, 2100, 2)
	v.start(1, 4000)
	v.follow(1, 4010, 2, 2)
	rs := v.b.History().Groups[0].Rounds
	if part := partOf(rs[len(rs)-1], 1); part != rounds.PartJoined {
		t.Errorf("node 1 is a %s", part)
	}
}

// "It was not there when the winner won": its process had been seen to end before, and of the next one no record tells
// when it started, as at level info. One that was there would have followed at once.
func TestWhoseNextProcessFollowedIsNoFollower(t *testing.T) {
	for _, c := range []struct {
		ended bool
		ms    int // when it followed
		want  rounds.Part
	}{{true, 2900, rounds.PartJoined}, {false, 2900, rounds.PartFollower}, {false, 4010, rounds.PartJoined}} {
		v := newVoters()
		v.level = "info"
		v.add(1, 0, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		v.add(3, 1, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		if c.ended {
			v.lose(3, 2050, "link-closed 1, dial-refused 1", 2, 3)
		}
		v.seq["n2life0"] += 7
		v.ask(2, 2000, 2)
		v.add(2, 2001, trace.Record{
			Event: "receive", From: 1, Msg: "PRE_VOTE_REPLY", MsgID: "1:7", Term: 1, Round: 2,
		})
		v.lead(2, 2100, 2)
		v.life[1]++
		v.follow(1, c.ms, 2, 2)
		rs := v.b.History().Groups[0].Rounds
		if part := partOf(rs[len(rs)-1], 1); part != c.want {
			t.Errorf("%+v: node 1 is a %s", c, part)
		}
	}
}

// "Node 1 came later and was told": at level info the first record of a process may be of long after its start, and the
// record in which it began to follow was missing.
func TestWhoMayHaveStartedBeforeTheWin(t *testing.T) {
	for ms, want := range map[int]rounds.Part{1300: rounds.PartLater, 4000: rounds.PartJoined} {
		v := newVoters()
		v.level = "info"
		v.lead(3, 100, 1)
		v.add(1, ms, trace.Record{Event: "timeout"})
		v.seq["n1life0"]++
		v.add(1, ms+100, trace.Record{Event: "peers", Alive: []uint64{1, 3}, Term: 1, Leader: 3, Token: 1})
		if part := partOf(v.b.History().Groups[0].Rounds[0], 1); part != want {
			t.Errorf("first record at %d ms: node 1 is a %s", ms, part)
		}
	}
}

// "Node 1 came later": its first record was of long after the win, but it had run before, as it had known a node that
// it lost in that record. Nothing tells since when, unless it says that, or its node had another process after the win.
func TestWhoLostANodeInItsFirstRecordRanBefore(t *testing.T) {
	for name, c := range map[string]struct {
		before func(v *voters)
		want   rounds.Part
	}{
		"nothing tells when it began": {func(*voters) {}, rounds.PartLater},
		"it began before the win":     {func(v *voters) { v.greet(1, 50) }, rounds.PartLater},
		"it began after the win":      {func(v *voters) { v.greet(1, 3000) }, rounds.PartJoined},
		"another process before it": {func(v *voters) {
			v.add(1, 200, trace.Record{Event: "timeout"})
			v.life[1]++
		}, rounds.PartJoined},
	} {
		v := newVoters()
		v.level = "info"
		v.lead(3, 100, 1)
		c.before(v)
		v.add(1, 4000, trace.Record{Event: "peers", Alive: []uint64{1, 2}, Evidence: "unreachable 3"})
		v.lost(1, 1)
		v.add(1, 4500, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}, Term: 1, Leader: 3, Token: 1})
		if part := partOf(v.b.History().Groups[0].Rounds[0], 1); part != c.want {
			t.Errorf("%s: node 1 is a %s, want %s", name, part, c.want)
		}
	}
}

// "Node 1 came later": at level info no record told when its process had started, and the record in which it began to
// follow is missing. Where that is here, it shows that the node had not followed at once.
func TestWhoseRecordOfFollowingIsMissingDidNotComeLater(t *testing.T) {
	for lost, want := range map[uint64]rounds.Part{0: rounds.PartJoined, 1: rounds.PartFollower} {
		v := newVoters()
		v.level, v.algo, v.guarantee = "info", "consensus", "quorum"
		v.add(1, 0, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		v.lose(3, 1000, "link-closed 1, dial-refused 1", 2, 3)
		v.add(2, 1800, trace.Record{Event: "peers", Term: 2, Alive: []uint64{1, 2, 3}})
		v.leadAlone(2, 2100, 2)
		v.life[1]++
		v.add(1, 2400, trace.Record{Event: "timeout", Term: 1})
		if v.lost(1, lost); lost == 0 {
			v.follow(1, 3000, 2, 2)
		} else {
			v.add(1, 3000, trace.Record{Event: "peers", Term: 2, Alive: []uint64{1, 2}, Leader: 2})
		}
		rs := v.b.History().Groups[0].Rounds
		if part := partOf(rs[len(rs)-1], 1); part != want {
			t.Errorf("%d records lost: node 1 is a %s, want %s", lost, part, want)
		}
	}
}

// "Node 1 came later": it had started 5 ms before the winner won, by clocks that messages compare no better than by
// 50 ms. It came later if it started later than that.
func TestWhoStartedJustBeforeTheWinDidNotComeLater(t *testing.T) {
	for started, want := range map[int]rounds.Part{95: rounds.PartFollower, 200: rounds.PartJoined} { // in ms
		v := newVoters()
		v.algo, v.guarantee = "bully", "best-effort"
		const ahead = 5000 // ms, by the clock of node 1
		v.leadAlone(2, 100, 1)
		v.start(1, ahead+started)
		v.lost(1, 1)
		v.add(1, ahead+440, trace.Record{Event: "peers", Term: 1, Alive: []uint64{1, 2}, Leader: 2})
		v.exchange(1, 1, ahead+1000, 1040)
		v.exchange(2, 1, 1100, ahead+1110)
		r := v.b.History().Groups[0].Rounds[0]
		if part := partOf(r, 1); part != want {
			t.Errorf("started at %d ms: node 1 is a %s, want %s", started, part, want)
		}
	}
}

// "It believed nobody else alive": it told node 1 at once that it had won, whose first record that is.
func TestToldAtOnceIsAlive(t *testing.T) {
	s := newScript()
	s.add(1, 0, trace.Record{Term: 1, Event: "receive", Leader: 3, Why: []string{"3 leads term 1 -> follow it"}})
	s.incarnation, s.seq = "bbbbbbbb", map[uint64]uint64{}
	s.add(3, 5000, trace.Record{
		Term: 2, Event: "timeout", Leader: 3, Sent: []string{"COORDINATOR>1#3:1"},
		Why: []string{"no leader was heard of -> call an election of term 2", "no higher node is alive -> lead term 2"},
	})
	s.add(1, 5001, trace.Record{
		Term: 2, Event: "receive", From: 3, Msg: "COORDINATOR", MsgID: "3:1", Leader: 3,
		Why: []string{"3 leads term 2 -> follow it"},
	})
	rs := s.b.History().Groups[0].Rounds
	if part := partOf(rs[len(rs)-1], 1); part != rounds.PartFollower {
		t.Errorf("node 1 is a %s", part)
	}
}

// "Node 1, the only other one that the winner believed alive": it had told the members of its group, and the record of
// whom it saw alive is missing.
func TestToldAsMembersAreNotAllThatAreAlive(t *testing.T) {
	for msg, want := range map[string]rounds.Part{"COORDINATOR": rounds.PartJoined, "READY": rounds.PartFollower} {
		v := newVoters()
		v.algo, v.guarantee = map[string]string{"COORDINATOR": "bully", "READY": "invitation"}[msg], "best-effort"
		v.start(1, 0)
		v.start(2, 0)
		v.lost(3, 5)
		v.nominate(3, 1000, 1, "no leader was heard of")
		v.nominate(2, 1005, 1, "no leader was heard of")
		v.add(3, 1200, trace.Record{
			Term: 1, Event: "timeout", Leader: 3, LeaderChange: trace.Elected, Sent: []string{msg + ">1#3:1"},
			Why: []string{"no higher node is alive -> lead term 1"},
		})
		v.follow(1, 1210, 3, 1)
		v.follow(2, 1400, 3, 1)
		r := v.b.History().Groups[0].Rounds[0]
		viewed := msg == "COORDINATOR"
		if part := partOf(r, 2); part != want || r.Winner.Viewed() != viewed {
			t.Errorf("%s: node 2 is a %s, viewed %v", msg, part, r.Winner.Viewed())
		}
	}
}

// "All 4 others that the winner believed alive followed", of which one was frozen and one dead when it won: the record
// of the win was missing, and the winner's belief that of much later; or who followed at any time counted. Nor are all
// messages here then: "Term 4 took 24 messages".
func TestFollowersOfAnUntoldWin(t *testing.T) {
	for name, wins := range map[string]func(v *voters){
		"whole": func(v *voters) {
			v.add(3, 1, trace.Record{Event: "peers", Alive: []uint64{1, 3}})
			v.lead(3, 10, 1)
			v.add(3, 9000, trace.Record{Term: 1, Event: "timeout", Leader: 3, Token: 1, ValidUntil: atMS(9900)})
		},
		"a gap": func(v *voters) {
			v.add(3, 1, trace.Record{Event: "peers", Alive: []uint64{1, 3}})
			v.seq["n3life0"] += 7
			v.add(3, 9000, trace.Record{
				Term: 1, Event: "peers", Leader: 3, Token: 1, Alive: []uint64{1, 2, 3, 4}, ValidUntil: atMS(9900),
			})
		},
		"its log missing": func(*voters) {},
	} {
		v := newVoters()
		for _, id := range []uint64{1, 2, 3} {
			if id != 3 || name != "its log missing" {
				v.add(id, 0, trace.Record{Event: "start"})
			}
		}
		v.add(2, 5, trace.Record{Term: 1, Event: "timeout"})
		wins(v)
		v.follow(1, 20, 3, 1)
		v.follow(2, 5000, 3, 1)
		v.start(4, 6000)
		v.follow(4, 6010, 3, 1)
		v.add(2, 9000, trace.Record{Term: 1, Event: "timeout", Leader: 3, Token: 1, ValidUntil: atMS(9800)})
		v.add(1, 9100, trace.Record{Term: 1, Event: "timeout", Leader: 3, Token: 1, ValidUntil: atMS(9900)})
		want := map[uint64]rounds.Part{
			1: rounds.PartFollower, 2: rounds.PartLater, 3: rounds.PartWinner, 4: rounds.PartJoined,
		}
		if name == "whole" {
			want[2] = rounds.PartJoined
		}
		r := v.b.History().Groups[0].Rounds[0]
		for id, part := range want {
			if got := partOf(r, id); got != part {
				t.Errorf("%s: node %d is a %s, want %s", name, id, got, part)
			}
		}
		if r.AtLeast != (name != "whole") {
			t.Errorf("%s: at least: %v", name, r.AtLeast)
		}
		if r.Winner.Viewed() != (name == "whole") || r.Aftermath > 4 {
			t.Errorf("%s: viewed %v, and the aftermath is from step %d of %d on", name, r.Winner.Viewed(), r.Aftermath,
				len(r.Steps))
		}
	}
}

// "silent" is who is paused, hung or cut off. A node whose log is not here is none of that: it may have voted.
func TestANodeWithoutALogIsNotSilent(t *testing.T) {
	v := newVoters()
	v.add(1, 5, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
	v.ask(1, 10, 1)
	v.lead(1, 20, 1)
	v.follow(2, 30, 1, 1)
	if part := partOf(v.b.History().Groups[0].Rounds[0], 3); part != "no-log" {
		t.Errorf("node 3 is %s", part)
	}
}

// "The winner believed nobody else alive", and "node 2 came later": the record in which node 2 came into view is
// missing. Nor are those whom it told, if it told some, all that it believed alive.
func TestViewBeforeAGapIsNotTheWinners(t *testing.T) {
	for missing, sent := range map[uint64][]string{0: nil, 1: nil, 2: {"COORDINATOR>3#1:1"}} {
		v := newVoters()
		v.guarantee = "best-effort"
		v.start(1, 0)
		v.start(2, 1)
		v.lose(1, 5, "", 1)
		v.lost(1, missing)
		v.add(1, 10, trace.Record{
			Term: 1, Event: "timeout", Leader: 1, LeaderChange: trace.Elected, PrevLeader: new(uint64),
			Why: []string{"no higher node is alive -> lead term 1"}, Sent: sent,
		})
		if w := v.b.History().Groups[0].Rounds[0].Winner; w.Viewed() != (missing == 0) {
			t.Errorf("%d records missing: %+v", missing, w)
		}
	}
}
