//go:build !linux

package bench

import (
	"context"
	"errors"
	"time"
)

// process cannot be opened on this system; mayDocker says so before.
type process struct{}

func openProcess(int) (*process, error) { return nil, errors.ErrUnsupported }

func (*process) died(context.Context) (time.Time, error) { return time.Time{}, errors.ErrUnsupported }

func (*process) close() {}
