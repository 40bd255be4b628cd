package consensus

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// About is the election by consensus as the catalogue lists it.
func About() algorithms.About {
	return algorithms.About{
		Name:      "consensus",
		Summary:   "each proposes itself; Paxos chooses one, which leads",
		Guarantee: algorithms.Quorum,
		Preempt:   false,
		New:       func(c algorithms.Config) algorithms.Machine { return New(c) },
		Theory: algorithms.Theory{
			Kinds: []proto.Kind{
				proto.KindPrepare, proto.KindPromise, proto.KindAccept, proto.KindAccepted, proto.KindChosen,
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
		Rules: []algorithms.Rule{
			{
				Why:      "propose",
				Sentence: "A proposer selects a proposal number n and sends a prepare request with number n",
			},
			{
				Why: "# prepares ballot #.# -> promise",
				Sentence: "it responds to the request with a promise not to accept any more proposals " +
					"numbered less than n",
			},
			{
				Why:      "# may be chosen already, by ballot #.# -> propose it",
				Sentence: "v is the value of the highest-numbered proposal among the responses",
			},
			{
				Why:      "a majority promised -> ask all to accept #",
				Sentence: "v is any value if the responses reported no proposals",
			},
			{
				Why: "# proposes # -> accept",
				Sentence: "it accepts the proposal unless it has already responded to a prepare request having " +
					"a number greater than n",
			},
			{
				Why:      "ballot #.# is below the promised #.# -> do not answer",
				Sentence: "a promise not to accept any more proposals numbered less than n",
			},
			{Why: "a majority accepted this node's proposal", Sentence: "That lucky Pi is the new leader!"},
			{Why: "a majority accepted # -> tell it", Sentence: "That lucky Pi is the new leader!"},
		},
	}
}
