package health

import (
	"errors"
	"fmt"
	"time"
)

// Config says what is asked, how often, and when it counts.
type Config struct {
	Checks []Check
	// Interval is the time from one asking of a check to the next, Timeout how long
	// one may take.
	Interval, Timeout time.Duration
	// Rise passes in a row make a failed check well, Fall failures in a row make one
	// that was well fail.
	Rise, Fall int
	// HoldDown is how long all checks have to be well before a node that became
	// unhealthy is healthy again. It doubles with each time, up to MaxHoldDown, and
	// begins anew once the node has been healthy for longer than that.
	HoldDown, MaxHoldDown time.Duration
	// Needed, unless nil, reports whether nobody but this node could lead. It is asked again
	// and again while the node is held back and all its checks are well, and ends that. It
	// is called from one goroutine at a time and must not block.
	Needed func() bool
	// Report takes each change: whether the node is healthy, and why not. The first
	// call is before the first check. It is called from one goroutine at a time and
	// must not block.
	Report func(healthy bool, why string)
}

// ErrConfig says that New was given what makes no sense.
var ErrConfig = errors.New("health configuration")

func (c Config) validate() error {
	switch {
	case c.Interval <= 0 || c.Timeout <= 0:
		return fmt.Errorf("%w: interval %v and timeout %v: want more than 0", ErrConfig, c.Interval, c.Timeout)
	case c.Rise < 1 || c.Fall < 1:
		return fmt.Errorf("%w: rise %d and fall %d: want 1 or more", ErrConfig, c.Rise, c.Fall)
	case c.HoldDown < 0 || c.MaxHoldDown < c.HoldDown:
		return fmt.Errorf("%w: a hold-down from %v to %v: want 0 or more, and not less", ErrConfig,
			c.HoldDown, c.MaxHoldDown)
	case c.Report == nil:
		return fmt.Errorf("%w: nobody takes the reports", ErrConfig)
	}
	return nil
}
