package fence

import (
	"errors"
	"sync/atomic"
)

// Meter counts the results of calls that need a token: writes and seals. The zero Meter is ready to
// use; any goroutine may use it.
type Meter struct {
	accepted, stale, otherHolder, missing, malformed, failed atomic.Uint64
}

// Counts has the numbers that a Meter has counted.
type Counts struct {
	Accepted    uint64 `json:"accepted"`
	Stale       uint64 `json:"refused_stale"`
	OtherHolder uint64 `json:"refused_other_holder"`
	Missing     uint64 `json:"refused_missing"`
	Malformed   uint64 `json:"refused_malformed"`
	// Failed counts calls that failed for another reason, as on a full disk.
	Failed uint64 `json:"failed"`
}

// Record counts one call that ended with err.
func (m *Meter) Record(err error) {
	switch {
	case err == nil:
		m.accepted.Add(1)
	case errors.Is(err, ErrOtherHolder):
		m.otherHolder.Add(1)
	case errors.Is(err, ErrStaleToken):
		m.stale.Add(1)
	case errors.Is(err, ErrNoToken):
		m.missing.Add(1)
	case errors.Is(err, ErrMalformedToken):
		m.malformed.Add(1)
	default:
		m.failed.Add(1)
	}
}

// Counts returns the present counts.
func (m *Meter) Counts() Counts {
	return Counts{
		Accepted: m.accepted.Load(), Stale: m.stale.Load(), OtherHolder: m.otherHolder.Load(),
		Missing: m.missing.Load(), Malformed: m.malformed.Load(), Failed: m.failed.Load(),
	}
}
