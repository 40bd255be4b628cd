package fence

import (
	"errors"
	"fmt"
)

// Why a call is refused. ErrMalformedToken is one more reason.
var (
	// ErrStaleToken: another leader has been here since. The error is a
	// StaleError, which says who.
	ErrStaleToken = errors.New("stale fencing token")
	// ErrOtherHolder: the same term with another holder. Such an error is
	// ErrStaleToken too. Of two holders of one term one is no leader, so the
	// terms come from something that grants them twice.
	ErrOtherHolder = errors.New("the term is another holder's")
	// ErrNoToken: the call shows none.
	ErrNoToken = errors.New("no fencing token")
	// ErrUnsealed: a read with a token that the storage has not seen yet.
	ErrUnsealed = errors.New("the fencing token is not sealed yet")
)

// StaleError refuses a token because of a higher one, or because of the same
// term's other holder. It is ErrStaleToken.
type StaleError struct {
	Token   Token // the refused one
	Highest Token // the one that the storage has seen
}

func (e *StaleError) Error() string {
	if e.Is(ErrOtherHolder) {
		return fmt.Sprintf("token %v: %v: it is held by node %v, session %v",
			e.Token, ErrOtherHolder, e.Highest.Leader, e.Highest.Session)
	}
	return fmt.Sprintf("token %v: %v: node %v has been here with term %d since",
		e.Token, ErrStaleToken, e.Highest.Leader, e.Highest.Term)
}

// Is makes the error ErrStaleToken, and ErrOtherHolder when it is that.
func (e *StaleError) Is(target error) bool {
	return target == ErrStaleToken ||
		target == ErrOtherHolder && e.Token.Term == e.Highest.Term
}

// Admit is the rule for every write: nil when a storage whose highest token so
// far is highest lets t write, else a StaleError or ErrMalformedToken. The
// storage then keeps t as its highest, before or together with the write.
//
// Lecture notes: "Storage checks token on write: A attempts write with
// token=100. Storage: 'Current token is 101, rejecting 100'".
func Admit(highest, t Token) error {
	if err := t.Validate(); err != nil {
		return err
	}
	if t.Term > highest.Term || t == highest {
		return nil
	}
	return &StaleError{Token: t, Highest: highest}
}

// AdmitRead is the rule for a read as leader: nil when t is the highest token,
// else as Admit, or ErrUnsealed. A read changes nothing, so it cannot seal; and
// without the seal what it returns may change behind the reader's back.
func AdmitRead(highest, t Token) error {
	if err := Admit(highest, t); err != nil {
		return err
	}
	if t != highest {
		return fmt.Errorf("token %v: %w: seal it before the first read", t, ErrUnsealed)
	}
	return nil
}
