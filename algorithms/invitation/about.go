package invitation

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// reasons collects the kinds of reasons that this package declares.
var reasons = algorithms.ReasonsOf("invitation")

// About describes the invitation algorithm for the catalogue.
func About() algorithms.About {
	return algorithms.About{
		Name:      "invitation",
		Summary:   "coordinators of groups invite each other, the highest leads who accept",
		Guarantee: algorithms.BestEffort,
		Preempt:   false,
		New:       New,
		Kinds:     []proto.Kind{KindAreYouCoordinator, KindGroup, KindInvitation, KindAccept, KindReady},
		Theory: algorithms.Theory{
			Best:     func(n int) int { return 3 * (n - 1) },
			Worst:    func(n int) int { return 5*n - 6 },
			BestCase: "the next in line notices: INVITATION to the n-1 others, their ACCEPTs, READY to them",
			WorstCase: "another notices: ARE_YOU_COORDINATOR to the n-1 others, GROUP from all but " +
				"the highest, and then the same",
			BestRun: algorithms.Run{
				Caller:   algorithms.Highest,
				Messages: "3(n-1)", Transmissions: "3", Times: func(int) int { return 3 },
			},
			WorstRun: algorithms.Run{
				Caller:   algorithms.Lowest,
				Messages: "5n-6", Transmissions: "4", Times: func(int) int { return 4 },
			},
		},
		Timeouts: []algorithms.Wait{
			{Name: "GROUP", Formula: "2Δ", Of: algorithms.AnySize(GroupTimeout)},
			{Name: "ACCEPT", Formula: "2Δ", Of: algorithms.AnySize(AcceptTimeout)},
			{Name: "READY", Formula: "4Δ", Of: algorithms.AnySize(ReadyTimeout)},
			{Name: "turn", Formula: "3Δ for each above, up to 4", Of: func(d time.Duration, n int) time.Duration {
				return Turn(d, max(n-1, 1))
			}},
		},
		Agreement: func(d time.Duration, n int) time.Duration {
			return nomination.Agreement(d, Turn(d, n)+Patience(d, n))
		},
		Reasons: reasons.All(),
	}
}

const (
	waits = "(after Garcia-Molina) a coordinator that found others waits before it merges, the less the " +
		"higher it ranks"
	merges = "(after Garcia-Molina) to merge, a coordinator forms a new group, and invites the other " +
		"coordinators"
	leads = "(after Garcia-Molina) the coordinator leads those that accepted, and tells nobody else"
)
