package fence

import (
	"errors"
	"fmt"
)

// The reasons for which a call is refused. ErrMalformedToken is one more.
var (
	// ErrStaleToken: the storage has seen a later leader. The error is a StaleError, which names
	// that leader.
	ErrStaleToken = errors.New("stale fencing token")
	// ErrOtherHolder: the storage has seen another holder of the same term. Such an error is
	// ErrStaleToken, too. One of the two holders is no leader, so whatever grants the terms granted
	// one twice.
	ErrOtherHolder = errors.New("the term is another holder's")
	// ErrNoToken: the call has no token.
	ErrNoToken = errors.New("no fencing token")
	// ErrUnsealed: a read has a token above the highest one. Its leader must seal the token first, which
	// makes it the highest.
	ErrUnsealed = errors.New("the fencing token is not sealed yet")
)

// StaleError says that a token was refused because of a higher one, or because of another holder of
// the same term. errors.Is with ErrStaleToken is true for it.
type StaleError struct {
	Token   Token // the refused one
	Highest Token // the one that the storage has seen
}

func (e *StaleError) Error() string {
	if e.Is(ErrOtherHolder) {
		return fmt.Sprintf("token %v: %v: it is held by node %v, incarnation %v",
			e.Token, ErrOtherHolder, e.Highest.Leader, e.Highest.Incarnation)
	}
	return fmt.Sprintf("token %v: %v: node %v has been here with term %d since",
		e.Token, ErrStaleToken, e.Highest.Leader, e.Highest.Term)
}

// Is makes errors.Is true for ErrStaleToken, and for ErrOtherHolder if both terms are equal.
func (e *StaleError) Is(target error) bool {
	return target == ErrStaleToken ||
		target == ErrOtherHolder && e.Token.Term == e.Highest.Term
}

// Admit is the rule for every write. highest is the highest token that the storage has seen. Admit
// returns nil if t may write, else a StaleError or ErrMalformedToken. The storage then saves t as
// its highest token, before the write or together with it.
//
// Lecture notes: "Storage checks token on write: A attempts write with token=100. Storage: 'Current
// token is 101, rejecting 100'".
func Admit(highest, t Token) error {
	if err := t.Validate(); err != nil {
		return err
	}
	if t.Term > highest.Term || t == highest {
		return nil
	}
	return &StaleError{Token: t, Highest: highest}
}

// AdmitRead is the rule for a leader's read. It returns nil if t is the highest token, else the
// error of Admit, or ErrUnsealed. Reads save no token: a new leader seals its token first, which makes
// it the highest. Otherwise a former leader could still change what the read returned.
func AdmitRead(highest, t Token) error {
	if err := Admit(highest, t); err != nil {
		return err
	}
	if t != highest {
		return fmt.Errorf("token %v: %w: seal it before the first read", t, ErrUnsealed)
	}
	return nil
}
