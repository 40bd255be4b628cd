package bully

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// reasons collects the kinds of reasons that this package declares.
var reasons = algorithms.ReasonsOf("bully")

// About describes the bully for the catalogue.
func About() algorithms.About {
	return algorithms.About{
		Name:      "bully",
		Summary:   "the highest-ranked living node leads; lower ones ask higher ones",
		Guarantee: algorithms.BestEffort,
		Preempt:   true,
		New:       New,
		Kinds:     []proto.Kind{KindElection, KindOK, nomination.KindCoordinator},
		Theory: algorithms.Theory{
			Best:  func(n int) int { return n - 1 },
			Worst: func(n int) int { return n*(n+1)/2 + n*(n-1)/2 + n },
			BestCase: "the next in line notices first: " +
				"COORDINATOR to the n-1 others",
			WorstCase: "only the lowest notices: n(n+1)/2 ELECTION and n COORDINATOR, those " +
				"to the dead leader included; n(n-1)/2 OK",
			Notes: "the lecture notes count the dead leader, too: their N is n+1. Their N-2 COORDINATOR in the " +
				"best case are n-1. Their N-1 + N-2 + … + 1 = (N-1)N/2 in the worst case are the n(n+1)/2 ELECTION " +
				"alone; with n(n-1)/2 OK and n COORDINATOR it is n²+n",
			BestRun: algorithms.Run{
				Caller: algorithms.Highest, Crash: true,
				Messages: "n-1", Transmissions: "1", Times: func(int) int { return 1 },
			},
			WorstRun: algorithms.Run{
				Caller: algorithms.Lowest, Crash: true,
				Messages: "n²+n", Transmissions: "5", Times: func(int) int { return 5 },
			},
		},
		Timeouts: []algorithms.Wait{
			{Name: "OK", Formula: "2Δ", Of: algorithms.AnySize(OKTimeout)},
			{Name: "COORDINATOR", Formula: "5Δ", Of: algorithms.AnySize(CoordinatorTimeout)},
		},
		Agreement: nomination.AgreementAfter(Patience),
		Reasons:   reasons.All(),
	}
}
