package health

import (
	"errors"
	"fmt"
	"time"
)

// Config says which checks a Monitor makes, how often, and when a result counts.
type Config struct {
	Checks []Check
	// Interval is the time from one run of a check to the next. Timeout is how long one run may
	// take.
	Interval, Timeout time.Duration
	// Rise is how many passes in a row make a failed check count as passed. Fall is how many
	// failures in a row make a passed check count as failed.
	Rise, Fall int
	// HoldDown is how long all checks must pass before a node that became unhealthy is healthy
	// again. It doubles each time, up to MaxHoldDown, and starts anew once the node has been
	// healthy for longer than MaxHoldDown.
	HoldDown, MaxHoldDown time.Duration
	// Needed reports whether no node but this one could lead. Nil means always false. While the node is
	// held back and all its checks pass, the Monitor calls Needed repeatedly, and stops holding the
	// node back when it returns true. One goroutine at a time calls it; it must not block.
	Needed func() bool
	// The Monitor calls Report at each change: whether the node is healthy, and if not, why. The first
	// call is before the first check. One goroutine at a time calls Report; it must not block.
	Report func(healthy bool, why string)
}

// ErrConfig says that the Config is invalid.
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
