package chubby

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/algorithms/office"
	"github.com/ringleader-dev/ringleader/proto"
)

// The rules that several reasons follow.
const (
	triesToGetVotes  = "Potential leader tries to get votes"
	votesForOne      = "Each server votes for at most one leader"
	noOtherElections = "master has an election \"term\" where no other elections will be run"
)

// reasons are those that are given in this package.
var reasons = algorithms.ReasonsOf("chubby")

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
				proto.KindPreVote, proto.KindPreVoteReply, proto.KindRequestVote, proto.KindVote, proto.KindLease,
			},
			Best:      func(n int) int { return 5*n - 5 },
			Worst:     func(n int) int { return 6*n - 4 },
			BestCase:  "nobody led: PRE_VOTE, REQUEST_VOTE and LEASE to the n-1 others, PRE_VOTE_REPLY and VOTE of each",
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
		Reasons: reasons.All(),
		Rules: []algorithms.Rule{
			{Kind: lease.WhyNominated, Sentence: triesToGetVotes},
			{Kind: lease.WhyClaim, Sentence: triesToGetVotes},
			{Kind: lease.WhyWouldGrant, Sentence: triesToGetVotes},
			{Kind: lease.WhyHold, Sentence: "Server with quorum becomes leader"},
			{Kind: lease.WhyGranted, Sentence: "Server with quorum becomes leader"},
			{Kind: lease.WhyGrant, Sentence: votesForOne},
			{Kind: lease.WhyDenyVoted, Sentence: votesForOne},
			{Kind: lease.WhyDenyPromised, Sentence: noOtherElections},
			{Kind: lease.WhyNoPromised, Sentence: noOtherElections},
			{Kind: lease.WhySaysPromised, Sentence: noOtherElections},
			{Kind: lease.WhyDeniesPromised, Sentence: noOtherElections},
			{Kind: lease.WhyNotRenewed, Sentence: "Also guarantees a new election will be run at end of lease"},
		},
	}
}
