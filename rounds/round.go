package rounds

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/words"
)

// State is the result of a round: decided, superseded or undecided.
type State string

// The states of a round.
const (
	// Decided: a node came to lead the term.
	Decided State = "decided"
	// Superseded: nobody led the term, and the records have a later one.
	Superseded State = "superseded"
	// Undecided: the records end before anybody led the term.
	Undecided State = "undecided"
)

// Round is one election: all that happened in one term.
type Round struct {
	Cluster   string `json:"cluster"`
	Algorithm string `json:"algorithm"`
	Guarantee string `json:"guarantee"`
	Run       int    `json:"run,omitempty"` // the Run of the Group
	Era       int    `json:"era,omitempty"` // the Era of the Group
	Term      uint64 `json:"term"`
	State     State  `json:"state"`
	Next      uint64 `json:"next,omitempty"` // of a Superseded round: the next term in the records
	// NextAt is the time of the first record of Next, which may be before From: a node may have called for a term that
	// others had passed. Zero if no messages compare the clocks of the two records.
	NextAt time.Time `json:"next_at,omitzero"`
	// From is the time of the first record, corrected.
	From time.Time `json:"from"`

	Cause      Cause       `json:"cause"`
	Initiators []Initiator `json:"initiators"` // in causal order
	// Participants are the nodes with a step of the round and those that the winner
	// believed alive, by id.
	Participants []Participant `json:"participants"`
	// Steps are in causal order. The steps from index Aftermath on came after all nodes that should
	// follow the winner had done so: repeats, newcomers, the leader's loss.
	Steps     []Step    `json:"steps"`
	Aftermath int       `json:"aftermath"`
	Messages  []Message `json:"messages"` // in the order of their sending
	Verdicts  []Verdict `json:"verdicts"` // who was outranked or suppressed, by whom, in causal order
	Winner    *Winner   `json:"winner"`   // nil when nobody led
	// Rivals are other nodes that led the term by their own belief.
	Rivals []Winner `json:"rivals,omitempty"`

	Ballot *Ballot `json:"ballot,omitempty"` // how the voters answered, nil if no voters decide

	// Incident is the change of leadership that the round was held for, nil if the records tell none.
	Incident *Incident `json:"incident,omitempty"`
	// Further are the changes to other leaders of the term that came after that, in the order of time.
	Further []*Incident `json:"further,omitempty"`

	// PerhapsLed says that nobody is known to have led the term, and that records are missing which would tell it.
	PerhapsLed bool `json:"perhaps_led,omitempty"`
	// Meanwhile is who led which term when the round was called, if it was called in vain, and brought no leader.
	Meanwhile *Reign `json:"meanwhile,omitempty"`

	Counts []KindCount `json:"counts"` // the counted messages, by kind
	// AtLeast says that more messages may have been sent: at level info, nodes do not write the steps that decided
	// nothing, or records are missing.
	AtLeast bool    `json:"at_least,omitempty"`
	Quiet   bool    `json:"-"`      // AtLeast, only since records sent messages that give no reason and have no term
	Terse   bool    `json:"-"`      // a process of the round logs at level info
	Theory  *Theory `json:"theory"` // nil when the algorithm is not in the catalogue, or nobody won
	Split   Split   `json:"split"`
	// LeftBehind are the participants that surely never followed the winner in the round.
	LeftBehind []Straggler `json:"left_behind"`
	Untold     []Straggler `json:"-"`        // of these no record tells whether they followed: Unknown says why
	Findings   []Finding   `json:"findings"` // about this round
	Unknown    []string    `json:"unknown"`  // what the records do not tell, in sentences

	further  bool      // it is about a further leader of the term; see again
	of       *Round    // the round of the term then, if it is kept
	until    time.Time // of the last step
	perhaps  []uint64  // the nodes that perhaps led the term, see PerhapsLed
	soonest  moment    // see setSoonest
	asked    call      // the first step in which a node stood, or was asked for its vote
	question question  // the record that asked for the term, see findQuestion
	store    []storeSaid
	unfenced []unfenced // the attempts to fence a former leader that failed
	skipped  []skipped
	answers  []answer
}

// Superseding says by which term a Superseded round was superseded.
func (r *Round) Superseding() string {
	switch {
	case r.NextAt.IsZero():
		return fmt.Sprintf("the next term in the records is %d", r.Next)
	case r.NextAt.Before(r.From):
		return fmt.Sprintf("term %d had begun before it", r.Next)
	}
	return fmt.Sprintf("term %d came after it", r.Next)
}

// Reign names a leadership.
type Reign struct {
	Leader  uint64 `json:"leader"`
	Term    uint64 `json:"term"`
	Records []Ref  `json:"records"` // with which the leader began, and last wrote that it leads
}

// Cause says why the round began.
type Cause struct {
	// Kind is one word for the cause.
	Kind CauseKind `json:"kind"`
	// Request says why the former leader handed over, if Kind is HandOver: "transfer to node 3". It is
	// empty if no record says why.
	Request string `json:"request,omitempty"`
	// Text is the reason in the words of the first initiator: "leader 5 is gone".
	Text string `json:"text"`
	// Lost is the leader whose loss is the cause, 0 for none.
	Lost uint64 `json:"lost,omitempty"`
	// Node is the node that had the evidence first, or else the first initiator. It is 0 if the
	// records show neither.
	Node     uint64    `json:"node,omitempty"`
	Evidence string    `json:"evidence,omitempty"` // as Node wrote it: "link-closed 5, dial-refused 5"
	Ref      Ref       `json:"ref"`                // of Node's record, or the round's first one
	At       time.Time `json:"at,omitzero"`        // of that record, corrected
	// Detections has one Detection for each node that had evidence of its own, the earliest first.
	Detections []Detection `json:"detections,omitempty"`
	// Back is the first record that the process of Lost wrote after the first evidence
	// against it: the process had not died. Seq 0 if there is none.
	Back   Ref       `json:"back,omitzero"`
	BackAt time.Time `json:"back_at,omitzero"`
	Slept  bool      `json:"slept,omitempty"` // until its lease had ended, by its own word

	handing uint64  // who handed over
	below   uint64  // the leader that Node outranks
	asked   request // to hand over
}

// Leaders returns all nodes that led the term, by id: the winner, and its rivals.
func (r *Round) Leaders() (ids []uint64) {
	if r.Winner != nil {
		ids = append(ids, r.Winner.Node)
	}
	for i := range r.Rivals {
		ids = append(ids, r.Rivals[i].Node)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Lead says who led the term, if anybody did: "node 4 leads", "nodes 4 and 5 lead".
func (r *Round) Lead() string {
	ids := r.Leaders()
	return words.Nodes(ids) + words.Either(len(ids), " leads", " lead")
}

// CauseKind says for what kind of reason an election was called.
type CauseKind = algorithms.CauseKind

// The causes.
const (
	LeaderLost     = algorithms.LeaderLost
	LeaderSilent   = algorithms.LeaderSilent
	FirstLeader    = algorithms.FirstLeader
	SplitRecovered = algorithms.SplitRecovered
	Operator       = algorithms.Operator
	HandOver       = algorithms.HandOver
	Vacant         = algorithms.Vacant
	HigherRank     = algorithms.HigherRank
	RoundFailed    = algorithms.RoundFailed
	Readmitted     = algorithms.Readmitted
	Unexplained    = algorithms.Unexplained

	NomineeLost CauseKind = "nominee-lost" // the node that was to ask the voters was lost, and had not led
	Renominated CauseKind = "renominated"  // a node asked for another nominee, although somebody led
	Released    CauseKind = "released"     // the leader gave up the term by itself
	EntryLost   CauseKind = "entry-lost"   // the leader's entry was gone from the store
)

// Detection is one node's evidence that the leader is gone.
type Detection struct {
	Node     uint64    `json:"node"`
	Evidence string    `json:"evidence"`
	Ref      Ref       `json:"ref"`
	At       time.Time `json:"at"`
	// Words is the record that has Evidence, if Ref is the proof before it, which has no words. Seq 0 otherwise.
	Words Ref `json:"words,omitzero"`
}

// Refs returns the records that show the evidence.
func (d *Detection) Refs() []Ref {
	if d.Words.IsZero() {
		return []Ref{d.Ref}
	}
	return []Ref{d.Ref, d.Words}
}

// Initiator is a node that called the election by itself.
type Initiator struct {
	Node uint64    `json:"node"`
	Why  string    `json:"why"` // the cause in the node's words
	Ref  Ref       `json:"ref"`
	At   time.Time `json:"at"`

	cause    reason
	operator bool // somebody asked the node to call it
}

// Participant is one node's part in a round.
type Participant struct {
	Node uint64 `json:"node"`
	// Attr is the attribute by which the node is ranked before its id. Nil if it is not
	// known.
	Attr *int64 `json:"attr,omitempty"`
	Part Part   `json:"part"`
	// Believed is the record in which the node first follows the winner, and BelievedAt its
	// time.
	Believed   Ref       `json:"believed"`
	BelievedAt time.Time `json:"believed_at,omitzero"`
	Late       bool      `json:"-"`    // it followed, or won, in a record before Believed that is missing
	Sent       int       `json:"sent"` // counted messages
	Received   int       `json:"received"`
}

// Part is the part that a node had in a round.
type Part string

// The parts.
const (
	PartWinner   Part = "winner"
	PartFollower Part = "follower" // it followed the winner
	PartLost     Part = "lost"     // the leader whose loss caused the round
	PartBehind   Part = "behind"   // it never followed the winner in the round
	PartUntold   Part = "unknown"  // no record tells whether it followed, and some are missing that might
	PartJoined   Part = "joined"   // it started after the win, or the winner did not believe it alive
	PartLater    Part = "later"    // it followed, perhaps long after the win, and no record tells whether it was there
	PartUnlogged Part = "no-log"   // the winner believed it alive, and no record is its own
	PartDead     Part = "dead"     // the winner believed it alive, but its process had ended, or ended at once
	PartVoter    Part = "voter"    // it took part in a round that nobody won
)

// Verdict is one decision between two nodes that want to lead. Node By made the decision.
type Verdict struct {
	Kind  VerdictKind `json:"kind"`
	Loser uint64      `json:"loser"`
	Over  uint64      `json:"over"` // the node that ranks above Loser, or that the voter By is bound to
	By    uint64      `json:"by"`
	Why   string      `json:"why"`  // as the node of Ref wrote it
	Rule  string      `json:"rule"` // the sentence of the source, empty when none is quoted
	Ref   Ref         `json:"ref"`
	At    time.Time   `json:"at"`
	// Denial is a word for why a voter said no, in a Refused verdict; empty if it is none of a voter.
	Denial algorithms.Denial `json:"denial,omitempty"`
}

// VerdictKind says in which way a node lost.
type VerdictKind = algorithms.VerdictKind

// The kinds of verdicts (see Verdict). In a Refused verdict the field Over is 0 if the voter has promised
// nothing.
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
	Why  string    `json:"why"`  // the cause in the node's words: "no higher node is alive"
	Rule string    `json:"rule"` // the sentence of the source, empty when none is quoted
	Ref  Ref       `json:"ref"`  // the record in which it begins to lead; Seq 0 if its log is missing
	At   time.Time `json:"at,omitzero"`
	Live []uint64  `json:"live"` // the nodes that it believed alive, with itself

	cause reason // behind Why
	late  bool   // it began to lead in a record before Ref that is missing

	won    time.Time // when it had won, or was first named, as teller tells; zero if that is not known, see setWon
	teller uint64

	viewed bool     // Live is what it wrote then, and not made of who took part
	told   []uint64 // whom it told at once that it had won, and whose votes it had got just before
}

// Viewed reports whether the records tell whom the winner believed alive when it won. At level info a process does not
// write down each of its views: Live has who took part then.
func (w *Winner) Viewed() bool { return w.viewed }

// KindCount is the number of messages of a kind.
type KindCount struct {
	Kind string `json:"kind"`
	Sent int    `json:"sent"`
}

// Theory compares the messages of a round with the number that the algorithm's source gives for the
// nodes that the winner believed alive, if nothing fails. The leader that was lost is none of them.
type Theory struct {
	Live      int    `json:"live"`
	Best      int    `json:"best"`
	Worst     int    `json:"worst"`
	BestCase  string `json:"best_case"`
	WorstCase string `json:"worst_case"`
	Sent      int    `json:"sent"` // of the kinds that the theory counts
}

// Split divides the time of a round. Each part may be unknown. The first sign of the round is the first evidence that
// the leader is gone or, without one, the first call.
type Split struct {
	// Detect is the time from the leader's death to the first sign. Records do not tell when a
	// process died: Detect is known only for simulated runs, and after a call of Builder.Death.
	Detect      time.Duration `json:"detect"`
	DetectKnown bool          `json:"detect_known"`
	// DetectBound is the time from the lost leader's last record to the first sign. Detect is
	// not longer. 0 if there is no such record, or if the leader wrote again: one that is cut off writes on.
	DetectBound time.Duration `json:"detect_bound,omitempty"`
	// Won is the time from the first sign to the record in which the winner begins to lead; 0 if that is
	// not known.
	Won time.Duration `json:"won,omitempty"`
	// LedOn is for how long the former leader led on after the first sign, until the winner led at most:
	// it handed over, or had its lease still.
	LedOn time.Duration `json:"led_on,omitempty"`
	// Elect is the time from the first sign, or from the end of LedOn, to the record in which the winner begins
	// to lead.
	Elect      time.Duration `json:"elect"`
	ElectKnown bool          `json:"elect_known"`
	// Announce is the time from that record to the one in which the last follower first follows the winner.
	Announce      time.Duration `json:"announce"`
	AnnounceKnown bool          `json:"announce_known"`
	// Estimated: clocks differed, and the times were corrected by estimates. Error is the largest
	// error of these estimates; 0 if it is not known, since no messages compare some of the clocks.
	Estimated bool          `json:"estimated"`
	Error     time.Duration `json:"error"`
	// Began is the time of the first sign, Ended that of the last follower's belief.
	// Zero where it is not known.
	Began time.Time `json:"began,omitzero"`
	Ended time.Time `json:"ended,omitzero"`
}

// Straggler is a participant that never followed the winner.
type Straggler struct {
	Node uint64 `json:"node"`
	// Last is the node's last record, also if it is after the round. Seq 0 if no record is the node's own.
	Last   Ref    `json:"last"`
	Reason string `json:"reason"` // half a sentence

	wentOn    bool // it still wrote records after the winner had won
	restarted bool // another process of the node began later, and may have followed
}
