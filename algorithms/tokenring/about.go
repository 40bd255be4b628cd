package tokenring

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/proto"
)

// reasons collects the kinds of reasons that this package declares.
var reasons = algorithms.ReasonsOf("tokenring")

// About describes the token ring for the catalogue.
func About() algorithms.About {
	return algorithms.About{
		Name:      "tokenring",
		Summary:   "ELECTION goes round and collects ids; its initiator picks the highest",
		Guarantee: algorithms.BestEffort,
		Preempt:   false,
		New:       New,
		Kinds:     []proto.Kind{KindElection, KindCoordinator},
		Theory: algorithms.Theory{
			Best:     func(n int) int { return 2 * n },
			Worst:    func(n int) int { return 3*n - 1 },
			BestCase: "the winner initiates: n ELECTION, n COORDINATOR",
			WorstCase: "the winner's successor initiates: n ELECTION, n-1 COORDINATOR to the " +
				"winner, n from there",
			Notes: "the lecture notes' initiator \"broadcasts COORDINATOR\" to each of the others itself: n ELECTION " +
				"and n-1 COORDINATOR, 2n-1 messages in n+1 transmission times, whoever is picked. Here " +
				"COORDINATOR goes round, and is believed only from the one that was picked",
			BestRun: algorithms.Run{
				Caller:   algorithms.Highest,
				Messages: "2n", Transmissions: "2n", Times: func(n int) int { return 2 * n },
			},
			WorstRun: algorithms.Run{
				Caller:   algorithms.Lowest,
				Messages: "3n-1", Transmissions: "3n-1", Times: func(n int) int { return 3*n - 1 },
			},
		},
		Round: []proto.Kind{KindElection, KindCoordinator},
		Timeouts: []algorithms.Wait{
			{Name: "COORDINATOR", Formula: "2nΔ", Of: CoordinatorTimeout},
			{Name: "ask", Formula: "2Δ", Of: algorithms.AnySize(topology.AskTimeout)},
		},
		Agreement: nomination.AgreementAfter(Patience),
		Reasons:   reasons.All(),
	}
}
