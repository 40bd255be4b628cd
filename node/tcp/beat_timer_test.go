package tcp

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// beatsOf runs a beatTimer of one interval a second, with 6 misses, until the end, and
// returns at which second it counted how many intervals. do is called each quarter
// of a second, before the timer is looked at.
func beatsOf(t *testing.T, end time.Duration, do func(*beatTimer, time.Duration)) (beats [][2]float64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		r := newBeatTimer(time.Second, 6)
		defer r.timer.Stop()
		for at := time.Duration(0); at < end; at += time.Second / 4 {
			time.Sleep(time.Until(began.Add(at)))
			do(r, at)
			select {
			case now := <-r.timer.C:
				b := r.next(now)
				if b.anew {
					t.Errorf("late at %v", at)
				}
				if !b.rest {
					beats = append(beats, [2]float64{at.Seconds(), float64(b.intervals)})
				}
			default:
			}
		}
	})
	return beats
}

func TestBeatsAreAnIntervalApart(t *testing.T) {
	got := beatsOf(t, 4*time.Second, func(*beatTimer, time.Duration) {})
	if want := [][2]float64{{1, 1}, {2, 1}, {3, 1}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A node that hears its leader ask does not beat. When the leader falls silent, all
// intervals since are counted once it is noticed, in half of those that may be
// missed, and from then on each of them on time.
func TestRest(t *testing.T) {
	for _, c := range []struct {
		last time.Duration // PING
		want [][2]float64
	}{
		{10 * time.Second, [][2]float64{{13.5, 3}, {14, 1}, {15, 1}, {16, 1}}},
		{11 * time.Second, [][2]float64{{13.5, 2}, {14, 1}, {15, 1}, {16, 1}, {17, 1}}},
	} {
		got := beatsOf(t, c.last+6500*time.Millisecond, func(r *beatTimer, at time.Duration) {
			r.relyOn(9)
			if at%time.Second == 0 && at <= c.last {
				r.hear(9, time.Now())
			}
			r.hear(8, time.Now()) // somebody else
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("silent from %v on: %v, want %v", c.last, got, c.want)
		}
	}
}

// Another leader is watched from the next interval on.
func TestRestEndsWithTheLeader(t *testing.T) {
	got := beatsOf(t, 5*time.Second, func(r *beatTimer, at time.Duration) {
		switch {
		case at < 2*time.Second:
			r.relyOn(9)
			r.hear(9, time.Now())
		case at == 2*time.Second:
			r.relyOn(0)
		}
	})
	if want := [][2]float64{{3, 1}, {4, 1}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A timer that fires a little late counts no interval, one that fires very late says
// so, and the next beat is a whole interval later: a node that gets no processor
// grows slower to accuse.
func TestLateBeats(t *testing.T) {
	const ms = time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		r := newBeatTimer(time.Second, 6)
		defer r.timer.Stop()
		for _, c := range []struct {
			after time.Duration
			want  beat
		}{
			{1200 * ms, beat{intervals: 1}},
			{1300 * ms, beat{}},
			{2100 * ms, beat{anew: true}},
			{1000 * ms, beat{intervals: 1}},
		} {
			time.Sleep(c.after)
			<-r.timer.C
			if got := r.next(time.Now()); got != c.want {
				t.Errorf("after %v: %+v, want %+v", c.after, got, c.want)
			}
			select {
			case <-r.timer.C:
				t.Error("two beats at once")
			default:
			}
		}
	})
}
