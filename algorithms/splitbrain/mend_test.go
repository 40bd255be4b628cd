package splitbrain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/bully"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/splitbrain"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

const delta = steptest.Delta

// starts is node self of three, which has just started.
func starts(t *testing.T, self proto.NodeID) *steptest.Rig {
	r := steptest.New(t, self, false, func(c algorithms.Config) algorithms.Machine {
		return splitbrain.New(c, func(c algorithms.Config) algorithms.Machine { return bully.New(c) })
	})
	r.Start(0, 1, 2, 3)
	return r
}

// leader3 is node 3 of three, which leads term 1 for ten seconds.
func leader3(t *testing.T) *steptest.Rig {
	r := starts(t, 3)
	for r.Last.Leader.ID != 3 {
		r.Fire()
	}
	r.Step(10*time.Second, algorithms.Timeout{})
	return r
}

// reignOf is a reign of node id's first life.
func reignOf(id proto.NodeID, term proto.Term) proto.Epoch {
	return proto.Epoch{Term: term, Leader: id, Session: steptest.Session(id)}
}

// sent are the messages of a kind in the last Output.
func sent(r *steptest.Rig, kind proto.Kind) (to []proto.NodeID) {
	for _, m := range r.Last.Send {
		if m.Body.Kind() == kind {
			to = append(to, m.To)
		}
	}
	return to
}

// account tells the rig's node of a reign of node 2 that went on until now.
func account(r *steptest.Rig, led time.Duration, stopped bool) algorithms.Output {
	return r.Step(0, r.From(2, 1, splitbrain.Account{Reign: reignOf(2, 1), Led: led, Stopped: stopped}))
}

// "1. Stop all leaders 2. Compare states 3. Reconcile conflicts 4. Re-elect single
// leader 5. Resume operations", each only when the one before is over.
func TestFiveSteps(t *testing.T) {
	r := leader3(t)
	account(r, 3*time.Second, false)
	if r.Last.Leader.ID != 0 || len(sent(r, splitbrain.KindTruce)) != 2 || r.Last.Reconcile != nil {
		t.Fatalf("it must stop, and say so: %+v", r.Last)
	}
	if s := r.Last.Splits; len(s) != 1 || s[0].Stage != algorithms.Stopping ||
		s[0].Overlap != 3*time.Second || len(s[0].Reigns) != 2 {
		t.Fatalf("the report: %+v", s)
	}
	r.Step(delta, algorithms.Idle{Term: 1})
	if r.Last.Reconcile != nil {
		t.Fatalf("2 has not stopped: %+v", r.Last)
	}
	account(r, 3*time.Second, true)
	asked := r.Last.Reconcile
	if asked == nil || r.Last.Leader.ID != 0 {
		t.Fatalf("all have stopped: %+v", r.Last)
	}
	r.Step(time.Hour, algorithms.Timeout{})
	if r.Last.Reconcile != asked || r.Last.Leader.ID != 0 {
		t.Fatalf("it must wait for the host: %+v", r.Last)
	}
	r.Step(0, algorithms.Reconciled{Number: asked.Number, Outcome: algorithms.Outcome{Done: true}})
	last := r.Last.Splits[len(r.Last.Splits)-1]
	if r.Last.Leader != steptest.Leads(3, 2) || r.Last.Reconcile != nil ||
		last.Stage != algorithms.Mended || last.Leader != r.Last.Leader {
		t.Fatalf("it must lead a new term: %+v", r.Last)
	}
	if to := sent(r, splitbrain.KindSettled); len(to) != 4 {
		t.Fatalf("both must hear of both reigns: %v", to)
	}
}

// "Reconciling that failed is reported, and a leader is elected all the same."
func TestReconcilingFails(t *testing.T) {
	r := leader3(t)
	r.Step(0, algorithms.Idle{Term: 1})
	account(r, 3*time.Second, true)
	r.Step(0, algorithms.Idle{Term: 1})
	outcome := algorithms.Outcome{Done: true, Tries: 3, Exit: 7, Problem: "exit status 7"}
	r.Step(0, algorithms.Reconciled{Number: 1, Outcome: outcome})
	last := r.Last.Splits[len(r.Last.Splits)-1]
	if !r.Last.Warn || r.Last.Leader.ID != 3 || last.Outcome != outcome ||
		!strings.Contains(strings.Join(steptest.Texts(r.Last.Why), "\n"), `splitbrain.failed("exit status 7")`) {
		t.Fatalf("%+v", r.Last)
	}
}

// "While the whole cluster is not to elect, the nominee, which leads on all the same,
// leads the new term without one." Paused alone it hands over.
func TestNomineeIsPaused(t *testing.T) {
	for keep, want := range map[bool]algorithms.Leader{
		true: steptest.Leads(3, 2), false: {Term: 1},
	} {
		r := leader3(t)
		account(r, 3*time.Second, true)
		r.Step(0, algorithms.Eligible{Keep: keep, Why: "paused"})
		r.Step(0, algorithms.Idle{Term: 1})
		r.Step(0, algorithms.Reconciled{Number: 1, Outcome: algorithms.Outcome{Done: true}})
		if r.Last.Leader != want || r.Last.Ineligible != "paused" {
			t.Errorf("keep %v: %+v", keep, r.Last)
		}
	}
}

// "Shorter than that is a leader that is being relieved": nobody stops.
func TestRelieved(t *testing.T) {
	r := leader3(t)
	account(r, splitbrain.Relief(delta), true)
	if r.Last.Leader.ID != 3 || r.Last.Splits != nil {
		t.Fatalf("%+v", r.Last)
	}
	if to := sent(r, splitbrain.KindSettled); len(to) != 1 || to[0] != 2 {
		t.Fatalf("2 need not tell it again: %v", to)
	}
}

// A hook's answer that comes late, twice, or for another split changes nothing.
func TestReconciledOutOfTurn(t *testing.T) {
	r := leader3(t)
	r.Step(0, algorithms.Reconciled{Number: 1, Outcome: algorithms.Outcome{Done: true}})
	if r.Last.Leader != steptest.Leads(3, 1) || r.Last.Splits != nil {
		t.Fatalf("%+v", r.Last)
	}
}

// "A forged, replayed or absurd term": it is refused, or changes nothing.
func TestHostileMessages(t *testing.T) {
	absurd := splitbrain.Account{Reign: reignOf(2, 2+1<<20), Led: time.Hour, Stopped: true}
	former := splitbrain.Account{Reign: proto.Epoch{Term: 1, Leader: 3, Session: proto.Session{9}}}
	for name, c := range map[string]struct {
		from proto.NodeID
		term proto.Term
		body proto.Body
		warn bool
	}{
		"an absurd reign":             {2, 1, absurd, true},
		"to itself":                   {3, 1, splitbrain.Truce{Session: steptest.Session(3)}, true},
		"a truce by a follower":       {2, 1, splitbrain.Truce{Session: steptest.Session(2)}, false},
		"settled by nobody's mender":  {2, 1, splitbrain.Settled{Reign: reignOf(3, 1), Rival: reignOf(2, 9)}, false},
		"a reign of mine never was":   {2, 1, splitbrain.Account{Reign: reignOf(3, 7), Led: time.Hour}, false},
		"of a former life of my own":  {2, 1, former, false},
		"settled, a reign of a third": {2, 1, splitbrain.Settled{Reign: reignOf(1, 1)}, false},
	} {
		r := leader3(t)
		r.Step(0, r.From(c.from, c.term, c.body))
		if r.Last.Leader != steptest.Leads(3, 1) || r.Last.Warn != c.warn || len(r.Last.Splits) > 0 {
			t.Errorf("%s: %+v", name, r.Last)
		}
	}
	r := leader3(t)
	account(r, 3*time.Second, true)
	r.Step(0, algorithms.Idle{Term: 1})
	r.Step(0, algorithms.Reconciled{Number: 1, Outcome: algorithms.Outcome{Done: true}})
	account(r, 3*time.Second, true)
	if r.Last.Leader.ID != 3 || len(r.Last.Splits) > 0 || len(sent(r, splitbrain.KindSettled)) != 1 {
		t.Errorf("a replayed account: %+v", r.Last)
	}
}

// after is the receipt of a message that was so long on its way.
func after(ev algorithms.Event, way time.Duration) algorithms.Event {
	r := ev.(algorithms.Receive)
	r.HLC = proto.HLC{Micros: 1_000_000}
	r.At = proto.HLC{Micros: r.HLC.Micros + way.Microseconds()}
	return r
}

// A late account makes a reign seem later than it was, so it settles nothing, but when
// all are late; one that came sooner is the better one.
func TestLateAccount(t *testing.T) {
	told := func(r *steptest.Rig, ago, way time.Duration) []proto.NodeID {
		ev := r.From(2, 1, splitbrain.Account{Reign: reignOf(2, 1), Led: time.Second, Ago: ago, Stopped: true})
		r.Step(0, after(ev, way))
		return sent(r, splitbrain.KindSettled)
	}
	long, late := 15*time.Second, splitbrain.Relief(delta)+time.Millisecond
	r := leader3(t)
	if a, b, c := told(r, long, late), told(r, long, late), told(r, long, late); len(a)+len(b) != 0 || len(c) != 1 {
		t.Errorf("three that came late were answered with %v, %v, %v", a, b, c)
	}
	r = leader3(t)
	if a, b := told(r, long, late), told(r, long+late, 0); len(a) != 0 || len(b) != 1 {
		t.Errorf("one that came late and one that came in time were answered with %v, %v", a, b)
	}
	r = leader3(t)
	r.Step(0, r.From(1, 1, splitbrain.Account{Reign: reignOf(2, 1), Led: time.Second, Ago: long, Stopped: true}))
	if a, b := sent(r, splitbrain.KindSettled), told(r, long, 0); len(a) != 0 || len(b) != 1 {
		t.Errorf("one that was passed on, and the leader's own, were answered with %v, %v", a, b)
	}
	r = leader3(t)
	if told(r, 0, late); r.Last.Leader.ID != 0 {
		t.Errorf("by elapsed times they overlap: %+v", r.Last)
	}
}

// "A reign that was handed over had ended before the next one began, however late the
// account of it comes, and whatever the clocks say": to who took it over, and, of both
// reigns, to a third node that is nominated later.
func TestHandedOver(t *testing.T) {
	late := splitbrain.Account{Reign: reignOf(2, 1), Led: time.Hour, Stopped: true}
	for name, over := range map[string]proto.Body{
		"transfer": proto.TakeOver{Session: steptest.Session(2), To: steptest.Session(3), Chosen: true},
		"resign":   nomination.TimeoutNow{},
	} {
		r := starts(t, 3)
		r.Step(0, r.From(2, 1, nomination.Coordinator{Leader: steptest.Peer(2)}))
		r.Step(time.Second, r.From(2, 1, over))
		if r.Last.Leader != steptest.Leads(3, 2) {
			t.Fatalf("%s: it must take over: %+v", name, r.Last)
		}
		r.Step(time.Minute, r.From(2, 2, late))
		if r.Last.Leader != steptest.Leads(3, 2) || len(sent(r, splitbrain.KindSettled)) != 1 {
			t.Errorf("%s: the account that came a minute late: %+v", name, r.Last)
		}
		stranger := late
		stranger.Reign = reignOf(1, 1)
		if r.Step(0, r.From(1, 2, stranger)); r.Last.Leader.ID != 0 {
			t.Errorf("%s: 1 led beside it, whoever handed over: %+v", name, r.Last)
		}
	}
	first, second := reignOf(2, 1), reignOf(1, 8)
	for leads, told := range map[proto.NodeID][]proto.Body{
		3: {
			splitbrain.Account{Reign: second, Led: time.Hour, Ago: time.Minute, Stopped: true, After: first},
			splitbrain.Settled{Reign: second, Led: time.Hour, Ago: time.Minute, Stopped: true, After: first},
		},
		0: {
			splitbrain.Account{Reign: second, Led: time.Hour, Ago: time.Minute, Stopped: true},
			splitbrain.Settled{Reign: second, Led: time.Hour, Ago: time.Minute, Stopped: true},
		},
	} {
		for _, body := range told {
			r := starts(t, 3)
			r.Step(0, r.From(1, 8, nomination.Coordinator{Leader: steptest.Peer(1)}))
			r.Step(time.Hour, r.From(1, 8, proto.TakeOver{Session: steptest.Session(1), To: steptest.Session(3)}))
			r.Step(0, r.From(1, 9, body))
			r.Step(0, r.From(2, 9, late))
			if r.Last.Leader.ID != leads {
				t.Errorf("%s of 1: %+v", body.Kind(), r.Last)
			}
		}
	}
}

// "Whether two led at once is decided by what their own clocks measured, and by no wall
// clock": one that is seconds ahead feigns no overlap of reigns that followed each other.
func TestWrongClockFeignsNoOverlap(t *testing.T) {
	r := leader3(t)
	r.Step(0, r.From(2, 2, nomination.Coordinator{Leader: steptest.Peer(2)}))
	r.Step(0, algorithms.Idle{Term: 1})
	r.Step(10*time.Second, algorithms.Campaign{Reason: "to lead again"})
	for r.Last.Leader.ID != 3 {
		r.Fire()
	}
	for _, ago := range []time.Duration{1200, 2200, 3200, 4200} {
		ev := r.From(2, 3, splitbrain.Account{
			Reign: reignOf(2, 2), Led: 8500 * time.Millisecond, Ago: ago * time.Millisecond, Stopped: true,
		})
		r.Step(time.Second, after(ev, 7*time.Second))
		if r.Last.Leader.ID != 3 || r.Last.Reconcile != nil || len(r.Last.Splits) > 0 {
			t.Fatalf("its reign ended %v ms ago: %+v", int64(ago), r.Last)
		}
	}
}

// A late account "makes it seem later than it was, and might feign an overlap": it is
// compared as if it had come in time too, until the clocks are taken to differ.
func TestLateAccountFeignsNoOverlap(t *testing.T) {
	const way = 7 * time.Second // the rig's node began ten seconds ago
	for ago, splitAfter := range map[time.Duration]int{5 * time.Second: 3, 0: 1} {
		r := leader3(t)
		for told := 1; told <= 3; told++ {
			ev := r.From(2, 1, splitbrain.Account{Reign: reignOf(2, 1), Led: 5 * time.Second, Ago: ago, Stopped: true})
			r.Step(0, after(ev, way))
			if split := r.Last.Leader.ID == 0; split != (told >= splitAfter) {
				t.Errorf("ended %v ago, after %d accounts: %+v", ago, told, r.Last)
			}
		}
	}
}

// A truce that is not said again ends by itself.
func TestTruceEnds(t *testing.T) {
	r := starts(t, 1)
	r.Step(0, r.From(3, 1, nomination.Coordinator{Leader: steptest.Peer(3)}))
	r.Step(0, r.From(3, 1, splitbrain.Truce{Session: steptest.Session(3)}))
	if r.Last.Leader.ID != 0 {
		t.Fatalf("it follows a nominee that mends: %+v", r.Last)
	}
	r.Step(splitbrain.TruceLasts(delta), algorithms.Timeout{})
	if r.Last.Leader != steptest.Leads(3, 1) {
		t.Fatalf("%+v", r.Last)
	}
}
