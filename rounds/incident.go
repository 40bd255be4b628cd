package rounds

import "time"

// Incident is one change of leadership, from the end of the last leadership that the records confirm to the
// beginning of the next. All elections that nobody won in between are part of it. It is the unit about which
// people ask: who led before, how long did nobody lead, why, and who leads since?
type Incident struct {
	// Former led FormerTerm until From. All three are zero before the first leadership.
	Former     uint64    `json:"former,omitempty"`
	FormerTerm uint64    `json:"former_term,omitempty"`
	From       time.Time `json:"from,omitzero"`
	Ended      Ending    `json:"ended,omitzero"` // how the leadership of Former ended

	// Leader leads Term since Until. Leader is 0 if nobody leads when the records end: Until is the time of
	// the last record then.
	Leader uint64    `json:"leader,omitempty"`
	Term   uint64    `json:"term,omitempty"`
	Until  time.Time `json:"until"`

	// Leaderless is how long nobody led: from From to Until, or 0 if the leaderships met or overlapped.
	// Before the first leadership it counts from the first call of an election.
	Leaderless time.Duration `json:"leaderless"`
	Terms      []uint64      `json:"terms"`   // the terms in which an election was held, in order
	Why        string        `json:"why"`     // in one clause: "voters 2 and 5 dead, 4 paused: 2 of 5"
	Records    []Ref         `json:"records"` // which prove From, Until and Why
}

// Ending says how a leadership ended, and how this is known.
type Ending struct {
	Kind  EndKind    `json:"kind"`
	Known Confidence `json:"known"`
	Ref   Ref        `json:"ref,omitzero"` // the record that shows it
}

// EndKind is what ended a leadership: whatever came first.
type EndKind string

// The ends of a leadership. The leader stepped down by its own word; its lease ended, and it was not renewed;
// its process ended; or, without a lease, no record tells an end before another node led.
const (
	EndedByWord    EndKind = "word"
	EndedByLease   EndKind = "lease"
	EndedByProcess EndKind = "process"
	EndedUnseen    EndKind = "unseen"
)

// Confidence says how a statement about a node is known.
type Confidence string

// The confidences: the node wrote it itself, its peers saw it, or it is inferred from what is missing.
const (
	OwnWord  Confidence = "own"
	PeersSaw Confidence = "peers"
	Inferred Confidence = "inferred"
)

// LifeEvent is something that happened to a process.
type LifeEvent struct {
	Kind  LifeEventKind `json:"kind"`
	At    time.Time     `json:"at"` // corrected
	Known Confidence    `json:"known"`
	Ref   Ref           `json:"ref"` // the record that shows it, of the process itself or of a peer
}

// LifeEventKind is a kind of LifeEvent.
type LifeEventKind string

// The events. Started, and Ended: killed, crashed or stopped. Silent: it stopped answering, since it is paused, hangs, or
// is cut off; nobody can tell which at that time. Resumed: it wrote or answered again. Paused: it was silent, and then
// found itself that time had passed it by. CutOff: it was silent to others, but wrote on.
const (
	Started LifeEventKind = "started"
	Ended   LifeEventKind = "ended"
	Silent  LifeEventKind = "silent"
	Paused  LifeEventKind = "paused"
	CutOff  LifeEventKind = "cut-off"
	Resumed LifeEventKind = "resumed"
)
