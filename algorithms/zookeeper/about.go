package zookeeper

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// reasons collects the kinds of reasons that this package declares.
var reasons = algorithms.ReasonsOf("zookeeper")

// once is the sentence of the lecture notes that several reasons quote.
const once = "Each process ACKs to at most one NEW_LEADER"

// About describes ZooKeeper's election for the catalogue.
func About() algorithms.About {
	return algorithms.About{
		Name:      "zookeeper",
		Summary:   "each watches the next above; the highest leads after a quorum of ACK",
		Guarantee: algorithms.Quorum,
		Preempt:   false,
		New:       New,
		Kinds:     []proto.Kind{KindWatch, KindExists, KindNewLeader, KindAck, KindCommit},
		Theory: algorithms.Theory{
			Best:      func(n int) int { return 3*n - 3 },
			Worst:     func(n int) int { return 5*n - 2 },
			BestCase:  "the highest notices: n-1 NEW_LEADER, ACK and COMMIT",
			WorstCase: "only the lowest notices: n WATCH, NEW_LEADER and COMMIT, n-1 EXISTS and ACK",
			BestRun: algorithms.Run{
				Caller:   algorithms.Highest,
				Messages: "3n-3", Transmissions: "3", Times: func(int) int { return 3 },
			},
			WorstRun: algorithms.Run{
				Caller: algorithms.Lowest, Crash: true,
				Messages: "5n-2", Transmissions: "n+6", Times: func(n int) int { return n + 6 },
			},
		},
		Timeouts: []algorithms.Wait{
			{Name: "watch", Formula: "4Δ", Of: algorithms.AnySize(WatchTimeout)},
			{Name: "EXISTS", Formula: "2Δ", Of: algorithms.AnySize(ExistsTimeout)},
			{Name: "ACK", Formula: "2Δ", Of: algorithms.AnySize(AckTimeout)},
			{Name: "COMMIT", Formula: "(n+4)Δ", Of: CommitTimeout},
		},
		Agreement: func(d time.Duration, n int) time.Duration {
			// What was reserved before a restart is spent: two rounds more may fail.
			return nomination.Agreement(d, Patience(d, n)) + 4*Patience(d, n)
		},
		Reasons: reasons.All(),
	}
}
