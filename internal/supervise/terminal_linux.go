package supervise

import (
	"os/signal"

	"golang.org/x/sys/unix"
)

// takeBack makes this process's group the foreground group of the terminal again, if had says that
// the command's group was. The kernel would stop a background process that does so, unless it
// ignores SIGTTOU.
func takeBack(had bool) {
	if !had {
		return
	}
	signal.Ignore(unix.SIGTTOU)
	defer signal.Reset(unix.SIGTTOU)
	_ = unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, unix.Getpgrp()) // it may have hung up
}
