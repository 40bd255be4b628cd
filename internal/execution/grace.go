package execution

import (
	"errors"
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/internal/pacing"
)

// ErrGrace says that with this grace the command would outlive the lease, or would be stopped
// although the lease is renewed in time.
var ErrGrace = errors.New("grace")

const (
	graceAlone = 5 * time.Second // the default without a lease
	// killShare says which part of a lease is reserved for the kernel to kill the command on a busy
	// machine: one in killShare.
	killShare = 20
)

// FitGrace returns how long the command gets from SIGTERM to SIGKILL, and how much of the lease is
// reserved for the kernel to end it. The parameter given is the grace that the operator wants, or
// zero for the longest that fits. The parameter leased is the length of the lease, or zero for no
// lease. The parameter latency is the planned latency of a message.
//
// The command is told to stop when the rest of the lease is just long enough. That must not happen
// while the lease can still be renewed as usual. A leader asks for a renewal twice within two
// thirds of the lease, and the answers to the second question come within four latencies:
//
//	grace + held/20 ≤ held - 2/3 lease - 4 × latency
//
// Here held is the part of the lease that the leader counts on. Errors wrap ErrGrace.
func FitGrace(given, leased, latency time.Duration) (grace, killTime time.Duration, err error) {
	if leased == 0 {
		if given == 0 {
			given = graceAlone
		}
		return given, 0, nil
	}
	lasts, renewal := lease.Of(leased), 2*leased/3
	killTime = lasts / killShare
	most := lasts - renewal - 4*latency - killTime
	if given == 0 {
		return max(0, pacing.Neat(most)), killTime, nil
	}
	if given > most {
		return 0, 0, fmt.Errorf("%w + held/20 ≤ held - 2/3 lease - 4 × latency, "+
			"held being what a leader counts on of its lease: "+
			"%v + %v > %v - %v - %v: raise --lease or lower --grace to %v at most",
			ErrGrace, given, killTime.Round(time.Millisecond), lasts.Round(time.Millisecond),
			renewal.Round(time.Millisecond), 4*latency, max(0, pacing.Neat(most)))
	}
	return given, killTime, nil
}
