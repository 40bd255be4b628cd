package fence

import (
	"errors"
	"fmt"
)

// The reasons for which a call is refused. ErrMalformedToken is one more.
var (
	// ErrStaleToken: the storage has seen a later leader, or another holder of the term. The error
	// is a StaleError, which has the token of that leader.
	ErrStaleToken = errors.New("stale fencing token")
	// ErrOtherHolder: the storage has seen another holder of the same term. Such an error is
	// ErrStaleToken, too. One of the two holders is no leader, so the program or cluster that
	// grants terms granted this term twice.
	ErrOtherHolder = errors.New("the term is another holder's")
	// ErrNoToken: the call has no token.
	ErrNoToken = errors.New("no fencing token")
	// ErrUnsealed: the token of a read is higher than the highest token of the storage. The leader must
	// first seal its token, which makes that token the highest.
	ErrUnsealed = errors.New("the fencing token is not sealed yet")
)

// StaleError says that a token was refused because of a higher one, or because of another holder of
// the same term. errors.Is with ErrStaleToken is true for it.
type StaleError struct {
	Token   Token // the refused token
	Highest Token // the highest token that the storage has seen
}

func (e *StaleError) Error() string {
	if e.Is(ErrOtherHolder) {
		return fmt.Sprintf("token %v: %v: it is held by node %v, incarnation %v",
			e.Token, ErrOtherHolder, e.Highest.Leader, e.Highest.Incarnation)
	}
	return fmt.Sprintf("token %v: %v: node %v has been here with term %d since",
		e.Token, ErrStaleToken, e.Highest.Leader, e.Highest.Term)
}

// Is reports whether target is ErrStaleToken, or ErrOtherHolder if both terms are equal. errors.Is
// calls it.
func (e *StaleError) Is(target error) bool {
	return target == ErrStaleToken ||
		target == ErrOtherHolder && e.Token.Term == e.Highest.Term
}

// Admit applies the rule for every write. highest is the highest token that the storage has seen.
// Admit returns nil if t may write. Then the storage saves t as its highest token, before the write
// or together with the write. Otherwise Admit returns a StaleError or wraps ErrMalformedToken.
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

// AdmitRead applies the rule for a leader's read. It returns nil if t is the highest token. Otherwise
// it returns the error of Admit, or wraps ErrUnsealed. A read saves no token, so a new leader first
// seals its token. Without that, a former leader could still change the data that the read returned.
func AdmitRead(highest, t Token) error {
	if err := Admit(highest, t); err != nil {
		return err
	}
	if t != highest {
		return fmt.Errorf("token %v: %w: seal it before the first read", t, ErrUnsealed)
	}
	return nil
}
