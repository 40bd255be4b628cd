package franklin

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/proto"
)

// reasons collects the kinds of reasons that this package declares.
var reasons = algorithms.ReasonsOf("franklin")

// About describes Franklin's election for the catalogue.
func About() algorithms.About {
	return algorithms.About{
		Name:      "franklin",
		Summary:   "candidates meet their neighbours on the ring; one of two falls, each round",
		Guarantee: algorithms.BestEffort,
		Preempt:   false,
		New:       New,
		Kinds:     []proto.Kind{KindCandidate, topology.KindElected},
		Theory: algorithms.Theory{
			Best:     func(n int) int { return 3 * n },
			Worst:    func(n int) int { return 2*n*(1+Rounds(n)) + n },
			BestCase: "the winner initiates: 2n CANDIDATE, n ELECTED",
			WorstCase: "at most 2n(1+k) CANDIDATE, n ELECTED, whoever initiate, " +
				"k being log2 n rounded down",
			BestRun: algorithms.Run{
				Caller:   algorithms.Highest,
				Messages: "3n", Transmissions: "2n", Times: func(n int) int { return 2 * n },
			},
			WorstRun: algorithms.Run{
				AtMost: true, Messages: "2n(1+k)+n, k = ⌊log₂n⌋", Transmissions: "⌊n/2⌋+(k+2)n",
				Times: Times,
			},
		},
		Round: []proto.Kind{topology.KindElected},
		Timeouts: []algorithms.Wait{
			{Name: "ELECTED", Formula: "(n/2+(k+2)n)Δ, k = log2 n rounded down", Of: ElectedTimeout},
			{Name: "ask", Formula: "2Δ", Of: algorithms.AnySize(topology.AskTimeout)},
		},
		Agreement: nomination.AgreementAfter(Patience),
		Reasons:   reasons.All(),
	}
}

const falls = "(after Franklin) of two candidates that are neighbours, the lower one falls"
