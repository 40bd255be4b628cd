package sim

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// chatter is the level of a record that is not shown by default.
const chatter = "debug"

// tracer writes the records of a run, and what was done to the cluster between
// them. Records carry true time, whatever the nodes' clocks say.
type tracer struct {
	w    io.Writer // nil for none
	json bool
	all  bool          // also the Steps that decided nothing
	mute bool          // not worth showing yet
	zero time.Duration // from where text counts time
	err  error         // the first of the writer
}

func newTracer(o Options) *tracer {
	return &tracer{w: o.Trace, json: o.TraceJSON, all: o.TraceAll}
}

// step writes the record of a Step. It comes before the node takes on the
// Step's belief.
func (t *tracer) step(s *step) {
	if t.w == nil {
		return
	}
	l := s.node.life
	rec, ok := l.recorder.Record(epoch.Add(s.at), s.ev, s.out)
	if !ok || t.mute || rec.Level == chatter && !t.all {
		return
	}
	l.records++
	rec.Seq = l.records // those that are shown have no gap
	if t.json {
		t.keep(t.encoder().Encode(rec))
		return
	}
	t.keep(trace.Text(t.w, epoch.Add(t.zero), rec))
}

// note writes what happened to the cluster.
func (t *tracer) note(at time.Duration, format string, args ...any) {
	if t.w == nil || t.mute {
		return
	}
	what := fmt.Sprintf(format, args...)
	if t.json {
		t.keep(t.encoder().Encode(struct {
			Time    time.Time `json:"time"`
			Message string    `json:"message"`
		}{epoch.Add(at), what}))
		return
	}
	_, err := fmt.Fprintf(t.w, "[%7.3f] * %s\n", (at - t.zero).Seconds(), what)
	t.keep(err)
}

// encoder writes JSON as nodes do: -> stays ->.
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

// failure is the writer's first error, wrapped.
func (t *tracer) failure() error {
	if t.err == nil {
		return nil
	}
	return fmt.Errorf("write the trace of the simulation: %w", t.err)
}
