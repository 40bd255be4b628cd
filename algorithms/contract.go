// Package algorithms is the contract between election algorithms and their hosts: the runtime of a
// node, and the simulator.
//
// A Machine is pure. It reads no clock, opens no socket, starts no goroutine and draws no global random
// number: time is a parameter, the timer is a result, and equal events in equal order give equal
// outputs. Membership is a hint: it may decide which node is asked first, but never whether something is
// safe.
package algorithms

import (
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// Machine is one node's part in an election algorithm. Only one goroutine at a time may use a
// Machine.
type Machine interface {
	// Step takes one event and returns all that should happen because of it. now never goes back
	// from one Step to the next. The first event is Start.
	Step(now time.Time, ev Event) Output
}

// Event is something that happens to a Machine.
type Event interface{ event() }

// The events.
type (
	// Start is the first event. It carries the state that the last process of the node saved.
	Start struct{ Saved State }

	// Receive delivers a message from another node. It may come late, twice, out of order, or from
	// a former process of its sender.
	Receive struct {
		proto.Message
		// At is the reading of the hybrid clock at the receipt. It orders events in reports. No
		// decision of a Machine may depend on it.
		At proto.HLC
	}

	// Timeout says that the last Deadline has passed. A Timeout before the Deadline is harmless.
	Timeout struct{}

	// PeersChanged tells the opinion of the failure detector. The opinion may be wrong.
	PeersChanged struct {
		// Alive are the processes that the detector believes alive, this one included, in the order of
		// their ids. Each has its present attribute, and says whether it is eligible. The entry of this
		// node does not say whether this node is eligible: the event Eligible does. A Machine may keep
		// the list; nobody writes to the list any more.
		Alive []proto.Peer
		// Evidence says what changed the opinion. It is for the record only.
		Evidence string
	}

	// Campaign is an operator's request to call an election.
	Campaign struct {
		Reason string
		// Anew lets a leader that is not eligible (see Eligible.Keep), or that an operator chose,
		// lead on in a new term without an election. For all other nodes it changes nothing. Only a
		// Machine around a nominating Machine sets it.
		Anew bool
	}

	// Resign makes the node step down, if it leads, and then stand aside: it is no candidate until
	// the next Campaign or restart. To is the successor; zero means the best node. Why says for the record
	// who asked for it, or what for.
	Resign struct {
		To  proto.NodeID
		Why string
	}

	// Transfer is an operator's request to hand leadership over to the node To or, if To is zero, to the
	// best eligible node. The leader asks the successor first. If the successor cannot or will not lead,
	// the leader leads on. Otherwise the leader leaves in the same order as with Resign, but stays
	// eligible. While the chosen successor leads, no higher-ranked node takes over. Output.Transfer
	// tells the result, in this Step or in a later one.
	Transfer struct {
		// To is the successor that the operator named, or that the leader chose.
		To proto.NodeID
		// Leaves says that the host will end the leadership next, with Resign or Eligible, whatever the
		// answer of the successor is. So the leader asks the next best node if one successor refuses.
		// The next leader does not count as an operator's choice. Only a Machine whose leader has a
		// lease is given such a request.
		Leaves bool
		// Why says for the record who asked for the transfer, and what for.
		Why string
	}

	// Lend is the host's request to lend the lease to another process, which then acts as the
	// leader until the lease ends, whatever happens to this node. Output.Lent tells the result, in
	// this Step or in a later one. Only a Machine whose leader has a lease is given such a request.
	Lend struct{}

	// Eligible says whether this node may lead from now on. Operators pause nodes, and health
	// checks fail. The host merges all causes into one event and gives a new one whenever the
	// result changes. At the start a Machine is eligible.
	//
	// A node that may not lead calls no election and wins none. It follows, answers and votes as before.
	// If it leads, it resigns: from that Step on it does not lead, and it hands over to the best
	// eligible node that it knows. The other nodes learn from their views and from Output.Ineligible
	// that the node is not eligible. So they need not wait for its answer; but nothing depends on this
	// knowledge. Campaign does not end the effect of Eligible, as it ends that of Resign; only another
	// Eligible does.
	Eligible struct {
		OK bool
		// Keep lets a leader that is not eligible lead on until it loses its leadership. After that the
		// node is no candidate. The host sets Keep in a cluster in which no election should happen.
		Keep bool
		// Why lists every cause, for the record; it is empty when OK.
		Why string
	}

	// PeerProvenDead is the proof that a process is dead: its connection ended cleanly, and a dial
	// that began afterwards found its address refusing connections, or another incarnation there. A
	// view is an opinion; this is a proof, as long as nothing between the nodes ends connections of
	// a living process. The process does nothing more, but what it has sent may still arrive, for
	// example at a storage.
	PeerProvenDead struct {
		// ID and Incarnation name the process, which may have led Term.
		ID          proto.NodeID
		Incarnation proto.Incarnation
	}

	// PeerHeardAgain takes back a proof of death: the process answered on a connection that was dialled
	// after the proof, so the proof was wrong. A voter that the proof freed stays free. Messages of the
	// process count again.
	PeerHeardAgain struct {
		ID          proto.NodeID
		Incarnation proto.Incarnation
	}

	// WorkStopped says that this node no longer leads Term, and that all its work as the leader
	// of Term has stopped. The last lease that it lent has ended, or was given back.
	WorkStopped struct{ Term proto.Term }

	// LeaseExpired says that this node led Term, and that its lease ran out before the renewal
	// took effect. The node leads Term no more.
	LeaseExpired struct{ Term proto.Term }

	// Reconciled answers Output.Reconcile: it tells the outcome for the Split with this Number.
	Reconciled struct {
		Number  uint64
		Outcome Outcome
	}

	// Fenced tells the result of the attempt that Output.Fence asked for.
	Fenced struct {
		Fence Fence
		// OK says that the agent confirmed that the process has stopped.
		OK bool
		// Detail says how the attempt ended, as in "exit 0 after 40ms". It is for the record only.
		Detail string
	}
)

func (Start) event()          {}
func (Receive) event()        {}
func (Timeout) event()        {}
func (PeersChanged) event()   {}
func (Campaign) event()       {}
func (Resign) event()         {}
func (PeerProvenDead) event() {}
func (PeerHeardAgain) event() {}
func (Transfer) event()       {}
func (Lend) event()           {}
func (LeaseExpired) event()   {}
func (WorkStopped) event()    {}
func (Eligible) event()       {}
func (Reconciled) event()     {}
func (Fenced) event()         {}

// Output says what the host must do after a Step, in the order of the fields.
type Output struct {
	// Save must be durable before anything below leaves the node. It is nil when nothing changed. A
	// host that cannot save ends the node.
	Save *State
	// Send are messages; each may be lost, delayed, repeated and reordered. The slice, but not the
	// messages, belongs to the Machine again from its next Step on.
	Send []proto.Message
	// Deadline is when the host delivers Timeout; zero means never. Each Deadline replaces the Deadline
	// of the Step before.
	Deadline time.Time
	// Leader is the present belief about who leads. Every Output has it.
	Leader Leader
	// Transfer is the result of the last Transfer event. It is nil in a Step that ends no transfer.
	Transfer *TransferEnd
	// Lent is the result of all Lend events that had no result so far. It is nil in a Step that ends no
	// Lend.
	Lent *LendEnd
	// Ineligible says why this node is not eligible; it is empty while the node is eligible. Every
	// Output has it. A Machine may become ineligible for a while without an event. The host tells
	// the other nodes, by proto.Peer.Ineligible.
	Ineligible string
	// Voters is this node's list of voters, and whether that list is committed. Every Output of a
	// Machine whose leaders have leases has it.
	Voters VoterState
	// Round is the term that this Step is about, if that is not the term of Leader; else it may be zero.
	Round proto.Term
	// Reconcile is the split that the host has to reconcile now. Every Output has it until the host
	// has answered with Reconciled. If it becomes nil before that, or gets another Number, the host
	// must end the command that it runs for it: another node has taken over.
	Reconcile *Split
	// Splits are news about split brains.
	Splits []Split
	// Why are the reasons of this Step.
	Why []Reason
	// Warn says that the Machine refused the event, because a correct peer does not send it. The
	// last reason in Why says what it refused, and why.
	Warn bool
	// Recovery says what a voter without a saved vote waits for. Every Output has it until the
	// voter votes; for all other voters it is nil.
	Recovery *Recovery
	// Fence is the attempt that the host's fence agent should work at after this Step; nil for none. The
	// host answers it with one Fenced. If an attempt of an earlier Step still runs and is not this one,
	// the host ends that attempt and does not answer it.
	Fence *Fence
	// Ask is what the host should ask of the store. Every Output has it until the Machine has taken the
	// answer. If another Output has another Ask or none, the host ends the ask before and does not answer it.
	Ask *Ask
	// Store is what the Machine knows of its store. Every Output of a Machine on a store has it.
	Store *StoreState
	// End says why this node must end. It is empty as long as the node may go on.
	End string
}

// Fence is one attempt to have a process stopped, or to have confirmed that it stopped.
type Fence struct {
	// ID and Incarnation are the process that may have held Term.
	ID          proto.NodeID
	Incarnation proto.Incarnation
	Term        proto.Term
	// For is the term that voters have granted to this node, and that it takes only after the
	// process has stopped.
	For proto.Term
	// Attempt counts the attempts, from 1.
	Attempt int
	Reason  string
}

// Recovery is the state of a voter of which no vote is saved: it is new, or it lost its disk. It
// votes for nobody until others have told it what it may have voted, or until all voters say that
// they never voted.
type Recovery struct {
	// Until is when the voter asks the others, by this node's clock. By then every promise that it
	// may have made has ended.
	Until time.Time
	// Asked says that the voter has asked the others.
	Asked bool
	// Lost are the voters of which no vote is saved either, this voter included. Told are the voters
	// that told what they voted. Others are voters that told this, too, but do not count, since they
	// have another list of voters. Silent are all other voters.
	Lost, Told, Others, Silent []proto.NodeID
	// Need is the number of voters that must tell what they voted.
	Need int
	// Voted is the highest term in which one of Told voted.
	Voted proto.Term
}

// TransferEnd is the result of a transfer, as far as the leader knows it.
type TransferEnd struct {
	// To is the successor: the node that the request named, or that the leader chose.
	To proto.NodeID
	// Refused says why nothing changed and what to do next, in the words of a Refusal. It is empty
	// when the leader gave way; the leader tells the successor to lead once its own work has
	// stopped.
	Refused string
}

// LendEnd is the result of a Lend.
type LendEnd struct {
	// Refused says why no lease was lent, in the words of a Refusal; it is empty when a lease was lent.
	Refused string
	// For is how long the lease is lent, from this Step on, by any clock.
	For time.Duration
	// Until is the time at which For has passed by every clock. No other process leads before then,
	// unless WorkStopped comes first.
	Until time.Time
}

// State has everything that a node must not forget when its process ends.
type State struct {
	// Term is the highest term in which this node had taken part when the State was saved.
	Term proto.Term
	// Reserved is the highest term in which this node may have taken part since then; at least Term. A
	// term is reserved in advance, when nobody waits for the disk, so that an election need not wait for
	// the disk. Before a message leaves the node, its term is durably known to be at most Reserved.
	Reserved proto.Term
	// Vote is the node's vote in Vote.Term; ID zero is nobody. A term with nobody marks a voter
	// that lost its disk: it must not vote in that term or below, except for the leader of that
	// term.
	Vote Vote
	// Promise is the longest time for which this node ever promised to vote for nobody else.
	Promise time.Duration
	// Stopped says that the process of Vote was seen to stop. Fencing uses it.
	Stopped bool
	// Former are earlier votes whose processes were not seen to stop.
	Former proto.Leaderships
	// Voters is the list that this node had when it last gave a vote or a promise to a node with
	// the same list, or learned that the list is committed. Zero means never.
	Voters VoterState
}

// VoterState is a list of voters and its state; see package lease.
type VoterState struct {
	List proto.VoterList
	// Version is the number of lists that the cluster had before.
	Version uint64
	// Committed says that a leader with this list heard from enough voters of the list that they have
	// it.
	Committed bool
	// Changed is the voter by which the list differs from the committed list before it. It is zero
	// for the first list, and once this list is committed.
	Changed proto.NodeID
}

// Vote is a vote for one process in one term.
type Vote struct {
	Term        proto.Term
	ID          proto.NodeID
	Incarnation proto.Incarnation
}

// Leader is a belief about who leads a term. ID zero is "nobody".
type Leader struct {
	ID          proto.NodeID
	Incarnation proto.Incarnation
	// Term is the node's own term, whoever leads it.
	Term proto.Term
	// Until is the end of the lease, by this node's clock: the belief ends then. It is zero for a
	// best-effort belief, which has no lease.
	Until time.Time
}

// Leadership returns the leadership that l names.
func (l Leader) Leadership() proto.Leadership {
	return proto.Leadership{Term: l.Term, Leader: l.ID, Incarnation: l.Incarnation}
}

// Guarantee says how far an answer about leadership can be trusted.
type Guarantee string

// The guarantees.
const (
	// BestEffort means that the nodes agree while their failure detectors do not err. In a partition
	// each side has a leader.
	BestEffort Guarantee = "best-effort"
	// Quorum means that a majority of the configured voters voted for this leader, and for no other node
	// in the term.
	Quorum Guarantee = "quorum"
	// Lease means Quorum, and that no other node has a valid lease at the same instant.
	Lease Guarantee = "lease"
	// LeaseUntilFailover means Lease on a store with one primary, until a replica that has not heard of the
	// lease takes the primary's place: then two nodes may lead until the older lease ends.
	LeaseUntilFailover Guarantee = "lease-until-failover"
	// LeaseByClocks means Lease on several stores that do not know each other, as long as none of them
	// forgets and no clock of theirs steps.
	LeaseByClocks Guarantee = "lease-by-clocks"
)

// Leases reports whether a leader has a lease, and its term is a token.
func (g Guarantee) Leases() bool { return g == Lease || g == LeaseUntilFailover || g == LeaseByClocks }

// Config describes a Machine's node, and how the algorithm should work.
type Config struct {
	// Self is this process.
	Self        proto.NodeID
	Incarnation proto.Incarnation
	// Delta is the worst-case one-way latency that is planned for: the time of a message's way plus its
	// receiver's processing time. All timeouts are multiples of Delta. It is at least a microsecond.
	Delta time.Duration
	// Preempt lets a node that ranks above the leader take over after a while.
	Preempt bool
	// Seed feeds the jitter of the back-off. Nodes should differ in it.
	Seed uint64
	// Place gives each node its place on the ring: the nodes next to each other by place are neighbours.
	// Nil means by id. Place must be the same on every node.
	Place func(proto.NodeID) uint64

	// Outbox is room for the messages of a Step that an outer Machine lends to this one, so that
	// the messages need not be copied. Nil means that the Machine uses its own.
	Outbox *Outbox

	// Voters are the nodes whose votes count if a quorum decides; empty if no quorum decides. The list
	// is the same on every node, except while one voter is added or removed; see package lease.
	Voters []proto.NodeID
	// Promise is the time for which a voter that voted in a term votes for no other node. It is the same
	// on every node.
	Promise time.Duration
	// AwaitLeases makes voters keep a promise even to a process that is proven dead; see
	// PeerProvenDead.
	AwaitLeases bool
	// Fence makes a node for which a majority voted wait before it leads. It waits until every process
	// that may have led an earlier term was seen to stop, or was fenced; see Output.Fence. Fence must be
	// the same on every node.
	Fence bool
	// FirstTerm is an operator's guarantee to a voter of which no vote is saved: no vote of this
	// cluster was ever in this term or above, and no promise runs. Zero guarantees nothing.
	//
	// With the guarantee, other voters need not tell this voter what it may have voted. It votes in this
	// term and above once two things have happened: it has waited for the longest promise, and a
	// majority of the voters, itself included, has answered, even if only that they know nothing either.
	// If all voters say that they never voted, this voter begins with this term at once. A voter that
	// reports a vote in this term or above proves the guarantee wrong, and cancels it. Where a vote is
	// saved, FirstTerm does nothing.
	FirstTerm proto.Term
}
