package splitbrain_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/splitbrain"
	"github.com/ringleader-dev/ringleader/internal/highest"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

const delta = steptest.Delta

// starts is node self of three, which has just started.
func starts(t *testing.T, self proto.NodeID) *steptest.Rig {
	r := steptest.New(t, self, false, func(c algorithms.Config) algorithms.Machine {
		return splitbrain.New(c, highest.New)
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

// leadershipOf is a leadership of node id's first life.
func leadershipOf(id proto.NodeID, term proto.Term) proto.Leadership {
	return proto.Leadership{Term: term, Leader: id, Incarnation: steptest.Incarnation(id)}
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

// report tells the rig's node of a leadership of node 2 that went on until now.
func report(r *steptest.Rig, led time.Duration, stopped bool) algorithms.Output {
	return r.Step(0, r.From(2, 1, splitbrain.Report{Leadership: leadershipOf(2, 1), Led: led, Stopped: stopped}))
}

// "1. Stop all leaders 2. Compare states 3. Reconcile conflicts 4. Re-elect single
// leader 5. Resume operations", each only when the one before is over.
func TestFiveSteps(t *testing.T) {
	r := leader3(t)
	report(r, 3*time.Second, false)
	if r.Last.Leader.ID != 0 || len(sent(r, splitbrain.KindStop)) != 2 || r.Last.Reconcile != nil {
		t.Fatalf("it must stop, and say so: %+v", r.Last)
	}
	if s := r.Last.Splits; len(s) != 1 || s[0].Stage != algorithms.Stopping ||
		s[0].Overlap != 3*time.Second || len(s[0].Leaderships) != 2 {
		t.Fatalf("the report: %+v", s)
	}
	r.Step(delta, algorithms.WorkStopped{Term: 1})
	if r.Last.Reconcile != nil {
		t.Fatalf("2 has not stopped: %+v", r.Last)
	}
	report(r, 3*time.Second, true)
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
		last.Stage != algorithms.Recovered || last.Leader != r.Last.Leader {
		t.Fatalf("it must lead a new term: %+v", r.Last)
	}
	if to := sent(r, splitbrain.KindResume); len(to) != 4 {
		t.Fatalf("both must hear of both leaderships: %v", to)
	}
}

// "Reconciling that failed is reported, and a leader is elected all the same."
func TestReconcilingFails(t *testing.T) {
	r := leader3(t)
	r.Step(0, algorithms.WorkStopped{Term: 1})
	report(r, 3*time.Second, true)
	r.Step(0, algorithms.WorkStopped{Term: 1})
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
		report(r, 3*time.Second, true)
		r.Step(0, algorithms.Eligible{Keep: keep, Why: "paused"})
		r.Step(0, algorithms.WorkStopped{Term: 1})
		r.Step(0, algorithms.Reconciled{Number: 1, Outcome: algorithms.Outcome{Done: true}})
		if r.Last.Leader != want || r.Last.Ineligible != "paused" {
			t.Errorf("keep %v: %+v", keep, r.Last)
		}
	}
}

// "Shorter than that is a leader that is being relieved": nobody stops.
func TestRelieved(t *testing.T) {
	r := leader3(t)
	report(r, splitbrain.Relief(delta), true)
	if r.Last.Leader.ID != 3 || r.Last.Splits != nil {
		t.Fatalf("%+v", r.Last)
	}
	if to := sent(r, splitbrain.KindResume); len(to) != 1 || to[0] != 2 {
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
	absurd := splitbrain.Report{Leadership: leadershipOf(2, 2+1<<20), Led: time.Hour, Stopped: true}
	former := splitbrain.Report{Leadership: proto.Leadership{Term: 1, Leader: 3, Incarnation: proto.Incarnation{9}}}
	for name, c := range map[string]struct {
		from proto.NodeID
		term proto.Term
		body proto.Body
		warn bool
	}{
		"an absurd leadership": {2, 1, absurd, true},
		"to itself":            {3, 1, splitbrain.Stop{Incarnation: steptest.Incarnation(3)}, true},
		"a stop by a follower": {2, 1, splitbrain.Stop{Incarnation: steptest.Incarnation(2)}, false},
		"settled by nobody's coordinator": {
			2, 1, splitbrain.Resume{Leadership: leadershipOf(3, 1), Rival: leadershipOf(2, 9), By: 2}, false,
		},
		"a leadership of mine never was": {
			2, 1, splitbrain.Report{Leadership: leadershipOf(3, 7), Led: time.Hour}, false,
		},
		"of a former life of my own":       {2, 1, former, false},
		"settled, a leadership of a third": {2, 1, splitbrain.Resume{Leadership: leadershipOf(1, 1)}, false},
	} {
		r := leader3(t)
		r.Step(0, r.From(c.from, c.term, c.body))
		if r.Last.Leader != steptest.Leads(3, 1) || r.Last.Warn != c.warn || len(r.Last.Splits) > 0 {
			t.Errorf("%s: %+v", name, r.Last)
		}
	}
	r := leader3(t)
	report(r, 3*time.Second, true)
	r.Step(0, algorithms.WorkStopped{Term: 1})
	r.Step(0, algorithms.Reconciled{Number: 1, Outcome: algorithms.Outcome{Done: true}})
	report(r, 3*time.Second, true)
	if r.Last.Leader.ID != 3 || len(r.Last.Splits) > 0 || len(sent(r, splitbrain.KindResume)) != 1 {
		t.Errorf("a replayed report: %+v", r.Last)
	}
}

// after is the receipt of a message that was so long on its way.
func after(ev algorithms.Event, way time.Duration) algorithms.Event {
	r := ev.(algorithms.Receive)
	r.HLC = proto.HLC{Micros: 1_000_000}
	r.At = proto.HLC{Micros: r.HLC.Micros + way.Microseconds()}
	return r
}

// A late report makes a leadership seem later than it was, so it settles nothing, but when
// all are late; one that came sooner is the better one.
func TestLateReport(t *testing.T) {
	told := func(r *steptest.Rig, ago, way time.Duration) []proto.NodeID {
		ev := r.From(2, 1, splitbrain.Report{Leadership: leadershipOf(2, 1), Led: time.Second, Ago: ago, Stopped: true})
		r.Step(0, after(ev, way))
		return sent(r, splitbrain.KindResume)
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
	r.Step(0, r.From(1, 1, splitbrain.Report{
		Leadership: leadershipOf(2, 1), Led: time.Second, Ago: long, Stopped: true,
	}))
	if a, b := sent(r, splitbrain.KindResume), told(r, long, 0); len(a) != 0 || len(b) != 1 {
		t.Errorf("one that was passed on, and the leader's own, were answered with %v, %v", a, b)
	}
	r = leader3(t)
	if told(r, 0, late); r.Last.Leader.ID != 0 {
		t.Errorf("by elapsed times they overlap: %+v", r.Last)
	}
}

// "A leadership that was handed over had ended before the next one began, however late the
// report of it comes, and whatever the clocks say": to who took it over, and, of both
// leaderships, to a third node that is nominated later.
func TestHandedOver(t *testing.T) {
	late := splitbrain.Report{Leadership: leadershipOf(2, 1), Led: time.Hour, Stopped: true}
	for name, over := range map[string]proto.Body{
		"transfer": proto.TakeOver{Incarnation: steptest.Incarnation(2), To: steptest.Incarnation(3), Chosen: true},
		"resign":   nomination.TimeoutNow{},
	} {
		r := starts(t, 3)
		r.Step(0, r.From(2, 1, nomination.Coordinator{Leader: steptest.Peer(2)}))
		r.Step(time.Second, r.From(2, 1, over))
		if r.Last.Leader != steptest.Leads(3, 2) {
			t.Fatalf("%s: it must take over: %+v", name, r.Last)
		}
		r.Step(time.Minute, r.From(2, 2, late))
		if r.Last.Leader != steptest.Leads(3, 2) || len(sent(r, splitbrain.KindResume)) != 1 {
			t.Errorf("%s: the report that came a minute late: %+v", name, r.Last)
		}
		stranger := late
		stranger.Leadership = leadershipOf(1, 1)
		if r.Step(0, r.From(1, 2, stranger)); r.Last.Leader.ID != 0 {
			t.Errorf("%s: 1 led beside it, whoever handed over: %+v", name, r.Last)
		}
	}
	first, second := leadershipOf(2, 1), leadershipOf(1, 8)
	for leads, told := range map[proto.NodeID][]proto.Body{
		3: {
			splitbrain.Report{Leadership: second, Led: time.Hour, Ago: time.Minute, Stopped: true, After: first},
			splitbrain.Resume{Leadership: second, Led: time.Hour, Ago: time.Minute, Stopped: true, After: first},
		},
		0: {
			splitbrain.Report{Leadership: second, Led: time.Hour, Ago: time.Minute, Stopped: true},
			splitbrain.Resume{Leadership: second, Led: time.Hour, Ago: time.Minute, Stopped: true},
		},
	} {
		for _, body := range told {
			r := starts(t, 3)
			r.Step(0, r.From(1, 8, nomination.Coordinator{Leader: steptest.Peer(1)}))
			r.Step(time.Hour, r.From(1, 8, proto.TakeOver{
				Incarnation: steptest.Incarnation(1), To: steptest.Incarnation(3),
			}))
			r.Step(0, r.From(1, 9, body))
			r.Step(0, r.From(2, 9, late))
			if r.Last.Leader.ID != leads {
				t.Errorf("%s of 1: %+v", body.Kind(), r.Last)
			}
		}
	}
}

// "Whether two led at once is decided by what their own clocks measured, and by no wall
// clock": one that is seconds ahead feigns no overlap of leaderships that followed each other.
func TestWrongClockFeignsNoOverlap(t *testing.T) {
	r := leader3(t)
	r.Step(0, r.From(2, 2, nomination.Coordinator{Leader: steptest.Peer(2)}))
	r.Step(0, algorithms.WorkStopped{Term: 1})
	r.Step(10*time.Second, algorithms.Campaign{Reason: "to lead again"})
	for r.Last.Leader.ID != 3 {
		r.Fire()
	}
	for _, ago := range []time.Duration{1200, 2200, 3200, 4200} {
		ev := r.From(2, 3, splitbrain.Report{
			Leadership: leadershipOf(2, 2), Led: 8500 * time.Millisecond, Ago: ago * time.Millisecond, Stopped: true,
		})
		r.Step(time.Second, after(ev, 7*time.Second))
		if r.Last.Leader.ID != 3 || r.Last.Reconcile != nil || len(r.Last.Splits) > 0 {
			t.Fatalf("its leadership ended %v ms ago: %+v", int64(ago), r.Last)
		}
	}
}

// A late report "makes it seem later than it was, and might feign an overlap": it is
// compared as if it had come in time too, until the clocks are taken to differ.
func TestLateReportFeignsNoOverlap(t *testing.T) {
	const way = 7 * time.Second // the rig's node began ten seconds ago
	for ago, splitAfter := range map[time.Duration]int{5 * time.Second: 3, 0: 1} {
		r := leader3(t)
		for told := 1; told <= 3; told++ {
			ev := r.From(2, 1, splitbrain.Report{
				Leadership: leadershipOf(2, 1), Led: 5 * time.Second, Ago: ago, Stopped: true,
			})
			r.Step(0, after(ev, way))
			if split := r.Last.Leader.ID == 0; split != (told >= splitAfter) {
				t.Errorf("ended %v ago, after %d reports: %+v", ago, told, r.Last)
			}
		}
	}
}

// "A report that took long to arrive, by the hybrid clock, is compared as if it had arrived in
// time": one that took less time than one before is no later than that was, whatever wall clocks
// say. The recovery goes on.
func TestSoonerReportOfAWrongClock(t *testing.T) {
	r := leader3(t)
	report(r, 3*time.Second, false)
	r.Step(time.Second, after(r.From(2, 1, splitbrain.Report{
		Leadership: leadershipOf(2, 1), Led: 3 * time.Second, Ago: time.Second + time.Millisecond, Stopped: true,
	}), time.Minute))
	r.Step(0, algorithms.WorkStopped{Term: 1})
	if r.Last.Reconcile == nil || r.Last.Leader.ID != 0 {
		t.Fatalf("%+v", r.Last)
	}
}

// "The nominee compares all leaderships that it knows": two that led at once are a split, even if
// each was settled before, by a nominee that did not know of the other.
func TestSettledApart(t *testing.T) {
	r := starts(t, 3)
	r.Step(0, r.From(2, 2, nomination.Coordinator{Leader: steptest.Peer(2)}))
	for id := range proto.NodeID(2) {
		r.Step(0, r.From(2, 2, splitbrain.Resume{
			Leadership: leadershipOf(id+1, 1), Led: 3 * time.Second, Ago: time.Second, Stopped: true,
		}))
	}
	r.Step(0, algorithms.PeerProvenDead{ID: 2, Incarnation: steptest.Incarnation(2)})
	for range 10 {
		if len(sent(r, splitbrain.KindStop)) > 0 {
			return
		}
		r.Fire()
	}
	t.Errorf("no split is found: %+v", r.Last)
}

// A split "is told of on every node": on those, too, that were out of reach of the nominee that
// recovered from it. Whoever was told tells the next nominee, and that one tells all.
func TestNextNomineeTells(t *testing.T) {
	r := starts(t, 2)
	r.Step(0, r.From(3, 2, nomination.Coordinator{Leader: steptest.Peer(3)}))
	tellOf := func(leader, rival proto.Leadership) {
		r.Step(0, r.From(3, 2, splitbrain.Resume{
			Leadership: leader, Rival: rival, By: 3, Led: 3 * time.Second, Overlap: time.Second, Stopped: true,
		}))
	}
	told := func(to proto.NodeID) (of []proto.Leadership) {
		for _, m := range r.Last.Send {
			if b, ok := m.Body.(splitbrain.Resume); ok && m.To == to && m.Term == 2 && b.Overlap == time.Second {
				of = append(of, b.Leadership)
			}
		}
		return of
	}
	both := []proto.Leadership{leadershipOf(3, 2), leadershipOf(2, 1)}
	tellOf(both[0], both[1])
	tellOf(both[1], both[0])
	r.Step(0, r.From(3, 3, nomination.Coordinator{Leader: steptest.Peer(3)}))
	if to := sent(r, splitbrain.KindResume); len(to) > 0 {
		t.Errorf("it tells %v, though the nominee knows", to)
	}
	r.Step(0, r.From(1, 4, nomination.Coordinator{Leader: steptest.Peer(1)}))
	if of := told(1); !slices.Equal(of, both) {
		t.Errorf("1 hears of %v: %+v", of, r.Last)
	}
	r.Step(0, r.From(3, 5, nomination.Coordinator{Leader: steptest.Peer(3)}))
	if to := sent(r, splitbrain.KindResume); len(to) > 0 {
		t.Errorf("it tells %v again", to)
	}

	r = starts(t, 2)
	tellOf(both[0], both[1])
	tellOf(both[1], both[0])
	for r.Last.Leader.ID != 2 {
		r.Fire()
	}
	if of := told(1); !slices.Equal(of, both) {
		t.Errorf("1 hears of %v: %+v", of, r.Last)
	}
	next := leadershipOf(1, 3)
	r.Step(0, r.From(3, 2, splitbrain.Resume{
		Leadership: next, Rival: both[0], By: 3, Led: 3 * time.Second, Overlap: time.Second, Stopped: true,
	}))
	if of := told(1); !slices.Contains(of, next) {
		t.Errorf("the nominee is told, and 1 hears of %v: %+v", of, r.Last)
	}
}

// "A process that led … reports to the next nominee too": the answer of the one before does not
// keep it from that.
func TestReportsToTheNextNominee(t *testing.T) {
	r := leader3(t)
	r.Step(0, r.From(2, 2, nomination.Coordinator{Leader: steptest.Peer(2)}))
	r.Step(0, r.From(1, 3, nomination.Coordinator{Leader: steptest.Peer(1)}))
	r.Step(0, r.From(2, 2, splitbrain.Resume{Leadership: leadershipOf(3, 1), Led: 10 * time.Second}))
	r.Step(splitbrain.SayEvery(delta), algorithms.Timeout{})
	if to := sent(r, splitbrain.KindReport); len(to) != 1 || to[0] != 1 {
		t.Errorf("it reports to %v: %+v", to, r.Last)
	}
	r.Step(0, r.From(1, 3, splitbrain.Resume{Leadership: leadershipOf(3, 1), Led: 10 * time.Second}))
	r.Step(splitbrain.SayEvery(delta), algorithms.Timeout{})
	if to := sent(r, splitbrain.KindReport); len(to) > 0 {
		t.Errorf("it still reports to %v: %+v", to, r.Last)
	}
}

// Of a former life's leadership it reports nothing: it could not say that its work has stopped, and
// the nominee would wait for that.
func TestReportsNothingOfAFormerLife(t *testing.T) {
	r := starts(t, 1)
	r.Step(0, r.From(3, 1, nomination.Coordinator{Leader: steptest.Peer(3)}))
	r.Step(0, r.From(2, 1, splitbrain.Resume{
		Leadership: proto.Leadership{Term: 1, Leader: 1, Incarnation: proto.Incarnation{99}}, Led: time.Second,
	}))
	r.Step(splitbrain.SayEvery(delta), algorithms.Timeout{})
	if to := sent(r, splitbrain.KindReport); len(to) > 0 {
		t.Errorf("it reports to %v: %+v", to, r.Last)
	}
}

// "While it recovers, the nominee repeats STOP": that lasts on for a node that has lost sight of the
// nominee for a while.
func TestStopOfANomineeOutOfSight(t *testing.T) {
	r := starts(t, 1)
	stop := splitbrain.Stop{Incarnation: steptest.Incarnation(3)}
	announced := nomination.Coordinator{Leader: steptest.Peer(3)}
	r.Step(0, r.From(3, 1, announced))
	r.Step(0, r.From(3, 1, stop))
	r.Step(0, algorithms.Eligible{Why: "paused"}) // it calls no election
	r.Step(splitbrain.StopLasts(delta)-delta, steptest.Alive(1, 2))
	r.Step(0, r.From(3, 1, stop))
	r.Step(0, steptest.Alive(1, 2, 3))
	r.Step(2*delta, r.From(3, 1, announced))
	if r.Last.Leader.ID != 0 {
		t.Errorf("it follows a nominee that recovers: %+v", r.Last)
	}
	if r.Step(splitbrain.StopLasts(delta), algorithms.Timeout{}); r.Last.Leader.ID != 3 {
		t.Errorf("it does not follow: %+v", r.Last)
	}
}

// A STOP that is not repeated ends by itself.
func TestStopEnds(t *testing.T) {
	r := starts(t, 1)
	r.Step(0, r.From(3, 1, nomination.Coordinator{Leader: steptest.Peer(3)}))
	r.Step(0, r.From(3, 1, splitbrain.Stop{Incarnation: steptest.Incarnation(3)}))
	if r.Last.Leader.ID != 0 {
		t.Fatalf("it follows a nominee that recovers: %+v", r.Last)
	}
	r.Step(splitbrain.StopLasts(delta), algorithms.Timeout{})
	if r.Last.Leader != steptest.Leads(3, 1) {
		t.Fatalf("%+v", r.Last)
	}
}

// What no correct node says of a leadership is dropped.
func TestHostileReports(t *testing.T) {
	r := leader3(t)
	body := splitbrain.Report{Leadership: leadershipOf(2, 1), Led: time.Second}
	astray := proto.Message{From: 2, To: 1, Term: 1, Body: body}
	if out := r.Gives(0, algorithms.Receive{Message: astray}, "splitbrain.misrouted(REPORT, 2, 1, 3)"); !out.Warn {
		t.Errorf("%+v", out)
	}
	body.Leadership.Term = 2 + proto.MaxTermJump
	if out := r.Gives(0, r.From(2, 1, body), "splitbrain.absurd(1048578, 1)"); !out.Warn {
		t.Errorf("%+v", out)
	}
}
