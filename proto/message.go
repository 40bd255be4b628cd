package proto

import (
	"fmt"
	"strings"
)

// Kind tells what a message says. It stands in the frame header, outside
// msgpack. Numbers are never reused.
type Kind uint8

// Kinds below 16 belong to the link between two processes, those from 32 to the
// office, those from 48 to transfers, those from 64 to the mending of a split
// brain, those from 84 to Raft, the others to the nominations.
const (
	KindHello   Kind = 1
	KindWelcome Kind = 2
	KindRefuse  Kind = 3
	KindAck     Kind = 4
	KindPing    Kind = 5
	KindPong    Kind = 6
	KindPingReq Kind = 7
	KindPingRes Kind = 8

	KindTimeoutNow   Kind = 16
	KindElection     Kind = 17
	KindOK           Kind = 18
	KindCoordinator  Kind = 19
	KindRingElection Kind = 20
	KindElected      Kind = 21
	KindIdentity     Kind = 22

	KindTokenElection    Kind = 23
	KindTokenCoordinator Kind = 24
	KindProbe            Kind = 25
	KindProbeReply       Kind = 26

	KindAsk     Kind = 32
	KindAnswer  Kind = 33
	KindClaim   Kind = 34
	KindRenew   Kind = 35
	KindGrant   Kind = 36
	KindDeny    Kind = 37
	KindRelease Kind = 38
	KindLease   Kind = 39

	KindOffer    Kind = 48
	KindReply    Kind = 49
	KindTakeOver Kind = 50

	// How a voter that lost its disk comes back, or finds out that it lost nothing.
	KindReturn   Kind = 56
	KindStanding Kind = 57
	KindUnvoted  Kind = 58

	KindAccount Kind = 64
	KindTruce   Kind = 65
	KindSettled Kind = 66

	// More of the nominations.
	KindCandidate Kind = 67

	KindHalt    Kind = 68
	KindHalted  Kind = 69
	KindReject  Kind = 70
	KindLeads   Kind = 71
	KindNotNorm Kind = 72

	KindAreYouCoordinator Kind = 76
	KindGroup             Kind = 77
	KindInvitation        Kind = 78
	KindAcceptInvitation  Kind = 79
	KindReady             Kind = 80

	KindPreVote      Kind = 84
	KindRequestVote  Kind = 85
	KindVote         Kind = 86
	KindHeartbeat    Kind = 87
	KindHeartbeatAck Kind = 88

	KindWatch        Kind = 96
	KindExists       Kind = 97
	KindNewLeader    Kind = 98
	KindNewLeaderAck Kind = 99
	KindCommit       Kind = 100
	KindPrepare      Kind = 101
	KindPromise      Kind = 102
	KindAccept       Kind = 103
	KindAccepted     Kind = 104
	KindChosen       Kind = 105
	KindEnquiry      Kind = 106
)

// Nominates reports whether messages of the kind are of an algorithm that an office
// can be around, rather than of the office.
func (k Kind) Nominates() bool {
	return k >= KindTimeoutNow && k < KindAsk || k >= KindCandidate && k < KindPreVote ||
		k >= KindWatch && k <= KindEnquiry
}

// names are the words of the seeds. Several algorithms have an ELECTION of their
// own: one word, as many kinds. So have TIMEOUT_NOW and ACK.
var names = map[Kind]string{
	KindHello:        "HELLO",
	KindWelcome:      "WELCOME",
	KindRefuse:       "REFUSE",
	KindAck:          "ACK",
	KindPing:         "PING",
	KindPong:         "PONG",
	KindPingReq:      "PING_REQ",
	KindPingRes:      "PING_RES",
	KindTimeoutNow:   "TIMEOUT_NOW",
	KindElection:     "ELECTION",
	KindOK:           "OK",
	KindCoordinator:  "COORDINATOR",
	KindRingElection: "ELECTION",
	KindElected:      "ELECTED",
	KindIdentity:     "ID",
	KindAsk:          "ASK",
	KindAnswer:       "ANSWER",
	KindClaim:        "CLAIM",
	KindRenew:        "RENEW",
	KindGrant:        "GRANT",
	KindDeny:         "DENY",
	KindRelease:      "RELEASE",
	KindLease:        "LEASE",
	KindOffer:        "OFFER",
	KindReply:        "REPLY",
	KindTakeOver:     "TIMEOUT_NOW",
	KindReturn:       "RETURN",
	KindStanding:     "STANDING",
	KindUnvoted:      "UNVOTED",
	KindAccount:      "ACCOUNT",
	KindTruce:        "TRUCE",
	KindSettled:      "SETTLED",

	KindTokenElection:    "ELECTION",
	KindTokenCoordinator: "COORDINATOR",
	KindProbe:            "PROBE",
	KindProbeReply:       "REPLY",

	KindCandidate: "CANDIDATE",

	KindHalt:    "HALT",
	KindHalted:  "ACK",
	KindReject:  "REJECT",
	KindLeads:   "LEADER",
	KindNotNorm: "NOT_NORM",

	KindAreYouCoordinator: "ARE_YOU_COORDINATOR",
	KindGroup:             "GROUP",
	KindInvitation:        "INVITATION",
	KindAcceptInvitation:  "ACCEPT",
	KindReady:             "READY",

	KindPreVote:      "PRE_VOTE",
	KindRequestVote:  "REQUEST_VOTE",
	KindVote:         "VOTE",
	KindHeartbeat:    "HEARTBEAT",
	KindHeartbeatAck: "HEARTBEAT_ACK",

	KindWatch:        "WATCH",
	KindExists:       "EXISTS",
	KindNewLeader:    "NEW_LEADER",
	KindNewLeaderAck: "ACK",
	KindCommit:       "COMMIT",
	KindPrepare:      "PREPARE",
	KindPromise:      "PROMISE",
	KindAccept:       "ACCEPT",
	KindAccepted:     "ACCEPTED",
	KindChosen:       "CHOSEN",
	KindEnquiry:      "ENQUIRY",
}

// String is the kind in the words of the seeds.
func (k Kind) String() string {
	if name, ok := names[k]; ok {
		return name
	}
	return fmt.Sprintf("KIND(%d)", uint8(k))
}

// Body is what a message says beyond its envelope: one small struct a kind.
type Body interface {
	// Kind is the kind that the frame header states for this struct.
	Kind() Kind
	// String is the body for people, the kind's word first.
	String() string
	// validate refuses values that no correct node sends.
	validate() error
}

// Message is one election message. From, Term and Body are the Machine's; Seq
// and HLC are stamped by whoever runs it.
type Message struct {
	From, To NodeID
	Term     Term
	Seq      uint64 // the sender's own count of messages, from 1 at each start
	HLC      HLC    // the sender's clock when it sent
	Body     Body
}

// ID is the message's name, "sender:seq": a send and its receipt pair up by it.
func (m Message) ID() string { return fmt.Sprintf("%d:%d", m.From, m.Seq) }

// TimeoutNow asks its receiver to lead the next term, at once: from a leader
// that resigns, or from a node that stands aside and knows that a term is over.
// Source: Ongaro, "Consensus: Bridging Theory and Practice" (2014), 3.10.
type TimeoutNow struct{}

// Election asks a higher-ranked process to take over (bully). Candidate is the
// sender, with its attribute frozen for the term.
type Election struct {
	Candidate Peer
}

// OK answers an Election: a higher-ranked process is alive and goes on.
type OK struct{}

// Coordinator announces the leader of its term (bully). A process that relays
// it names the leader, not itself.
type Coordinator struct {
	Leader Peer
}

// RingElection goes clockwise and collects the best candidate (ring).
type RingElection struct {
	Initiator NodeID
	Best      Peer
	Hops      uint64 // links travelled so far, this one included
}

// Elected goes clockwise and announces the leader of its term (ring).
type Elected struct {
	Leader Peer
	Hops   uint64 // links travelled so far, this one included
}

// Identity tells everybody who the sender is, and calls the election (broadcast).
// Self is the sender, with its attribute frozen for the term.
type Identity struct {
	Self Peer
}

// MaxHops bounds a hop count taken from the wire.
const MaxHops = 1 << 20

func (TimeoutNow) Kind() Kind   { return KindTimeoutNow }
func (Election) Kind() Kind     { return KindElection }
func (OK) Kind() Kind           { return KindOK }
func (Coordinator) Kind() Kind  { return KindCoordinator }
func (RingElection) Kind() Kind { return KindRingElection }
func (Elected) Kind() Kind      { return KindElected }
func (Identity) Kind() Kind     { return KindIdentity }

// Caller is who called the election that the message is about.

func (b Election) Caller() NodeID     { return b.Candidate.ID }
func (b RingElection) Caller() NodeID { return b.Initiator }
func (b Identity) Caller() NodeID     { return b.Self.ID }

// Announced is whom the message announces as the leader of its term; ok is false
// for one that does not.

func (b Coordinator) Announced() (leader Peer, ok bool) { return b.Leader, true }
func (b Elected) Announced() (leader Peer, ok bool)     { return b.Leader, true }

func (b TimeoutNow) String() string  { return b.Kind().String() }
func (b Election) String() string    { return describe(b, "candidate", b.Candidate) }
func (b OK) String() string          { return b.Kind().String() }
func (b Coordinator) String() string { return describe(b, "leader", b.Leader) }
func (b RingElection) String() string {
	return describe(b, "best", b.Best, "initiator", b.Initiator)
}
func (b Elected) String() string  { return describe(b, "leader", b.Leader) }
func (b Identity) String() string { return describe(b, "self", b.Self) }

// describe writes "KIND name value, name value"; a peer as the seeds' id:attr.
func describe(b Body, pairs ...any) string {
	parts := make([]string, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		value := pairs[i+1]
		if p, ok := value.(Peer); ok {
			value = fmt.Sprintf("%d:%d", p.ID, p.Attr)
			if p.Attr == ChosenAttr {
				value = p.ID.String() + ":chosen"
			}
		}
		parts = append(parts, fmt.Sprintf("%v %v", pairs[i], value))
	}
	return b.Kind().String() + " " + strings.Join(parts, ", ")
}

func (TimeoutNow) validate() error    { return nil }
func (OK) validate() error            { return nil }
func (b Election) validate() error    { return b.Candidate.ID.Validate() }
func (b Coordinator) validate() error { return b.Leader.ID.Validate() }
func (b Identity) validate() error    { return b.Self.ID.Validate() }

func (b RingElection) validate() error {
	if err := b.Initiator.Validate(); err != nil {
		return err
	}
	if err := b.Best.ID.Validate(); err != nil {
		return err
	}
	return validateHops(b.Hops)
}

func (b Elected) validate() error {
	if err := b.Leader.ID.Validate(); err != nil {
		return err
	}
	return validateHops(b.Hops)
}

func validateHops(n uint64) error {
	if n > MaxHops {
		return fmt.Errorf("%d hops: at most %d", n, MaxHops)
	}
	return nil
}
