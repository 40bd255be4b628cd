package splitbrain

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/ringleader-dev/ringleader/proto"
)

// The kinds of the messages by which leaders that meet again recover from a split brain. The
// envelope's term is the sender's own.
var (
	KindReport = proto.NewKind[Report](64, "REPORT", "I led, from then until then")
	KindStop   = proto.NewKind[Stop](65, "STOP", "I recover from the split: stop leading")
	KindResume = proto.NewKind[Resume](66, "RESUME",
		"your leadership is settled, and so is the split that it was part of")
)

// Kinds returns the kinds of messages that this package declares.
func Kinds() []proto.Kind { return []proto.Kind{KindReport, KindStop, KindResume} }

// Report tells the nominee about a leadership that is over: which one, how long it lasted, how long
// before this message was sent it ended, and whether its work has stopped. The process that led sends
// the Report; another process may pass it on.
type Report struct {
	Leadership proto.Leadership `msgpack:"o"`
	Led        time.Duration    `msgpack:"d"`
	Ago        time.Duration    `msgpack:"a"`
	Stopped    bool             `msgpack:"y"`
	// After is the leadership from which the process that led took over: that leadership ended before
	// this one began. It is zero if there was none.
	After proto.Leadership `msgpack:"p"`
}

func (Report) Kind() proto.Kind { return KindReport }

func (b Report) String() string {
	state := "stopping"
	if b.Stopped {
		state = "stopped"
	}
	return proto.Describe(b, "leader", b.Leadership.Leader, "term", b.Leadership.Term,
		"led", b.Led.Round(time.Millisecond), state, b.Ago.Round(time.Millisecond))
}

func (b Report) Validate() error {
	if err := validateLeadership(b.Leadership, b.Led, b.Ago); err != nil {
		return err
	}
	return validateAfter(b.After)
}

// Stop says that the sender, the nominee, recovers from a split brain, and that nobody leads until
// it has finished.
type Stop struct {
	Incarnation proto.Incarnation `msgpack:"s"` // the process that sends this
}

func (Stop) Kind() proto.Kind  { return KindStop }
func (b Stop) String() string  { return proto.Describe(b) }
func (b Stop) Validate() error { return b.Incarnation.Validate() }

// Nominee returns the process that sent the Stop.
func (b Stop) Nominee() proto.Incarnation { return b.Incarnation }

// Resume answers a Report: the Report need not be sent again. If the leadership overlapped with another
// leadership, Rival names the other one, Overlap says how long they overlapped, and the cluster has
// recovered from that split.
type Resume struct {
	Leadership proto.Leadership `msgpack:"o"`
	Led        time.Duration    `msgpack:"d"` // as in the Report
	Ago        time.Duration    `msgpack:"a"`
	Stopped    bool             `msgpack:"y"`
	After      proto.Leadership `msgpack:"p"` // as in the Report
	Rival      proto.Leadership `msgpack:"r"` // the other leadership of the overlap; zero if there was none
	By         proto.NodeID     `msgpack:"b"` // the node that recovered from the split; zero if there was none
	Overlap    time.Duration    `msgpack:"e"`
	Tries      uint64           `msgpack:"c"` // how often the host ran the command to reconcile
	Exit       int64            `msgpack:"x"` // the exit code of the last run
	Problem    string           `msgpack:"w"` // why the last run failed
}

// MaxLeadership is the longest time that a Report may contain: a hundred years.
const MaxLeadership = 100 * 365 * 24 * time.Hour

const (
	maxProblem = 200
	maxTries   = 1000
)

func (Resume) Kind() proto.Kind { return KindResume }

func (b Resume) String() string {
	if b.Rival == (proto.Leadership{}) {
		return proto.Describe(b, "leader", b.Leadership.Leader, "term", b.Leadership.Term)
	}
	return proto.Describe(b, "leader", b.Leadership.Leader, "term", b.Leadership.Term,
		"rival", b.Rival.Leader, "overlap", b.Overlap.Round(time.Millisecond))
}

func (b Resume) Validate() error {
	if err := validateLeadership(b.Leadership, b.Led, b.Ago); err != nil {
		return err
	}
	switch {
	case b.Overlap < 0 || b.Overlap > MaxLeadership:
		return fmt.Errorf("an overlap of %v: want up to %v", b.Overlap, MaxLeadership)
	case b.Tries > maxTries || b.Exit < -1 || b.Exit > 255:
		return fmt.Errorf("%d tries, exit code %d: out of range", b.Tries, b.Exit)
	case len(b.Problem) > maxProblem || !utf8.ValidString(b.Problem):
		return fmt.Errorf("a problem of %d bytes: want UTF-8, at most %d", len(b.Problem), maxProblem)
	}
	if ofSplit(b) || b.By != 0 {
		if err := errors.Join(b.Rival.Validate(), b.By.Validate()); err != nil {
			return err
		}
	}
	return validateAfter(b.After)
}

// validateAfter accepts the zero Leadership, which means none.
func validateAfter(e proto.Leadership) error {
	if e == (proto.Leadership{}) {
		return nil
	}
	return e.Validate()
}

func validateLeadership(e proto.Leadership, led, ago time.Duration) error {
	if led < 0 || led > MaxLeadership || ago < 0 || ago > MaxLeadership {
		return fmt.Errorf("a leadership of %v that ended %v ago: want up to %v", led, ago, MaxLeadership)
	}
	return e.Validate()
}
