package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

const (
	// calmEvery is how long nothing must come for a round before it is told.
	calmEvery = 500 * time.Millisecond
	// askEvery is how many records come between two looks at what is over.
	askEvery = 4096
)

// follower tells rounds while records come in. Each source has a goroutine of
// its own; mu guards the Builder and the output.
type follower struct {
	out    io.Writer
	asJSON bool

	mu      sync.Mutex
	builder *rounds.Builder
	sink    logs.Sink
	readers []*logs.Reader
	behind  atomic.Int32 // sources whose beginning is still being read
	fresh   int          // records since the last look
	found   findings
	header  string // of the group that was told last
	err     error  // of the output
}

// followRounds prints each round as it ends, until the sources end or a signal
// comes.
func followRounds(ctx *cli.Context, words []string, format string) error {
	collectRarely()
	files, unread, err := sources(ctx, words)
	if err != nil {
		return err
	}
	f := &follower{out: ctx.App.Writer, asJSON: format == "json", builder: builderFor(format)}
	f.sink = filtered(ctx, f.builder)
	stopped, stop := signal.NotifyContext(ctx.Context, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if len(files) > 1 {
		f.behind.Store(int32(len(files)))
	}
	var sources sync.WaitGroup
	problems := make(chan error, len(files))
	for _, file := range files {
		sources.Go(func() { problems <- f.read(stopped, file) })
	}
	ended := make(chan struct{})
	go func() {
		sources.Wait()
		close(ended)
	}()
	f.watch(stopped, ended)
	for range files {
		select {
		case err := <-problems:
			if err != nil {
				unread = complain(ctx, err)
			}
		default: // standard input is still waiting for more, and will not be heard
		}
	}
	return errors.Join(f.finish(ctx), unread)
}

// read reads one source to its end.
func (f *follower) read(ctx context.Context, file string) error {
	var caughtUp sync.Once
	arrived := func() { caughtUp.Do(func() { f.behind.Add(-1) }) }
	defer arrived()
	var r io.Reader = os.Stdin
	if file != stdinName {
		tail, err := logs.NewTail(ctx, file, arrived)
		if err != nil {
			return err
		}
		defer tail.Close()
		r = tail
	} else {
		arrived() // where the beginning of a pipe ends, nobody can tell
	}
	reader := logs.NewReader(r, f)
	f.mu.Lock()
	f.readers = append(f.readers, reader)
	f.mu.Unlock()
	for {
		if err := reader.Line(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("follow %s: %w", file, err)
		}
	}
}

// watch looks for rounds that are over while nothing comes.
func (f *follower) watch(ctx context.Context, ended <-chan struct{}) {
	tick := time.NewTicker(calmEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ended:
			return
		case <-tick.C:
		}
		f.mu.Lock()
		readers := f.readers
		f.mu.Unlock()
		for _, r := range readers {
			r.Flush()
		}
		f.mu.Lock()
		if f.behind.Load() <= 0 {
			f.tell(true)
		}
		f.mu.Unlock()
	}
}

// Add takes a record of a source.
func (f *follower) Add(rec *trace.Record) { f.take(func() { f.sink.Add(rec) }) }

// AddText takes a record that was text.
func (f *follower) AddText(rec *trace.Record) { f.take(func() { f.sink.AddText(rec) }) }

// Death takes what a simulation says.
func (f *follower) Death(cluster string, node uint64, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sink.Death(cluster, node, at)
}

func (f *follower) take(add func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	add()
	if f.fresh++; f.fresh >= askEvery && f.behind.Load() <= 0 {
		f.tell(false)
	}
}

// tell prints what is over. The caller holds mu.
func (f *follower) tell(calm bool) {
	f.fresh = 0
	told, between := f.builder.Ended(calm)
	for _, r := range told {
		f.print(r)
	}
	for _, finding := range between {
		f.found.add(finding)
		f.keep(f.printFinding(finding))
	}
}

func (f *follower) print(r *rounds.Round) {
	f.found.add(r.Findings...)
	if f.asJSON {
		f.keep(writeJSON(f.out, r))
		return
	}
	if header := fmt.Sprint(r.Cluster, " ", r.Algorithm, r.Run); header != f.header {
		f.header = header
		f.keep(report.Header(f.out, r.Cluster, r.Algorithm, r.Guarantee, r.Run))
	}
	f.keep(report.Line(f.out, r))
}

func (f *follower) printFinding(finding rounds.Finding) error {
	if f.asJSON {
		return writeJSON(f.out, finding)
	}
	return report.Finding(f.out, finding)
}

func (f *follower) keep(err error) {
	if f.err == nil {
		f.err = err
	}
}

// finish tells the rounds that are still open.
func (f *follower) finish(ctx *cli.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.builder.Records() == 0 {
		return errors.New("no records came: is that what nodes write on standard error?")
	}
	late := f.builder.Late()
	h := f.builder.History()
	for _, g := range h.Groups {
		for _, r := range g.Rounds {
			f.print(r)
		}
		for _, finding := range report.Loose(g) {
			f.found.add(finding)
			f.keep(f.printFinding(finding))
		}
		f.keep(report.Remarks(ctx.App.ErrWriter, g))
	}
	if late > 0 {
		fmt.Fprintf(ctx.App.ErrWriter, "ringleader: records came after their rounds had been told, %d in all: "+
			"the logs are not in order; without --follow they are put in order\n", late)
	}
	return errors.Join(f.err, f.found.verdict(ctx))
}
