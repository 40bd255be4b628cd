package node

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// leader is a Machine that leads by a majority, and hands over, when it is asked to, as end
// says: nil for never. It keeps what it was told.
type leader struct {
	end  *algorithms.TransferEnd
	told []algorithms.Event
}

func (m *leader) step(_ time.Time, ev algorithms.Event) (algorithms.Output, bool) {
	m.told = append(m.told, ev)
	out := algorithms.Output{Leader: belief(self, 7)}
	if _, asked := ev.(algorithms.Transfer); asked {
		out.Transfer = m.end
	}
	return out, true
}

// leave has a leader that ends its transfers so leave, and returns what it was told and how
// long that took. It must be called in a bubble.
func leave(t *testing.T, g algorithms.Guarantee, end *algorithms.TransferEnd, do func(f *fixture)) (
	told []algorithms.Event, took time.Duration,
) {
	m := &leader{end: end}
	f := start(t, m.step, func(_ *fixture, c *Config) { c.Guarantee = g })
	began := time.Now()
	do(f)
	synctest.Wait()
	took = time.Since(began)
	if err := f.stop(); err != nil {
		t.Error(err)
	}
	return m.told[1:], took
}

// "A successor is asked first", for half a second at most. Whether it would, or not, or does
// not answer: then the node resigns.
func TestResignAsksFirst(t *testing.T) {
	const why = "told to stop by SIGTERM"
	asks := algorithms.Transfer{Why: why, Leaves: true}
	for name, c := range map[string]struct {
		guarantee algorithms.Guarantee
		end       *algorithms.TransferEnd
		wait      time.Duration
		want      []algorithms.Event
		took      time.Duration
	}{
		"it would": {
			algorithms.Lease, &algorithms.TransferEnd{To: 2}, time.Minute,
			[]algorithms.Event{asks, algorithms.Resign{To: 2, Why: why}},
			0,
		},
		"nobody would": {
			algorithms.Lease, &algorithms.TransferEnd{To: 2, Refused: "no"}, time.Minute,
			[]algorithms.Event{asks, algorithms.Resign{Why: why}},
			0,
		},
		"nobody answers": {
			algorithms.Lease, nil, time.Minute, []algorithms.Event{asks, algorithms.Resign{Why: why}}, mostAsking,
		},
		"nobody answers, and there is little time": {
			algorithms.Lease, nil, 100 * time.Millisecond,
			[]algorithms.Event{asks, algorithms.Resign{Why: why}},
			50 * time.Millisecond,
		},
		"no majority decides": {
			algorithms.BestEffort, nil, time.Minute, []algorithms.Event{algorithms.Resign{Why: why}}, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told, took := leave(t, c.guarantee, c.end, func(f *fixture) {
					ctx, stop := context.WithTimeout(t.Context(), c.wait)
					defer stop()
					if err := f.Resign(ctx, 0, why); err != nil {
						t.Error(err)
					}
				})
				if !slices.Equal(told, c.want) || took != c.took {
					t.Errorf("told %+v after %v, want %+v after %v", told, took, c.want, c.took)
				}
			})
		})
	}
}

// "A leader leads on while it looks for a successor that could win", but does not stand
// anew; "SetEligible(cause, true, "") ends both".
func TestStandAside(t *testing.T) {
	asks := algorithms.Transfer{Why: "sick", Leaves: true}
	keep := algorithms.Eligible{Keep: true, Why: "sick"}
	no := algorithms.Eligible{Why: "sick"}
	taken := &algorithms.TransferEnd{To: 2}
	for name, c := range map[string]struct {
		guarantee algorithms.Guarantee
		end       *algorithms.TransferEnd
		do        func(f *fixture)
		want      []algorithms.Event
	}{
		"a successor is found": {algorithms.Lease, taken, func(f *fixture) {
			<-f.StandAside("health", "sick")
		}, []algorithms.Event{keep, asks, no}},
		"well again meanwhile": {algorithms.Lease, nil, func(f *fixture) {
			found := f.StandAside("health", "sick")
			synctest.Wait()
			f.SetEligible("health", true, "")
			<-found
		}, []algorithms.Event{keep, asks, algorithms.Eligible{OK: true}}},
		"no majority decides": {algorithms.BestEffort, nil, func(f *fixture) {
			<-f.StandAside("health", "sick")
		}, []algorithms.Event{no}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if told, _ := leave(t, c.guarantee, c.end, c.do); !slices.Equal(told, c.want) {
					t.Errorf("told %+v, want %+v", told, c.want)
				}
			})
		})
	}
}
