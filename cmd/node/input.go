package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/rounds/logs"
)

// inMemory is how many bytes of standard input are kept in memory. A longer input goes through a temporary file, so
// that it can be read twice, and with other files at once.
const inMemory = 16 << 20

// input is the logs that a command reads. It can read them more than once.
type input struct {
	files  []string          // "-" for standard input
	stdin  []byte            // what came from it, nil if nothing is read from it or all is in copies
	copies map[string]string // a temporary file with what came from a pipe, by the name in files
	open   []*os.File        // those copies that have no name any more
	batch  logs.Batch
}

// takePipes reads standard input if it is one of the files, and those that are pipes: they cannot be read twice.
func (in *input) takePipes() error {
	in.copies = map[string]string{}
	for _, file := range in.files {
		if file == stdinName || in.copies[file] != "" || !isPipe(file) {
			continue
		}
		pipe, err := os.Open(file)
		if err != nil {
			continue // as reading it will say
		}
		err = in.copy(file, pipe)
		_ = pipe.Close() // it was only read
		if err != nil {
			return err
		}
	}
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
	return in.copy(stdinName, io.MultiReader(bytes.NewReader(text), os.Stdin))
}

// isPipe reports whether the file is a pipe, as <(zcat n.log.gz) is in a shell.
func isPipe(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// copy keeps what comes from a pipe in a temporary file.
func (in *input) copy(name string, from io.Reader) error {
	file, err := os.CreateTemp("", "ringleader-logs-*")
	if err != nil {
		return fmt.Errorf("keep %s in a file: %w; set TMPDIR to a directory with room", called(name), err)
	}
	in.copies[name] = file.Name()
	if path := pathOf(file); path != "" && os.Remove(file.Name()) == nil { // so that it never outlives the process
		in.copies[name], in.open = path, append(in.open, file)
		_, err = io.Copy(file, from)
	} else {
		_, err = io.Copy(file, from)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return fmt.Errorf("keep %s in %s: %w", called(name), file.Name(), err)
	}
	return nil
}

// pathOf returns a path under which this process can open the file again when it has no name: Linux has one. It returns
// "" if there is none.
func pathOf(file *os.File) string {
	path := fmt.Sprintf("/proc/self/fd/%d", file.Fd())
	there, err := os.Stat(path)
	own, errOwn := file.Stat()
	if err != nil || errOwn != nil || !os.SameFile(there, own) {
		return ""
	}
	return path
}

// called returns the name of a file as users read it.
func called(name string) string {
	if name == stdinName {
		return "standard input"
	}
	return name
}

// close removes the temporary files.
func (in *input) close() {
	for _, file := range in.open {
		_ = file.Close()
	}
	for _, file := range in.copies {
		_ = os.Remove(file) // nobody reads it any more; without a name it is gone
	}
}

// read hands all records to the Sink to. problems are the files that it could not read.
func (in *input) read(to logs.Sink) (sum logs.Stats, problems []error) {
	in.batch.Paths = nil
	for _, file := range in.files {
		switch {
		case in.copies[file] != "":
			in.batch.Paths = append(in.batch.Paths, in.copies[file])
		case file != stdinName:
			in.batch.Paths = append(in.batch.Paths, file)
		default:
			var err error
			if sum, err = logs.Read(bytes.NewReader(in.stdin), to); err != nil {
				problems = append(problems, fmt.Errorf("read standard input: %w", err))
			}
			sum.Of(called(stdinName))
		}
	}
	sum.Add(in.batch.Read(to, func(err error) { problems = append(problems, err) }))
	for name, file := range in.copies {
		sum.FirstBroken = strings.Replace(sum.FirstBroken, file, called(name), 1)
		sum.FirstBinary = strings.Replace(sum.FirstBinary, file, called(name), 1)
	}
	return sum, problems
}
