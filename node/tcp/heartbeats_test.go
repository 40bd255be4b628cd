package tcp

import (
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// beatTest drives the heartbeats of one peer by hand, a second a beat.
type beatTest struct {
	*testing.T
	heartbeats
	now  time.Time
	said []string
}

var (
	one = proto.Incarnation{1}
	two = proto.Incarnation{2}
)

func newBeatTest(t *testing.T) *beatTest {
	p := &beatTest{T: t, now: time.Unix(0, 0)}
	p.misses = 3
	p.say = func(s proto.Incarnation, e proto.LinkEvent) { p.said = append(p.said, said(e, s, 0)) }
	return p
}

// asks lets one beat pass and reports whether the process is asked.
func (p *beatTest) asks(w watch, anew bool) bool {
	_, ask, _ := p.beat(w, beat{intervals: 1, anew: anew}, p.now)
	return ask
}

// beats lets n watched beats pass, each asking, and none answered.
func (p *beatTest) beats(n int) {
	for range n {
		p.now = p.now.Add(time.Second)
		if p.asks(leading, false) {
			p.ping(p.now)
		}
	}
}

func (p *beatTest) answer() {
	if err := p.pong(p.sent, p.now); err != nil {
		p.Fatal(err)
	}
}

func (p *beatTest) want(events ...string) {
	p.Helper()
	if !slices.Equal(p.said, events) {
		p.Fatalf("said %q, want %q", p.said, events)
	}
}

// Promise: a watched process that answers nothing "for misses intervals" is
// missed, once, and is back with the next answer.
func TestHeartbeatMissedAndBack(t *testing.T) {
	p := newBeatTest(t)
	missed, back := said(proto.HeartbeatMissed, one, 0), said(proto.HeartbeatBack, one, 0)
	p.beats(100)
	p.want() // nobody was ever there
	p.begin(one, p.now)
	p.beats(3)
	p.answer()
	p.beats(3)
	p.want()
	p.beats(1)
	p.want(missed)
	p.beats(100)
	p.want(missed)
	p.answer()
	p.want(missed, back)
	p.beats(3)
	p.want(missed, back)
}

// Promise: a node that was itself paused or starved starts counting anew
// instead of accusing others.
func TestOwnStarvationAccusesNobody(t *testing.T) {
	p := newBeatTest(t)
	p.begin(one, p.now)
	p.beats(3)
	for range 100 {
		p.now = p.now.Add(time.Minute)
		p.asks(leading, true)
	}
	p.want()
	p.beats(2)
	p.want()
	p.beats(1)
	p.want(said(proto.HeartbeatMissed, one, 0))
	p.asks(leading, true)
	p.answer()
	p.want(said(proto.HeartbeatMissed, one, 0), said(proto.HeartbeatBack, one, 0))
}

// Beats that count no interval ask, and accuse nobody.
func TestTardyBeatsAccuseNobody(t *testing.T) {
	p := newBeatTest(t)
	p.begin(one, p.now)
	p.beats(3)
	for range 100 {
		if _, ask, _ := p.beat(leading, beat{}, p.now); !ask {
			t.Fatal("does not ask")
		}
	}
	p.want()
	p.beats(1)
	p.want(said(proto.HeartbeatMissed, one, 0))
}

// Promise: nobody is asked while nobody leads, but for those who owe an answer:
// a silent leader is not forgotten because another node missed it first.
func TestUnwatchedHeart(t *testing.T) {
	p := newBeatTest(t)
	p.begin(one, p.now)
	unwatched := func() bool { return p.asks(unwatched, false) }
	for range 100 {
		if unwatched() {
			t.Fatal("asks a process that nobody watches")
		}
	}
	p.beats(1)
	p.answer()
	if unwatched() {
		t.Error("asks on although nothing is owed")
	}
	p.beats(2)
	for range 2 {
		p.want()
		if !unwatched() {
			t.Error("forgets who owes an answer")
		}
	}
	p.want(said(proto.HeartbeatMissed, one, 0))
	if !unwatched() {
		t.Error("does not ask the missed process any more")
	}
	p.answer()
	if unwatched() {
		t.Error("asks on although the process is back")
	}
}

// Of two who watch each other only the leader asks: a PING is a sign of life, and
// answers the question before it is put.
func TestOnlyTheLeaderAsks(t *testing.T) {
	p := newBeatTest(t)
	p.begin(one, p.now)
	p.beats(4)
	p.hear(two, p.now) // a former life
	p.want(said(proto.HeartbeatMissed, one, 0))
	for range 100 {
		p.hear(one, p.now)
		if p.asks(leading, false) {
			t.Fatal("asks who asks")
		}
	}
	p.want(said(proto.HeartbeatMissed, one, 0), said(proto.HeartbeatBack, one, 0))
	if !p.asks(leading, false) {
		t.Error("does not ask who asks no more")
	}
	p.hear(one, p.now)
	if !p.asks(follower, false) {
		t.Error("both wait for the other to ask")
	}
}

// A silence that no patience would have borne was no false alarm.
func TestALongSilenceIsNoFalseAlarm(t *testing.T) {
	p := newBeatTest(t)
	p.begin(one, p.now)
	for i := range 5 {
		p.beats(4)
		if len(p.said) != 2*i+1 {
			t.Fatalf("after %d long silences: %q", i, p.said)
		}
		p.beats(6)
		p.answer()
	}
}

// Promise: "a new incarnation of a killed process is a new peer, at once".
func TestNewLifeOfAMissedProcess(t *testing.T) {
	p := newBeatTest(t)
	p.begin(one, p.now)
	p.beats(4)
	p.begin(two, p.now)
	p.beats(3)
	p.want(said(proto.HeartbeatMissed, one, 0))
	p.beats(1)
	p.want(said(proto.HeartbeatMissed, one, 0), said(proto.HeartbeatMissed, two, 0))
}

// Promise: "a detector that was wrong is healed without flapping": from the
// third false alarm within a minute on, more silence is borne, at most three
// times as much; a minute after the alarms all is as before.
func TestFalseAlarmsMakePatient(t *testing.T) {
	p := newBeatTest(t)
	p.begin(one, p.now)
	for i, want := range []int{4, 4, 4, 7, 10, 10} {
		n := 0
		for before := len(p.said); len(p.said) == before; n++ {
			p.beats(1)
		}
		if n != want {
			t.Errorf("alarm %d after %d beats, want %d", i+1, n, want)
		}
		p.answer()
	}
	for range 61 {
		p.beats(1)
		p.answer()
	}
	before := len(p.said)
	p.beats(4)
	if len(p.said) != before+1 {
		t.Error("still patient a minute later")
	}
}

// The round trip is that of a PING, also when it takes longer than an interval;
// a pause of the other end is none.
func TestRoundTrip(t *testing.T) {
	p := newBeatTest(t)
	p.begin(one, p.now)
	for range 20 {
		p.beats(3)
		p.now = p.now.Add(time.Second / 2)
		p.answer() // of the first two and a half seconds ago
	}
	if got := p.roundTrip(); got != 2500*time.Millisecond {
		t.Errorf("%v, want 2.5s", got)
	}
	p.beats(100)
	p.answer()
	if got := p.roundTrip(); got != 2500*time.Millisecond {
		t.Errorf("%v after a pause, want 2.5s", got)
	}
}

// A PONG to what was never asked, or twice, is no sign of life.
func TestPongsNobodyAskedFor(t *testing.T) {
	p := newBeatTest(t)
	p.begin(one, p.now)
	p.beats(2)
	for _, n := range []uint64{0, 3} {
		if err := p.pong(n, p.now); faultIn(err) == nil {
			t.Errorf("PONG %d: %v", n, err)
		}
	}
	p.answer()
	if err := p.pong(2, p.now); faultIn(err) == nil {
		t.Errorf("the same PONG again: %v", err)
	}
	p.begin(one, p.now) // the next link counts anew
	if err := p.pong(2, p.now); faultIn(err) == nil {
		t.Errorf("a PONG of the link before: %v", err)
	}
}

// Promise: before a process is missed others are asked; whom they hear is borne
// with for as long again, but never longer than three times, and once more for
// each who hears it.
func TestVouchedFor(t *testing.T) {
	p := newBeatTest(t)
	p.begin(one, p.now)
	doubts := func() (beats []int) {
		for n := 1; len(p.said) == 0 && n < 100; n++ {
			if _, _, doubt := p.beat(leading, beat{intervals: 1}, p.now); doubt {
				beats = append(beats, n)
				if !p.heardByOthers(one) {
					t.Error("the indirectAnswerer makes no difference")
				}
			}
		}
		return beats
	}
	if p.heardByOthers(one) {
		t.Error("vouches for a process that is not in doubt")
	}
	if got := doubts(); !slices.Equal(got, []int{3, 6}) || p.silent != 10 {
		t.Errorf("in doubt at %v, missed at %d; want 3, 6 and 10", got, p.silent)
	}
	p.want(said(proto.HeartbeatMissed, one, 0))
	if p.heardByOthers(one) || p.heardByOthers(two) {
		t.Error("vouches for a process that is missed, or for another")
	}
}

// A sign is closed by the next sign of life of the process that is meant.
func TestSign(t *testing.T) {
	p := newBeatTest(t)
	p.begin(one, p.now)
	if p.sign(two) != nil {
		t.Error("the sign of another process")
	}
	first, second := p.sign(one), p.sign(one)
	select {
	case <-first:
		t.Fatal("a sign before there is one")
	default:
	}
	p.hear(one, p.now)
	<-first
	<-second
	third := p.sign(one)
	p.begin(two, p.now) // WELCOME of another: not of this one
	select {
	case <-third:
		t.Error("another process's sign")
	default:
	}
}
