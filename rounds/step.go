package rounds

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// Step is one record of the round. Its text is as the node wrote it.
type Step struct {
	Ref  Ref       `json:"ref"`
	At   time.Time `json:"at"`   // corrected by the estimated offset of the node's clock
	Wall time.Time `json:"wall"` // as the node's own clock had it

	Event    string   `json:"event"`            // start, receive, timeout, peers, campaign, resign
	Detail   string   `json:"detail,omitempty"` // of the message or the command, in words
	Alive    []uint64 `json:"alive,omitempty"`
	Evidence string   `json:"evidence,omitempty"`
	Why      []string `json:"why,omitempty"` // each "cause -> decision"
	Warn     bool     `json:"warn,omitempty"`

	reasons []reason // behind Why, each at its place

	Received int   `json:"received"`       // index in Messages, -1 for none
	Sent     []int `json:"sent,omitempty"` // indexes in Messages

	// The belief after the step.
	Role   string `json:"role"`   // leader, follower or looking
	Leader uint64 `json:"leader"` // 0 is nobody
	// LeaderTerm is the term that Leader leads where it is not the round's own:
	// with an office, a leader stays in it while the next round is on. 0 otherwise.
	LeaderTerm uint64 `json:"leader_term,omitempty"`
	Token      uint64 `json:"token,omitempty"`
	Change     string `json:"change,omitempty"`
	// Prev is who was believed before a Change.
	Prev uint64 `json:"prev,omitempty"`
	// Lease is when the belief ends by itself, corrected; zero when it has none.
	Lease time.Time `json:"valid_until,omitzero"`
}

// led is whom the step names as the leader of the round's own term, 0 for
// nobody.
func (s *Step) led() uint64 {
	if s.LeaderTerm != 0 {
		return 0
	}
	return s.Leader
}

// ranOut reports whether the step found that this node's lease had ended. A process looks
// for that before anything else: one that slept through the end of its lease, too.
func (s *Step) ranOut() bool {
	return slices.ContainsFunc(s.reasons, func(why reason) bool {
		_, ends := decided[algorithms.LeaseEnds](&why)
		cause := why.cause(0)
		_, ended := decided[algorithms.LeaseEnds](&cause)
		return ends || ended
	})
}

// Message is one message of the round.
type Message struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	Detail string `json:"detail,omitempty"` // in words, from its receipt
	From   uint64 `json:"from"`
	To     uint64 `json:"to"`
	Fate   Fate   `json:"fate"`
	// SendStep and ReceiveStep are indexes in Steps, -1 when that record is not
	// in the round. A repeated receipt counts in Repeats.
	SendStep    int `json:"send_step"`
	ReceiveStep int `json:"receive_step"`
	Repeats     int `json:"repeats,omitempty"`
	// Counted: it is of the round. Others were sent in its term, but to remind
	// those who follow, to tell newcomers, or in answer to other terms.
	Counted bool `json:"counted"`
}

// Fate is what became of a message, as far as the records tell.
type Fate string

// The fates.
const (
	Arrived Fate = "arrived"
	// Unsent: there is a receipt, but the sender's record of it is missing.
	Unsent Fate = "sender-unknown"
	// Lost: the receiver wrote all it does, and nothing of this.
	Lost Fate = "lost"
	// ToGone: the receiver was gone.
	ToGone Fate = "receiver-gone"
	// Unseen: no receipt is there, and that proves nothing: the receiver's
	// records end before, have a gap, or leave out what decided nothing.
	Unseen Fate = "unknown"
)
