package statefile

import (
	"io"
	"os"

	"github.com/ringleader-dev/ringleader/internal/durable"
)

// Disk is the file system that data directories are on. What its errors wrap is what
// the system said, or ErrLocked.
type Disk interface {
	// MakeDir creates dir, an absolute path, and its missing parents, durably.
	MakeDir(dir string) error
	// Lock takes the file at path for this process, until it ends or closes it.
	Lock(path string) (io.Closer, error)
	// Open opens a file for reading, and Create an empty one for both.
	Open(path string) (DiskFile, error)
	Create(path string) (DiskFile, error)
	// Rename and what else changed the names in a directory is durable after SyncDir.
	Rename(from, to string) error
	SyncDir(dir string) error
}

// DiskFile is an open file.
type DiskFile interface {
	io.ReadWriteCloser
	io.WriterAt
	// Sync returns once the file is durable, SyncData once its bytes are: all that it
	// needs where neither its size nor a block changed.
	Sync() error
	SyncData() error
	// Named reports whether path still leads to this file.
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

// systemFile is a file of the machine's own.
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
	return os.SameFile(open, named) // false where one cannot be had
}
