package supervise

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ringleader-dev/ringleader/node/clock"
)

// alarm tells when a certain time since boot has come, by package clock; it may tell a little too
// early. Go's own timers stop while the machine is suspended, and would be late by that time. The
// kernel's timer goes on, but is slewed.
type alarm struct {
	file *os.File
	ring chan struct{}
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("make a timer: %w", err)
	}
	a := &alarm{os.NewFile(uintptr(fd), "timer"), make(chan struct{}, 1)}
	go a.listen()
	return a, nil
}

// listen waits for the timer until its file is closed.
func (a *alarm) listen() {
	var count [8]byte
	for {
		if _, err := a.file.Read(count[:]); err != nil {
			return
		}
		if binary.NativeEndian.Uint64(count[:]) == 0 {
			continue
		}
		select {
		case a.ring <- struct{}{}:
		default:
		}
	}
}

// set makes the alarm ring at b or a little before, at once if b has passed, and never if b is
// zero. A caller that is woken too early must set the alarm again. The alarm rings early because the
// kernel's timer may run up to a tenth faster or slower than package clock.
func (a *alarm) set(b bound) error {
	at := int64(0)
	if b != 0 {
		at = max(1, boottime()+int64(early(b-sinceBoot())))
	}
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(at)}
	var failed error
	raw, err := a.file.SyscallConn()
	if err != nil {
		return err
	}
	err = raw.Control(func(fd uintptr) {
		failed = unix.TimerfdSettime(int(fd), unix.TFD_TIMER_ABSTIME, &spec, nil)
	})
	return errors.Join(err, failed)
}

// early returns how long to wait at first if the time left remains: a little less than nine tenths
// of it, or all of it if it is very short.
func early(left bound) bound {
	if left > bound(time.Millisecond) {
		left -= left/10 + left/100
	}
	return left
}

// boottime reads the timer's clock, in nanoseconds. Call it before you compute the time that is
// left: then, if the machine is suspended in between, the alarm rings early, not late.
func boottime() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0 // every kernel has it; the alarm rings at once
	}
	return ts.Nano()
}

func sinceBoot() bound { return boundOf(clock.Now()) }

// boundOf converts a time of package clock into a bound.
func boundOf(t time.Time) bound {
	if t.IsZero() {
		return 0
	}
	return bound(clock.SinceBoot(t))
}
