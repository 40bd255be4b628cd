package sim_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/sim"
)

// BenchmarkRun is a run of five nodes under drawn faults, all invariants
// checked after each Step.
func BenchmarkRun(b *testing.B) {
	for _, e := range catalog.All() {
		b.Run(e.Name, func(b *testing.B) {
			messages, steps, seed := 0, 0, uint64(0)
			b.ReportAllocs()
			for b.Loop() {
				seed++
				r, err := sim.Run(sim.Options{
					Algorithm: sim.Algorithm{
						Name: e.Name, Guarantee: e.Guarantee, Preempt: e.Preempt, New: e.New,
						Agreement: e.Agreement,
					},
					Seed: seed, Nodes: 5,
				})
				if err != nil || len(r.Violations) > 0 {
					b.Fatalf("seed %d: %v, %v", seed, err, r.Violations)
				}
				messages += r.Messages["total"]
				steps += r.Steps
			}
			b.ReportMetric(float64(messages)/b.Elapsed().Seconds(), "messages/s")
			b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}
