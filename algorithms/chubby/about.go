package chubby

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/algorithms/office"
	"github.com/ringleader-dev/ringleader/proto"
)

// About is Chubby's election as the catalogue lists it.
func About() algorithms.About {
	return algorithms.About{
		Name:      "chubby",
		Summary:   "any server may stand; a quorum elects, and promises a lease",
		Guarantee: algorithms.Lease,
		Fences:    true,
		Preempt:   false,
		New:       New,
		Promise:   lease.MinPromise,
		Theory: algorithms.Theory{
			Kinds: []proto.Kind{
				proto.KindAsk, proto.KindAnswer, proto.KindClaim, proto.KindGrant, proto.KindLease,
			},
			Best:      func(n int) int { return 5*n - 5 },
			Worst:     func(n int) int { return 6*n - 4 },
			BestCase:  "nobody led: ASK, CLAIM and LEASE to the n-1 others, ANSWER and GRANT of each",
			WorstCase: "the master died, and is asked too, and the others do not know it yet: n-1 say no first",
			BestRun: algorithms.Run{
				Caller:   algorithms.Highest,
				Messages: "5n-5", Transmissions: "5", Times: func(int) int { return 5 },
			},
			WorstRun: algorithms.Run{
				Caller: algorithms.Highest, Crash: true,
				Messages: "6n-4", Transmissions: "4", Times: func(int) int { return 4 },
			},
		},
		Timeouts: []algorithms.Wait{
			{Name: "start", Formula: "10Δ", Of: algorithms.AnySize(StartDelay)},
			{Name: "stagger", Formula: "4Δ", Of: algorithms.AnySize(Stagger)},
		},
		Agreement: func(d time.Duration, n int) time.Duration {
			return StartDelay(d) + time.Duration(n)*Stagger(d) + office.Agreement(3*lease.MinPromise(d), d, n)
		},
		Rules: []algorithms.Rule{
			{
				Why:      "nobody leads, and it is this server's turn",
				Sentence: "Potential leader tries to get votes",
			},
			{
				Why:      "this node is nominated and nobody holds the office",
				Sentence: "Potential leader tries to get votes",
			},
			{Why: "a majority would grant term #", Sentence: "Potential leader tries to get votes"},
			{Why: "a majority granted term #", Sentence: "Server with quorum becomes leader"},
			{Why: "nothing binds this voter", Sentence: "Each server votes for at most one leader"},
			{Why: "# wants term # -> deny it: no, voted #", Sentence: "Each server votes for at most one leader"},
			{
				Why:      "# wants term # -> deny it: no, promised #",
				Sentence: "master has an election \"term\" where no other elections will be run",
			},
			{
				Why:      "# asks for term # -> no, promised #",
				Sentence: "master has an election \"term\" where no other elections will be run",
			},
			{
				Why:      "leader # has not renewed",
				Sentence: "Also guarantees a new election will be run at end of lease",
			},
		},
	}
}
