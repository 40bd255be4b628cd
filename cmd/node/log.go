package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/trace"
)

// newLogger is the logger of a node. Records and log lines share it.
//
// It sets the time format of the whole process: by default zerolog's times
// have a resolution of one second, which orders nothing.
func newLogger(out *os.File, level zerolog.Level, format string) zerolog.Logger {
	zerolog.TimeFieldFormat = time.RFC3339Nano
	var w io.Writer = out
	if format == "console" || format == "auto" && isatty.IsTerminal(out.Fd()) {
		w = newConsole(out, !isatty.IsTerminal(out.Fd()))
	}
	return zerolog.New(w).Level(level)
}

const consoleTime = "15:04:05.000"

// console prints what a node logs for people: records as the simulator prints
// them, but with the time of day, all else as a message and its fields.
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

// Write takes one line of JSON. It may be called from any goroutine.
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
