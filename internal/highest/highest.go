// Package highest is the example of docs/ADDING-AN-ALGORITHM.md, and the algorithm of tests that
// need one and care for none.
package highest

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// KindAsk is the only kind of message that no other algorithm uses.
var KindAsk = proto.NewKind[Ask](199, "ASK_TO_LEAD", "I see nobody above you: lead", proto.Nominates)

// Ask calls an election: it asks its receiver, the highest node that the sender sees, to lead.
type Ask struct {
	Self proto.Peer `msgpack:"p"`
}

func (Ask) Kind() proto.Kind       { return KindAsk }
func (b Ask) String() string       { return proto.Describe(b, "self", b.Self) }
func (b Ask) Validate() error      { return b.Self.ID.Validate() }
func (b Ask) Caller() proto.NodeID { return b.Self.ID }

// round is about the smallest algorithm there is: a node that calls an election asks the highest
// node that it sees to lead, and that node announces that it does.
type round struct {
	nomination.Core // what all algorithms share: terms, beliefs, back-off, handing over
}

// New returns the Machine of the node that cfg describes.
func New(cfg algorithms.Config) algorithms.Machine {
	r := &round{}
	r.Init(cfg, r)
	return &r.Core
}

// The kinds of reasons that only this algorithm gives. The decision of a kind is for programs that
// explain elections.
var (
	reasons   = algorithms.ReasonsOf("highest")
	whyTop    = reasons.Kind("top", "nobody is above this node")
	whyAsk    = reasons.Kind("ask", "%d is the highest -> ask it to lead", algorithms.Outranks(algorithms.Self, 0))
	whyOther  = reasons.Kind("other", "%s is no message of this algorithm -> drop it")
	whyLed    = reasons.Kind("led", "%d asks, and %d leads -> tell it")
	whySilent = reasons.Kind("silent", "the highest did not say in time that it leads")
)

// Begin starts this node's own part in the round of the current term.
func (r *round) Begin() {
	top := r.Self()
	r.Peers(func(p proto.Peer) {
		if p.Above(top) {
			top = p
		}
	})
	if top.Is(r.Self()) {
		r.Take(whyTop.Of())
		return
	}
	r.Why(whyAsk, top.ID)
	r.Send(top.ID, r.Question())
	r.SetTimer(patience(r.Delta(), r.Size()))
}

// Receive handles the only message that is not shared.
func (r *round) Receive(m proto.Message) {
	switch {
	case m.Body.Kind() != KindAsk:
		r.Refuse(whyOther, m.Body.Kind())
	case r.Vouches():
		r.Why(whyLed, m.From, r.Leader().ID)
		r.Tell(m.From)
	case r.Looking() && !r.TimerRuns() && !r.Aside():
		r.Begin()
	}
}

// Timeout makes this node lead: the highest did not, since it is dead or stands aside.
func (r *round) Timeout() { r.Take(whySilent.Of()) }

// PeersChanged asks again, since the highest may be gone.
func (r *round) PeersChanged(gone []proto.Peer) {
	if len(gone) > 0 && r.Taking() {
		r.Begin()
	}
}

// Won announces this node to all.
func (r *round) Won() { r.TellAll() }

func (r *round) Reset()                  {}
func (r *round) Heard(proto.Message)     {}
func (r *round) Question() proto.Body    { return Ask{r.Self()} }
func (r *round) Patience() time.Duration { return patience(r.Delta(), r.Size()) }
func (r *round) Announcement(leader proto.Peer) proto.Body {
	return nomination.Coordinator{Leader: leader}
}

// patience bounds a round: ASK_TO_LEAD to the highest node, which may pass it on to a still higher
// one, and COORDINATOR back. One more delta is left over.
func patience(delta time.Duration, _ int) time.Duration { return 4 * delta }

// About describes the algorithm for the catalogue.
func About() algorithms.About {
	return algorithms.About{
		Name:      "highest",
		Summary:   "the highest is asked to lead, and does",
		Guarantee: algorithms.BestEffort,
		Preempt:   true,
		New:       New,
		Kinds:     []proto.Kind{KindAsk, nomination.KindCoordinator},
		Theory: algorithms.Theory{
			Best:      func(n int) int { return n - 1 },
			Worst:     func(n int) int { return n },
			BestCase:  "the highest notices: n-1 COORDINATOR",
			WorstCase: "another notices: ASK_TO_LEAD, n-1 COORDINATOR",
			BestRun: algorithms.Run{
				Caller:   algorithms.Highest,
				Messages: "n-1", Transmissions: "1", Times: func(int) int { return 1 },
			},
			WorstRun: algorithms.Run{
				Caller:   algorithms.Lowest,
				Messages: "n", Transmissions: "2", Times: func(int) int { return 2 },
			},
		},
		Timeouts:  []algorithms.Wait{{Name: "COORDINATOR", Formula: "4Δ", Of: patience}},
		Agreement: nomination.AgreementAfter(patience),
		Reasons:   reasons.All(),
	}
}
