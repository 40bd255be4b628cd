package bully

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// About is the bully as the catalogue lists it.
func About() algorithms.About {
	return algorithms.About{
		Name:      "bully",
		Summary:   "the highest-ranked living node leads; lower ones ask higher ones",
		Guarantee: algorithms.BestEffort,
		Preempt:   true,
		New:       func(c algorithms.Config) algorithms.Machine { return New(c) },
		Theory: algorithms.Theory{
			Kinds: []proto.Kind{proto.KindElection, proto.KindOK, proto.KindCoordinator},
			Best:  func(n int) int { return n - 1 },
			Worst: func(n int) int { return n*(n+1)/2 + n*(n-1)/2 + n },
			BestCase: "the next in line notices first: " +
				"COORDINATOR to the n-1 others",
			WorstCase: "only the lowest notices: n(n+1)/2 ELECTION and n COORDINATOR, those " +
				"to the dead leader included; n(n-1)/2 OK",
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
		Rules: []algorithms.Rule{
			{
				Why:      "no higher node is alive",
				Sentence: "If you're next-in-line, Assume Leadership, Broadcasts COORDINATOR message.",
			},
			{
				Why:      "no higher node is alive any more",
				Sentence: "If you're next-in-line, Assume Leadership, Broadcasts COORDINATOR message.",
			},
			{
				Why:      "no higher node said OK in time",
				Sentence: "If no one responds within timeout: Assume Leadership (broadcast COORDINATOR)",
			},
			{
				Why: "# ranks below this node -> say OK",
				Sentence: "A process that receives an Election message replies with OK message, and starts its own " +
					"leader election protocol (unless it has already done so)",
			},
			{
				Why: "# asks the leader of term # -> say OK and who leads",
				Sentence: "A process that receives an Election message replies with OK message, and starts its own " +
					"leader election protocol (unless it has already done so)",
			},
			{
				Why:      "# is higher and alive -> wait for COORDINATOR",
				Sentence: "Else, someone responded: Wait for COORDINATOR message",
			},
			{
				Why:      "no COORDINATOR came in time -> ask again",
				Sentence: "If timeout waiting: Re-send ELECTION messages",
			},
			{
				Why:      "no COORDINATOR came in time",
				Sentence: "If none received after another timeout, start a new election run",
			},
		},
	}
}
