package rounds_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// "A leader without a log leads on beside its successor": its lease was over by then, whatever is told of its process
// later.
func TestLeaderWithoutLog(t *testing.T) {
	v := newVoters()
	v.follow(1, 20, 3, 1)
	v.follow(2, 20, 3, 1)
	v.ask(1, 1500, 2)
	v.lead(1, 1510, 2)
	v.follow(2, 1520, 1, 2)
	v.add(1, 9000, trace.Record{
		Event: "peers", Alive: []uint64{1, 2}, Evidence: "link-closed 3, dial-refused 3", Term: 2, Leader: 1, Token: 2,
	})
	first := v.b.History().Groups[0].Leaderships[0]
	if first.Leader != 3 || !first.End.Equal(atMS(1510)) || first.Ended.Kind != rounds.EndedUnseen {
		t.Errorf("%+v", first)
	}
}

// "The end of a leader's log is not the end of its lease": a message came after its last record.
func TestLeaderWithCutLog(t *testing.T) {
	v := newVoters()
	v.lead(3, 10, 1)
	v.follow(1, 20, 3, 1)
	v.add(3, 30, trace.Record{Event: "timeout", Term: 1, Leader: 3, Token: 1, ValidUntil: atMS(1000)})
	v.add(1, 4000, trace.Record{
		Event: "receive", From: 3, Msg: "HEARTBEAT", MsgID: "3:99", Term: 1, Leader: 3, Token: 1,
		ValidUntil: atMS(4980),
	})
	v.add(1, 4500, trace.Record{
		Event: "peers", Alive: []uint64{1, 2}, Evidence: "link-closed 3, dial-refused 3", Term: 1, Leader: 3, Token: 1,
	})
	l := v.b.History().Groups[0].Leaderships[0]
	if !l.End.Equal(atMS(4500)) || l.Ended.Kind != rounds.EndedByProcess {
		t.Errorf("%+v", l)
	}
}

// "By the process, which did not crash then": the last HEARTBEAT that the follower promised to is so long ago that the
// lease may have ended a moment before the process did, at level info.
func TestProcessThatEndsAsItsLeaseDoes(t *testing.T) {
	for left, want := range map[int]rounds.EndKind{30: rounds.EndedUnseen, 700: rounds.EndedByProcess} { // ms
		v := newVoters()
		v.level = "info"
		v.ask(3, 0, 1)
		v.grant(1, 3, 1)
		v.lead(3, 10, 1)
		v.follow(1, 20, 3, 1)
		v.add(1, 4500, trace.Record{
			Event: "peers", Alive: []uint64{1, 2}, Evidence: "link-closed 3, dial-refused 3",
			Term: 1, Leader: 3, Token: 1, ValidUntil: atMS(4500 + left),
		})
		if l := v.b.History().Groups[0].Leaderships[0]; l.Ended.Kind != want {
			t.Errorf("%d ms left: %+v", left, l)
		}
	}
}

// "By the process, which did not crash then": the follower found that the lease had ended in a record that is missing,
// and at level info nothing tells whether it had heard of renewals before.
func TestALeaseThatEndedInAGapOfWhoFollowed(t *testing.T) {
	for missing, want := range map[uint64]rounds.EndKind{0: rounds.EndedByProcess, 1: rounds.EndedUnseen} {
		v := newVoters()
		v.level = "info"
		v.ask(3, 0, 1)
		v.elect(3, 1, 1)
		v.lost(1, missing)
		v.add(1, 3000, trace.Record{Event: "gone", About: 3, Detail: "3 n3life0", Term: 1})
		if l := v.b.History().Groups[0].Leaderships[0]; l.Ended.Kind != want {
			t.Errorf("%d missing: %+v", missing, l)
		}
	}
}

// "By the process, which did not crash then": the follower wrote down all renewals of the lease that it heard of, its
// last one had ended before the process was seen to have, and the record in which it found that is missing. Nor does
// it matter that it follows again later, by a HEARTBEAT that was long on its way.
func TestALeaseThatEndedBeforeTheProcessByWhoFollowed(t *testing.T) {
	for _, c := range []struct {
		left  int // ms
		again bool
		want  rounds.EndKind
	}{
		{-50, false, rounds.EndedUnseen},
		{-50, true, rounds.EndedUnseen},
		{700, false, rounds.EndedByProcess},
		{700, true, rounds.EndedByProcess},
	} {
		v := newVoters()
		v.ask(3, 0, 1)
		v.elect(3, 1, 1)
		v.add(1, 1900, trace.Record{
			Event: "receive", From: 3, Msg: "HEARTBEAT", MsgID: "3:50", Term: 1, Leader: 3, Token: 1,
			ValidUntil: atMS(3000 + c.left),
		})
		v.seq["n1life0"]++
		v.add(1, 3000, trace.Record{Event: "gone", About: 3, Detail: "3 n3life0", Term: 1})
		if c.again {
			v.follow(1, 3700, 3, 1)
		}
		if l := v.b.History().Groups[0].Leaderships[0]; l.Ended.Kind != c.want {
			t.Errorf("%+v: %+v", c, l)
		}
	}
}

// "Evidence from before its term is used where a leader's log is missing": node 5 had been lost, and came back to lead.
func TestEvidenceBeforeTheTerm(t *testing.T) {
	s := newScript()
	follow := func(node uint64, ms int, leader, term uint64) {
		s.add(node, ms, trace.Record{
			Term: term, Event: "receive", Leader: leader,
			Why: []string{fmt.Sprintf("%d leads term %d -> follow it", leader, term)},
		})
	}
	follow(3, 0, 5, 1)
	follow(4, 0, 5, 1)
	s.add(4, 1000, trace.Record{
		Term: 2, Event: "peers", Alive: []uint64{3, 4}, Evidence: "left 5", Leader: 4,
		Why: []string{"leader 5 is gone -> call an election of term 2", "no higher node is alive -> lead term 2"},
	})
	follow(3, 1001, 4, 2)
	follow(3, 4000, 5, 4)
	s.add(3, 6000, trace.Record{
		Term: 5, Event: "timeout", Leader: 3,
		Why: []string{"leader 5 is gone -> call an election of term 5", "no higher node is alive -> lead term 5"},
	})
	all := s.b.History().Groups[0].Incidents
	if in := all[len(all)-1]; in.FormerTerm != 4 || in.From.Before(atMS(4000)) {
		t.Errorf("%+v", in)
	}
}

// "The end of the process is told as the end of its leadership": records of level info have no renewals of the lease.
// It may have ended before, unless a majority of the voters held to the leader when its process ended.
func TestLeaseBeforeTheProcess(t *testing.T) {
	for name, c := range map[string]struct {
		missed int // ms
		want   rounds.EndKind
	}{
		"a follower missed heartbeats before":      {3000, rounds.EndedUnseen},
		"a follower missed heartbeats soon after":  {3600, rounds.EndedUnseen},
		"a follower missed heartbeats in due time": {4400, rounds.EndedByProcess},
	} {
		v := newVoters()
		v.level = "info"
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		v.add(3, 30, trace.Record{Event: "timeout", Term: 1, Leader: 3, Token: 1, ValidUntil: atMS(1000)})
		dead := trace.Record{Event: "gone", About: 3, Detail: "3 n3life0", Term: 1}
		if c.missed > 3500 {
			dead.Leader, dead.Token = 3, 1
			v.add(1, 3500, dead)
			v.miss(1, c.missed, 3)
		} else {
			v.miss(1, c.missed, 3)
			v.add(1, 3500, dead)
		}
		l := v.b.History().Groups[0].Leaderships[0]
		if !l.End.Equal(atMS(3500)) || l.Ended.Kind != c.want {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

// "By the process, which did not crash then": a HEARTBEAT was held up until after another voter had found that the
// lease of a later one was over.
func TestLeaseThatALateHeartbeatDoesNotProlong(t *testing.T) {
	for number, want := range map[int]rounds.EndKind{50: rounds.EndedUnseen, 61: rounds.EndedByProcess} {
		v := newVoters()
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		heartbeat := func(node uint64, ms, number, until int) {
			v.add(node, ms, trace.Record{
				Event: "receive", From: 3, Msg: "HEARTBEAT", MsgID: fmt.Sprint("3:", number), Term: 1, Leader: 3,
				Token: 1, ValidUntil: atMS(until),
			})
		}
		heartbeat(2, 2000, 60, 3000)
		heartbeat(1, 2500, number, 5000)
		v.miss(2, 3000, 3)
		v.add(1, 3500, trace.Record{Event: "gone", About: 3, Detail: "3 n3life0", Term: 1, Leader: 3, Token: 1})
		if l := v.b.History().Groups[0].Leaderships[0]; !l.End.Equal(atMS(3500)) || l.Ended.Kind != want {
			t.Errorf("HEARTBEAT %d: %+v", number, l)
		}
	}
}

// "A leader that never led": it announced that it had won, had to end a split before it led, and its process ended.
func TestWonWithoutLeading(t *testing.T) {
	s := newScript()
	s.add(1, 0, trace.Record{Event: "peers", Alive: []uint64{1, 3}})
	s.add(3, 10, trace.Record{
		Term: 2, Event: "timeout", Sent: []string{"COORDINATOR>1#3:1", "STOP>1#3:2"}, Why: []string{
			"no leader was heard of -> call an election of term 2", "no higher node is alive -> lead term 2",
			"split brain: 3 led term 1 and 1 led term 1 at once for 1s -> stop all leaders",
		},
	})
	s.add(1, 20, trace.Record{
		Term: 2, Event: "receive", From: 3, Msg: "COORDINATOR", MsgID: "3:1", Leader: 3,
		Why: []string{"3 leads term 2 -> follow it"},
	})
	g := s.b.History().Groups[0]
	if last := g.Rounds[len(g.Rounds)-1]; len(g.Leaderships) > 0 || last.Winner != nil {
		t.Errorf("%+v, won %+v", g.Leaderships, last.Winner)
	}
}

// "Two led at once, for longer than they did": at level info a leader may write nothing after it began.
func TestOverlapWithAQuietLeader(t *testing.T) {
	for word, want := range map[bool]string{
		true:  "at once, for 1 s at most: no record tells how long node 2 led.",
		false: "at once; no record tells for how long.",
	} {
		s := newScript()
		lead := func(node uint64, ms int, term uint64, why string) {
			s.add(node, ms, trace.Record{Term: term, Event: "timeout", Leader: node, Why: []string{why}})
		}
		s.add(1, 0, trace.Record{Event: "peers", Alive: []uint64{1, 2}})
		lead(1, 10, 1, "no higher node is alive -> lead term 1")
		lead(2, 1000, 2, "no higher node is alive -> lead term 2")
		lead(1, 2000, 1, "x -> y")
		if word {
			s.add(1, 2000, trace.Record{Term: 1, Event: "resign", Why: []string{"asked to resign -> step down"}})
		}
		found := s.b.History().Groups[0].Findings
		if len(found) != 1 || !strings.Contains(found[0].Text, want) {
			t.Errorf("%v: %+v, want %q", word, found, want)
		}
	}
}

// "Node 5 led term 4 and node 3 led term 5 at once, for 4.34 s": without a lease a paused leader believes in itself
// until it wakes and hears of the next one, but leads nobody meanwhile.
func TestOverlapWithALeaderThatMayHaveBeenPaused(t *testing.T) {
	for silent, want := range map[bool]string{
		true:  "at once, for 4 s; node 2 was silent to the others for 3.99 s of that, and may have been paused.",
		false: "at once, for 4 s.",
	} {
		v := newVoters()
		v.algo, v.guarantee = "bully", "best-effort"
		v.exchange(1, 1, -200, -190)
		v.exchange(2, 1, -100, -90)
		v.leadAlone(2, 0, 1)
		if silent {
			v.lose(1, 999, "heartbeat-missed 2", 1)
		}
		v.leadAlone(1, 1000, 2)
		v.add(2, 4990, trace.Record{Term: 1, Event: "peers", Leader: 2, Alive: []uint64{1, 2}})
		v.add(2, 5000, trace.Record{
			Term: 2, Event: "receive", Leader: 1, PrevLeader: new(uint64(2)), LeaderChange: trace.Elected,
			Why: []string{"1 leads term 2 -> follow it"},
		})
		v.add(1, 6000, trace.Record{Term: 2, Event: "timeout", Leader: 1})
		if list := told(t, v.b.History().Groups[0]); !strings.Contains(list, want) {
			t.Errorf("silent %v: want %q in\n%s", silent, want, list)
		}
	}
}

// "Its lease is told to have ended at the next win": a leader that was paused, and killed as it slept, had written its
// last renewal, and the voters missed its heartbeats a little after the lease had ended.
func TestLeaseOfALeaderThatSleptToItsEnd(t *testing.T) {
	v := newVoters()
	v.ask(1, 0, 1)
	v.elect(3, 1, 1, 2)
	v.add(3, 30, trace.Record{Event: "timeout", Term: 1, Leader: 3, Token: 1, ValidUntil: atMS(1000)})
	v.miss(1, 1040, 3)
	v.miss(2, 1050, 3)
	v.ask(1, 1300, 2)
	v.lead(1, 1310, 2)
	v.start(3, 3000)
	if l := v.b.History().Groups[0].Leaderships[0]; !l.End.Equal(atMS(1000)) || l.Ended.Kind != rounds.EndedByLease {
		t.Errorf("%+v", l)
	}
}

// "Told to go on, and it had ended long before": the leader was paused and wrote no more, and a voter without a log may
// have promised the lease again. Once another node leads a later term, the lease had ended.
func TestLeaseOfALeaderThatNeverWoke(t *testing.T) {
	v := newVoters()
	v.ask(3, 0, 1)
	v.elect(3, 1, 1)
	v.add(3, 30, trace.Record{Event: "timeout", Term: 1, Leader: 3, Token: 1, ValidUntil: atMS(1000)})
	v.miss(1, 1040, 3)
	v.ask(1, 3300, 2)
	v.lead(1, 3310, 2)
	g := v.b.History().Groups[0]
	want := rounds.Ending{Kind: rounds.EndedUnseen, Known: rounds.Inferred, Ref: g.Leaderships[1].First}
	if l := g.Leaderships[0]; !l.End.Equal(atMS(3310)) || l.Ended != want {
		t.Errorf("%+v", l)
	}
	if in := v.last(); !in.Perhaps.Equal(atMS(1040)) || in.Leaderless != 0 || !in.AtLeast() {
		t.Errorf("perhaps from %v: %+v", in.Perhaps, in)
	}
}

// "It may have been longer": a follower found that the lease was not renewed, and the leader wrote so only later. The
// record of the follower stands behind that.
func TestFollowerFoundTheEndFirst(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.elect(3, 1, 1, 2)
	v.miss(1, 2000, 3)
	v.expire(3, 6000, 1)
	v.ask(1, 7000, 2)
	v.lead(1, 7010, 2)
	in := v.last()
	want := rounds.Ref{Node: 1, Incarnation: "n1life0", Seq: 2}
	if !in.Perhaps.Equal(atMS(2000)) || in.PerhapsRef != want {
		t.Errorf("perhaps from %v, by %v: %+v", in.Perhaps, in.PerhapsRef, in)
	}
}

// "Nobody led for 3.1 s", where it was 5.3 s: a leader that slept says how long ago its lease had ended as it woke.
func TestLeaderSaysHowLateItIs(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.elect(3, 1, 1, 2)
	v.sleep(3, 6000, 2200)
	v.ask(1, 7000, 2)
	v.lead(1, 7010, 2)
	if in := v.last(); !in.From.Equal(atMS(3800)) || in.Leaderless != 3210*time.Millisecond {
		t.Errorf("nobody led for %v from %v", in.Leaderless, in.From)
	}
}

// "Two led at once, for 20 ms": no message between the two took less than 50 ms, so that their clocks may differ by as
// much.
func TestOverlapWithinTheErrorOfTheClocks(t *testing.T) {
	for both, want := range map[int]int{20: 0, 600: 1} { // ms
		s := newScript()
		exchange := func(from, to uint64, ms int) {
			id := fmt.Sprint(from, ":1")
			s.add(from, ms, trace.Record{
				Term: 1, Event: "timeout", Sent: []string{fmt.Sprint("OK>", to, "#", id)}, Why: []string{"x -> y"},
			})
			s.add(to, ms+50, trace.Record{
				Term: 1, Event: "receive", From: from, Msg: "OK", MsgID: id, Why: []string{"x -> y"},
			})
		}
		lead := func(node uint64, ms int, term uint64) {
			s.add(node, ms, trace.Record{
				Term: term, Event: "timeout", Leader: node, Why: []string{"no higher node is alive -> lead term 1"},
			})
		}
		exchange(1, 2, 0)
		exchange(2, 1, 100)
		lead(1, 200, 1)
		lead(2, 1000, 2)
		s.add(1, 1000+both, trace.Record{Term: 1, Event: "resign", Why: []string{"asked to resign -> step down"}})
		s.add(2, 3000, trace.Record{Term: 2, Event: "timeout", Leader: 2})
		if found := s.b.History().Groups[0].Findings; len(found) != want {
			t.Errorf("%d ms: %+v", both, found)
		}
	}
}

// "Node 2 led term 2 and node 1 led term 1 at once", of a leader whose process had ended before: by the clocks, which
// may differ by 50 ms, a peer saw its end 30 ms before its last record.
func TestEndOfALeaderWithinTheErrorOfTheClocks(t *testing.T) {
	s := newScript()
	for i, way := range [][2]uint64{{1, 2}, {2, 1}} {
		id := fmt.Sprint(way[0], ":1")
		s.add(way[0], 100*i, trace.Record{
			Term: 1, Event: "timeout", Sent: []string{fmt.Sprint("OK>", way[1], "#", id)}, Why: []string{"x -> y"},
		})
		s.add(way[1], 100*i+50, trace.Record{
			Term: 1, Event: "receive", From: way[0], Msg: "OK", MsgID: id, Why: []string{"x -> y"},
		})
	}
	why := []string{"no higher node is alive -> lead term 1"}
	s.add(1, 1000, trace.Record{Term: 1, Event: "timeout", Leader: 1, Why: why})
	s.add(2, 970, trace.Record{Event: "peers", Alive: []uint64{2}, Evidence: "link-closed 1, dial-refused 1"})
	why = []string{"no higher node is alive -> lead term 2"}
	s.add(2, 980, trace.Record{Term: 2, Event: "timeout", Leader: 2, Why: why})
	g := s.b.History().Groups[0]
	if led := g.Led(1, 1); led.Ended.Kind != rounds.EndedByProcess || len(g.Findings) > 0 {
		t.Errorf("%+v, %+v", led, g.Findings)
	}
}

// "An outage of seven seconds is told as milliseconds, where the leader's log is missing": its followers tell when its
// lease was over, and only later that its process had ended.
func TestLeaseOfALeaderWithoutLog(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.ask(1, 0, 1)
	v.follow(1, 20, 3, 1)
	v.follow(2, 20, 3, 1)
	v.miss(1, 1500, 3)
	v.miss(2, 1510, 3)
	v.ask(1, 1600, 2)
	v.add(2, 8990, trace.Record{Event: "gone", About: 3, Detail: "3 n3life0", Term: 1})
	v.lead(1, 9000, 2)
	in := v.last()
	if in.Ended.Kind != rounds.EndedByLease || in.Leaderless < 6*time.Second {
		t.Errorf("nobody led for %v: %+v", in.Leaderless, in)
	}
	if found := v.b.History().Groups[0].Findings; len(found) != 1 || found[0].Name != rounds.NoEnd {
		t.Errorf("found %+v", found)
	}
}

// "Node 3 led term 3 until 500 ms": it released an earlier term, and its message had been on its way for long. The
// voter need not have voted for it in that term.
func TestLateReleaseOfAnEarlierTerm(t *testing.T) {
	for _, code := range []string{"lease.release", "lease.release-foreign"} {
		for released, ended := range map[uint64]bool{1: false, 3: true} {
			v := newVoters()
			v.ask(3, 0, 3)
			v.elect(3, 3, 1, 2)
			v.add(1, 500, trace.Record{
				Term: 3, Event: "receive", From: 3, Msg: "RELEASE", MsgID: "3:5", LeaderChange: trace.Lost,
				Reasons: []trace.Reason{
					{Code: code, Args: []trace.Arg{{Number: 3}, {Number: released}}},
					{Code: "lease.leader-released", Args: []trace.Arg{{Number: 3}}},
				},
			})
			led := v.b.History().Groups[0].Leaderships
			if len(led) != 1 || led[0].End.IsZero() == ended {
				t.Errorf("%s: term %d is released: %+v", code, released, led)
			}
		}
	}
}

// "Two leaders at once": not so of one whose beginning is in a record that is missing, and whose first follower has a
// clock that nothing compares with the others'. The next follower tells since when it led.
func TestBeginsByAClockThatNothingCompares(t *testing.T) {
	for _, missing := range []bool{true, false} {
		v := newVoters()
		const off, ahead = 10000, 300
		v.start(1, 0)
		if v.start(2, ahead); missing {
			v.lost(1, 3)
		}
		v.add(1, 1000, trace.Record{
			Event: "timeout", Term: 1, Leader: 1, Token: 1, ValidUntil: atMS(1990), Why: []string{"x -> y"},
			Sent: []string{"HEARTBEAT>2#1:9"},
		})
		v.follow(2, 900+ahead, 1, 1)
		v.receive(2, 1001+ahead, 1, "1:9")
		v.add(2, 1010+ahead, trace.Record{
			Event: "timeout", Term: 1, Leader: 1, Token: 1, Why: []string{"x -> y"}, Sent: []string{"PRE_VOTE>1#2:1"},
		})
		v.add(1, 1011, trace.Record{
			Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:1", Term: 1, Leader: 1, Token: 1,
			Why: []string{"x -> y"}, HLC: fmt.Sprintf("%d.1", atMS(1010+ahead).UnixMicro()),
		})
		v.follow(3, 920-off, 1, 1)
		led := v.b.History().Groups[0].Leaderships[0]
		want := map[bool]time.Time{true: atMS(900), false: atMS(1000)}[missing]
		if led.From.Sub(want).Abs() > 10*time.Millisecond {
			t.Errorf("missing %v: since %v, not %v", missing, led.From, want)
		}
	}
}

// "Nobody led", and one did whose log ends before: by the clock of one of those that followed it, which nothing
// compares with its own, that began when the leader still wrote.
func TestFollowedByAClockThatNothingCompares(t *testing.T) {
	v := newVoters()
	const ahead = 300
	v.start(1, 0)
	v.start(2, ahead)
	v.start(3, 0)
	v.exchange(1, 1, 10, 20+ahead)
	v.exchange(2, 1, 30+ahead, 40)
	v.follow(3, 25, 2, 1)
	v.follow(1, 900, 2, 1)
	if led := v.b.History().Groups[0].Leaderships; len(led) != 1 || led[0].Leader != 2 {
		t.Errorf("%+v", led)
	}
}

// "Nobody led since 12:00:01.390" was told, when the lease had ended that the leader wrote as it began to lead. At
// level info it writes down no renewals, and the only other voter that lived has no log: that led when the lease had
// ended.
func TestALeaseWhoseRenewalsNobodyWroteDown(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.start(1, 0)
	v.start(2, 0)
	v.exchange(1, 0, 10, 20)
	v.exchange(2, 0, 30, 40)
	v.add(1, 50, trace.Record{Event: "gone", About: 2, Detail: "2 n2life1"})
	v.ask(1, 100, 1)
	v.lead(1, 400, 1)
	v.add(1, 4500, trace.Record{
		Event: "timeout", Term: 1, LeaderChange: trace.Deposed, PrevLeader: new(uint64(1)),
		Why: []string{"the lease ran out at least 2110 ms ago, while this process did not run -> lead term 1 no more"},
		Reasons: []trace.Reason{{Code: "lease.step-down", Args: []trace.Arg{
			{Is: trace.Cause, Reason: &trace.Reason{Code: "lease.ran-out-late", Args: []trace.Arg{{Number: 2110}}}},
			{Number: 1},
		}}},
	})
	v.follow(1, 4800, 3, 2)
	in := v.last()
	if in.Leader != 3 || !in.From.Equal(atMS(2390)) || in.Ended.Known != rounds.OwnWord {
		t.Errorf("%+v", in)
	}
}

// "Node 3 led" was drawn until another one did, a second after all that had followed it had ceased to. It has no log,
// and nobody tells for how long it led itself. Nor do followers in whose records a gap is before the one in which they
// follow no more.
func TestALeaderWithoutLogIsDrawnWhileItIsFollowed(t *testing.T) {
	for missing, want := range map[uint64]int{0: 1010, 2: 800} {
		v := newVoters()
		v.algo, v.guarantee = "bully", "best-effort"
		v.follow(1, 0, 3, 1)
		v.follow(2, 10, 3, 1)
		v.add(2, 800, trace.Record{Term: 1, Event: "timeout", Leader: 3})
		v.lost(1, missing)
		v.lost(2, missing)
		v.add(2, 1000, trace.Record{Term: 2, Event: "receive", LeaderChange: trace.Deposed, Why: []string{"x -> y"}})
		v.add(1, 1010, trace.Record{Term: 2, Event: "receive", LeaderChange: trace.Deposed, Why: []string{"x -> y"}})
		v.leadAlone(1, 2000, 2)
		g := v.b.History().Groups[0]
		for _, p := range g.Periods(g.Limits()) {
			if p.State == rounds.PeriodLed && p.Leaders[0].Leader == 3 && !p.Until.Equal(atMS(want)) {
				t.Errorf("%d missing: until %v: %+v", missing, p.Until, p)
			}
		}
	}
}
