package rounds

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// State is how a round stands.
type State string

// The states of a round.
const (
	// Decided: a node came to lead the term.
	Decided State = "decided"
	// Superseded: nobody led the term before a later one began.
	Superseded State = "superseded"
	// Undecided: the records end before anybody led the term.
	Undecided State = "undecided"
)

// Round is one election: all that happened in one term.
type Round struct {
	Cluster   string `json:"cluster"`
	Algorithm string `json:"algorithm"`
	Guarantee string `json:"guarantee"`
	Run       int    `json:"run,omitempty"` // as the Group's
	Term      uint64 `json:"term"`
	State     State  `json:"state"`
	Next      uint64 `json:"next,omitempty"` // Superseded: the next term there is

	Cause      Cause       `json:"cause"`
	Initiators []Initiator `json:"initiators"` // in causal order
	// Participants are the nodes that took part or should have, by id: those
	// with a step of the round, and those that the winner believed alive.
	Participants []Participant `json:"participants"`
	// Steps are the round's, in causal order. Those from index Aftermath on
	// came when all who were expected to knew the leader: repeats, newcomers,
	// the leader's loss.
	Steps     []Step    `json:"steps"`
	Aftermath int       `json:"aftermath"`
	Messages  []Message `json:"messages"` // in the order of their sending
	Verdicts  []Verdict `json:"verdicts"` // who was outranked or suppressed, by whom, in causal order
	Winner    *Winner   `json:"winner"`   // nil when nobody led
	// Rivals led the same term, as they saw it, besides the winner.
	Rivals []Winner `json:"rivals,omitempty"`

	Ballot *Ballot `json:"ballot,omitempty"` // how the voters of the office answered; nil without one

	Counts []KindCount `json:"counts"` // the counted messages, by kind
	Theory *Theory     `json:"theory"` // nil when the algorithm is not in the catalogue, or nobody won
	Split  Split       `json:"split"`
	// LeftBehind are the participants that never came to follow the winner
	// within the round.
	LeftBehind []Straggler `json:"left_behind"`
	Findings   []Finding   `json:"findings"` // those that are about this round
	Unknown    []string    `json:"unknown"`  // what could not be known, in sentences
}

// Cause is why there was a round at all.
type Cause struct {
	// Kind is one word for it.
	Kind CauseKind `json:"kind"`
	// Text is the reason in the words of the first initiator: "leader 5 is gone".
	// Wish is who asked for a HandOver, and what for, where a record tells.
	Wish string `json:"wish,omitempty"`
	Text string `json:"text"`
	// Lost is the leader whose loss is the cause, 0 for none.
	Lost uint64 `json:"lost,omitempty"`
	// Witness is who first had the evidence, 0 when no record tells.
	Witness  uint64    `json:"witness,omitempty"`
	Evidence string    `json:"evidence,omitempty"` // as the witness wrote it: "link-closed 5, dial-refused 5"
	Ref      Ref       `json:"ref"`                // the witness's record
	At       time.Time `json:"at"`                 // of that record, corrected
	// Witnesses are all who had evidence of their own, the first first.
	Witnesses []Witness `json:"witnesses,omitempty"`
	// Back is the first record that the process of Lost wrote after the first
	// evidence against it: it had not died. Seq 0 when there is none.
	Back   Ref       `json:"back,omitzero"`
	BackAt time.Time `json:"back_at,omitzero"`
}

// CauseKind is a word for why a round began.
type CauseKind = algorithms.CauseKind

// The causes.
const (
	LeaderLost   = algorithms.LeaderLost
	LeaderSilent = algorithms.LeaderSilent
	FirstLeader  = algorithms.FirstLeader
	SplitMended  = algorithms.SplitMended
	Operator     = algorithms.Operator
	HandOver     = algorithms.HandOver
	Vacant       = algorithms.Vacant
	HigherRank   = algorithms.HigherRank
	RoundFailed  = algorithms.RoundFailed
	Readmitted   = algorithms.Readmitted
	Unexplained  = algorithms.Unexplained
)

// Witness is one node's evidence that the leader is gone.
type Witness struct {
	Node     uint64    `json:"node"`
	Evidence string    `json:"evidence"`
	Ref      Ref       `json:"ref"`
	At       time.Time `json:"at"`
}

// Initiator is a node that called the election by itself.
type Initiator struct {
	Node uint64    `json:"node"`
	Why  string    `json:"why"` // the cause in its own words
	Ref  Ref       `json:"ref"`
	At   time.Time `json:"at"`

	cause reason
}

// Participant is one node's part in a round.
type Participant struct {
	Node uint64 `json:"node"`
	// Attr ranks the node, before its id. Nil when no message of the round
	// named it.
	Attr *int64 `json:"attr,omitempty"`
	Part Part   `json:"part"`
	// Believed is its first belief in the winner: the record, and when.
	Believed   Ref       `json:"believed"`
	BelievedAt time.Time `json:"believed_at"`
	Sent       int       `json:"sent"` // counted messages
	Received   int       `json:"received"`
}

// Part is what a node was in a round.
type Part string

// The parts.
const (
	PartWinner   Part = "winner"
	PartFollower Part = "follower" // it came to follow the winner
	PartLost     Part = "lost"     // the leader whose loss began the round
	PartBehind   Part = "behind"   // it never followed the winner within the round
	PartJoined   Part = "joined"   // it came later, and was told
	PartSilent   Part = "silent"   // it was believed alive, and there is no record of it
	PartVoter    Part = "voter"    // it took part in a round that nobody won
)

// Verdict is one decision between two candidates, by the node By.
type Verdict struct {
	Kind  VerdictKind `json:"kind"`
	Loser uint64      `json:"loser"`
	Over  uint64      `json:"over"` // who stands above it
	By    uint64      `json:"by"`
	Why   string      `json:"why"`  // as the node of Ref wrote it
	Rule  string      `json:"rule"` // the sentence of the source, empty when none is quoted
	Ref   Ref         `json:"ref"`
	At    time.Time   `json:"at"`
}

// VerdictKind is a word for how a candidate lost.
type VerdictKind = algorithms.VerdictKind

// The kinds of verdicts. Of one that is Refused, Over is 0 where the voter is bound to nobody.
const (
	Outranked  = algorithms.Outranked
	Suppressed = algorithms.Suppressed
	Deposed    = algorithms.Deposed
	Refused    = algorithms.Refused
)

// Winner is the node that led the term.
type Winner struct {
	Node uint64    `json:"node"`
	Attr *int64    `json:"attr,omitempty"`
	Why  string    `json:"why"`  // the cause in its own words: "no higher node is alive"
	Rule string    `json:"rule"` // the sentence of the source, empty when none is quoted
	Ref  Ref       `json:"ref"`  // the winning record; Seq 0 when the winner's log is missing
	At   time.Time `json:"at"`
	Live []uint64  `json:"live"` // whom it believed alive, itself included

	cause reason // behind Why
}

// KindCount is how many messages of a kind were sent.
type KindCount struct {
	Kind string `json:"kind"`
	Sent int    `json:"sent"`
}

// Theory is what the round costs by the book, for the winner's count of living
// nodes and without failures, and where this one fell.
type Theory struct {
	Live      int    `json:"live"`
	Best      int    `json:"best"`
	Worst     int    `json:"worst"`
	BestCase  string `json:"best_case"`
	WorstCase string `json:"worst_case"`
	Sent      int    `json:"sent"` // of the kinds that the theory counts
}

// Split is where the time went. Each part is known or not by itself.
type Split struct {
	// Detect is from the death to the first evidence. Records alone do not tell
	// when a process died, so it is known for simulated runs and where the
	// caller of Note says it.
	Detect      time.Duration `json:"detect"`
	DetectKnown bool          `json:"detect_known"`
	// DetectBound is from the lost leader's last record to the first evidence:
	// detection cannot have taken longer, unless the evidence was false. 0 when
	// there is no such record.
	DetectBound time.Duration `json:"detect_bound,omitempty"`
	// Elect is from the first evidence to the winner's own belief.
	Elect      time.Duration `json:"elect"`
	ElectKnown bool          `json:"elect_known"`
	// Announce is from there to the last follower's belief.
	Announce      time.Duration `json:"announce"`
	AnnounceKnown bool          `json:"announce_known"`
	// Estimated: clocks differed, and the times were corrected by an estimate
	// that is right within Error.
	Estimated bool          `json:"estimated"`
	Error     time.Duration `json:"error"`
	// Began is the first evidence, Ended the last follower's belief; zero when
	// not known.
	Began time.Time `json:"began"`
	Ended time.Time `json:"ended"`
}

// Straggler is a participant that was left behind.
type Straggler struct {
	Node uint64 `json:"node"`
	// Last is what it last wrote before or in the round; Seq 0 when there is no
	// record of it at all.
	Last   Ref    `json:"last"`
	Reason string `json:"reason"` // half a sentence

	wentOn bool // it was there after the winner had won
}
