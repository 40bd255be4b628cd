package consensus

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// reasons collects the kinds of reasons that this package declares.
var reasons = algorithms.ReasonsOf("consensus")

// About describes the election by consensus for the catalogue.
func About() algorithms.About {
	return algorithms.About{
		Name:      "consensus",
		Summary:   "each proposes itself; Paxos chooses one, which leads",
		Guarantee: algorithms.Quorum,
		Preempt:   false,
		New:       New,
		Kinds:     []proto.Kind{KindEnquiry, KindPrepare, KindPromise, KindAccept, KindAccepted, KindChosen},
		Theory: algorithms.Theory{
			Kinds: []proto.Kind{
				KindPrepare, KindPromise, KindAccept, KindAccepted, KindChosen,
			},
			Best:      func(n int) int { return 5*n - 5 },
			Worst:     func(n int) int { return 5*n - 3 },
			BestCase:  "the highest proposes: n-1 PREPARE, PROMISE, ACCEPT, ACCEPTED and CHOSEN",
			WorstCase: "another does: CHOSEN to the highest, and one to the dead leader",
			BestRun: algorithms.Run{
				Caller:   algorithms.Highest,
				Messages: "5n-5", Transmissions: "5", Times: func(int) int { return 5 },
			},
			WorstRun: algorithms.Run{
				Caller: algorithms.Lowest, Crash: true,
				Messages: "5n-3", Transmissions: "7", Times: func(int) int { return 7 },
			},
		},
		Timeouts: []algorithms.Wait{
			{Name: "answers", Formula: "2Δ", Of: algorithms.AnySize(AnswerTimeout)},
			{Name: "CHOSEN", Formula: "4Δ", Of: algorithms.AnySize(ChosenTimeout)},
			{Name: "listen", Formula: "(5 + those above)Δ, at most 9Δ", Of: ListenTimeout},
		},
		Agreement: func(d time.Duration, n int) time.Duration {
			// What was reserved before a restart is spent: two rounds more may fail. And
			// all above may live and stand aside.
			return nomination.Agreement(d, Patience(d, n)) + 4*Patience(d, n) + 2*ListenTimeout(d, n)
		},
		Reasons: reasons.All(),
	}
}
