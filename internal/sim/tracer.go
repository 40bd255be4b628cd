package sim

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// chatter is the level of records that are not shown by default.
const chatter = "debug"

// tracer writes the records of a run, and what happens to the cluster between them. Records have
// true time, whatever the nodes' clocks show.
type tracer struct {
	w     io.Writer // nil for none
	json  bool
	all   bool               // write also the Steps that decided nothing
	codes bool               // write only the codes of reasons in text
	mute  bool               // write nothing for the present
	zero  time.Duration      // the time from which text counts
	err   error              // the writer's first error
	told  func(trace.Record) // gets every record, whatever is written; nil for nobody
}

func newTracer(o Options) *tracer {
	return &tracer{w: o.Trace, json: o.TraceJSON, all: o.TraceAll, codes: o.TraceCodes}
}

// step writes the record of a Step, before the node takes over the Step's belief.
func (t *tracer) step(s *step) {
	if t.w == nil {
		return
	}
	l := s.node.life
	rec, ok := l.recorder.Record(beginning.Add(s.at), s.ev, s.out)
	if ok && t.told != nil {
		t.told(rec)
	}
	if !ok || t.mute || rec.Level == chatter && !t.all {
		return
	}
	l.records++
	rec.Seq = l.records // those that are shown have no gap
	if t.json {
		t.keep(t.encoder().Encode(rec))
		return
	}
	write := trace.Text
	if t.codes {
		write = trace.Codes
	}
	t.keep(write(t.w, beginning.Add(t.zero), rec))
}

// note writes an event of the cluster.
func (t *tracer) note(at time.Duration, format string, args ...any) {
	t.tell(at, trace.Note{Message: fmt.Sprintf(format, args...)})
}

// death writes that a node died.
func (t *tracer) death(at time.Duration, node proto.NodeID) {
	t.tell(at, trace.Note{Message: fmt.Sprintf("%d is dead", node), Dead: uint64(node)})
}

func (t *tracer) tell(at time.Duration, n trace.Note) {
	if t.w == nil || t.mute {
		return
	}
	if t.json {
		n.Time = beginning.Add(at)
		t.keep(t.encoder().Encode(n))
		return
	}
	_, err := fmt.Fprintf(t.w, "[%7.3f] * %s\n", (at - t.zero).Seconds(), n.Message)
	t.keep(err)
}

// encoder returns an encoder that writes JSON as nodes do, without escaping "->".
func (t *tracer) encoder() *json.Encoder {
	e := json.NewEncoder(t.w)
	e.SetEscapeHTML(false)
	return e
}

func (t *tracer) keep(err error) {
	if t.err == nil {
		t.err = err
	}
}

// failure returns the writer's first error, wrapped; nil if there was none.
func (t *tracer) failure() error {
	if t.err == nil {
		return nil
	}
	return fmt.Errorf("write the trace of the simulation: %w", t.err)
}
