package fenceagent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ringleader-dev/ringleader/proto"
)

// Why the agent for pid files could not confirm that the process stopped.
var (
	// ErrPIDFile: there is no file, or it is not a pid file of this module.
	ErrPIDFile = errors.New("the pid file tells nothing")
	// ErrOther: the file names a process of the node that is not the target, and that has ended.
	// The target may have started later and written no file.
	ErrOther = errors.New("the pid file names another process, which has ended")
	// ErrElsewhere: the process cannot be seen from here. It runs on another machine, or
	// in another namespace of process ids.
	ErrElsewhere = errors.New("the process cannot be seen from here")
)

// Target is the process that is to be stopped.
type Target struct {
	ID          proto.NodeID
	Incarnation string // "" for any process of the node
}

// Process is the process that a pid file names. A process id alone is not enough to name it: the
// kernel may give the same id to another process later.
type Process struct {
	PID int
	// Start is when the process started, in the kernel's ticks since the boot.
	Start uint64
	// Boot, Machine and Namespace say where PID and Start are valid.
	Boot, Machine, Namespace string

	ID          proto.NodeID
	Incarnation string
}

// pidFile is the format of a pid file: the process id on a line of its own, as other programs
// expect it, then a line for each other field.
const pidFile = "%d\nstart %d\nboot %s\nmachine %s\nnamespace %s\nnode %d\nincarnation %s\n"

// noMachine is used as the id of a machine that has no id.
const noMachine = "unknown"

// IDMark stands for the node's id in an agent's flags and in the name of its pid file.
const IDMark = "{id}"

// WritePIDFile writes the pid file of this process, and replaces an earlier file. It must be called
// before the process does any work, and after it has made sure that no second process of the same
// node can start.
func WritePIDFile(path string, id proto.NodeID, s proto.Incarnation) error {
	p, err := self()
	if err != nil {
		return fmt.Errorf("pid file: %w", err)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("pid file: %w", err)
	}
	_, err = fmt.Fprintf(temp, pidFile, p.PID, p.Start, p.Boot, p.Machine, p.Namespace, uint64(id), s)
	err = errors.Join(err, temp.Chmod(0o644), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
		return fmt.Errorf("pid file: %w", err)
	}
	return nil
}

// ReadPIDFile reads the file at path. Errors wrap ErrPIDFile.
func ReadPIDFile(path string) (Process, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Process{}, fmt.Errorf("%w: %w", ErrPIDFile, err)
	}
	return parsePIDFile(text, path)
}

// parsePIDFile parses the text of a pid file. Errors name the path, and wrap ErrPIDFile.
func parsePIDFile(text []byte, path string) (p Process, err error) {
	_, err = fmt.Sscanf(string(text), pidFile,
		&p.PID, &p.Start, &p.Boot, &p.Machine, &p.Namespace, (*uint64)(&p.ID), &p.Incarnation)
	if err != nil || p.PID < 1 || p.Start == 0 || p.ID == 0 {
		return p, fmt.Errorf("%w: %s was not written by ringleader run --pid-file: a number alone may be "+
			"another process's by now", ErrPIDFile, path)
	}
	return p, nil
}

// PIDFile acts on the process that the pid file at path names, and describes what it found. For Off
// it returns nil only if the target has stopped: PIDFile killed it, or it had ended, or another
// process of its node runs now. It stops the node's process, but not what that process started. For
// Status it changes nothing, and fails where Off would fail. Errors wrap ErrPIDFile, ErrOther,
// ErrElsewhere, or ctx's error.
func PIDFile(ctx context.Context, path string, a Action, t Target) (string, error) {
	p, err := ReadPIDFile(path)
	if err != nil {
		return "", err
	}
	if p.ID != t.ID {
		return "", fmt.Errorf("%w: %s is of node %v, not of %v: name the file with {id}", ErrPIDFile, path, p.ID, t.ID)
	}
	runs, err := p.find()
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if runs == nil {
		if p.follows(t) {
			return "", fmt.Errorf("%w: %s", ErrOther, path)
		}
		return fmt.Sprintf("process %d of node %v has ended before", p.PID, p.ID), nil
	}
	defer runs.close()
	switch {
	case p.follows(t):
		return p.again(), nil
	case a == Status:
		return fmt.Sprintf("node %v runs as process %d, incarnation %s",
			p.ID, p.PID, p.Incarnation), nil
	}
	if err := runs.kill(ctx); err != nil {
		return "", fmt.Errorf("kill process %d of node %v: %w", p.PID, t.ID, err)
	}
	return fmt.Sprintf("killed process %d of node %v", p.PID, t.ID), nil
}

// follows reports whether p is another process of the node than the target. If p runs, the
// target has ended.
func (p Process) follows(t Target) bool { return t.Incarnation != "" && p.Incarnation != t.Incarnation }

func (p Process) again() string {
	return fmt.Sprintf("node %v has been started again since, as process %d, incarnation %s",
		p.ID, p.PID, p.Incarnation)
}

// find returns a handle of the process; nil if it has ended.
func (p Process) find() (*handle, error) {
	here, err := self()
	switch {
	case err != nil:
		return nil, err
	case p.Machine != here.Machine:
		return nil, fmt.Errorf("%w: it is of machine %s, this is %s", ErrElsewhere, p.Machine, here.Machine)
	case p.Boot != here.Boot && p.Machine == noMachine:
		return nil, fmt.Errorf("%w: it is of another boot, or of another machine: without /etc/machine-id "+
			"nobody can tell", ErrElsewhere)
	case p.Boot != here.Boot:
		return nil, nil
	case p.Namespace != here.Namespace:
		return nil, fmt.Errorf("%w: it is of another namespace of process ids", ErrElsewhere)
	}
	return open(p.PID, p.Start)
}
