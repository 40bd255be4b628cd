package rounds

import "time"

// Step is one record of the round. Its texts are as the node wrote them.
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

	reasons []reason // the reasons of the sentences in Why

	Received int   `json:"received"`       // index in Messages, -1 for none
	Sent     []int `json:"sent,omitempty"` // indexes in Messages

	// The belief after the step.
	Role   string `json:"role"`   // leader, follower or looking
	Leader uint64 `json:"leader"` // 0 is nobody
	// LeaderTerm is the term that Leader leads, where that is not the round's: under a
	// lease, a leader goes on while the next election is held. 0 otherwise.
	LeaderTerm uint64 `json:"leader_term,omitempty"`
	Token      uint64 `json:"token,omitempty"`
	Change     string `json:"change,omitempty"`
	// Prev is who was believed to lead before a Change.
	Prev uint64 `json:"prev,omitempty"`
	// Lease is when the belief ends by itself, corrected. Zero where it does not.
	Lease time.Time `json:"valid_until,omitzero"`
}

// led returns the node that the step names as the leader of the round's own term, 0 for none.
func (s *Step) led() uint64 {
	if s.LeaderTerm != 0 {
		return 0
	}
	return s.Leader
}

// Message is one message of the round.
type Message struct {
	ID       string   `json:"id"`
	Kind     string   `json:"kind"`
	Detail   string   `json:"detail,omitempty"` // in words, from its receipt
	From     uint64   `json:"from"`
	To       uint64   `json:"to"`
	Delivery Delivery `json:"delivery"`
	// SendStep and ReceiveStep are indexes in Steps, -1 where the round does not have
	// that record. Repeats counts further receipts.
	SendStep    int `json:"send_step"`
	ReceiveStep int `json:"receive_step"`
	Repeats     int `json:"repeats,omitempty"`
	// Counted: the message belongs to the election. Others were sent in its term to
	// remind followers, to inform newcomers, or in answer to other terms.
	Counted bool `json:"counted"`

	arrived time.Time // corrected, if it was received in a record that the round does not have
	// elsewhere: it was sent in a record of another term.
	elsewhere bool
	sender    string // the process that sent it, if its receipt tells that, and no record of the round sent it
	// quiet: the record that sent it gives no reason, and is not kept.
	quiet bool
	// unsure: a receipt may be of it, or of a message of another process.
	unsure bool
}

// Delivery says what became of a message, as far as the records tell.
type Delivery string

// The deliveries.
const (
	Arrived Delivery = "arrived"
	// Unsent: there is a receipt, but the sender's record of it is missing.
	Unsent Delivery = "sender-unknown"
	// Lost: the receiver wrote down all that it did, but no receipt of this message.
	Lost Delivery = "lost"
	// ToGone: the receiver was dead or out of reach, or the sender was stopped before the message had left it,
	// or one of them had just woken from a long pause, and their connection ended.
	ToGone Delivery = "receiver-gone"
	// Unseen: there is no receipt, which proves nothing: the receiver's records end
	// before, have a gap, or leave out the steps that decided nothing.
	Unseen Delivery = "unknown"
)
