package proto

import "fmt"

// The messages of a transfer, by which a leader hands over to a chosen successor:
// it asks first, and tells it to lead when it leads no more itself. The
// envelope's term is the one that the leader leads, or gives up. Each names both
// processes, so that one of a former life does nothing.

// Offer asks a process whether it would lead after the sender.
type Offer struct {
	Session Session // of the sender
	Nonce   uint64
	To      Session // of the receiver
}

// Reply answers an Offer. It binds nobody.
type Reply struct {
	Session Session // of the leader
	Nonce   uint64
	No      Decline // NoDecline: it would
}

// TakeOver tells the successor to lead, at once: the sender leads no more, and all
// that it did as the leader has stopped. Its word is that of TimeoutNow, whose
// receiver need not have been asked. Source: as of TimeoutNow.
type TakeOver struct {
	Session Session // of the sender
	To      Session // of the receiver
	// Chosen says that an operator chose the receiver: no preference for a higher
	// rank undoes that.
	Chosen bool
}

// Decline is why a process would not lead.
type Decline uint8

// The declines.
const (
	NoDecline       Decline = iota
	DeclineSession          // the offer is to a former life of it
	DeclineBehind           // it does not know that the sender leads this term
	DeclineAside            // it was told not to stand
	DeclineNonVoter         // it is no voter
	DeclineMajority         // no majority of the voters answered that it would vote for it
	DeclineVoteless         // it votes for nobody: nothing is saved of what it voted
	numDeclines
)

var declines = [numDeclines]string{
	"it would", "it has restarted since",
	"it has not caught up with this term",
	"it does not stand for election", "it is no voter",
	"no majority of the voters would vote for it, as far as it reaches them",
	"it does not vote yet: nothing is saved of what it voted",
}

// String is the decline in words.
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

func (b Offer) validate() error    { return validateSessions(b.Session, b.To) }
func (b TakeOver) validate() error { return validateSessions(b.Session, b.To) }

func (b Reply) validate() error {
	if b.No >= numDeclines {
		return fmt.Errorf("decline %d: at most %d", b.No, numDeclines-1)
	}
	return validateSession(b.Session)
}

func validateSessions(from, to Session) error {
	if err := validateSession(from); err != nil {
		return err
	}
	return validateSession(to)
}
