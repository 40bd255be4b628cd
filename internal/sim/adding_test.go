package sim

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// kindAsk is the one kind of message that the algorithm has to itself.
var kindAsk = proto.NewKind[ask](199, "ASK_TO_LEAD", "I see nobody above you: lead", proto.Nominates)

// ask calls an election: its receiver is the highest that the sender sees.
type ask struct {
	Self proto.Peer `msgpack:"p"`
}

func (ask) Kind() proto.Kind       { return kindAsk }
func (b ask) String() string       { return proto.Describe(b, "self", b.Self) }
func (b ask) Validate() error      { return b.Self.ID.Validate() }
func (b ask) Caller() proto.NodeID { return b.Self.ID }

// highest is about the smallest algorithm there is: whoever calls an election asks the
// highest node that it sees, which says that it leads.
type highest struct {
	nomination.Core // terms, beliefs, damping, handing over: what all share
}

func newHighest(cfg algorithms.Config) algorithms.Machine {
	m := &highest{}
	m.Init(cfg, highestRound{m})
	return m
}

// highestRound is what the algorithm adds: how the nodes of one term find the best.
type highestRound struct{ *highest }

// reasons are all that the algorithm gives of its own. What each decides is for whoever
// explains elections.
var (
	reasons   = algorithms.ReasonsOf("highest")
	whyTop    = reasons.Kind("top", "nobody is above this node")
	whyAsk    = reasons.Kind("ask", "%d is the highest -> ask it to lead", algorithms.Outranks(algorithms.Self, 0))
	whyOther  = reasons.Kind("other", "%s is no message of this algorithm -> drop it")
	whyLed    = reasons.Kind("led", "%d asks, and %d leads -> tell it")
	whySilent = reasons.Kind("silent", "the highest did not say in time that it leads")
)

// Begin starts this node's own part in the round of the current term.
func (r highestRound) Begin() {
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
func (r highestRound) Receive(m proto.Message) {
	switch {
	case m.Body.Kind() != kindAsk:
		r.Refuse(whyOther, m.Body.Kind())
	case r.Vouches():
		r.Why(whyLed, m.From, r.Leader().ID)
		r.Tell(m.From)
	case r.Looking() && !r.TimerRuns() && !r.Aside():
		r.Begin()
	}
}

// Timeout ends the wait: the highest is dead, or stands aside.
func (r highestRound) Timeout() { r.Take(whySilent.Of()) }

// PeersChanged: the highest may be gone.
func (r highestRound) PeersChanged(gone []proto.Peer) {
	if len(gone) > 0 && r.Taking() {
		r.Begin()
	}
}

// Won announces this node to all.
func (r highestRound) Won() { r.TellAll() }

func (r highestRound) Reset()                  {}
func (r highestRound) Heard(proto.Message)     {}
func (r highestRound) Question() proto.Body    { return ask{r.Self()} }
func (r highestRound) Patience() time.Duration { return patience(r.Delta(), r.Size()) }
func (r highestRound) Announcement(leader proto.Peer) proto.Body {
	return nomination.Coordinator{Leader: leader}
}

// patience bounds a round: ASK_TO_LEAD to the highest, or by one that is higher to one
// that is higher still, and COORDINATOR back.
func patience(delta time.Duration, _ int) time.Duration { return 4 * delta }

// aboutHighest is what the catalogue would list.
func aboutHighest() algorithms.About {
	return algorithms.About{
		Name:      "highest",
		Summary:   "the highest is asked to lead, and does",
		Guarantee: algorithms.BestEffort,
		Preempt:   true,
		New:       newHighest,
		Kinds:     []proto.Kind{kindAsk, nomination.KindCoordinator},
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
