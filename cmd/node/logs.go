package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
)

// stdinName stands for standard input.
const stdinName = "-"

// errUnread is the error if some logs could not be read. The user has been told which ones.
var errUnread = fmt.Errorf("%w", errTold)

// filtered returns a Sink that passes on to the Sink to only the records of the cluster that
// --cluster names. Without that flag it returns to itself.
func filtered(ctx *cli.Context, to logs.Sink) logs.Sink {
	if ctx.IsSet("cluster") {
		return logs.Only(ctx.String("cluster"), to)
	}
	return to
}

// sources returns the files to read; "-" stands for standard input. If some files cannot be
// found or listed, it says so on stderr and sets unread.
func sources(ctx *cli.Context, words []string) (files []string, unread, err error) {
	if len(words) == 0 {
		if fromTerminal() {
			return nil, nil, usagef("%s wants logs: name files or directories, or pipe them in; see %s --help",
				ctx.Command.HelpName, ctx.Command.HelpName)
		}
		return []string{stdinName}, nil, nil
	}
	for _, word := range words {
		switch word {
		case "":
			return nil, nil, usagef("'' names no log: name files or directories, or - for standard input")
		case stdinName:
			files = append(files, stdinName)
			continue
		}
		found, errs := logs.Files([]string{word})
		files = append(files, found...)
		for _, err := range errs {
			unread = complain(ctx, err)
		}
	}
	return files, unread, nil
}

func complain(ctx *cli.Context, err error) error {
	sayError(ctx.App.ErrWriter, err)
	return errUnread
}

// complainOf says on stderr what was not read. It returns errUnread if a whole file was not, and else unread.
func complainOf(ctx *cli.Context, sum logs.Stats, problems []error, unread error) error {
	for _, err := range problems {
		unread = complain(ctx, err)
	}
	if text := sum.Remark(); text != "" {
		fmt.Fprintln(ctx.App.ErrWriter, text)
	}
	return unread
}

// collectRarely makes the garbage collector run less often, unless the user set GOGC. A command
// that computes and ends becomes faster and needs more memory. A log's reader keeps most of the
// memory that it allocates, and a simulated run keeps next to nothing.
func collectRarely() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

const (
	// heldRecords is how many records are in memory at once if only some rounds are asked for, and heldBytes is how
	// much memory the process may use then before the garbage collector runs more often.
	heldRecords, heldBytes = 4 << 10, 140 << 20
	// listedRecords is how many a list holds: they fit the cache. It tells of no message that goes from a built round
	// to a later one.
	listedRecords = 3 << 9
	// mostLate is the part of the records that may come after their rounds were built: one in so many. Logs with
	// more are not in order: they are read once for each node, or else all of their records are held at once.
	mostLate = 1000
)

// collectAt makes the garbage collector run more often when the process uses this many bytes, unless the user set
// GOMEMLIMIT.
func collectAt(bytes int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(bytes)
	}
}

// builderFor returns a builder of rounds for the format. For "text" the builder keeps no steps,
// since the list has only one line per round.
func builderFor(format string) *rounds.Builder {
	if format == "text" {
		return rounds.NewBriefBuilder()
	}
	return rounds.NewBuilder()
}

// readLogs reads all logs that the words name, and returns the history. It sets unread if it could not read some of
// them; it has read the others. If bounds are not nil and the logs are in order, it keeps within these bounds.
// Otherwise it reads all records into the Builder that inFull returns. It may call inFull twice, to begin anew.
func readLogs(
	ctx *cli.Context, words []string, inFull func() *rounds.Builder, bounds *rounds.Bounds,
) (h *rounds.History, unread, err error) {
	collectRarely()
	files, unread, err := sources(ctx, words)
	if err != nil {
		return nil, nil, err
	}
	in := input{files: files}
	defer in.close()
	if err := in.takePipes(); err != nil {
		return nil, nil, err
	}
	b, sum, problems := in.build(ctx, inFull, bounds, nil)
	if eras := b.Eras(); eras != nil {
		b, sum, problems = in.build(ctx, inFull, bounds, eras)
	}
	unread = complainOf(ctx, sum, problems, unread)
	if b.Records() == 0 {
		return nil, nil, errors.Join(noRecords(ctx, files, sum), unread)
	}
	return b.History(), unread, nil
}

// build reads the logs into a Builder that knows the eras, and that keeps within the bounds if the logs are in order.
func (in *input) build(
	ctx *cli.Context, inFull func() *rounds.Builder, bounds *rounds.Bounds, eras *rounds.Eras,
) (b *rounds.Builder, sum logs.Stats, problems []error) {
	var try *attempt
	read := func(into *rounds.Builder) {
		b = into
		b.Separate(eras)
		try = &attempt{b: b}
		sum, problems = in.read(filtered(ctx, try))
	}
	again := func() bool { // unless the records are to be read anew in any case, era by era
		return try.failed() && (eras != nil || try.gaveUp || b.Eras() == nil)
	}
	full := inFull() // to begin anew
	if bounds == nil || in.stdin != nil {
		read(full)
		return b, sum, problems
	}
	collectAt(heldBytes)
	read(rounds.NewBoundedBuilder(*bounds))
	if again() && in.batch.Split() {
		_ = inFull()
		read(rounds.NewBoundedBuilder(*bounds))
	}
	if again() {
		collectAt(math.MaxInt64)
		read(inFull())
	}
	return b, sum, problems
}

// attempt is a Sink that passes records on to a Builder until too many of them come late.
type attempt struct {
	b *rounds.Builder
	n int
	// gaveUp: the order of the records is so bad that the rest of them does not matter.
	gaveUp bool
}

func (a *attempt) Add(rec *trace.Record) {
	if a.n++; a.n%askEvery == 0 {
		a.gaveUp = a.gaveUp || a.b.Late() > askEvery+a.n/mostLate
	}
	if !a.gaveUp {
		a.b.Add(rec)
	}
}

func (a *attempt) Death(cluster string, node uint64, at time.Time) { a.b.Death(cluster, node, at) }

func (a *attempt) Left(last trace.Farewell) { a.b.Left(last) }

func (a *attempt) Up(first trace.Greeting) { a.b.Up(first) }

func (a *attempt) Mismatch(line trace.Mismatch) { a.b.Mismatch(line) }

func (a *attempt) Line(cluster string, node uint64, at time.Time) { a.b.Line(cluster, node, at) }

// failed reports whether the records were not in order.
func (a *attempt) failed() bool { return a.gaveUp || a.b.Late() > a.b.Records()/mostLate }

// askEvery is the number of records after which an attempt looks whether it has failed.
const askEvery = 4096

// noRecords returns the error for logs without records. The error says what was read instead.
func noRecords(ctx *cli.Context, files []string, sum logs.Stats) error {
	where := strings.Join(files, ", ")
	switch {
	case len(files) == 0:
		return errors.New("no records: there is no file to read")
	case where == stdinName:
		where = "standard input"
	case len(files) > 3:
		where = fmt.Sprintf("%d files", len(files))
	}
	if sum.Records > 0 {
		return fmt.Errorf("no records of cluster %q in %s: those there are of others; leave --cluster out to see them",
			ctx.String("cluster"), where)
	}
	asking := ""
	if flagNamed(ctx.Command, "addr") != nil {
		asking = " Or ask a running node, with --addr."
	}
	return fmt.Errorf("no records in the %s of %s: is it what nodes write on standard error, "+
		"and is their log level info or debug?%s", words.Plural(sum.Lines, "line"), where, asking)
}
