// Package algorithms is the contract that every election algorithm keeps and
// every host of one (the node's runtime, the simulator) relies on.
//
// A Machine is pure. It reads no clock, opens no socket, starts no goroutine
// and draws no global random number: time is a parameter, the timer a result,
// and equal events in equal order give equal outputs. Membership is a hint: it
// may decide whom to ask first, never whether something is safe.
package algorithms

import (
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// Machine is one node's part in an election algorithm. A Machine belongs to
// one goroutine at a time.
type Machine interface {
	// Step takes one event and returns all that should happen because of it.
	// now never goes back from one Step to the next. The first event is Start.
	Step(now time.Time, ev Event) Output
}

// Event is what can happen to a Machine.
type Event interface{ event() }

// The events.
type (
	// Start is the first event, with what survived the last run.
	Start struct{ Saved State }

	// Receive is a message from another node. It may come late, twice, out of
	// order, or from a former life of its sender.
	Receive struct {
		proto.Message
		// At is what the hybrid clock reads at its receipt. It orders events, and is
		// for reports: nothing that must be safe, or live, may depend on it.
		At proto.HLC
	}

	// Timeout says that the last Deadline passed; a spurious one is harmless.
	Timeout struct{}

	// PeersChanged is the failure detector's opinion; it may be wrong.
	PeersChanged struct {
		// Alive are the processes believed alive, this one among them, in the
		// order of their ids, each with its attribute as it is now, and with what
		// it said of its being eligible. Of this node's own that is not read: see
		// Eligible. A Machine may keep the list; nobody writes to it any more.
		Alive []proto.Peer
		// Evidence is what changed the opinion, for the record only.
		Evidence string
	}

	// Campaign is the operator calling an election.
	Campaign struct {
		Reason string
		// Anew lets a node lead on, in a new term and without an election, that
		// leads although it is not eligible, see Eligible.Keep, or as an operator's
		// choice. Of others it is a Campaign like any. Only a Machine around a nominating one gives it.
		Anew bool
	}

	// Resign makes the node step down, if it leads, and stand aside until the
	// next Campaign or restart. To is the successor, zero for the best one.
	Resign struct{ To proto.NodeID }

	// Transfer is the operator's wish that the leader hands over, to To or, if that
	// is zero, to the best eligible node. The leader asks the successor first, and
	// leads on when that would not or could not lead; else it leaves in the order of
	// a resignation, and stays eligible. What the operator chose lasts: no
	// preference for a higher rank undoes it while the successor leads.
	// Output.Transfer says, in this Step or a later one, what came of it.
	Transfer struct {
		To proto.NodeID
		// Leaves is the wish of a host that is about to give Resign or Eligible, which end a
		// leadership and ask nobody. Where one would not lead the next best is asked; who
		// leads then is no operator's choice. Only a Machine whose leader has a lease is
		// asked.
		Leaves bool
		// Why is who asked, and what for, for the record.
		Why string
	}

	// Lend is the host's wish for a lease that it may lend to a process outside of its
	// own, which then acts as the leader until the lease ends, whatever becomes of this
	// node. Output.Lent says, in this Step or a later one, what came of it. Only a
	// Machine whose leader has a lease is asked.
	Lend struct{}

	// Eligible says that this node may lead from now on, or that it may not:
	// operators pause nodes, health checks fail. The host merges all causes that
	// hold into one event, and gives it anew whenever that changes; a Machine
	// starts out eligible.
	//
	// A node that may not lead calls no election and wins none. It follows, and
	// answers and votes as ever. If it leads, it resigns: it leads no more from
	// that Step on, and hands over to the best eligible node that it knows. What
	// the others know of it, in their views and by Output.Ineligible, spares them
	// the wait for its answer, and is needed for nothing. Unlike Resign it neither
	// ends with a Campaign, which it refuses, nor outlives the cause.
	Eligible struct {
		OK bool
		// Keep lets a node that leads go on until it loses its leadership: it only
		// does not stand anew. It is for a whole cluster that shall not elect.
		Keep bool
		// Why is every cause that holds, for the record; empty when OK.
		Why string
	}

	// Gone says that a process is proven dead: its connection ended cleanly, and
	// a dial begun after that found its address refusing, or another session
	// there. Unlike a view it is no opinion, as long as nothing between the nodes
	// ends connections on a living process's behalf. It does no more; what it has
	// sent may still arrive, at a storage say.
	Gone struct {
		ID      proto.NodeID
		Session proto.Session
	}

	// Heard says that a process that was proven dead lives: it answered on a
	// connection that was dialled after the proof, so something between the nodes
	// lied. What the proof freed stays free; what the process says counts again.
	Heard struct {
		ID      proto.NodeID
		Session proto.Session
	}

	// Idle says that whatever this node did as the leader of Term has stopped,
	// after it ceased to lead: the last lease that it lent has ended or was given
	// back, too.
	Idle struct{ Term proto.Term }

	// Lapsed says that the lease of Term, which this node led, had run out before its
	// renewal took effect: it leads Term no more.
	Lapsed struct{ Term proto.Term }

	// Reconciled answers Output.Reconcile: how it went for the Split of this
	// Number.
	Reconciled struct {
		Number  uint64
		Outcome Outcome
	}

	// Fenced says how the host's fence agent fared with what Output.Fence asked.
	Fenced struct {
		Fence Fence
		// OK: the agent confirmed that the process has stopped.
		OK bool
		// Detail is for the record only: "exit 0 after 40ms".
		Detail string
	}
)

func (Start) event()        {}
func (Receive) event()      {}
func (Timeout) event()      {}
func (PeersChanged) event() {}
func (Campaign) event()     {}
func (Resign) event()       {}
func (Gone) event()         {}
func (Heard) event()        {}
func (Transfer) event()     {}
func (Lend) event()         {}
func (Lapsed) event()       {}
func (Idle) event()         {}
func (Eligible) event()     {}
func (Reconciled) event()   {}
func (Fenced) event()       {}

// Output is what the host does after a Step, in the order of the fields.
type Output struct {
	// Save must be durable before anything below leaves the node. Nil when
	// nothing changed. A host that cannot save ends the node.
	Save *State
	// Send may be lost, delayed, repeated and reordered. The list, not what is in it, is
	// lent until the Machine's next Step.
	Send []proto.Message
	// Deadline is when to deliver Timeout; zero for never. It replaces the
	// deadline of the Step before.
	Deadline time.Time
	// Leader is the current belief, in every Output.
	Leader Leader
	// Transfer says what came of the Transfer that was asked for last; nil in a
	// Step that ends none.
	Transfer *TransferEnd
	// Lent says what came of each Lend so far; nil in a Step that ends none.
	Lent *LendEnd
	// Ineligible is why this node is not eligible, in every Output; empty while it
	// is. A Machine may find itself not eligible, for a while, without an event. The
	// host tells the others, by proto.Peer.Ineligible.
	Ineligible string
	// Voters are this node's, and how far that list has come, in every Output of a Machine
	// whose leaders have leases.
	Voters VoterState
	// Round is the term that this Step is about, where that is not the Leader's;
	// zero otherwise.
	Round proto.Term
	// Reconcile is what the host is to reconcile now, in every Output until it has
	// answered with Reconciled. When it is nil again before that, or of another
	// Number, whatever the host runs for it must end: another node does it.
	Reconcile *Split
	// Splits are news of split brains.
	Splits []Split
	// Why gives the reasons of this Step.
	Why []Reason
	// Warn says that the event was refused as something a correct peer does
	// not send; the last Why says what and why.
	Warn bool
	// Recovery says what a voter waits for of which nothing is saved, in every Output
	// until it votes; nil of all others.
	Recovery *Recovery
	// Fence is what the host's fence agent should be at after this Step, nil for
	// nothing. The host answers it with Fenced, once. Whatever else the agent is
	// at, for a Step before, the host ends and does not answer.
	Fence *Fence
}

// Fence is one attempt to have a process stopped, or confirmed to have stopped.
type Fence struct {
	// ID and Session are the process that may have held Term.
	ID      proto.NodeID
	Session proto.Session
	Term    proto.Term
	// For is the term that is granted and not taken before the process stopped.
	For proto.Term
	// Attempt counts from 1.
	Attempt int
	Reason  string
}

// Recovery is how far a voter is of which nothing is saved: it is new, or it lost its disk.
// It votes for nobody until it was told what it may have voted in, or until all voters say
// that they never voted.
type Recovery struct {
	// Until is when it asks, by this node's clock: no promise that it may have made runs
	// any more then.
	Until time.Time
	// Asked: it did.
	Asked bool
	// Lost are the voters of which nothing is saved either, this one among them, as far
	// as it knows; Told are those that told what they voted; Others did so too, and have
	// other voters, so that it does not count; Silent are all others.
	Lost, Told, Others, Silent []proto.NodeID
	// Need is how many have to tell.
	Need int
	// Voted is the highest term that they told of.
	Voted proto.Term
}

// TransferEnd is the end of a transfer, as far as it is the leader's.
type TransferEnd struct {
	// To is the successor: the one that was asked for, or that was chosen.
	To proto.NodeID
	// Refused is why nothing changed, and what to do next: a Refusal's words. It is
	// empty when the leader gave way: then it tells the successor to lead, once its
	// work has stopped.
	Refused string
}

// LendEnd is what came of a Lend.
type LendEnd struct {
	// Refused is why nothing is lent: a Refusal's words; empty when a lease is.
	Refused string
	// For is how long the lease is lent, from this Step on, by any clock.
	For time.Duration
	// Until is when that has passed by every clock: no other process leads before,
	// unless Idle comes first.
	Until time.Time
}

// State is what a node must never forget.
type State struct {
	// Term is one that this node took part in: the highest when the State was
	// saved.
	Term proto.Term
	// Reserved is the highest term that this node may have taken part in since;
	// at least Term. A term is reserved ahead, when nobody waits for the disk, so
	// that an election need not: what is durable before a message leaves the node
	// is that its term is not above Reserved.
	Reserved proto.Term
	// Vote is whom this node granted Vote.Term; zero for nobody. With a term and
	// nobody it is what a voter that lost its disk must not vote up to, but for
	// who leads that term.
	Vote Vote
	// Promise is the longest that this node ever promised to grant nobody else.
	Promise time.Duration
	// Stopped: the process of Vote was seen to stop, as far as fencing goes.
	Stopped bool
	// Former are votes before Vote whose processes were not seen to stop.
	Former proto.Epochs
	// Voters are those that this node had when it last gave a vote or a promise to one
	// that had the same, or learned that they are committed. Zero for never.
	Voters VoterState
}

// VoterState is a list of voters and how far it has come; see package lease.
type VoterState struct {
	List proto.VoterList
	// Version counts the lists that the cluster had before.
	Version uint64
	// Committed: a leader under the list heard enough of its voters say that they have it.
	Committed bool
	// Changed is the voter by which the list differs from the one before, which is
	// committed; zero once the list is committed, and for the first.
	Changed proto.NodeID
}

// Vote is one grant of a term.
type Vote struct {
	Term    proto.Term
	ID      proto.NodeID
	Session proto.Session
}

// Leader is a belief about who leads a term. ID zero is "nobody".
type Leader struct {
	ID      proto.NodeID
	Session proto.Session
	// Term is the node's own term, whoever leads it.
	Term proto.Term
	// Until is when the belief ends by itself: the lease's end, by this node's
	// clock. Zero for a best-effort belief, which has no lease.
	Until time.Time
}

// Epoch is the leadership that l names.
func (l Leader) Epoch() proto.Epoch {
	return proto.Epoch{Term: l.Term, Leader: l.ID, Session: l.Session}
}

// Guarantee is how far an answer about leadership can be trusted.
type Guarantee string

// The guarantees.
const (
	// BestEffort: the nodes agree while their failure detectors do not err. In
	// a partition each side has a leader.
	BestEffort Guarantee = "best-effort"
	// Quorum: a majority of the configured voters granted the term to no other.
	Quorum Guarantee = "quorum"
	// Lease: Quorum, and no other node holds a valid lease at the same instant.
	Lease Guarantee = "lease"
)

// Config is what every Machine needs to know of its node.
type Config struct {
	// Self is this process.
	Self    proto.NodeID
	Session proto.Session
	// Delta is the worst-case one-way latency that is planned for: a message's
	// way plus its receiver's processing time. All timeouts are multiples of
	// it. At least a microsecond.
	Delta time.Duration
	// Preempt lets a node that ranks above the leader call an election once
	// things have been quiet for a while.
	Preempt bool
	// Seed feeds the jitter of the back-off. Nodes should differ in it.
	Seed uint64
	// Place puts a node on the ring: neighbours are those next to each other
	// by place. Nil means by id. It must be the same on every node.
	Place func(proto.NodeID) uint64

	// Outbox is room for the messages of a Step that a Machine around this one lends it,
	// so that they need not be copied; nil for room of its own.
	Outbox *Outbox

	// Voters are whose votes count where a quorum decides; empty where none does. They
	// are the same on every node, but while one of them is added or removed; see
	// package lease.
	Voters []proto.NodeID
	// Promise is how long a voter that granted a term grants no other, the same
	// on every node.
	Promise time.Duration
	// KeepPromises makes voters keep a promise even to a process that is proven
	// dead; see Gone.
	KeepPromises bool
	// Fence makes a nominee that was granted a term have every process that may
	// have held an earlier one, and was not seen to stop, fenced before it takes
	// the office; see Output.Fence. It must be the same on every node.
	Fence bool
	// FirstTerm is an operator's word for a voter of which nothing is saved: no vote of
	// this cluster was ever in this term or above, and no promise runs. Zero is no such
	// word. The voter then needs not be told by others what it may have voted in: it
	// votes in this term and above once it has waited as long as any promise may run,
	// and a majority of the voters, itself among them, has answered, be it that they know
	// nothing either. When all say that they never voted, it begins with this term at
	// once. A voter that tells of a vote in it, or above, proves the word wrong: then it
	// does nothing. Nor does it where a vote is saved.
	FirstTerm proto.Term
}
