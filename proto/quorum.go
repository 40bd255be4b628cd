package proto

import (
	"cmp"
	"fmt"
	"math"
)

// The messages of the algorithms that count a quorum themselves.

// Watch asks its receiver, the next above its sender, whether it is there, and who
// leads (ZooKeeper). It calls the election, and passes the call on.
type Watch struct {
	Self Peer
}

// Exists answers Watch: its sender is there, and sees to the election.
type Exists struct{}

// NewLeader asks all to follow the candidate, its sender (ZooKeeper).
type NewLeader struct {
	Candidate Peer
}

// NewLeaderAck answers NewLeader. Candidate is the session of the process that it is
// for: a node sends it for one process a term.
type NewLeaderAck struct {
	Candidate Session
}

// Commit announces the leader of its term, to which a quorum sent ACK (ZooKeeper).
type Commit struct {
	Leader Peer
}

// Ballot numbers an attempt at having a value chosen: no two processes have the same.
// The zero Ballot is below all.
type Ballot struct {
	Round uint64
	By    NodeID
}

// Compare is negative if b is below c, and positive if it is above.
func (b Ballot) Compare(c Ballot) int {
	return cmp.Or(cmp.Compare(b.Round, c.Round), cmp.Compare(b.By, c.By))
}

// String is "round.proposer".
func (b Ballot) String() string { return fmt.Sprintf("%d.%d", b.Round, b.By) }

// Prepare asks for the promise to take part in no lower ballot (Paxos). Its sender is
// the proposer.
type Prepare struct {
	Ballot Ballot
}

// Promise answers Prepare: its sender takes part in no lower ballot of the term.
type Promise struct {
	Ballot Ballot
	// Accepted is the value that the sender accepted last, in Last; nobody for none.
	Last     Ballot
	Accepted Peer
	// Proposal is the value that the sender itself proposes: itself, or nobody.
	Proposal Peer
}

// Accept asks all to accept the value: the process that is to lead the term.
type Accept struct {
	Ballot Ballot
	Value  Peer
}

// Accepted answers Accept: its sender accepted the value of the ballot.
type Accepted struct {
	Ballot Ballot
}

// Enquiry asks who leads, and calls the election if nobody does (Paxos).
type Enquiry struct {
	Self Peer
}

// Chosen says whose proposal a majority accepted. Taken says that this process leads
// since; before, it is told only to that one.
type Chosen struct {
	Leader Peer
	Taken  bool
}

func (Watch) Kind() Kind        { return KindWatch }
func (Exists) Kind() Kind       { return KindExists }
func (NewLeader) Kind() Kind    { return KindNewLeader }
func (NewLeaderAck) Kind() Kind { return KindNewLeaderAck }
func (Commit) Kind() Kind       { return KindCommit }
func (Prepare) Kind() Kind      { return KindPrepare }
func (Promise) Kind() Kind      { return KindPromise }
func (Accept) Kind() Kind       { return KindAccept }
func (Accepted) Kind() Kind     { return KindAccepted }
func (Chosen) Kind() Kind       { return KindChosen }
func (Enquiry) Kind() Kind      { return KindEnquiry }

func (b Watch) Caller() NodeID     { return b.Self.ID }
func (b NewLeader) Caller() NodeID { return b.Candidate.ID }
func (b Prepare) Caller() NodeID   { return b.Ballot.By }
func (b Enquiry) Caller() NodeID   { return b.Self.ID }

func (b Commit) Announced() (leader Peer, ok bool) { return b.Leader, true }
func (b Chosen) Announced() (leader Peer, ok bool) { return b.Leader, b.Taken }

func (b Watch) String() string        { return describe(b, "self", b.Self) }
func (b Exists) String() string       { return b.Kind().String() }
func (b NewLeader) String() string    { return describe(b, "candidate", b.Candidate) }
func (b NewLeaderAck) String() string { return describe(b, "for", b.Candidate.Short()) }
func (b Commit) String() string       { return describe(b, "leader", b.Leader) }
func (b Prepare) String() string      { return describe(b, "ballot", b.Ballot) }
func (b Accept) String() string       { return describe(b, "ballot", b.Ballot, "value", b.Value) }
func (b Accepted) String() string     { return describe(b, "ballot", b.Ballot) }
func (b Enquiry) String() string      { return describe(b, "self", b.Self) }

func (b Promise) String() string {
	pairs := []any{"ballot", b.Ballot}
	if b.Accepted.ID != 0 {
		pairs = append(pairs, "accepted "+b.Last.String(), b.Accepted)
	}
	if b.Proposal.ID != 0 {
		pairs = append(pairs, "proposes", b.Proposal)
	}
	return describe(b, pairs...)
}

func (b Chosen) String() string {
	if b.Taken {
		return describe(b, "leader", b.Leader)
	}
	return describe(b, "proposal", b.Leader)
}

func (b Watch) validate() error      { return b.Self.ID.Validate() }
func (Exists) validate() error       { return nil }
func (b NewLeader) validate() error  { return b.Candidate.ID.Validate() }
func (NewLeaderAck) validate() error { return nil }
func (b Commit) validate() error     { return b.Leader.ID.Validate() }
func (b Prepare) validate() error    { return b.Ballot.validate() }
func (b Accepted) validate() error   { return b.Ballot.validate() }
func (b Chosen) validate() error     { return b.Leader.ID.Validate() }
func (b Enquiry) validate() error    { return b.Self.ID.Validate() }

func (b Accept) validate() error {
	if err := b.Ballot.validate(); err != nil {
		return err
	}
	return b.Value.ID.Validate()
}

func (b Promise) validate() error {
	if err := b.Ballot.validate(); err != nil {
		return err
	}
	if b.Accepted.ID == 0 {
		if b.Last != (Ballot{}) {
			return fmt.Errorf("nobody accepted in ballot %v", b.Last)
		}
	} else if err := b.Last.validate(); err != nil {
		return err
	}
	for _, p := range []Peer{b.Accepted, b.Proposal} {
		if p.ID > MaxNodeID {
			return p.ID.Validate()
		}
	}
	return nil
}

func (b Ballot) validate() error {
	if b.Round == 0 || b.Round > math.MaxInt64 {
		return fmt.Errorf("round %d of a ballot: 1 to %d", b.Round, int64(math.MaxInt64))
	}
	return b.By.Validate()
}
