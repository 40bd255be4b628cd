package node

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// Promise: "it may while no cause speaks against it; each cause is independent of
// the others", "saying again what holds already costs nothing", and Machines hear
// "all causes that hold" in one event.
func TestSetEligible(t *testing.T) {
	yes := algorithms.Eligible{OK: true}
	no := func(why string) algorithms.Eligible { return algorithms.Eligible{Why: why} }
	keep := func(why string) algorithms.Eligible { return algorithms.Eligible{Keep: true, Why: why} }
	cases := []struct {
		name string
		do   []func(*Node)
		want []algorithms.Eligible
	}{
		{"eligible from the start", []func(*Node){
			func(n *Node) { n.SetEligible("health", true, "") },
		}, nil},
		{"one cause", []func(*Node){
			func(n *Node) { n.SetEligible("health", false, "sick") },
			func(n *Node) { n.SetEligible("health", false, "sick") },
			func(n *Node) { n.SetEligible("health", false, "very sick") },
			func(n *Node) { n.SetEligible("health", true, "ignored") },
		}, []algorithms.Eligible{no("sick"), no("very sick"), yes}},
		{"two causes", []func(*Node){
			func(n *Node) { n.SetEligible("pause", false, "paused") },
			func(n *Node) { n.SetEligible("health", false, "sick") },
			func(n *Node) { n.SetEligible("pause", true, "") },
			func(n *Node) { n.SetEligible("health", true, "") },
		}, []algorithms.Eligible{no("paused"), no("sick; paused"), no("sick"), yes}},
		{"a cause that lets a leader go on", []func(*Node){
			func(n *Node) { n.KeepFromStanding("cluster", "paused") },
			func(n *Node) { n.SetEligible("health", false, "sick") },
			func(n *Node) { n.SetEligible("health", true, "") },
			func(n *Node) { n.SetEligible("cluster", true, "") },
		}, []algorithms.Eligible{keep("paused"), no("paused; sick"), keep("paused"), yes}},
		{"a cause without words", []func(*Node){
			func(n *Node) { n.SetEligible("health", false, "") },
		}, []algorithms.Eligible{no("health")}},
		{"back and forth at once", []func(*Node){func(n *Node) {
			n.SetEligible("health", false, "sick")
			n.SetEligible("health", true, "")
		}}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var heard []algorithms.Eligible
				f := start(t, func(_ time.Time, ev algorithms.Event) (algorithms.Output, bool) {
					ev2, ok := ev.(algorithms.Eligible)
					if ok {
						heard = append(heard, ev2)
					}
					return algorithms.Output{}, ok
				})
				for _, do := range c.do {
					do(f.Node)
					synctest.Wait()
				}
				if err := f.stop(); err != nil {
					t.Error(err)
				}
				if !slices.Equal(heard, c.want) {
					t.Errorf("the Machine heard %+v, want %+v", heard, c.want)
				}
			})
		})
	}
}

// Promise: Config.Ineligible "is told why this node does not stand for election
// whenever that changes", and Status says it too.
func TestIneligibleIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		f := start(t, func(_ time.Time, ev algorithms.Event) (algorithms.Output, bool) {
			if ev, ok := ev.(algorithms.Eligible); ok {
				return algorithms.Output{Ineligible: ev.Why}, true
			}
			return algorithms.Output{}, false
		}, func(_ *fixture, cfg *Config) {
			cfg.Ineligible = func(why string) { told = append(told, why) }
		})
		f.SetEligible("health", false, "sick")
		synctest.Wait()
		if got := f.Status().Ineligible; got != "sick" {
			t.Errorf("Status says %q", got)
		}
		f.SetEligible("health", true, "")
		synctest.Wait()
		if err := f.stop(); err != nil {
			t.Error(err)
		}
		if want := []string{"sick", ""}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	})
}
