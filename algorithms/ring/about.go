package ring

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/proto"
)

// reasons collects the kinds of reasons that this package declares.
var reasons = algorithms.ReasonsOf("ring")

// About describes the ring for the catalogue.
func About() algorithms.About {
	return algorithms.About{
		Name:      "ring",
		Summary:   "ELECTION goes round the ring and collects the highest rank",
		Guarantee: algorithms.BestEffort,
		Preempt:   false,
		New:       New,
		Kinds:     []proto.Kind{KindElection, topology.KindElected},
		Theory: algorithms.Theory{
			Best:      func(n int) int { return 2 * n },
			Worst:     func(n int) int { return 3*n - 1 },
			BestCase:  "the winner initiates: n ELECTION, n ELECTED",
			WorstCase: "the winner's successor initiates: 2n-1 ELECTION, n ELECTED",
			BestRun: algorithms.Run{
				Caller:   algorithms.Highest,
				Messages: "2n", Transmissions: "2n", Times: func(n int) int { return 2 * n },
			},
			WorstRun: algorithms.Run{
				Caller:   algorithms.Lowest,
				Messages: "3n-1", Transmissions: "3n-1", Times: func(n int) int { return 3*n - 1 },
			},
			Average: &algorithms.Average{Kind: KindElection, Formula: "n·Hₙ", Of: averageElections},
		},
		Round: []proto.Kind{KindElection, topology.KindElected},
		Timeouts: []algorithms.Wait{
			{Name: "ELECTED", Formula: "2nΔ", Of: ElectedTimeout},
			{Name: "ask", Formula: "2Δ", Of: algorithms.AnySize(topology.AskTimeout)},
		},
		Agreement: nomination.AgreementAfter(Patience),
		Reasons:   reasons.All(),
	}
}

// averageElections returns how many ELECTION messages a round takes on average if all nodes initiate it,
// on a ring in random order: n times the n-th harmonic number (Chang and Roberts).
func averageElections(n int) float64 {
	harmonic := 0.0
	for k := 1; k <= n; k++ {
		harmonic += 1 / float64(k)
	}
	return float64(n) * harmonic
}
