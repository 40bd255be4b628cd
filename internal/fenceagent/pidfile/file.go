package pidfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ringleader-dev/ringleader/proto"
)

// ErrFile says that there is no file, or that it is none of ours.
var ErrFile = errors.New("the pid file tells nothing")

// noMachine is the id of a machine that has none.
const noMachine = "unknown"

// Process is what a file names.
type Process struct {
	PID int
	// Start is when it started, in the kernel's ticks since the boot.
	Start uint64
	// Boot, Machine and Namespace say where PID and Start mean anything.
	Boot, Machine, Namespace string

	ID      proto.NodeID
	Session string
}

// Write writes the file that names this process, in place of another.
func Write(path string, id proto.NodeID, s proto.Session) error {
	p, err := self()
	if err != nil {
		return fmt.Errorf("pid file: %w", err)
	}
	p.ID, p.Session = id, s.String()
	temp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("pid file: %w", err)
	}
	_, err = temp.WriteString(p.text())
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

// text is the file: the number on a line of its own, as others expect it, then a
// line for each of the rest.
func (p Process) text() string {
	return fmt.Sprintf("%d\nstart %d\nboot %s\nmachine %s\nnamespace %s\nnode %v\nsession %s\n",
		p.PID, p.Start, p.Boot, p.Machine, p.Namespace, p.ID, p.Session)
}

// Read reads a file. Errors wrap ErrFile.
func Read(path string) (p Process, err error) {
	f, err := os.Open(path)
	if err != nil {
		return p, fmt.Errorf("%w: %w", ErrFile, err)
	}
	defer f.Close()
	return Parse(f, path)
}

// Parse reads a file's content; path is for errors, which wrap ErrFile.
func Parse(r io.Reader, path string) (p Process, err error) {
	lines := bufio.NewScanner(r)
	lines.Scan()
	p.PID, err = strconv.Atoi(strings.TrimSpace(lines.Text()))
	if err != nil || p.PID < 1 {
		return p, fmt.Errorf("%w: %s: the first line %.40q is no process id", ErrFile, path, lines.Text())
	}
	for lines.Scan() {
		key, value, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		switch key {
		case "start":
			p.Start, err = strconv.ParseUint(value, 10, 64)
		case "boot":
			p.Boot = value
		case "machine":
			p.Machine = value
		case "namespace":
			p.Namespace = value
		case "node":
			p.ID, err = proto.ParseNodeID(value)
		case "session":
			p.Session = value
		}
		if err != nil {
			return p, fmt.Errorf("%w: %s: %w", ErrFile, path, err)
		}
	}
	if err := lines.Err(); err != nil {
		return p, fmt.Errorf("%w: %s: %w", ErrFile, path, err)
	}
	if p.Start == 0 || p.Boot == "" || p.Machine == "" || p.Namespace == "" || p.ID == 0 || p.Session == "" {
		return p, fmt.Errorf("%w: %s was not written by ringleader run --pid-file: a number alone "+
			"may be another process's by now", ErrFile, path)
	}
	return p, nil
}
