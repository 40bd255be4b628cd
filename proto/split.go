package proto

import (
	"fmt"
	"time"
	"unicode/utf8"
)

// The messages by which leaders that meet again mend a split brain. The
// envelope's term is the sender's own.

// Account tells the present nominee of a reign that is over: which one, for how
// long it lasted and how long ago it ended when this was sent, and whether the
// work done in it has stopped. Who led says it; another may pass it on.
type Account struct {
	Reign   Epoch
	Led     time.Duration // whole microseconds
	Ago     time.Duration // whole microseconds
	Stopped bool
	// After is the reign that was handed over to who led: it had ended before this one
	// began. Zero when none was.
	After Epoch
}

// Truce says that the sender, the nominee, mends a split brain, and that nobody
// leads until it has.
type Truce struct {
	Session Session // of the sender
}

// Settled answers an Account: it need not be told again. When the reign
// overlapped with another, Rival names that one, Overlap says for how long, and
// the split is mended.
type Settled struct {
	Reign   Epoch
	Led     time.Duration // whole microseconds; as in the Account
	Ago     time.Duration
	Stopped bool
	After   Epoch         // likewise
	Rival   Epoch         // zero when there was no other
	Overlap time.Duration // whole microseconds
	Tries   uint64        // of reconciling, Exit the code of the last one
	Exit    int64
	Problem string // of reconciling
}

// MaxReign bounds the times in an Account: a hundred years.
const MaxReign = 100 * 365 * 24 * time.Hour

const (
	maxProblem = 200
	maxTries   = 1000
)

func (Account) Kind() Kind { return KindAccount }
func (Truce) Kind() Kind   { return KindTruce }
func (Settled) Kind() Kind { return KindSettled }

func (b Account) String() string {
	state := "stopping"
	if b.Stopped {
		state = "stopped"
	}
	return describe(b, "leader", b.Reign.Leader, "term", b.Reign.Term,
		"led", b.Led.Round(time.Millisecond), state, b.Ago.Round(time.Millisecond))
}

func (b Truce) String() string { return b.Kind().String() }

func (b Settled) String() string {
	if b.Rival == (Epoch{}) {
		return describe(b, "leader", b.Reign.Leader, "term", b.Reign.Term)
	}
	return describe(b, "leader", b.Reign.Leader, "term", b.Reign.Term,
		"rival", b.Rival.Leader, "overlap", b.Overlap.Round(time.Millisecond))
}

func (b Account) validate() error {
	if err := validateReign(b.Reign, b.Led, b.Ago); err != nil {
		return err
	}
	return validateAfter(b.After)
}

func (b Truce) validate() error { return validateSession(b.Session) }

func (b Settled) validate() error {
	if err := validateReign(b.Reign, b.Led, b.Ago); err != nil {
		return err
	}
	switch {
	case b.Overlap < 0 || b.Overlap > MaxReign:
		return fmt.Errorf("an overlap of %v: want up to %v", b.Overlap, MaxReign)
	case b.Tries > maxTries || b.Exit < -1 || b.Exit > 255:
		return fmt.Errorf("%d tries, exit code %d: out of range", b.Tries, b.Exit)
	case len(b.Problem) > maxProblem || !utf8.ValidString(b.Problem):
		return fmt.Errorf("a problem of %d bytes: want UTF-8, at most %d", len(b.Problem), maxProblem)
	case b.Rival != (Epoch{}):
		if err := validateEpoch(b.Rival); err != nil {
			return err
		}
	}
	return validateAfter(b.After)
}

func validateAfter(e Epoch) error {
	if e == (Epoch{}) {
		return nil
	}
	return validateEpoch(e)
}

func validateReign(e Epoch, led, ago time.Duration) error {
	if led < 0 || led > MaxReign || ago < 0 || ago > MaxReign {
		return fmt.Errorf("a reign of %v that ended %v ago: want up to %v", led, ago, MaxReign)
	}
	return validateEpoch(e)
}

func validateEpoch(e Epoch) error {
	if e.Term == 0 || e.Term > MaxTerm {
		return fmt.Errorf("term %d: want 1 to %d", e.Term, MaxTerm)
	}
	if err := e.Leader.Validate(); err != nil {
		return err
	}
	return validateSession(e.Session)
}
