package supervise

import (
	"encoding/binary"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ringleader-dev/ringleader/node/clock"
)

// alarm rings at a time since boot. Go's own timers stand still while the machine
// is suspended, and would ring late by that.
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

// set makes the alarm ring at b, at once if that has passed; never if it is zero.
func (a *alarm) set(b bound) error {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(b))}
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

func sinceBoot() bound { return boundOf(clock.Now()) }

// boundOf is t, by package clock, in every process's terms.
func boundOf(t time.Time) bound {
	if t.IsZero() {
		return 0
	}
	return bound(clock.SinceBoot(t))
}
