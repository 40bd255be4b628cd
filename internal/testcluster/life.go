package testcluster

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// life is one process of one node, and what the process wrote.
type life struct {
	Process
	id      proto.NodeID
	output  *output
	stopped bool // its end is expected; guarded by Cluster.mu
}

// entry is a record with its parsed clock reading, by which records are sorted.
type entry struct {
	clock  proto.HLC
	record trace.Record
}

// output splits what one process writes into lines. It keeps all lines, and the records among them.
// Cluster.mu guards its fields.
type output struct {
	cluster *Cluster
	cut     lines
	lines   []string
	entries []entry
}

// Write takes what the process writes. Only the goroutine that copies the process's output calls it.
func (o *output) Write(text []byte) (int, error) {
	o.cluster.mu.Lock()
	defer o.cluster.mu.Unlock()
	o.cut.said = o.add
	defer o.cluster.broadcast()
	return o.cut.Write(text)
}

func (o *output) add(line []byte) {
	o.lines = append(o.lines, string(line))
	var rec trace.Record
	if json.Unmarshal(line, &rec) != nil || !rec.IsRecord() {
		return
	}
	if clock, err := proto.ParseHLC(rec.HLC); err == nil {
		o.entries = append(o.entries, entry{clock, rec})
	}
}

// lastWords returns the last text for people that the process wrote: the message of a log line, or
// the reason for which the Go runtime ended the process. It explains an unexpected end.
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
