package logs

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// UpSink is a Sink that also wants to know when processes began. At level info few write a record of their start.
type UpSink interface {
	Sink
	// Up takes the line by which a process says that it runs: the log of its node goes on until then.
	Up(first trace.Greeting)
}

// passUp tells the sink, if it wants to know, of the line by which a process says that it runs: "node 3 is up". It
// reports whether it did.
func passUp(to Sink, line []byte) bool {
	sink, wants := to.(UpSink)
	if !wants || !bytes.Contains(line, []byte(" is up")) {
		return false
	}
	var first trace.Greeting
	says := decode(line, &first) && strings.HasPrefix(first.Message, fmt.Sprintf("node %d is up", first.Node))
	if !says || first.Node == 0 || first.Incarnation == "" || first.Time.IsZero() {
		return false
	}
	sink.Up(first)
	return true
}

// Up keeps a greeting until it is delivered.
func (s *source) Up(first trace.Greeting) {
	if s.node == 0 || s.node == first.Node {
		s.ready = append(s.ready, item{up: &first})
	}
}

func (o only) Up(first trace.Greeting) {
	if sink, wants := o.to.(UpSink); wants && first.Cluster == o.label {
		sink.Up(first)
	}
}
