package splitbrain

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/ringleader-dev/ringleader/proto"
)

// The kinds of the messages by which leaders that meet again mend a split brain. The
// envelope's term is the sender's own.
var (
	KindAccount = proto.NewKind[Account](64, "ACCOUNT", "I led, from then until then")
	KindTruce   = proto.NewKind[Truce](65, "TRUCE", "I mend the split: stop leading")
	KindSettled = proto.NewKind[Settled](66, "SETTLED", "the split is mended: your reign is settled")
)

// Kinds are all of them.
func Kinds() []proto.Kind { return []proto.Kind{KindAccount, KindTruce, KindSettled} }

// Account tells the present nominee of a reign that is over: which one, for how
// long it lasted and how long ago it ended when this was sent, and whether the
// work done in it has stopped. Who led says it; another may pass it on.
type Account struct {
	Reign   proto.Epoch   `msgpack:"o"`
	Led     time.Duration `msgpack:"d"`
	Ago     time.Duration `msgpack:"a"`
	Stopped bool          `msgpack:"y"`
	// After is the reign that was handed over to who led: it had ended before this one
	// began. Zero when none was.
	After proto.Epoch `msgpack:"p"`
}

func (Account) Kind() proto.Kind { return KindAccount }

func (b Account) String() string {
	state := "stopping"
	if b.Stopped {
		state = "stopped"
	}
	return proto.Describe(b, "leader", b.Reign.Leader, "term", b.Reign.Term,
		"led", b.Led.Round(time.Millisecond), state, b.Ago.Round(time.Millisecond))
}

func (b Account) Validate() error {
	if err := validateReign(b.Reign, b.Led, b.Ago); err != nil {
		return err
	}
	return validateAfter(b.After)
}

// Truce says that the sender, the nominee, mends a split brain, and that nobody
// leads until it has.
type Truce struct {
	Session proto.Session `msgpack:"s"` // of the sender
}

func (Truce) Kind() proto.Kind  { return KindTruce }
func (b Truce) String() string  { return proto.Describe(b) }
func (b Truce) Validate() error { return b.Session.Validate() }

// Nominee is the process that asks for the truce.
func (b Truce) Nominee() proto.Session { return b.Session }

// Settled answers an Account: it need not be told again. When the reign
// overlapped with another, Rival names that one, Overlap says for how long, and
// the split is mended.
type Settled struct {
	Reign   proto.Epoch   `msgpack:"o"`
	Led     time.Duration `msgpack:"d"` // as in the Account
	Ago     time.Duration `msgpack:"a"`
	Stopped bool          `msgpack:"y"`
	After   proto.Epoch   `msgpack:"p"` // likewise
	Rival   proto.Epoch   `msgpack:"r"` // zero when there was no other
	Overlap time.Duration `msgpack:"e"`
	Tries   uint64        `msgpack:"c"` // of reconciling, Exit the code of the last one
	Exit    int64         `msgpack:"x"`
	Problem string        `msgpack:"w"` // of reconciling
}

// MaxReign bounds the times in an Account: a hundred years.
const MaxReign = 100 * 365 * 24 * time.Hour

const (
	maxProblem = 200
	maxTries   = 1000
)

func (Settled) Kind() proto.Kind { return KindSettled }

func (b Settled) String() string {
	if b.Rival == (proto.Epoch{}) {
		return proto.Describe(b, "leader", b.Reign.Leader, "term", b.Reign.Term)
	}
	return proto.Describe(b, "leader", b.Reign.Leader, "term", b.Reign.Term,
		"rival", b.Rival.Leader, "overlap", b.Overlap.Round(time.Millisecond))
}

func (b Settled) Validate() error {
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
	}
	if err := validateAfter(b.Rival); err != nil {
		return err
	}
	return validateAfter(b.After)
}

// validateAfter takes the zero Epoch for none.
func validateAfter(e proto.Epoch) error {
	if e == (proto.Epoch{}) {
		return nil
	}
	return e.Validate()
}

func validateReign(e proto.Epoch, led, ago time.Duration) error {
	if led < 0 || led > MaxReign || ago < 0 || ago > MaxReign {
		return fmt.Errorf("a reign of %v that ended %v ago: want up to %v", led, ago, MaxReign)
	}
	return e.Validate()
}
