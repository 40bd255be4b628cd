package clock

import (
	"testing"
	"time"
)

// "By how much somebody set the clock since the process began": all steps together, and neither slew nor suspend.
func TestWallClockWasSet(t *testing.T) {
	for _, slew := range []float64{0, 0.0005, -0.0833} {
		k := &kernel{boottime: time.Hour, realtime: 24 * time.Hour, slew: slew, takes: 50}
		c := newWallClock(k.read)
		total := time.Duration(0)
		for _, step := range []time.Duration{0, -3 * time.Second, time.Hour, -time.Hour, 3 * time.Second} {
			k.pass(time.Hour)
			k.boottime, k.realtime = k.boottime+time.Minute, k.realtime+time.Minute // it was suspended
			k.realtime += step
			total += step
			now, set := c.now()
			if now != k.realtime-time.Duration(float64(k.takes)*(1+slew)) || (set-total).Abs() > time.Microsecond {
				t.Errorf("slewed by %v, set by %v: it shows %v of %v, set by %v", slew, total, now, k.realtime, set)
			}
		}
	}
}

// A thread that gets no processor, or a machine that is suspended, between two readings makes no clock seem set; and
// one that is set meanwhile is known to be at the next reading.
func TestWallClockIsReadSlowly(t *testing.T) {
	for _, where := range []source{boottime, realtime} {
		k := &kernel{boottime: time.Hour, realtime: 24 * time.Hour, takes: 50}
		c := newWallClock(k.read)
		k.before = func(s source) {
			if s == where {
				k.pass(time.Second)
			}
		}
		k.realtime += time.Minute
		if _, set := c.now(); set != 0 {
			t.Errorf("no processor before source %d: set by %v", where, set)
		}
		k.before = nil
		if _, set := c.now(); (set - time.Minute).Abs() > time.Microsecond {
			t.Errorf("source %d: set by %v", where, set)
		}
	}
}

// A process that gets no processor as it begins does not take that for a clock that was set.
func TestWallClockBeginsSlowly(t *testing.T) {
	k := &kernel{boottime: time.Hour, realtime: 24 * time.Hour, takes: 50}
	for slow := 10; slow < 100; slow += 10 {
		left := slow
		k.before = func(s source) {
			if left--; s == realtime && left > 0 {
				k.pass(time.Second)
			}
		}
		c := newWallClock(k.read)
		k.before = nil
		if _, set := c.now(); set != 0 {
			t.Errorf("slow for %d readings: set by %v", slow, set)
		}
	}
}

// Nobody sets the clock of this machine while tests run, as far as Wall sees.
func TestWall(t *testing.T) {
	before := time.Now().Round(0)
	now, set := Wall()
	if now.Before(before) || now.After(time.Now().Round(0)) || set != 0 {
		t.Errorf("%v after %v, set by %v", now, before, set)
	}
}

func BenchmarkWall(b *testing.B) {
	for b.Loop() {
		Wall()
	}
}
