package broadcast

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// reasons collects the kinds of reasons that this package declares.
var reasons = algorithms.ReasonsOf("broadcast")

// About describes the broadcast for the catalogue.
func About() algorithms.About {
	return algorithms.About{
		Name:      "broadcast",
		Summary:   "everybody sends its id to everybody; the largest leads",
		Guarantee: algorithms.BestEffort,
		Preempt:   true,
		New:       New,
		Kinds:     []proto.Kind{KindIdentity, nomination.KindCoordinator},
		Theory: algorithms.Theory{
			Best:      func(n int) int { return n*n - 1 },
			Worst:     func(n int) int { return n*n + n - 1 },
			BestCase:  "whoever notices: n(n-1) ID, n-1 COORDINATOR",
			WorstCase: "only the lowest notices: n messages more, to the dead leader",
			BestRun: algorithms.Run{
				Caller:   algorithms.Highest,
				Messages: "n²-1", Transmissions: "3", Times: func(int) int { return 3 },
			},
			WorstRun: algorithms.Run{
				Caller: algorithms.Lowest, Crash: true,
				Messages: "n²+n-1", Transmissions: "4", Times: func(int) int { return 4 },
			},
		},
		Timeouts: []algorithms.Wait{
			{Name: "ID", Formula: "2Δ", Of: algorithms.AnySize(IDTimeout)},
			{Name: "COORDINATOR", Formula: "4Δ", Of: algorithms.AnySize(CoordinatorTimeout)},
		},
		Agreement: nomination.AgreementAfter(Patience),
		Reasons:   reasons.All(),
	}
}
