package logs

import (
	"bytes"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// MismatchSink is a Sink that also wants to know which nodes found that their settings differ.
type MismatchSink interface {
	Sink
	// Mismatch takes a line in which a node says so.
	Mismatch(line trace.Mismatch)
}

var mismatches = [][]byte{[]byte("refused node "), []byte("no link to node ")}

// passMismatch tells the sink, if it wants to know, of the line in which a node refuses another one, since their
// settings differ.
func passMismatch(to Sink, line []byte) {
	sink, wants := to.(MismatchSink)
	if !wants || !bytes.Contains(line, mismatches[0]) && !bytes.Contains(line, mismatches[1]) {
		return
	}
	var said trace.Mismatch
	if !decode(line, &said) || said.Node == 0 || said.Time.IsZero() {
		return
	}
	if other, _, _ := said.Other(); other != 0 {
		sink.Mismatch(said)
	}
}

// Mismatch keeps the line until it is delivered.
func (s *source) Mismatch(line trace.Mismatch) {
	if s.node == 0 || s.node == line.Node {
		s.ready = append(s.ready, item{mismatch: &line})
	}
}

func (o only) Mismatch(line trace.Mismatch) {
	if sink, wants := o.to.(MismatchSink); wants && line.Cluster == o.label {
		sink.Mismatch(line)
	}
}
