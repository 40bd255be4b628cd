package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/rounds/logs"
)

// inMemory is how many bytes of standard input are kept in memory. A longer input goes through a temporary file, so that
// it can be read twice, and with other files at once.
const inMemory = 16 << 20

// input is the logs that a command reads. It can read them more than once.
type input struct {
	files   []string // "-" for standard input
	stdin   []byte   // what came from it, nil if nothing is read from it or all is in spooled
	spooled string   // a temporary file with standard input, empty for none
	batch   logs.Batch
}

// takeStdin reads standard input if it is one of the files.
func (in *input) takeStdin() error {
	if !slices.Contains(in.files, stdinName) {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(os.Stdin, inMemory))
	if err != nil {
		return fmt.Errorf("read standard input: %w", err)
	}
	if len(text) < inMemory {
		in.stdin = append([]byte{}, text...)
		return nil
	}
	file, err := os.CreateTemp("", "ringleader-logs-*")
	if err != nil {
		return fmt.Errorf("keep standard input in a file: %w; set TMPDIR to a directory with room", err)
	}
	in.spooled = file.Name()
	_, err = io.Copy(file, io.MultiReader(bytes.NewReader(text), os.Stdin))
	if errClose := file.Close(); err == nil {
		err = errClose
	}
	if err != nil {
		return fmt.Errorf("keep standard input in %s: %w", in.spooled, err)
	}
	return nil
}

// close removes the temporary file.
func (in *input) close() {
	if in.spooled != "" {
		_ = os.Remove(in.spooled) // nobody reads it any more
	}
}

// read hands all records to the Sink to. problems are the files that it could not read.
func (in *input) read(to logs.Sink) (sum logs.Stats, problems []error) {
	in.batch.Paths = nil
	for _, file := range in.files {
		switch {
		case file != stdinName:
			in.batch.Paths = append(in.batch.Paths, file)
		case in.spooled != "":
			in.batch.Paths = append(in.batch.Paths, in.spooled)
		default:
			var err error
			if sum, err = logs.Read(bytes.NewReader(in.stdin), to); err != nil {
				problems = append(problems, fmt.Errorf("read standard input: %w", err))
			}
			sum.Of("standard input")
		}
	}
	sum.Add(in.batch.Read(to, func(err error) { problems = append(problems, err) }))
	if in.spooled != "" {
		sum.FirstBroken = strings.Replace(sum.FirstBroken, in.spooled, "standard input", 1)
	}
	return sum, problems
}
