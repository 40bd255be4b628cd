package supervise

import (
	"os/signal"

	"golang.org/x/sys/unix"
)

// takeBack makes this process's group the terminal's again, after the command had
// it. The kernel stops a process of the background that does so, unless it ignores
// the signal that would stop it.
func takeBack(had bool) {
	if !had {
		return
	}
	signal.Ignore(unix.SIGTTOU)
	defer signal.Reset(unix.SIGTTOU)
	_ = unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, unix.Getpgrp()) // it may have hung up
}
