package nomination

import "github.com/ringleader-dev/ringleader/proto"

// The kinds of the messages that several algorithms share.
var (
	KindTimeoutNow = proto.NewKind[TimeoutNow](
		16, "STAND_NOW", "I lead no more, or nobody does: take the next term", proto.Nominates, proto.HandsOver)
	KindCoordinator = proto.NewKind[Coordinator](
		19, "COORDINATOR", "this node leads", proto.Nominates, proto.TellsAll)
)

// Kinds returns the kinds of messages that this package declares.
func Kinds() []proto.Kind { return []proto.Kind{KindTimeoutNow, KindCoordinator} }

// TimeoutNow asks its receiver to lead the next term at once. A leader that resigns sends it, and a node
// that stands aside and knows that a term is over. Leaders that hand over under a lease send another
// message, TIMEOUT_NOW.
//
// Source: Ongaro, "Consensus: Bridging Theory and Practice" (2014), 3.10.
type TimeoutNow struct{}

func (TimeoutNow) Kind() proto.Kind { return KindTimeoutNow }
func (b TimeoutNow) String() string { return proto.Describe(b) }
func (TimeoutNow) Validate() error  { return nil }

// Coordinator announces the leader of its term. A process that relays it names the leader, not
// itself.
type Coordinator struct {
	Leader proto.Peer `msgpack:"p"`
}

func (Coordinator) Kind() proto.Kind                          { return KindCoordinator }
func (b Coordinator) String() string                          { return proto.Describe(b, "leader", b.Leader) }
func (b Coordinator) Validate() error                         { return b.Leader.ID.Validate() }
func (b Coordinator) Announced() (leader proto.Peer, ok bool) { return b.Leader, true }
