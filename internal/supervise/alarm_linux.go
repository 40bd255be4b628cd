package supervise

import (
	"encoding/binary"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ringleader-dev/ringleader/node/clock"
)

// alarm rings at a time since boot by package clock, or before. Go's own timers stand
// still while the machine is suspended, and would ring late by that; the kernel's go on,
// and are slewed.
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

// listen ends when the file cannot be read any more.
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

// set makes the alarm ring at b or a little before, at once if b has passed; never if it is
// zero. Whoever is woken before it is due sets it again: so the kernel's timer may run a
// tenth faster or slower than package clock, which is the most that it can be slewed by.
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
	if err != nil {
		return err
	}
	return failed
}

// early is when to look whether a time has passed, from now: a little more than a tenth of
// it before, unless that is hardly any time.
func early(left bound) bound {
	if left > bound(time.Millisecond) {
		left -= left/10 + left/100
	}
	return left
}

// boottime is the clock of the timer, in nanoseconds. It has to be read before what is
// left: a suspend in between makes the alarm ring early, not late.
func boottime() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0 // every kernel has it; the alarm rings at once
	}
	return ts.Nano()
}

func sinceBoot() bound { return boundOf(clock.Now()) }

// boundOf is t, by package clock, in every process's terms.
func boundOf(t time.Time) bound {
	if t.IsZero() {
		return 0
	}
	return bound(clock.SinceBoot(t))
}
