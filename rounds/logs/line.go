package logs

import (
	"bytes"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// LineSink is a Sink that also wants to know until when a log goes on.
type LineSink interface {
	Sink
	// Line takes the time of a line of a node that is no record, as if nobody had set the clock since the process
	// began. The records of the node before it are there.
	Line(cluster string, node uint64, at time.Time)
}

// passLine tells the sink of a line of a node that is no record, if it wants to know.
func passLine(to Sink, line []byte) {
	sink, wants := to.(LineSink)
	if !wants || !bytes.Contains(line, nodesBegin) && !bytes.Contains(line, quotedNodes) {
		return
	}
	var note trace.Farewell // of which it may have the time and the node
	if decode(line, &note) && note.Node != 0 && !note.Time.IsZero() {
		sink.Line(note.Cluster, note.Node, note.Time.Add(-note.ClockSet))
	}
}

// nodeLine is the last line of a node.
type nodeLine struct {
	cluster string
	node    uint64
}

// Line keeps the time of the last line of each node.
func (s *source) Line(cluster string, node uint64, at time.Time) {
	if s.node == 0 || s.node == node {
		s.lines[nodeLine{cluster, node}] = at
	}
}

// deliverLines tells the sink until when the log goes on.
func (s *source) deliverLines(to Sink) {
	if sink, wants := to.(LineSink); wants {
		for of, at := range s.lines {
			sink.Line(of.cluster, of.node, at)
		}
	}
}

func (o only) Line(cluster string, node uint64, at time.Time) {
	if sink, wants := o.to.(LineSink); wants && cluster == o.label {
		sink.Line(cluster, node, at)
	}
}
