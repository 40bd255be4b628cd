package node

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

const (
	self  proto.NodeID = 3
	other proto.NodeID = 5
)

var ownIncarnation = proto.Incarnation{1}

// script is a Machine that does what the test says. Without words for an event
// it repeats its belief and its deadline.
type script struct {
	on   func(now time.Time, ev algorithms.Event) (algorithms.Output, bool)
	last algorithms.Output
}

func (s *script) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	out, ok := s.on(now, ev)
	if !ok {
		out = algorithms.Output{Leader: s.last.Leader, Deadline: s.last.Deadline}
	}
	s.last = out
	return out
}

// journal is what happened around a Node, in order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

// take returns the lines since the last take.
func (j *journal) take() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	j.lines = nil
	return lines
}

// diskFunc is a Disk.
type diskFunc func(algorithms.State) error

func (f diskFunc) Save(s algorithms.State) error { return f(s) }

// sendFunc is a Transport.
type sendFunc func(proto.Message)

func (f sendFunc) Send(m proto.Message) { f(m) }

func (sendFunc) Hold() (<-chan struct{}, func()) { return nil, func() {} }

// fixture is a Node on fakes that write a journal.
type fixture struct {
	*Node
	t       *testing.T
	journal *journal
	cancel  context.CancelFunc
	result  chan error // what Run returned
}

// config is a working configuration around a script.
func config(
	j *journal, on func(time.Time, algorithms.Event) (algorithms.Output, bool),
) Config {
	return Config{
		ID: self, Incarnation: ownIncarnation, Machine: &script{on: on},
		Disk: diskFunc(func(s algorithms.State) error {
			j.add("save %d", s.Term)
			return nil
		}),
		Transport: sendFunc(func(m proto.Message) { j.add("send %v>%d#%s", m.Body, m.To, m.ID()) }),
		Guarantee: algorithms.BestEffort,
		Recorder: trace.NewRecorder(trace.RecorderConfig{
			Node: self, Incarnation: ownIncarnation, Algorithm: "script",
			Guarantee: algorithms.BestEffort, Level: zerolog.DebugLevel,
		}),
		Record: func(r trace.Record) { j.add("record %s, leader %d", r.Event, r.Leader) },
	}
}

// start runs a Node until the test's end and waits until its first Step is over.
// It must be called in a bubble.
func start(
	t *testing.T, on func(time.Time, algorithms.Event) (algorithms.Output, bool),
	edits ...func(*fixture, *Config),
) *fixture {
	t.Helper()
	f := &fixture{t: t, journal: new(journal), result: make(chan error, 1)}
	cfg := config(f.journal, on)
	for _, edit := range edits {
		edit(f, &cfg)
	}
	n, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.Node, f.cancel = n, cancel
	t.Cleanup(cancel)
	go func() { f.result <- n.Run(ctx) }()
	synctest.Wait()
	return f
}

// stop ends the Node and returns what Run did.
func (f *fixture) stop() error {
	f.cancel()
	return <-f.result
}

func (f *fixture) campaign(reason string) {
	f.t.Helper()
	if err := f.Campaign(context.Background(), reason); err != nil {
		f.t.Fatal(err)
	}
}

// silent is a Machine that never has anything to say.
func silent(time.Time, algorithms.Event) (algorithms.Output, bool) {
	return algorithms.Output{}, false
}

// leads is the belief that id leads term.
func leads(id proto.NodeID, term proto.Term) algorithms.Leader {
	return algorithms.Leader{ID: id, Incarnation: ownIncarnation, Term: term}
}

// follower is a Machine that believes what each Campaign's reason says, by name.
func follower(beliefs map[string]algorithms.Leader) func(
	time.Time, algorithms.Event) (algorithms.Output, bool) {
	return func(_ time.Time, ev algorithms.Event) (algorithms.Output, bool) {
		c, ok := ev.(algorithms.Campaign)
		return algorithms.Output{Leader: beliefs[c.Reason]}, ok
	}
}

func message(seq uint64) proto.Message {
	return proto.Message{From: other, To: self, Term: 1, Seq: seq, Body: nomination.TimeoutNow{}}
}
