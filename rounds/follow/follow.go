// Package follow prints the rounds of elections while nodes write their logs.
package follow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

const (
	// lookEvery is how often the follower looks for what is to be told while no records come: a round that is over,
	// since none of it came for calmEvery, that nobody has led for as long, and a leader whose round goes on longer.
	lookEvery = calmEvery / calmLooks
	calmEvery = 500 * time.Millisecond
	calmLooks = 4
	// askEvery is the number of records after which it looks for such rounds.
	askEvery = 4096
	// worthTelling is by how much a clock is not right at least if that is told before the end.
	worthTelling = 10 * time.Millisecond
)

// follower prints rounds while records come in. Each source has a goroutine of
// its own; mu guards the Builder and the output.
type follower struct {
	Config
	mu      sync.Mutex
	sink    logs.Sink
	readers []*logs.Reader
	behind  atomic.Int32 // sources whose beginning is still being read
	fresh   int          // records since the last look
	found   rounds.Tally
	seen    logs.Stats        // by the readers that have ended
	header  string            // of the group that was printed last
	vacant  map[string]state  // by cluster: that nobody leads
	begun   map[string]state  // by cluster: who leads, whose round is not over
	change  uint64            // the term of the last change that was printed, of which no command is named yet
	named   map[string]uint64 // by cluster: the term of the last change of which one is
	clocks  map[string]bool   // by cluster and node: whether it was said that its clock is not right
	err     error             // of the output
	unread  []error           // what could not be read
}

// state is that nobody leads since a time, or that a node leads a term: how many looks found it so after the first, and
// whether it was said.
type state struct {
	from         time.Time
	leader, term uint64
	looks        int
	said         bool
}

// is reports whether both are of one time without a leader, or of one leadership.
func (s state) is(other state) bool {
	return s.from.Equal(other.from) && s.leader == other.leader && s.term == other.term
}

// Config says which logs are read, and where their rounds are printed.
type Config struct {
	Files   []string // "-" for Stdin
	Paths   []string // the directories among them are asked for files that come later
	Stdin   io.Reader
	Builder *rounds.Builder
	Filter  func(logs.Sink) logs.Sink // what comes between the files and the Builder
	Out     io.Writer                 // gets a line or a JSON object for each round
	Remarks io.Writer                 // what is not known, at the end
	JSON    bool
	Unread  func(error) // is called with what could not be read
}

// lastRead is how long to wait for the sources when ctx is done: a pipe may never end.
const lastRead = 500 * time.Millisecond

// Run prints each round when it has ended. It returns when ctx is done, or when all sources have ended;
// the file of a running node does not end. It returns the findings, and an error if the output failed.
func Run(ctx context.Context, c Config) (rounds.Tally, error) {
	f := &follower{Config: c}
	f.Builder.Patient(calmLooks)
	f.sink = c.Filter(c.Builder)
	if len(c.Files) > 1 {
		f.behind.Store(int32(len(c.Files)))
	}
	var sources sync.WaitGroup
	follow := func(file string) { sources.Go(func() { f.fail(f.read(ctx, file)) }) }
	for _, file := range c.Files {
		follow(file)
	}
	if len(c.Paths) > 0 {
		sources.Go(func() { f.discover(ctx, follow) })
	}
	ended := make(chan struct{})
	go func() {
		sources.Wait()
		close(ended)
	}()
	f.watch(ctx, ended)
	select { // files end when ctx does
	case <-ended:
	case <-time.After(lastRead):
	}
	f.mu.Lock() // standard input may still wait for more, and will not be heard
	for _, err := range f.unread {
		c.Unread(err)
	}
	f.mu.Unlock()
	err := f.finish()
	return f.found, err
}

// fail notes an error that is not nil.
func (f *follower) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.unread = append(f.unread, err)
	}
}

// discover follows the files that come into the directories, until ctx is done. One that only got another name is none
// of them, nor is one that is packed: it is the copy of one that was followed.
func (f *follower) discover(ctx context.Context, follow func(file string)) {
	named := map[string]bool{}
	var known []os.FileInfo
	for first := true; ; first = false {
		files, _ := logs.Files(f.Paths) // what cannot be read was said
		for _, name := range files {
			info, err := os.Stat(name)
			same := func(was os.FileInfo) bool { return os.SameFile(was, info) }
			if err != nil || slices.ContainsFunc(known, same) {
				continue
			}
			known = append(known, info)
			packed := slices.Contains([]string{".gz", ".bz2", ".xz", ".zst"}, filepath.Ext(name))
			if old := first && slices.Contains(f.Files, name); !old && !named[name] && !packed {
				f.behind.Add(1)
				follow(name)
			}
			named[name] = true
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(calmEvery):
		}
	}
}

// count adds what the reader of a file saw.
func (f *follower) count(seen logs.Stats, file string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen.Of(called(file))
	f.seen.Add(seen)
}

// called returns the name of a source as users read it.
func called(file string) string {
	if file == "-" {
		return "standard input"
	}
	return file
}

// read reads one source to its end.
func (f *follower) read(ctx context.Context, file string) error {
	var caughtUp sync.Once
	arrived := func() { caughtUp.Do(func() { f.behind.Add(-1) }) }
	defer arrived()
	r := f.Stdin
	if file != "-" {
		tail, err := logs.NewTail(ctx, file, arrived)
		if err != nil {
			return err
		}
		defer tail.Close()
		r = tail
	} else {
		arrived() // where the beginning of a pipe ends, nobody can tell
	}
	text, err := logs.Unpack(r)
	if err != nil {
		return fmt.Errorf("follow %s: %w", called(file), err)
	}
	reader := logs.NewReader(text, f)
	f.mu.Lock()
	f.readers = append(f.readers, reader)
	f.mu.Unlock()
	defer func() { f.count(reader.Stats, file) }()
	for {
		if err := reader.Line(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("follow %s: %w", called(file), err)
		}
	}
}

// watch prints rounds that are over while no records come.
func (f *follower) watch(ctx context.Context, ended <-chan struct{}) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ended:
			return
		case <-tick.C:
		}
		if n%calmLooks == 0 {
			f.flush()
		}
		f.mu.Lock()
		if f.behind.Load() <= 0 {
			f.tell(true)
			f.tellVacancies()
			f.tellBegun()
			f.tellClocks()
		}
		f.mu.Unlock()
	}
}

// flush has the readers hand over the text that they hold.
func (f *follower) flush() {
	f.mu.Lock()
	readers := f.readers
	f.mu.Unlock()
	for _, r := range readers {
		r.Flush()
	}
}

// Add passes a record on to the Builder, and prints rounds now and then.
func (f *follower) Add(rec *trace.Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sink.Add(rec)
	if f.fresh++; f.fresh >= askEvery && f.behind.Load() <= 0 {
		f.tell(false)
	}
}

// Death notes a node's death that the log of a simulated run contains.
func (f *follower) Death(cluster string, node uint64, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sink.Death(cluster, node, at)
}

// Left notes that a process ended, by its own word.
func (f *follower) Left(last trace.Farewell) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sink.Left(last)
}

// Up notes that a process runs, by its own word.
func (f *follower) Up(first trace.Greeting) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if sink, wants := f.sink.(logs.UpSink); wants {
		sink.Up(first)
	}
}

// Mismatch notes that a node takes no part with another one.
func (f *follower) Mismatch(line trace.Mismatch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if sink, wants := f.sink.(logs.MismatchSink); wants {
		sink.Mismatch(line)
	}
}

// Line notes until when the log of a node goes on.
func (f *follower) Line(cluster string, node uint64, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if sink, wants := f.sink.(logs.LineSink); wants {
		sink.Line(cluster, node, at)
	}
}

// tell prints the rounds that are over, and the findings between them. The caller holds mu.
func (f *follower) tell(calm bool) {
	f.fresh = 0
	told, between := f.Builder.Ended(calm)
	for _, r := range told {
		f.print(r)
	}
	for _, v := range f.Builder.Further() {
		if f.JSON {
			f.keep(f.printJSON(v))
			continue
		}
		f.keep(report.Further(f.Out, f.Builder.Names(), v))
	}
	for _, finding := range between {
		f.found.Add(finding)
		f.keep(f.printFinding(finding))
	}
	f.nameNext()
}

// nameNext names the command that tells more of the last change that was printed, once of each. The caller holds mu.
func (f *follower) nameNext() {
	if f.change != 0 {
		f.keep(report.NextChange(f.Out, f.change))
	}
	f.change = 0
}

// changed notes a change that is printed.
func (f *follower) changed(cluster, algorithm string, run int, term uint64) {
	of := fmt.Sprint(cluster, " ", algorithm, run)
	if f.named == nil {
		f.named = map[string]uint64{}
	}
	if f.named[of] != term {
		f.change, f.named[of] = term, term
	}
}

// tellVacancies says where nobody leads, if this was so already some looks before: an election takes milliseconds. The
// caller holds mu.
func (f *follower) tellVacancies() {
	f.vacant = lasting(f.vacant, f.Builder.Leaderless(), since, calmLooks, func(v rounds.Vacancy) {
		f.keep(f.printVacancy(v))
	})
}

// tellBegun says who leads where that is known for longer than it takes to see that a round is over: records of it
// still come. The caller holds mu.
func (f *follower) tellBegun() {
	if f.JSON {
		return // the round has it
	}
	leads := func(v rounds.Vacancy) state { return state{leader: v.Leader, term: v.Term} }
	f.begun = lasting(f.begun, f.Builder.Begun(), leads, calmLooks+1, func(v rounds.Vacancy) {
		f.keep(report.Begun(f.Out, f.Builder.Names(), v))
		f.changed(v.Cluster, v.Algorithm, v.Run, v.Term)
	})
	f.nameNext()
}

// lasting tells once what was so already that many looks before. It returns what is so now, by cluster.
func lasting(
	before map[string]state, all []rounds.Vacancy, of func(rounds.Vacancy) state, looks int, tell func(rounds.Vacancy),
) map[string]state {
	now := map[string]state{}
	for _, v := range all {
		cluster, is := fmt.Sprint(v.Cluster, " ", v.Algorithm, v.Run), of(v)
		if was, known := before[cluster]; known && was.is(is) {
			is.looks, is.said = was.looks+1, was.said || was.looks+1 >= looks
			if is.said && !was.said {
				tell(v)
			}
		}
		now[cluster] = is
	}
	return now
}

// since returns the time without a leader, which was not said.
func since(v rounds.Vacancy) state {
	if v.Unsure() {
		return state{from: v.Perhaps}
	}
	return state{from: v.From}
}

// tellVacancy says at the end that nobody leads the group, if it was not said.
func (f *follower) tellVacancy(g *rounds.Group) {
	n := len(g.Incidents)
	if n == 0 || g.Incidents[n-1].Leader != 0 {
		return
	}
	v := rounds.Vacancy{
		Cluster: g.Cluster, Algorithm: g.Algorithm, Run: g.Run, Incident: g.Incidents[n-1], Up: g.Running(),
	}
	was := f.vacant[fmt.Sprint(v.Cluster, " ", v.Algorithm, v.Run)]
	if !was.said || !was.is(since(v)) {
		f.keep(f.printVacancy(v))
	}
}

// tellClocks says which clocks are not right, once of each node, when messages in both directions tell it: all times of
// its records are told by the others' clocks. The caller holds mu.
func (f *follower) tellClocks() {
	if f.JSON || f.header == "" {
		return
	}
	for _, g := range f.Builder.Clocks() {
		for _, c := range g.Clocks {
			of := fmt.Sprint(g.Cluster, " ", g.Algorithm, g.Run, " ", c.Node)
			if c.Offset.Abs() < worthTelling || c.Error <= 0 || f.clocks[of] {
				continue
			}
			if f.clocks == nil {
				f.clocks = map[string]bool{}
			}
			f.clocks[of] = true
			f.keep(report.ClockRemark(f.Out, g, c))
		}
	}
}

func (f *follower) printVacancy(v rounds.Vacancy) error {
	if f.JSON {
		return f.printJSON(v)
	}
	return errors.Join(report.Vacant(f.Out, f.Builder.Names(), v), report.NextVacant(f.Out, v))
}

func (f *follower) print(r *rounds.Round) {
	f.found.Add(r.Findings...)
	if f.JSON {
		f.keep(f.printJSON(r))
		return
	}
	if in := r.Incident; in != nil && r.Term < in.MainTerm() && len(r.Findings) == 0 {
		return // the line of that term tells of it
	}
	if header := fmt.Sprint(r.Cluster, " ", r.Algorithm, r.Run); header != f.header {
		f.header = header
		f.keep(report.Header(f.Out, r.Cluster, r.Algorithm, r.Guarantee, r.Run))
	}
	f.keep(report.Line(f.Out, f.Builder.Names(), r))
	if r.Winner != nil {
		f.changed(r.Cluster, r.Algorithm, r.Run, r.Term)
	}
}

func (f *follower) printFinding(finding rounds.Finding) error {
	if f.JSON {
		return f.printJSON(finding)
	}
	return report.Finding(f.Out, f.Builder.Names(), finding)
}

func (f *follower) printJSON(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = f.Out.Write(append(rounds.EscapeJSON(b), '\n'))
	return err
}

func (f *follower) keep(err error) {
	if f.err == nil {
		f.err = err
	}
}

// finish prints the rounds that have not ended.
func (f *follower) finish() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Builder.Records() == 0 {
		return errors.New("no records came: is that what nodes write on standard error?")
	}
	late := f.Builder.Late()
	h := f.Builder.History()
	for _, g := range h.Groups {
		for _, r := range g.Rounds {
			f.print(r)
		}
		for _, finding := range g.Loose {
			f.found.Add(finding)
			f.keep(f.printFinding(finding))
		}
		f.nameNext()
		f.tellVacancy(g)
		f.keep(report.Remarks(f.Remarks, g))
	}
	if text := f.seen.Remark(); text != "" {
		fmt.Fprintln(f.Remarks, text)
	}
	if late > 0 {
		fmt.Fprintf(f.Remarks, "ringleader: records came after their rounds had been told, %d in all: "+
			"the logs are not in order; without --follow they are put in order\n", late)
	}
	return f.err
}
