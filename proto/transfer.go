package proto

import "fmt"

// The messages of a transfer, by which a leader hands over to a chosen successor. The leader first
// asks the successor. When the leader no longer leads, it tells the successor to lead. The envelope's
// term is the term that the leader leads, or gives up. An Offer and a TakeOver name both processes,
// so that a message to or from a former life has no effect.

// Offer asks a process whether it would lead after the sender.
type Offer struct {
	Incarnation Incarnation // the sender's
	Nonce       uint64
	To          Incarnation // the receiver's
}

// Reply answers an Offer. The answer does not bind the sender.
type Reply struct {
	Incarnation Incarnation // the leader's
	Nonce       uint64
	No          Decline // NoDecline if the sender would lead, otherwise why it would not
}

// TakeOver tells the successor to lead at once: the sender no longer leads, and all its work as the
// leader has stopped. On the wire it has the name of nomination.TimeoutNow, but the receiver of a
// TakeOver was asked before. Source: that of nomination.TimeoutNow.
type TakeOver struct {
	Incarnation Incarnation // the sender's
	To          Incarnation // the receiver's
	// Chosen says that an operator chose the receiver. Then no higher-ranked node takes over from
	// the receiver.
	Chosen bool
}

// Decline says why a process would not lead.
type Decline uint8

// The reasons to decline.
const (
	NoDecline          Decline = iota
	DeclineIncarnation         // the offer is to an earlier process of this node
	DeclineBehind              // it does not know that the sender leads this term
	DeclineAside               // it was told not to be a candidate
	DeclineNonVoter            // it is no voter
	DeclineMajority            // no majority of the voters answered that it would vote for it
	DeclineVoteless            // it votes for nobody, because its disk has no vote of it
	DeclineStore               // it does not reach the store on which leadership stands
	numDeclines
)

var declines = [numDeclines]string{
	"it would", "it has restarted since",
	"it has not caught up with this term",
	"it does not stand for election", "it is no voter",
	"no majority of the voters would vote for it, as far as it reaches them",
	"it does not vote yet: nothing is saved of what it voted",
	"it does not reach the store",
}

// String describes the reason to decline.
func (d Decline) String() string {
	if d < numDeclines {
		return declines[d]
	}
	return fmt.Sprintf("decline %d", uint8(d))
}

func (Offer) Kind() Kind    { return KindOffer }
func (Reply) Kind() Kind    { return KindReply }
func (TakeOver) Kind() Kind { return KindTakeOver }

func (b Offer) String() string    { return b.Kind().String() }
func (b TakeOver) String() string { return b.Kind().String() }

func (b Reply) String() string {
	if b.No == NoDecline {
		return b.Kind().String() + " yes"
	}
	return b.Kind().String() + " no, " + b.No.String()
}

func (b Offer) validate() error    { return validateIncarnations(b.Incarnation, b.To) }
func (b TakeOver) validate() error { return validateIncarnations(b.Incarnation, b.To) }

func (b Reply) validate() error {
	if b.No >= numDeclines {
		return fmt.Errorf("decline %d: at most %d", b.No, numDeclines-1)
	}
	return validateIncarnation(b.Incarnation)
}

func validateIncarnations(from, to Incarnation) error {
	if err := validateIncarnation(from); err != nil {
		return err
	}
	return validateIncarnation(to)
}
