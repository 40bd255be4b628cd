package rounds_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// "Nobody led for 700 ms" was told since node 1 had stepped down, which followed node 3 since. That had led since long
// before its first record, by a clock that no messages compare with the others.
func TestNobodyWasWithoutALeaderBesideOneWhoseLogBeginsLater(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee = "bully", "best-effort"
	v.callAndLead(1, 500, 1)
	v.follow(1, 1000, 3, 1)
	v.callAndLead(2, 1700, 1)
	v.add(1, 1900, trace.Record{Term: 1, Event: "timeout", Leader: 3})
	v.seq["n3life0"] = 5
	v.add(3, 2300, trace.Record{Term: 1, Event: "timeout", Leader: 3})
	if in := v.last(); in.Former != 1 || in.Leader != 2 || in.Leaderless != 0 || !in.AtLeast() {
		t.Errorf("%v: %+v", in.Leaderless, in)
	}
}

// "Nobody led for 703 ms" was told while node 2 led on beside, by its own word: it was silent to node 3, and whether it
// slept, or led others on, no record of level info tells.
func TestNobodyLedAsFarAsTheRecordsTellBesideASilentLeader(t *testing.T) {
	for level, want := range map[string]bool{"info": true, "debug": false} {
		v := newVoters()
		v.algo, v.guarantee, v.level = "bully", "best-effort", level
		v.callAndLead(2, 0, 2)
		v.add(3, 10, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		v.add(3, 20, trace.Record{Event: "timeout", Term: 2, Why: []string{"x -> y"}, Sent: []string{"ELECTION>2#3:1"}})
		v.add(2, 40, trace.Record{
			Term: 2, Event: "receive", From: 3, Msg: "ELECTION", MsgID: "3:1", Leader: 2, Why: []string{"x -> y"},
			Sent: []string{"COORDINATOR>3#2:1"},
		})
		v.add(3, 60, trace.Record{
			Term: 2, Event: "receive", From: 2, Msg: "COORDINATOR", MsgID: "2:1", Why: []string{"x -> y"},
		})
		v.lose(3, 900, "unreachable 2", 1, 3)
		v.callAndLead(3, 950, 3)
		v.resign(3, 4000, 3)
		v.callAndLead(3, 5000, 4)
		v.add(3, 5010, trace.Record{Term: 4, Event: "peers", Leader: 3, Alive: []uint64{1, 2, 3}, Evidence: "joined 2"})
		v.add(2, 5050, trace.Record{
			Term: 4, Event: "receive", Leader: 3, PrevLeader: new(uint64(2)), LeaderChange: trace.Deposed,
			Why: []string{"term 4 is above 2 -> adopt it", "3 leads term 4 -> follow it"},
		})
		if in := v.last(); in.Leaderless != time.Second || in.PerhapsLed != want {
			t.Errorf("%s: perhaps %v, for %v: %+v", level, in.PerhapsLed, in.Leaderless, in)
		}
	}
}

// "Nobody led for at least 747 ms" was told since node 1 had lost node 3, which node 2 followed on. The log of node 3
// is cut short before: another one had a message that it sent later, and it need not have been silent.
func TestALostLeaderIsFollowedOnWhoseLogIsCut(t *testing.T) {
	for more, want := range map[bool]time.Duration{false: 300 * time.Millisecond, true: 150 * time.Millisecond} {
		v := newVoters()
		v.algo, v.guarantee = "invitation", "best-effort"
		v.add(3, 0, trace.Record{Term: 3, Event: "timeout", Leader: 3, LeaderChange: trace.Elected})
		v.follow(1, 100, 3, 3)
		v.follow(2, 100, 3, 3)
		v.add(3, 900, trace.Record{Term: 3, Event: "timeout", Leader: 3})
		v.add(1, 1000, trace.Record{
			Term: 4, Event: "peers", Alive: []uint64{1}, Evidence: "unreachable 2, unreachable 3",
			LeaderChange: trace.Lost, Why: []string{"leader 3 is gone -> call an election of term 4"},
		})
		on := trace.Record{Term: 3, Event: "timeout", Leader: 3}
		if more {
			on = trace.Record{Term: 3, Event: "receive", From: 3, Msg: "COORDINATOR", MsgID: "3:7", Leader: 3}
		}
		v.add(2, 1150, on)
		v.callAndLead(1, 1300, 4)
		v.add(1, 2500, trace.Record{Term: 4, Event: "timeout", Leader: 1})
		if in := v.last(); in.Former != 3 || in.Leader != 1 || in.Leaderless != want || !in.AtLeast() {
			t.Errorf("more came of it %v: %v: %+v", more, in.Leaderless, in)
		}
	}
}

// "Nobody led for 503 ms" was told while node 2 led beside: it began to in a gap of its records, which ends only after
// the next one began.
func TestNobodyLedAsFarAsTheRecordsTellBesideOneThatBeganInAGap(t *testing.T) {
	for missing, want := range map[uint64]bool{0: false, 2: true} {
		v := newVoters()
		v.algo, v.guarantee = "bully", "best-effort"
		v.callAndLead(5, 1000, 3)
		v.add(2, 1500, trace.Record{Term: 2, Event: "timeout"})
		v.resign(5, 2000, 3)
		v.callAndLead(4, 2500, 4)
		v.lost(2, missing)
		led := trace.Record{Term: 2, Event: "timeout", Leader: 2}
		if missing == 0 {
			led.LeaderChange, led.Why = trace.Elected, []string{"no higher node is alive -> lead term 2"}
		}
		v.add(2, 2600, led)
		all := v.b.History().Groups[0].Incidents
		for _, in := range all {
			if in.Former == 5 && in.Leader == 4 && in.PerhapsLed != want {
				t.Errorf("%d missing: %v: %+v", missing, in.PerhapsLed, in)
			}
		}
	}
}

// "Nobody led for at least 346 ms" was told since node 1 had lost node 3, which led on by its own records. The process
// of node 2 had ended, and the next one, of which no record is here, followed it.
func TestALostLeaderMayBeFollowedOnByAProcessOfWhichNoLogTells(t *testing.T) {
	for again, want := range map[bool]bool{false: false, true: true} {
		v := newVoters()
		v.algo, v.guarantee = "bully", "best-effort"
		v.add(3, 0, trace.Record{
			Term: 3, Event: "timeout", Leader: 3, LeaderChange: trace.Elected, Alive: []uint64{1, 2, 3},
		})
		v.follow(1, 100, 3, 3)
		v.follow(2, 100, 3, 3)
		v.add(3, 500, trace.Record{
			Term: 3, Event: "peers", Leader: 3, Alive: []uint64{1, 3}, Evidence: "link-closed 2, dial-refused 2",
		})
		if again {
			v.add(3, 900, trace.Record{Term: 3, Event: "peers", Leader: 3, Alive: []uint64{1, 2, 3}})
		}
		v.add(1, 1000, trace.Record{
			Term: 4, Event: "timeout", LeaderChange: trace.Lost,
			Why: []string{"nobody has heard leader 3 of late -> call an election of term 4"},
		})
		v.callAndLead(1, 1200, 4)
		v.add(3, 1400, trace.Record{Term: 3, Event: "timeout", Leader: 3})
		if in := v.last(); in.Former != 3 || in.Leaderless != 200*time.Millisecond || in.PerhapsLed != want {
			t.Errorf("seen again %v: %v: %+v", again, in.Leaderless, in)
		}
	}
}

// "Nobody led for 700 ms" was told since node 2 had lost node 3, which node 1 followed on, in records that are missing:
// the log of node 1 ends long before others saw that its process ended.
func TestALostLeaderMayBeFollowedOnByOneWhoseLogEndsBeforeItsProcess(t *testing.T) {
	for ends, want := range map[int]bool{4900: false, 500: true} {
		v := newVoters()
		v.algo, v.guarantee = "bully", "best-effort"
		v.add(3, 0, trace.Record{Term: 3, Event: "timeout", Leader: 3, LeaderChange: trace.Elected})
		v.follow(1, 100, 3, 3)
		v.follow(2, 100, 3, 3)
		v.add(1, ends, trace.Record{Term: 3, Event: "timeout", Leader: 3})
		v.add(3, 4800, trace.Record{Term: 3, Event: "timeout", Leader: 3})
		v.add(2, 5000, trace.Record{
			Term: 4, Event: "timeout", LeaderChange: trace.Lost,
			Why: []string{"nobody has heard leader 3 of late -> call an election of term 4"},
		})
		v.lose(2, 5500, "link-closed 1, dial-refused 1", 2, 3)
		v.callAndLead(2, 5700, 4)
		v.add(3, 5800, trace.Record{Term: 3, Event: "timeout", Leader: 3})
		if in := v.last(); in.Former != 3 || in.Leaderless != 700*time.Millisecond || in.PerhapsLed != want {
			t.Errorf("log ends at %d: perhaps %v, for %v: %+v", ends, in.PerhapsLed, in.Leaderless, in)
		}
	}
}

func TestNobodyWasWithoutALeaderBesideAnother(t *testing.T) {
	for beside, want := range map[bool]string{false: "Nobody led for 4 s in all", true: "is not known"} {
		v := newVoters()
		v.algo, v.guarantee = "bully", "best-effort"
		v.add(4, 0, trace.Record{Event: "start"})
		if beside {
			v.callAndLead(2, 0, 2)
			v.add(2, 6000, trace.Record{
				Term: 2, Event: "resign", LeaderChange: trace.Resigned, Why: []string{"asked to resign -> step down"},
			})
		}
		v.callAndLead(5, 10, 3)
		v.add(3, 11, trace.Record{Term: 3, Event: "receive", Leader: 5, Why: []string{"5 leads term 3 -> follow it"}})
		v.add(5, 999, trace.Record{Term: 3, Event: "timeout", Leader: 5})
		v.add(3, 1000, trace.Record{
			Term: 3, Event: "peers", Alive: []uint64{3}, Evidence: "link-closed 5, dial-refused 5",
		})
		v.callAndLead(4, 5000, 4)
		v.add(4, 7000, trace.Record{Term: 4, Event: "timeout", Leader: 4})
		if list := told(t, v.b.History().Groups[0]); !strings.Contains(list, want) {
			t.Errorf("beside %v: want %q in\n%s", beside, want, list)
		}
	}
}

func TestNobodyWasWithoutALeaderThatCameLaterInTheTerm(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee = "hs", "best-effort"
	v.add(1, 0, trace.Record{Event: "start"})
	v.follow(2, 100, 3, 3)
	v.add(2, 1000, trace.Record{
		Term: 4, Event: "peers", Alive: []uint64{1, 2}, Evidence: "unreachable 3", LeaderChange: trace.Lost,
		Why: []string{"leader 3 is gone -> call an election of term 4"},
	})
	v.callAndLead(1, 2000, 3)
	leader := uint64(1)
	v.add(1, 3000, trace.Record{
		Term: 3, Event: "receive", From: 3, Leader: 3, LeaderChange: trace.Deposed, PrevLeader: &leader,
		Why: []string{"two leaders of term 3 meet, 3 stands over 1 -> step down", "3 leads term 3 -> follow it"},
	})
	v.add(1, 3001, trace.Record{Term: 4, Event: "timeout"})
	v.callAndLead(2, 20000, 5)
	in := v.last()
	cites := slices.ContainsFunc(in.Records, func(ref rounds.Ref) bool { return ref.Node == 1 && ref.Seq >= 3 })
	if in.Former != 3 || in.Leader != 2 || in.Leaderless.Round(time.Second) != 17*time.Second || !cites {
		t.Errorf("%v: %+v", in.Leaderless, in)
	}
}

func TestALostLeaderWithoutALogIsFollowedAgain(t *testing.T) {
	for _, again := range []bool{false, true} {
		v, want := newVoters(), time.Second
		v.algo, v.guarantee = "zookeeper", "quorum"
		for node := uint64(1); node <= 2; node++ {
			v.follow(node, 100, 5, 3)
			v.lose(node, 1000, "unreachable 5", 1, 2)
			v.add(node, 1001, trace.Record{
				Term: 4, Event: "peers", LeaderChange: trace.Lost,
				Why: []string{"leader 5 is gone -> call an election of term 4"},
			})
		}
		if again {
			v.follow(2, 1200, 5, 3)
			v.add(2, 1300, trace.Record{Term: 3, Event: "peers", Leader: 5, Alive: []uint64{1, 2, 5}})
			v.add(2, 1500, trace.Record{Term: 4, Event: "timeout"})
			want = 500 * time.Millisecond
		}
		v.callAndLead(1, 2000, 4)
		if in := v.last(); in.Former != 5 || in.Leader != 1 || in.Leaderless != want || !in.AtLeast() {
			t.Errorf("again %v: %v: %+v", again, in.Leaderless, in)
		}
	}
}

func TestNobodyWasWithoutALeaderBesideAnotherWithAGap(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee = "bully", "best-effort"
	v.callAndLead(2, 0, 2)
	v.add(2, 500, trace.Record{Term: 2, Event: "timeout", Leader: 2})
	v.callAndLead(5, 1000, 3)
	v.resign(5, 2000, 3)
	v.seq["n2life0"]++
	v.add(2, 3000, trace.Record{Term: 3, Event: "timeout"})
	v.callAndLead(4, 5000, 4)
	if in := v.last(); in.Former != 5 || in.Leader != 4 || in.Leaderless != 2*time.Second || !in.AtLeast() {
		t.Errorf("%v: %+v", in.Leaderless, in)
	}
}

func TestALostLeaderIsFollowedOnAtLevelInfo(t *testing.T) {
	for level, want := range map[string]time.Duration{"info": 500 * time.Millisecond, "debug": time.Second} {
		v := newVoters()
		v.algo, v.guarantee, v.level = "stoller", "best-effort", level
		v.add(3, 0, trace.Record{Term: 3, Event: "timeout", Leader: 3, LeaderChange: trace.Elected})
		v.follow(1, 100, 3, 3)
		v.follow(2, 100, 3, 3)
		v.add(1, 1000, trace.Record{
			Term: 4, Event: "peers", Alive: []uint64{1, 2}, Evidence: "unreachable 3", LeaderChange: trace.Lost,
			Why: []string{"leader 3 is gone -> call an election of term 4"},
		})
		v.add(2, 1500, trace.Record{Term: 4, Event: "timeout", LeaderChange: trace.Lost})
		v.callAndLead(1, 2000, 4)
		if in := v.last(); in.Former != 3 || in.Leader != 1 || in.Leaderless != want {
			t.Errorf("%s: %v: %+v", level, in.Leaderless, in)
		}
	}
}

func TestALostLeaderIsFollowedOnByItsOwnRecords(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee = "bully", "best-effort"
	v.add(3, 0, trace.Record{Term: 3, Event: "timeout", Leader: 3, LeaderChange: trace.Elected})
	v.follow(1, 100, 3, 3)
	v.follow(2, 100, 3, 3)
	v.add(3, 800, trace.Record{Term: 3, Event: "timeout", Leader: 3})
	v.add(1, 1000, trace.Record{
		Term: 4, Event: "timeout", LeaderChange: trace.Lost,
		Why: []string{"nobody has heard leader 3 of late -> call an election of term 4"},
	})
	v.add(2, 1150, trace.Record{Term: 3, Event: "timeout", Leader: 3})
	v.callAndLead(1, 1200, 4)
	v.add(3, 1400, trace.Record{Term: 3, Event: "timeout", Leader: 3})
	if in := v.last(); in.Former != 3 || in.Leader != 1 || in.Leaderless != 50*time.Millisecond || !in.AtLeast() {
		t.Errorf("%v: %+v", in.Leaderless, in)
	}
}

func TestALostLeaderMayBeFollowedOnInMissingRecords(t *testing.T) {
	for missing, want := range map[uint64]bool{0: false, 3: true} {
		v := newVoters()
		v.algo, v.guarantee = "bully", "best-effort"
		v.add(3, 0, trace.Record{Term: 3, Event: "timeout", Leader: 3, LeaderChange: trace.Elected})
		v.follow(1, 100, 3, 3)
		v.follow(2, 100, 3, 3)
		v.add(3, 800, trace.Record{Term: 3, Event: "timeout", Leader: 3})
		v.lost(2, missing)
		v.add(1, 1000, trace.Record{
			Term: 4, Event: "timeout", LeaderChange: trace.Lost,
			Why: []string{"nobody has heard leader 3 of late -> call an election of term 4"},
		})
		v.callAndLead(1, 1200, 4)
		v.follow(2, 1300, 1, 4)
		v.add(3, 1400, trace.Record{Term: 3, Event: "timeout", Leader: 3})
		if in := v.last(); in.Former != 3 || in.Leaderless != 200*time.Millisecond || in.PerhapsLed != want {
			t.Errorf("%d missing: %v: %+v", missing, in.Leaderless, in)
		}
	}
}

func TestNobodyWasWithoutALeaderBesideAnotherWithoutALog(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee = "bully", "best-effort"
	v.follow(2, 100, 5, 1)
	v.callAndLead(3, 500, 2)
	v.resign(3, 1000, 2)
	v.add(2, 1300, trace.Record{Term: 1, Event: "peers", Leader: 5, Alive: []uint64{1, 2, 5}})
	v.callAndLead(1, 2000, 3)
	if in := v.last(); in.Former != 3 || in.Leader != 1 || in.Leaderless != 700*time.Millisecond || !in.AtLeast() {
		t.Errorf("%v: %+v", in.Leaderless, in)
	}
}

func TestALostLeaderThatWasSilentForAMomentIsFollowedOn(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee = "broadcast", "best-effort"
	v.add(3, 0, trace.Record{Term: 3, Event: "timeout", Leader: 3, LeaderChange: trace.Elected})
	v.add(1, 50, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
	v.add(1, 60, trace.Record{Term: 3, Event: "timeout", Why: []string{"x -> y"}, Sent: []string{"ID>3#1:1"}})
	v.add(3, 80, trace.Record{
		Term: 3, Event: "receive", From: 1, Msg: "ID", MsgID: "1:1", Leader: 3, Why: []string{"x -> y"},
		Sent: []string{"COORDINATOR>1#3:1"},
	})
	v.add(1, 100, trace.Record{
		Term: 3, Event: "receive", From: 3, Msg: "COORDINATOR", MsgID: "3:1", Leader: 3, LeaderChange: trace.Elected,
		Why: []string{"3 leads term 3 -> follow it"},
	})
	v.follow(2, 100, 3, 3)
	v.add(1, 13000, trace.Record{
		Term: 4, Event: "peers", Alive: []uint64{1, 2}, Evidence: "unreachable 3", LeaderChange: trace.Lost,
		Why: []string{"leader 3 is gone -> call an election of term 4"},
	})
	v.add(1, 13030, trace.Record{Term: 4, Event: "peers", Alive: []uint64{1, 2, 3}})
	v.add(2, 13100, trace.Record{Term: 3, Event: "timeout", Leader: 3})
	v.callAndLead(1, 13300, 4)
	if in := v.last(); in.Former != 3 || in.Leader != 1 || in.Leaderless != 200*time.Millisecond {
		t.Errorf("%v: %+v", in.Leaderless, in)
	}
}

func TestNobodyWasWithoutALeaderBesideAnotherThatWasSilentForAMoment(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee = "bully", "best-effort"
	v.callAndLead(2, 0, 2)
	v.add(3, 50, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3, 5}})
	v.callAndLead(5, 1000, 3)
	v.add(3, 1900, trace.Record{Event: "peers", Alive: []uint64{1, 3, 5}, Evidence: "unreachable 2"})
	v.resign(5, 2000, 3)
	v.add(3, 2100, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
	v.add(2, 2200, trace.Record{Term: 2, Event: "peers", Leader: 2, Alive: []uint64{1, 2, 3}})
	v.resign(2, 2500, 2)
	v.callAndLead(4, 5000, 4)
	if in := v.last(); in.Former != 5 || in.Leader != 4 || in.Leaderless != 2500*time.Millisecond {
		t.Errorf("%v: %+v", in.Leaderless, in)
	}
}

func TestALostLeaderIsFollowedOnAtTheEndOfTheLogs(t *testing.T) {
	for end, want := range map[int]time.Duration{1400: 150 * time.Millisecond, 2500: 300 * time.Millisecond} { // in ms
		v := newVoters()
		v.algo, v.guarantee = "invitation", "best-effort"
		v.add(3, 0, trace.Record{Term: 3, Event: "timeout", Leader: 3, LeaderChange: trace.Elected})
		v.follow(1, 100, 3, 3)
		v.follow(2, 100, 3, 3)
		v.add(3, 900, trace.Record{Term: 3, Event: "timeout", Leader: 3})
		v.add(1, 1000, trace.Record{
			Term: 4, Event: "peers", Alive: []uint64{1}, Evidence: "unreachable 2, unreachable 3",
			LeaderChange: trace.Lost, Why: []string{"leader 3 is gone -> call an election of term 4"},
		})
		v.add(2, 1150, trace.Record{Term: 3, Event: "timeout", Leader: 3})
		v.callAndLead(1, 1300, 4)
		v.add(1, end, trace.Record{Term: 4, Event: "timeout", Leader: 1})
		if in := v.last(); in.Former != 3 || in.Leader != 1 || in.Leaderless != want || !in.AtLeast() {
			t.Errorf("the logs end at %d ms: %v: %+v", end, in.Leaderless, in)
		}
	}
}

func TestNobodyWasWithoutALeaderBesideAnotherThatWasSilentToSome(t *testing.T) {
	for followed, want := range map[bool]time.Duration{false: 2500 * time.Millisecond, true: 0} {
		v := newVoters()
		v.algo, v.guarantee, v.level = "stoller", "best-effort", "info"
		v.callAndLead(2, 0, 2)
		v.add(1, 5, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		leader := uint64(0)
		if followed {
			v.follow(1, 100, 2, 2)
			leader = 2
		}
		v.add(3, 10, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3}})
		v.add(3, 20, trace.Record{Event: "timeout", Term: 2, Why: []string{"x -> y"}, Sent: []string{"ELECTION>2#3:1"}})
		v.add(2, 40, trace.Record{
			Term: 2, Event: "receive", From: 3, Msg: "ELECTION", MsgID: "3:1", Leader: 2, Why: []string{"x -> y"},
			Sent: []string{"COORDINATOR>3#2:1"},
		})
		v.add(3, 60, trace.Record{
			Term: 2, Event: "receive", From: 2, Msg: "COORDINATOR", MsgID: "2:1", Why: []string{"x -> y"},
		})
		v.lose(3, 900, "unreachable 2", 1, 3)
		v.callAndLead(3, 950, 3)
		v.add(1, 1500, trace.Record{
			Event: "peers", Term: 2, Leader: leader, Alive: []uint64{1, 2}, Evidence: "link-closed 3, dial-refused 3",
		})
		v.life[3]++
		v.callAndLead(3, 4000, 4)
		v.add(2, 4100, trace.Record{
			Term: 4, Event: "receive", Leader: 3, PrevLeader: new(uint64(2)), LeaderChange: trace.Deposed,
			Why: []string{"term 4 is above 2 -> adopt it", "3 leads term 4 -> follow it"},
		})
		v.follow(1, 4500, 3, 4)
		if in := v.last(); in.Former != 3 || in.Leader != 3 || in.Leaderless != want {
			t.Errorf("followed %v: %v: %+v", followed, in.Leaderless, in)
		}
	}
}

// "Nobody led for 0 ms" was told of seven seconds in which the leader hung: a peer had lost it, which stood aside, and
// who led next hung as well, and had not lost it.
func TestAHungLeaderLedNobodyUntilOneTookOverThatHungAsWell(t *testing.T) {
	for silent, want := range map[bool]bool{false: false, true: true} {
		v := newVoters()
		v.algo, v.guarantee, v.level = "bully", "best-effort", "info"
		v.leadAlone(1, 0, 1)
		v.follow(2, 10, 1, 1)
		v.follow(3, 10, 1, 1)
		if silent {
			v.add(2, 2000, trace.Record{
				Term: 1, Event: "peers", Alive: []uint64{2, 3}, Evidence: "heartbeat-missed 1",
				Why: []string{"leader 1 is gone -> stand aside, others call the election"},
			})
		}
		v.leadAlone(3, 8500, 2)
		v.add(1, 8600, trace.Record{Term: 2, Event: "receive", Leader: 3, Why: []string{"3 leads term 2 -> follow it"}})
		if in := v.last(); in.Former != 1 || in.Leader != 3 || in.AtLeast() != want {
			t.Errorf("silent %v: for %v, at least %v: %+v", silent, in.Leaderless, in.AtLeast(), in)
		}
	}
}
