package statefile

import (
	"io"
	"os"

	"github.com/ringleader-dev/ringleader/internal/durable"
)

// Disk is the file system of the data directories. Its errors wrap the system's error, or
// ErrLocked. One goroutine at a time calls its methods for the state, and another one may call them
// for a notice.
type Disk interface {
	// MakeDir creates dir, an absolute path, and its missing parents, durably.
	MakeDir(dir string) error
	// Lock locks the file at path for this process, until the process ends or closes the lock.
	Lock(path string) (io.Closer, error)
	// Open opens a file for reading. Create creates an empty file for reading and writing.
	Open(path string) (DiskFile, error)
	Create(path string) (DiskFile, error)
	// Rename renames a file. SyncDir makes all changes of names in a directory durable.
	Rename(from, to string) error
	SyncDir(dir string) error
}

// DiskFile is an open file.
type DiskFile interface {
	io.ReadWriteCloser
	io.WriterAt
	// Sync makes the file durable before it returns. SyncData does so for the file's bytes only; that is
	// enough if neither the file's size nor the place of a block changed.
	Sync() error
	SyncData() error
	// Named reports whether path still names this file.
	Named(path string) bool
}

// system is the machine's own file system.
type system struct{}

func (system) MakeDir(dir string) error            { return durable.MakeDir(dir) }
func (system) Lock(path string) (io.Closer, error) { return lock(path) }
func (system) Rename(from, to string) error        { return os.Rename(from, to) }
func (system) SyncDir(dir string) error            { return durable.SyncDir(dir) }

func (system) Open(path string) (DiskFile, error) {
	return opened(os.Open(path))
}

func (system) Create(path string) (DiskFile, error) {
	return opened(os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600))
}

// systemFile is a file of the machine's own file system.
type systemFile struct{ *os.File }

func opened(f *os.File, err error) (DiskFile, error) {
	if err != nil {
		return nil, err
	}
	return systemFile{f}, nil
}

func (f systemFile) SyncData() error { return syncData(f.File) }

func (f systemFile) Named(path string) bool {
	open, _ := f.Stat()
	named, _ := os.Stat(path)
	return os.SameFile(open, named) // false if one cannot be had
}
