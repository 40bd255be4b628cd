package consensus

import (
	"fmt"

	"github.com/ringleader-dev/ringleader/algorithms/paxos"
	"github.com/ringleader-dev/ringleader/proto"
)

// The kinds of the consensus's messages.
var (
	KindPrepare = proto.NewKind[Prepare](
		101, "PREPARE", "promise to accept nothing of a lower ballot", proto.Nominates)
	KindPromise = proto.NewKind[Promise](
		102, "PROMISE", "promised; this I accepted last, and this I propose", proto.Nominates)
	KindAccept   = proto.NewKind[Accept](103, "ACCEPT", "accept this proposal", proto.Nominates)
	KindAccepted = proto.NewKind[Accepted](104, "ACCEPTED", "accepted", proto.Nominates)
	KindChosen   = proto.NewKind[Chosen](
		105, "CHOSEN", "a majority accepted this: it is chosen", proto.Nominates)
	KindEnquiry = proto.NewKind[Enquiry](106, "ENQUIRY", "was anybody chosen?", proto.Nominates)
)

// Prepare asks for the promise to take part in no lower ballot. Its sender is the proposer.
type Prepare struct {
	Ballot paxos.Ballot `msgpack:"b"`
}

func (Prepare) Kind() proto.Kind       { return KindPrepare }
func (b Prepare) String() string       { return proto.Describe(b, "ballot", b.Ballot) }
func (b Prepare) Validate() error      { return b.Ballot.Validate() }
func (b Prepare) Act() paxos.Act       { return paxos.Act{Opens: true, Ballot: b.Ballot} }
func (b Prepare) Caller() proto.NodeID { return b.Ballot.By }

// Promise answers Prepare: its sender takes part in no lower ballot of the term.
type Promise struct {
	Ballot paxos.Ballot `msgpack:"b"`
	// Accepted is the value that the sender accepted last, in ballot Last; nobody if it accepted
	// none.
	Last     paxos.Ballot `msgpack:"l"`
	Accepted proto.Peer   `msgpack:"a"`
	// Proposal is the value that the sender would propose: itself, or nobody if it is no candidate.
	Proposal proto.Peer `msgpack:"p"`
}

func (Promise) Kind() proto.Kind { return KindPromise }
func (b Promise) Act() paxos.Act { return paxos.Act{Ballot: b.Ballot} }

func (b Promise) String() string {
	pairs := []any{"ballot", b.Ballot}
	if b.Accepted.ID != 0 {
		pairs = append(pairs, "accepted "+b.Last.String(), b.Accepted)
	}
	if b.Proposal.ID != 0 {
		pairs = append(pairs, "proposes", b.Proposal)
	}
	return proto.Describe(b, pairs...)
}

func (b Promise) Validate() error {
	if err := b.Ballot.Validate(); err != nil {
		return err
	}
	if b.Accepted.ID == 0 {
		if b.Last != (paxos.Ballot{}) {
			return fmt.Errorf("nobody accepted in ballot %v", b.Last)
		}
	} else if err := b.Last.Validate(); err != nil {
		return err
	}
	for _, p := range []proto.Peer{b.Accepted, b.Proposal} {
		if p.ID > proto.MaxNodeID {
			return p.ID.Validate()
		}
	}
	return nil
}

// Accept asks all processes to accept the value, which is the process that should lead the term.
type Accept struct {
	Ballot paxos.Ballot `msgpack:"b"`
	Value  proto.Peer   `msgpack:"p"`
}

func (Accept) Kind() proto.Kind { return KindAccept }
func (b Accept) Act() paxos.Act {
	return paxos.Act{Accepts: true, Ballot: b.Ballot, Value: b.Value.Incarnation}
}
func (b Accept) String() string { return proto.Describe(b, "ballot", b.Ballot, "value", b.Value) }

func (b Accept) Validate() error {
	if err := b.Ballot.Validate(); err != nil {
		return err
	}
	return b.Value.ID.Validate()
}

// Accepted answers Accept: its sender accepted the value of the ballot.
type Accepted struct {
	Ballot paxos.Ballot `msgpack:"b"`
}

func (Accepted) Kind() proto.Kind  { return KindAccepted }
func (b Accepted) String() string  { return proto.Describe(b, "ballot", b.Ballot) }
func (b Accepted) Act() paxos.Act  { return paxos.Act{Accepts: true, Ballot: b.Ballot} }
func (b Accepted) Validate() error { return b.Ballot.Validate() }

// Chosen names the process whose proposal a majority accepted. The proposer sends it to that
// process alone, with Taken false. When that process leads, it sends Chosen with Taken true to all.
type Chosen struct {
	Leader proto.Peer `msgpack:"p"`
	Taken  bool       `msgpack:"k"`
}

func (Chosen) Kind() proto.Kind                          { return KindChosen }
func (b Chosen) Validate() error                         { return b.Leader.ID.Validate() }
func (b Chosen) Announced() (leader proto.Peer, ok bool) { return b.Leader, b.Taken }

func (b Chosen) String() string {
	if b.Taken {
		return proto.Describe(b, "leader", b.Leader)
	}
	return proto.Describe(b, "proposal", b.Leader)
}

// Enquiry asks who leads, and calls the election if nobody does.
type Enquiry struct {
	Self proto.Peer `msgpack:"p"`
}

func (Enquiry) Kind() proto.Kind       { return KindEnquiry }
func (b Enquiry) String() string       { return proto.Describe(b, "self", b.Self) }
func (b Enquiry) Validate() error      { return b.Self.ID.Validate() }
func (b Enquiry) Caller() proto.NodeID { return b.Self.ID }
