package statefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/ringleader-dev/ringleader/internal/durable"
)

// replace makes content durable as the file name in dir, by way of temp, and returns
// that file, open.
func replace(dir, temp, name string, content []byte) (*os.File, error) {
	temp = filepath.Join(dir, temp)
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(content); err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(temp, filepath.Join(dir, name))
	}
	if err == nil {
		err = durable.SyncDir(dir)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// readSmall reads a file, but no more than tells that it is too large.
func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}
