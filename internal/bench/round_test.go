package bench

import (
	"errors"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/internal/trace"
)

// takenAway is when the leader of these tests got its signal.
var takenAway = time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)

func after(ms float64) time.Time {
	return takenAway.Add(time.Duration(ms * float64(time.Millisecond)))
}

// round is a bully's round after the death of node 4, as three nodes log it.
func round() []trace.Record {
	four := uint64(4)
	return []trace.Record{
		{
			Time: after(-5), Node: 3, Seq: 1, Term: 1, Event: "receive", Leader: 4,
			Sent: []string{"OK>1#3:1"},
		},
		{
			Time: after(0.5), Node: 2, Seq: 1, Term: 2, Event: "peers", Alive: []uint64{1, 2, 3},
			Evidence: "link-closed 4, dial-refused 4", PrevLeader: &four,
			Why:  []string{"leader 4 is gone -> call an election of term 2"},
			Sent: []string{"ELECTION>3#2:1", "ELECTION>4#2:2"},
		},
		{
			Time: after(0.7), Node: 3, Seq: 2, Term: 2, Event: "receive",
			From: 2, Msg: "ELECTION", MsgID: "2:1", Sent: []string{"OK>2#3:2", "ELECTION>4#3:3"},
		},
		{
			Time: after(0.9), Node: 3, Seq: 3, Term: 2, Event: "peers", Alive: []uint64{1, 2, 3},
			Evidence: "link-closed 4", Leader: 3,
			Why:  []string{"no higher node is alive any more -> lead term 2"},
			Sent: []string{"COORDINATOR>1#3:4", "COORDINATOR>2#3:5"},
		},
		{Time: after(1.25), Node: 1, Seq: 1, Term: 2, Event: "receive", Leader: 3},
		{Time: after(1.5), Node: 2, Seq: 2, Term: 2, Event: "receive", Leader: 3},
		{
			Time: after(900), Node: 3, Seq: 4, Term: 2, Event: "timeout", Leader: 3,
			Sent: []string{"COORDINATOR>1#3:6", "COORDINATOR>2#3:7"},
		},
	}
}

// messageBytes is how long each message of these tests is.
const messageBytes = 40

// sized are the records with the size of what they sent.
func sized(records []trace.Record) []trace.Record {
	for i := range records {
		records[i].SentBytes = messageBytes * len(records[i].Sent)
	}
	return records
}

func (e Election) check(t *testing.T, noticed, won, agreed float64, messages int) {
	t.Helper()
	want := Election{after(noticed), after(won), after(agreed), messages, messages * messageBytes}
	if e != want {
		t.Errorf("%+v, want %+v", e, want)
	}
}

// Promise: detect is to "the first evidence on any survivor", elect to "the
// winner's own belief", announce to "the last survivor's belief". A leader that
// repeats itself later adds no messages.
func TestReadElection(t *testing.T) {
	e, err := ReadElection(sized(round()), takenAway, testcluster.Belief{Leader: 3, Term: 2}, 4)
	if err != nil {
		t.Fatal(err)
	}
	e.check(t, 0.5, 0.9, 1.5, 6)
}

// Evidence that decided nothing when it came counts: the first round began
// without it. The time of a round that failed counts, its messages do not.
func TestReadElectionOfSeveralTerms(t *testing.T) {
	records := []trace.Record{
		{
			Time: after(0.25), Node: 1, Seq: 9, Term: 1, Event: "peers", Alive: []uint64{1, 2, 3},
			Evidence: "link-closed 4",
		},
	}
	for _, rec := range round() {
		if rec.Leader != 3 {
			records = append(records, rec)
		}
	}
	records = append(records, trace.Record{
		Time: after(50), Node: 3, Seq: 5, Term: 3, Event: "timeout", Leader: 3,
		Why:  []string{"the round brought no leader -> call an election of term 3"},
		Sent: []string{"COORDINATOR>1#3:8", "COORDINATOR>2#3:9"},
	}, trace.Record{
		Time: after(51), Node: 1, Seq: 10, Term: 3, Event: "receive", Leader: 3,
	})
	e, err := ReadElection(sized(records), takenAway, testcluster.Belief{Leader: 3, Term: 3}, 4)
	if err != nil {
		t.Fatal(err)
	}
	e.check(t, 0.25, 50, 51, 2)
}

// A hung leader may be dropped without any news from a detector: nobody heard
// it. What the hung node itself records is no evidence.
func TestReadElectionWithoutEvidence(t *testing.T) {
	e, err := ReadElection([]trace.Record{
		{Time: after(1), Node: 4, Seq: 1, Term: 1, Event: "peers", Alive: []uint64{1, 2, 3}},
		{
			Time: after(5), Node: 3, Seq: 1, Term: 2, Event: "timeout",
			Why: []string{"nobody has heard leader 4 of late -> call an election of term 2"},
		},
		{Time: after(9), Node: 3, Seq: 2, Term: 2, Event: "timeout", Leader: 3},
	}, takenAway, testcluster.Belief{Leader: 3, Term: 2}, 4)
	if err != nil {
		t.Fatal(err)
	}
	e.check(t, 5, 9, 9, 0)
}

// "All times come from one clock": where a receipt was written a little before
// its send, nothing is corrected.
func TestReadElectionByOneClock(t *testing.T) {
	records := round()
	records[2].Time = after(0.45) // it received what was sent at 0.5
	e, err := ReadElection(sized(records), takenAway, testcluster.Belief{Leader: 3, Term: 2}, 4)
	if err != nil {
		t.Fatal(err)
	}
	e.check(t, 0.5, 0.9, 1.5, 6)
}

// Where rounds fail, their terms go on; the term that voters then give
// bears the number of none of them.
func TestReadElectionBesideRounds(t *testing.T) {
	records := round()
	for i := range records {
		records[i].Guarantee = "lease"
		if records[i].Term++; records[i].Leader == 3 {
			records[i].Token, records[i].Role = 2, trace.Following
		}
	}
	e, err := ReadElection(sized(records), takenAway, testcluster.Belief{Leader: 3, Term: 2}, 4)
	if err != nil {
		t.Fatal(err)
	}
	e.check(t, 0.5, 0.9, 1.5, 6)
}

// What the records do not tell is no figure.
func TestReadElectionThatNobodyRecorded(t *testing.T) {
	for _, result := range []testcluster.Belief{{Leader: 3, Term: 9}, {Leader: 2, Term: 2}} {
		if e, err := ReadElection(round(), takenAway, result, 4); !errors.Is(err, errNoRound) {
			t.Errorf("%+v: %+v, %v", result, e, err)
		}
	}
}

// Promise: after docker kill a failover counts "from the death of the process";
// where the survivors knew before, from there.
func TestDepartureSample(t *testing.T) {
	went := departure{called: after(-40), gone: after(0)}
	for _, c := range []struct {
		noticed float64
		want    failoverSample
	}{
		{0.5, failoverSample{Detect: 0.5, Elect: 1.5, Announce: 1, Total: 3, Gap: 2, Messages: 4}},
		{-0.5, failoverSample{Detect: -0.5, Elect: 2.5, Announce: 1, Total: 3.5, Gap: 2.5, Messages: 4}},
	} {
		e := Election{Noticed: after(c.noticed), Won: after(2), Agreed: after(3), Messages: 4}
		if got := went.sample(e); got != c.want {
			t.Errorf("noticed at %v: %+v, want %+v", c.noticed, got, c.want)
		}
	}
}

// A fault that struck another node than the leader is known by its result, which was
// there before.
func TestKnownBefore(t *testing.T) {
	follows := func(ms int, leader, term uint64) trace.Record {
		return trace.Record{Time: after(float64(ms)), Node: 1, Leader: leader, Term: term}
	}
	won := testcluster.Belief{Leader: 3, Term: 2}
	for _, c := range []struct {
		rec  trace.Record
		want bool
	}{
		{follows(-1, 3, 2), true},
		{follows(1, 3, 2), false},
		{follows(-1, 3, 1), false},
		{follows(-1, 2, 2), false},
	} {
		if got := knownBefore([]trace.Record{c.rec}, won, takenAway); got != c.want {
			t.Errorf("%+v: %v", c.rec, got)
		}
	}
}
