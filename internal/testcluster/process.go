package testcluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// process is one life of one node, from its start to its end.
type process struct {
	id      proto.NodeID
	cmd     *exec.Cmd
	output  *output
	done    chan struct{} // closed when the process is gone and all it wrote is read
	stopped bool          // its end is no surprise; guarded by Cluster.mu
}

// signal sends sig to the process. One that is gone already is no error: the
// caller wanted it to hear the signal or to be gone.
func (p *process) signal(sig syscall.Signal) error {
	err := p.cmd.Process.Signal(sig)
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %v to node %v (pid %d): %w", sig, p.id, p.cmd.Process.Pid, err)
	}
	return nil
}

// ended reports whether the process is gone.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// exitCode is the code a shell would show: 128+n for a death by signal n.
func (p *process) exitCode() int {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

// entry is a record with its clock, parsed once, to sort by.
type entry struct {
	clock  proto.HLC
	record trace.Record
}

// output takes what one process writes, line by line, and keeps the lines and
// the records among them. Its fields are guarded by Cluster.mu.
type output struct {
	cluster *Cluster
	partial []byte
	lines   []string
	entries []entry
}

// Write is called by the one goroutine that copies the process's output.
func (o *output) Write(p []byte) (int, error) {
	o.cluster.mu.Lock()
	defer o.cluster.mu.Unlock()
	o.partial = append(o.partial, p...)
	for {
		line, rest, found := bytes.Cut(o.partial, []byte("\n"))
		if !found {
			break
		}
		o.add(string(line))
		o.partial = rest
	}
	o.cluster.broadcast()
	return len(p), nil
}

func (o *output) add(line string) {
	o.lines = append(o.lines, line)
	var rec trace.Record
	if json.Unmarshal([]byte(line), &rec) != nil || !rec.IsRecord() {
		return
	}
	clock, err := proto.ParseHLC(rec.HLC)
	if err != nil {
		return
	}
	o.entries = append(o.entries, entry{clock, rec})
}

// last is the latest record, ok false before the first.
func (o *output) last() (rec trace.Record, ok bool) {
	if len(o.entries) == 0 {
		return trace.Record{}, false
	}
	return o.entries[len(o.entries)-1].record, true
}

// lastWords is what the process said last for people, to explain an end that
// nobody asked for: a log line's message, or how the Go runtime ended it.
func (o *output) lastWords() string {
	for _, line := range slices.Backward(o.lines) {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line
		}
		var said struct{ Message, Error string }
		if json.Unmarshal([]byte(line), &said) != nil || said.Message == "" {
			continue
		}
		if said.Error == "" {
			return said.Message
		}
		return said.Message + ": " + strings.Join(strings.Fields(said.Error), " ")
	}
	if len(o.lines) > 0 {
		return o.lines[len(o.lines)-1]
	}
	return "none"
}
