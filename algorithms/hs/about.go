package hs

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/proto"
)

// reasons collects the kinds of reasons that this package declares.
var reasons = algorithms.ReasonsOf("hs")

// About describes the election of Hirschberg and Sinclair for the catalogue.
func About() algorithms.About {
	return algorithms.About{
		Name:      "hs",
		Summary:   "probes go both ways round the ring, twice as far each time",
		Guarantee: algorithms.BestEffort,
		Preempt:   false,
		New:       New,
		Kinds:     []proto.Kind{KindProbe, KindReply, topology.KindElected},
		Theory: algorithms.Theory{
			Best:  func(n int) int { return 4*(1<<Phases(n)-1) + 3*n },
			Worst: func(n int) int { return 8*n*(1+Phases(n)) + n },
			BestCase: "the winner initiates: 4(2^k-1) PROBE and REPLY, 2n PROBE, n ELECTED, " +
				"k being log2 n rounded up",
			WorstCase: "at most 8n(1+k) PROBE and REPLY, n ELECTED, whoever initiate",
			BestRun: algorithms.Run{
				Caller:   algorithms.Highest,
				Messages: "4(2^k-1)+3n, k = ⌈log₂n⌉", Transmissions: "2(2^k-1)+2n",
				Times: func(n int) int { return 2*(1<<Phases(n)-1) + 2*n },
			},
			WorstRun: algorithms.Run{
				AtMost: true, Messages: "8n(1+k)+n", Transmissions: "2^(k+1)-1+(k+1)n",
				Times: Times,
			},
		},
		Round: []proto.Kind{topology.KindElected},
		Timeouts: []algorithms.Wait{
			{Name: "ELECTED", Formula: "(2^(k+1)-1+(k+1)n)Δ, k = log2 n rounded up", Of: ElectedTimeout},
			{Name: "ask", Formula: "2Δ", Of: algorithms.AnySize(topology.AskTimeout)},
		},
		Agreement: nomination.AgreementAfter(Patience),
		Reasons:   reasons.All(),
	}
}
