package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Files returns the files that the paths name. A directory stands for all files in it and below, but not for pipes and
// devices: to read these may never end.
// errs has what could not be read; files then has the rest.
func Files(paths []string) (files []string, errs []error) {
	for _, path := range paths {
		err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				errs = append(errs, fmt.Errorf("read the logs in %s: %w", name, err))
				if entry != nil && entry.IsDir() {
					return fs.SkipDir
				}
			case name == path && !entry.IsDir(), isFile(name, entry):
				files = append(files, name)
			}
			return nil
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("read the logs in %s: %w", path, err))
		}
	}
	return files, errs
}

// isFile reports whether an entry of a directory is a file, or a link to one. A link that leads nowhere counts: it is
// said to be unreadable.
func isFile(name string, entry fs.DirEntry) bool {
	if entry.Type()&fs.ModeSymlink == 0 {
		return entry.Type().IsRegular()
	}
	to, err := os.Stat(name)
	return err != nil || to.Mode().IsRegular()
}

// pollEvery is the time between two reads at the end of a followed file.
const pollEvery = 100 * time.Millisecond

// Tail reads a file as it grows. When the file was cut or replaced, it reads again from the
// beginning. It is an io.ReadCloser for one goroutine.
type Tail struct {
	ctx     context.Context
	path    string
	file    *os.File
	offset  int64
	atEnd   func() // called once, by Read
	reached bool
}

// NewTail opens the file. Its Read returns io.EOF when ctx is done; atEnd is
// called when the end of the file is reached for the first time.
func NewTail(ctx context.Context, path string, atEnd func()) (*Tail, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("follow the log: %w", err)
	}
	return &Tail{ctx: ctx, path: path, file: file, atEnd: atEnd}, nil
}

// Close closes the file.
func (t *Tail) Close() error { return t.file.Close() }

// Read waits until the file has more, or the context is done.
func (t *Tail) Read(p []byte) (int, error) {
	for {
		n, err := t.file.Read(p)
		t.offset += int64(n)
		if n > 0 || err != nil && !errors.Is(err, io.EOF) {
			return n, err
		}
		if !t.reached {
			t.reached = true
			t.atEnd()
		}
		select {
		case <-t.ctx.Done():
			return 0, io.EOF
		case <-time.After(pollEvery):
		}
		t.reopen()
	}
}

// reopen begins anew if the file was cut, or if another file has its name now. It does nothing
// while no file has that name.
func (t *Tail) reopen() {
	now, err := os.Stat(t.path)
	if err != nil {
		return
	}
	ours, err := t.file.Stat()
	if err == nil && os.SameFile(now, ours) && now.Size() >= t.offset {
		return
	}
	file, err := os.Open(t.path)
	if err != nil {
		return
	}
	_ = t.file.Close() // it was only read
	t.file, t.offset = file, 0
}
