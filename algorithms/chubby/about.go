package chubby

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/proto"
)

// The rules that several reasons follow.
const (
	triesToGetVotes  = "Potential leader tries to get votes"
	votesForOne      = "Each server votes for at most one leader"
	noOtherElections = "master has an election \"term\" where no other elections will be run"
)

// reasons collects the kinds of reasons that this package declares.
var reasons = algorithms.ReasonsOf("chubby")

// About describes Chubby's election for the catalogue.
func About() algorithms.About {
	return algorithms.About{
		Name:      "chubby",
		Summary:   "any server may stand; a quorum elects, and promises a lease",
		Guarantee: algorithms.Lease,
		Ahead:     true,
		Fences:    true,
		Preempt:   false,
		New:       New,
		Promise:   lease.MinPromise,
		Theory: algorithms.Theory{
			Kinds: []proto.Kind{
				proto.KindPreVote, proto.KindPreVoteReply, proto.KindRequestVote, proto.KindVote,
				proto.KindHeartbeat, proto.KindHeartbeatReply,
			},
			Best:  func(n int) int { return 6*n - 6 },
			Worst: func(n int) int { return 7*n - 4 },
			BestCase: "nobody led: PRE_VOTE, REQUEST_VOTE and HEARTBEAT to the n-1 others, PRE_VOTE_REPLY, VOTE and " +
				"HEARTBEAT_REPLY of each",
			WorstCase: "the master died, and is asked too, and the others do not know it yet: n-1 say no first",
			BestRun: algorithms.Run{
				Caller:   algorithms.Highest,
				Messages: "6n-6", Transmissions: "6", Times: func(int) int { return 6 },
			},
			WorstRun: algorithms.Run{
				Caller: algorithms.Highest, Crash: true,
				Messages: "7n-4", Transmissions: "5", Times: func(int) int { return 5 },
			},
		},
		Timeouts: []algorithms.Wait{
			{Name: "start", Formula: "10Δ", Of: algorithms.AnySize(StartDelay)},
			{Name: "stagger", Formula: "4Δ", Of: algorithms.AnySize(Stagger)},
		},
		Agreement: func(d time.Duration, n int) time.Duration {
			return StartDelay(d) + time.Duration(n)*Stagger(d) + lease.Agreement(3*lease.MinPromise(d), d, n)
		},
		Reasons: reasons.All(),
		Rules: slices.Concat(
			algorithms.Quote(triesToGetVotes, lease.WhyNominated, lease.WhyCandidate),
			algorithms.Quote("Server with quorum becomes leader", lease.WhyLead),
			algorithms.Quote(votesForOne, lease.WhyVote),
			algorithms.Quote(votesForOne, lease.WhyRefused(proto.DeniedVoted)...),
			algorithms.Quote(noOtherElections, lease.WhyRefused(proto.DeniedPromised)...),
			algorithms.Quote("Also guarantees a new election will be run at end of lease", lease.WhyNotRenewed),
		),
	}
}
