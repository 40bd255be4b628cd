package stoller

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// reasons collects the kinds of reasons that this package declares.
var reasons = algorithms.ReasonsOf("stoller")

// About describes Stoller's bully for the catalogue.
func About() algorithms.About {
	return algorithms.About{
		Name:      "stoller",
		Summary:   "the highest halts all others, and leads when they have stopped",
		Guarantee: algorithms.BestEffort,
		Preempt:   true,
		New:       New,
		Kinds:     []proto.Kind{KindNotNorm, KindHalt, KindHalted, KindReject, KindLeads},
		Theory: algorithms.Theory{
			Best:  func(n int) int { return 3 * (n - 1) },
			Worst: func(n int) int { return 3*n - 2 },
			BestCase: "the next in line notices: HALT to the n-1 others, their ACKs, " +
				"LEADER to them",
			WorstCase: "another notices: NOT_NORM, and then the same",
			BestRun: algorithms.Run{
				Caller:   algorithms.Highest,
				Messages: "3(n-1)", Transmissions: "3", Times: func(int) int { return 3 },
			},
			WorstRun: algorithms.Run{
				Caller:   algorithms.Lowest,
				Messages: "3n-2", Transmissions: "4", Times: func(int) int { return 4 },
			},
		},
		Timeouts: []algorithms.Wait{
			{Name: "HALT", Formula: "3Δ", Of: algorithms.AnySize(HaltTimeout)},
			{Name: "ACK", Formula: "2Δ", Of: algorithms.AnySize(AckTimeout)},
			{Name: "LEADER", Formula: "5Δ", Of: algorithms.AnySize(LeaderTimeout)},
		},
		Agreement: nomination.AgreementAfter(Patience),
		Reasons:   reasons.All(),
	}
}

const (
	allStopped = "(after Stoller) nobody leads before every process below it has stopped, or is dead"
	stops      = "(after Stoller) a process that is halted stops what it does, and waits for whoever halted it"
	rejects    = "(after Stoller) one that follows or waits for a higher process rejects"
)
