package logs

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Files are the files that paths name: a directory stands for all in it. What
// cannot be looked at comes back as errors beside the others.
func Files(paths []string) (files []string, errs []error) {
	for _, path := range paths {
		err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				errs = append(errs, fmt.Errorf("read the logs in %s: %w", name, err))
				if entry != nil && entry.IsDir() {
					return fs.SkipDir
				}
			case !entry.IsDir():
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

// ReadFile reads a file into to, one that ends in .gz decompressed.
func ReadFile(path string, to Sink) (Stats, error) {
	f, err := os.Open(path)
	if err != nil {
		return Stats{}, fmt.Errorf("read the log: %w", err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return Stats{}, fmt.Errorf("decompress the log %s: %w", path, err)
		}
	}
	stats, err := Read(r, to)
	if err != nil {
		return stats, fmt.Errorf("read the log %s: %w", path, err)
	}
	return stats, nil
}

// pollEvery is how often a followed file is looked at.
const pollEvery = 100 * time.Millisecond

// Tail is a file that is read on as it grows, and again from its beginning when
// it was cut or replaced. It is an io.ReadCloser for one goroutine.
type Tail struct {
	ctx     context.Context
	path    string
	file    *os.File
	offset  int64
	atEnd   func() // called once
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

// Read waits until there is something to read.
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

// reopen begins anew with a file that was cut, or that took the place of ours.
// One that is not there yet is waited for.
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
