package pidfile

import (
	"context"
	"errors"
	"fmt"

	"github.com/ringleader-dev/ringleader/proto"
)

// ErrOther says that the file names another process of the node than the target,
// and one that has ended: it may be the one before the target, if that wrote no
// file, so that nothing is known of the target.
var ErrOther = errors.New("the pid file names another process, which has ended")

// ErrElsewhere says that the process cannot be seen from here: it runs on
// another machine, or in another namespace of process ids.
var ErrElsewhere = errors.New("the process cannot be seen from here")

// Target is the process that is to be stopped.
type Target struct {
	ID      proto.NodeID
	Session string // "" for whichever process the file names
}

// Off kills the process that the file at path names, waits until it has ended,
// and returns in words what it found. It returns nil only if the target has
// stopped: killed, or ended before, or followed by another process of its node,
// which runs. Errors wrap ErrFile, ErrOther, ErrElsewhere, or ctx's.
func Off(ctx context.Context, path string, t Target) (string, error) {
	p, runs, err := look(path, t)
	if err != nil {
		return "", err
	}
	if runs == nil {
		return fmt.Sprintf("process %d of node %v has ended before", p.PID, p.ID), nil
	}
	defer runs.close()
	if p.follows(t) {
		return p.again(), nil
	}
	if err := runs.kill(ctx); err != nil {
		return "", fmt.Errorf("kill process %d of node %v: %w", p.PID, t.ID, err)
	}
	return fmt.Sprintf("killed process %d of node %v", p.PID, t.ID), nil
}

// Status says whether the target runs, and changes nothing. Errors are those
// with which Off would fail.
func Status(path string, t Target) (string, error) {
	p, runs, err := look(path, t)
	if err != nil {
		return "", err
	}
	if runs == nil {
		return fmt.Sprintf("process %d of node %v has ended", p.PID, p.ID), nil
	}
	runs.close()
	if p.follows(t) {
		return p.again(), nil
	}
	return fmt.Sprintf("node %v runs as process %d, session %s", p.ID, p.PID, p.Session), nil
}

// follows reports whether the process, while it runs, is the one after the target.
func (p Process) follows(t Target) bool { return t.Session != "" && p.Session != t.Session }

func (p Process) again() string {
	return fmt.Sprintf("node %v has been started again since, as process %d", p.ID, p.PID)
}

// look reads the file and finds the process that it names; nil if that was the
// target and has ended.
func look(path string, t Target) (Process, *handle, error) {
	p, err := Read(path)
	if err != nil {
		return p, nil, err
	}
	if p.ID != t.ID {
		return p, nil, fmt.Errorf("%w: %s is of node %v, not of %v: name the file with {id}",
			ErrFile, path, p.ID, t.ID)
	}
	here, err := self()
	switch {
	case err != nil:
		return p, nil, err
	case p.Machine != here.Machine:
		return p, nil, fmt.Errorf("%w: %s is of machine %s, this is %s",
			ErrElsewhere, path, p.Machine, here.Machine)
	case p.Boot != here.Boot && p.Machine == noMachine:
		return p, nil, fmt.Errorf("%w: %s is of another boot, or of another machine: without "+
			"/etc/machine-id nobody can tell", ErrElsewhere, path)
	case p.Boot == here.Boot && p.Namespace != here.Namespace:
		return p, nil, fmt.Errorf("%w: %s is of another namespace of process ids", ErrElsewhere, path)
	}
	var runs *handle
	if p.Boot == here.Boot {
		runs, err = open(p.PID, p.Start)
	}
	if err == nil && runs == nil && p.follows(t) {
		err = fmt.Errorf("%w: %s", ErrOther, path)
	}
	return p, runs, err
}
