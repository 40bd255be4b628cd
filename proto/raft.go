package proto

import "time"

// The messages of Raft's leader election that no other algorithm has. A PRE_VOTE is
// answered with an ANSWER, a REQUEST_VOTE with a VOTE or a DENY, a HEARTBEAT with a
// HEARTBEAT_ACK or a DENY; a term is given back with a RELEASE, as in the office. The
// envelope's term is the one that is asked for, voted in or led. Nonces tell one round
// of questions from another of the same process.
// Source: Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm"
// (2014), 5.2; of PreVote, Ongaro, "Consensus: Bridging Theory and Practice" (2014), 9.6.

// PreVote asks a voter whether it would vote for the sender now. It changes nothing.
type PreVote struct {
	Session Session // of the sender
	Nonce   uint64
	Voters  VoterSet // of the sender
}

// RequestVote asks a voter for its vote in the term, and for its promise to vote for
// nobody else until that runs out.
type RequestVote struct {
	Session Session // of the sender
	Nonce   uint64
	Voters  VoterSet // of the sender
}

// Vote is a vote, durable, and a promise.
type Vote struct {
	Session Session // of the candidate
	Nonce   uint64
	Voters  VoterSet // of the voter
}

// Heartbeat says that the sender leads, and for how long if no majority answers; it
// asks voters for their promise anew.
type Heartbeat struct {
	Leader    Peer
	Nonce     uint64
	Remaining time.Duration // when it was sent; whole microseconds
	Voters    VoterSet      // of the sender
	// Lent: the sender is to lend the lease that it asks for, see Renew.
	Lent bool
}

// HeartbeatAck is a follower's promise anew.
type HeartbeatAck struct {
	Session Session // of the leader
	Nonce   uint64
	Voters  VoterSet // of the voter
}

func (PreVote) Kind() Kind      { return KindPreVote }
func (RequestVote) Kind() Kind  { return KindRequestVote }
func (Vote) Kind() Kind         { return KindVote }
func (Heartbeat) Kind() Kind    { return KindHeartbeat }
func (HeartbeatAck) Kind() Kind { return KindHeartbeatAck }

func (b PreVote) String() string      { return b.Kind().String() }
func (b RequestVote) String() string  { return b.Kind().String() }
func (b Vote) String() string         { return b.Kind().String() }
func (b HeartbeatAck) String() string { return b.Kind().String() }
func (b Heartbeat) String() string {
	return describe(b, "leader", b.Leader, "for", b.Remaining.Round(time.Millisecond)) + ifLent(b.Lent)
}

func (b PreVote) validate() error      { return validateRound(b.Session, b.Voters) }
func (b RequestVote) validate() error  { return validateRound(b.Session, b.Voters) }
func (b Vote) validate() error         { return validateRound(b.Session, b.Voters) }
func (b HeartbeatAck) validate() error { return validateRound(b.Session, b.Voters) }
func (b Heartbeat) validate() error    { return Lease{b.Leader, b.Remaining, b.Voters}.validate() }
