package trace

import (
	"fmt"
	"strings"
	"time"
)

// Farewell is the last line of a process: it was told to end, or it failed. It is no record.
type Farewell struct {
	Time time.Time `json:"time"`
	// ClockSet is by how much somebody set the clock of Time since the process began: see Record.
	ClockSet time.Duration `json:"clock_set_ns,omitempty"`
	Cluster  string        `json:"cluster"`
	Node     uint64        `json:"node"`
	Message  string        `json:"message"`
	Error    string        `json:"error,omitempty"`     // why it failed; empty if it was told to end
	Code     int           `json:"exit_code,omitempty"` // 0 if it was told to end
	Reason   string        `json:"reason,omitempty"`    // InUse or Failed; empty if told to end, or of a former release
}

// The reasons for which a process fails: its directory or one of its ports was in use, or another one.
const (
	InUse  = "in-use"
	Failed = "failed"
)

// The exit codes of a process that did not begin to run as its node, with those of docs/EXIT-CODES.md.
const (
	wrongUsage, wrongConfig, idTaken = 2, 4, 5
)

// Refused reports whether the process refused to run: its command line, its settings or its data were wrong, or its
// directory or one of its ports was in use. Then another process may run as the node.
func (f *Farewell) Refused() bool {
	former := f.Reason == "" && strings.Contains(f.Error, " in use")
	return f.Code == wrongUsage || f.Code == wrongConfig || f.Reason == InUse || former
}

// Keeper returns the cluster whose state of the node is in the directory of the process, if that is another one than
// that as whose node the process refused to run; "" otherwise.
func (f *Farewell) Keeper() (cluster string) {
	_, kept, found := strings.Cut(f.Error, "it keeps the state of ")
	node := uint64(0)
	if n, err := fmt.Sscanf(kept, "node %d of cluster %q", &node, &cluster); !found || n < 2 || err != nil ||
		node != f.Node || !f.Refused() {
		return ""
	}
	return cluster
}

// IsTaken reports whether the process ended since another one was its node.
func (f *Farewell) IsTaken() bool { return f.Code == idTaken }
