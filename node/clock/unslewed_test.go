package clock

import (
	"testing"
	"time"
)

// kernel is a machine's clocks. Each reading takes a while, during which slew makes
// monotonic and boottime run faster or slower.
type kernel struct {
	raw, monotonic, boottime, realtime time.Duration
	slew                               float64       // of the rates: 0.08 is 8 % faster
	takes                              time.Duration // a reading,
	before                             func(source)  // and what happens before it
}

func (k *kernel) pass(d time.Duration) {
	slewed := time.Duration(float64(d) * (1 + k.slew))
	k.raw, k.monotonic, k.boottime, k.realtime = k.raw+d, k.monotonic+slewed, k.boottime+slewed, k.realtime+slewed
}

func (k *kernel) read(s source) time.Duration {
	if k.before != nil {
		k.before(s)
	}
	k.pass(k.takes)
	return [...]time.Duration{monotonic: k.monotonic, boottime: k.boottime, raw: k.raw, realtime: k.realtime}[s]
}

// "Judge leases by a clock that is not slewed, and the time suspended": however the other
// clocks run, in an hour it goes on by an hour; and by what the machine was suspended for.
func TestSlewAndSuspend(t *testing.T) {
	for _, slew := range []float64{0, 0.0833, -0.0833, 0.1, -0.1} {
		k := &kernel{raw: time.Hour, monotonic: time.Hour, boottime: 2 * time.Hour, slew: slew, takes: 50}
		c := &unslewed{read: k.read}
		begin := c.now()
		for range 3600 {
			k.pass(time.Second)
			c.now()
		}
		if went := c.now() - begin; went < time.Hour || went > time.Hour+time.Millisecond {
			t.Errorf("slewed by %v: it went on by %v in an hour", slew, went)
		}
		begin = c.now()
		k.boottime += 7 * time.Second
		if went := c.now() - begin; went < 7*time.Second || went > 7*time.Second+time.Millisecond {
			t.Errorf("slewed by %v: it went on by %v in 7s of suspend", slew, went)
		}
	}
}

// A thread that gets no processor between two readings, or a suspend there, makes the
// clock neither jump nor go back.
func TestPreempted(t *testing.T) {
	for name, happens := range map[string]func(*kernel){
		"no processor": func(k *kernel) { k.pass(time.Minute) },
		"suspended":    func(k *kernel) { k.boottime += time.Minute },
	} {
		for _, where := range []source{monotonic, boottime, raw} {
			k := &kernel{raw: time.Hour, monotonic: time.Hour, boottime: 2 * time.Hour, takes: 50}
			c := &unslewed{read: k.read}
			before, passed := c.now(), false
			k.before = func(s source) {
				if s == where && !passed {
					passed = true
					happens(k)
				}
			}
			during := c.now()
			after := c.now()
			if passed := after - before; during < before || during > after ||
				passed < time.Minute || passed > time.Minute+time.Second {
				t.Errorf("%s before source %d: %v, %v, %v", name, where, before, during, after)
			}
		}
	}
}

// A first reading that got no processor is corrected by the next, and none goes back.
func TestBadBeginning(t *testing.T) {
	k := &kernel{boottime: time.Hour, takes: 50}
	c := &unslewed{read: k.read}
	k.before = func(s source) {
		if s == monotonic {
			k.pass(time.Minute)
		}
	}
	first := c.now()
	k.before = nil
	if next := c.now(); next < first || next-time.Hour-time.Minute > time.Second {
		t.Errorf("%v after %v", next, first)
	}
}
