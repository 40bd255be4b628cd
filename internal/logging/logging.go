// Package logging writes the log of a process: lines of JSON, or text for people on a terminal.
package logging

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/rs/zerolog"
	"github.com/rs/zerolog/diode"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// New returns the logger of this process. It logs lines of this level and above.
//
// New sets the time format of the whole process: by default zerolog's times have a
// resolution of one second, which is too coarse to order lines.
func New(out io.Writer, level string) zerolog.Logger {
	zerolog.TimeFieldFormat = time.RFC3339Nano
	from, err := zerolog.ParseLevel(level)
	if err != nil {
		from = zerolog.InfoLevel
	}
	return zerolog.New(out).Level(from)
}

// Writer returns a writer that takes lines of JSON and writes them to out in a format: json, console,
// or auto, which is console on a terminal and json elsewhere.
func Writer(out *os.File, format string) io.Writer {
	if format == "console" || format == "auto" && isatty.IsTerminal(out.Fd()) {
		return newConsole(out, !isatty.IsTerminal(out.Fd()))
	}
	return out
}

// The limits of the log of a node whose standard error other processes may fill.
const (
	lossyLines = 4096        // how many lines may wait
	lossyFlush = time.Second // how long they may take at the end
)

// NewLossy is like Writer, for a node that must not wait for the reader of its log. If the reader is too
// slow, lines are lost, and the log says how many. The function end waits a moment for lines not yet written.
func NewLossy(out *os.File, format string) (w io.Writer, end func()) {
	lossy := diode.NewWriter(writeOnly{Writer(out, format)}, lossyLines, 0, func(missed int) {
		fmt.Fprintf(out, "ringleader: %d lines of the log were lost: nobody read them\n", missed)
	})
	return lossy, func() {
		flushed := make(chan struct{})
		go func() {
			_ = lossy.Close()
			close(flushed)
		}()
		select {
		case <-flushed:
		case <-time.After(lossyFlush):
		}
	}
}

// writeOnly hides that a writer can be closed.
type writeOnly struct{ io.Writer }

const consoleTime = "15:04:05.000"

// console prints a node's log for people. It prints records as the simulator prints them, but
// with the time of day, and every other line as a message and its fields.
type console struct {
	out  io.Writer
	rest zerolog.ConsoleWriter
}

func newConsole(out io.Writer, noColor bool) console {
	return console{out, zerolog.ConsoleWriter{
		Out: out, TimeFormat: consoleTime,
		NoColor: noColor, // and it leaves colours out by itself when NO_COLOR is set
		// They are the same on every line; a record names its node.
		FieldsExclude: []string{"cluster", "node"},
	}}
}

// Write prints one line of JSON. Any goroutine may call it.
func (c console) Write(line []byte) (int, error) {
	rec, err := trace.Parse(line)
	if err != nil {
		return c.rest.Write(line)
	}
	var text bytes.Buffer
	if err := trace.Text(&text, rec.Time, rec); err != nil {
		return 0, err
	}
	_, step, _ := strings.Cut(text.String(), "] ") // behind the time since rec.Time, none
	at := rec.Time.Local().Format(consoleTime)
	level, err := zerolog.ParseLevel(rec.Level)
	if err != nil {
		return 0, err
	}
	if _, err = fmt.Fprintf(c.out, "%s %s %s", at, zerolog.FormattedLevels[level], step); err != nil {
		return 0, err
	}
	return len(line), nil
}
