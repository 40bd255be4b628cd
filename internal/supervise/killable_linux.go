package supervise

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// A process of another user cannot be killed without CAP_KILL: it would outlive the process that
// started it, and every deadline. So a subreaper without CAP_KILL keeps the command and its
// descendants from becoming another user. It sets PR_SET_NO_NEW_PRIVS: then the kernel ignores
// setuid bits and file capabilities. Descendants inherit this setting, and none can undo it.

// capable reports whether this process has a capability in effect.
func capable(c uint) (bool, error) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return false, fmt.Errorf("look at this process's capabilities: %w", err)
	}
	return data[c/32].Effective&(1<<(c%32)) != 0, nil
}

// canEnd returns an error if this process could start processes that it could not end.
func canEnd() error {
	kills, err := capable(unix.CAP_KILL)
	if err != nil || kills {
		return err
	}
	switches, err := capable(unix.CAP_SETUID)
	if switches {
		return fmt.Errorf("%w: this process may start others as another user (CAP_SETUID), and not kill them: "+
			"give it CAP_KILL too, or neither", ErrCannotEnd)
	}
	return err
}

// stayKillable makes the kernel ignore setuid bits and file capabilities of the programs that this
// thread starts. It does nothing if this process may kill other users' processes.
func stayKillable() error {
	if kills, err := capable(unix.CAP_KILL); err != nil || kills {
		return err
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}

// Killable returns an error if the program at path has a setuid or setgid bit that the kernel will
// ignore: see stayKillable. Errors wrap ErrCannotEnd and ErrNotExecutable.
func Killable(path string) error {
	kills, err := capable(unix.CAP_KILL)
	if err != nil || kills {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return startError(path, err)
	}
	what := ""
	switch {
	case info.Mode()&os.ModeSetuid != 0:
		what = "user (setuid)"
	case info.Mode()&os.ModeSetgid != 0:
		what = "group (setgid)"
	default:
		return nil
	}
	return startError(path, fmt.Errorf("%w: it runs as another %s, and may not: run ringleader as that user, "+
		"or with CAP_KILL", ErrCannotEnd, what))
}
