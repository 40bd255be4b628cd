package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/internal/durable"
)

const (
	fileName = "fence.db"
	kept     = "data and the fencing token"
)

// The two buckets of the file: values has the values, and tokens has the highest token, under the
// single key highest.
var (
	values  = []byte("values")
	tokens  = []byte("tokens")
	highest = []byte("highest")
)

// Open opens and locks the store in dir. If dir is missing, Open creates it with mode 0700. Open reads
// the whole file, so that damage is found at the start and not during a write. It also writes the
// highest token once more, so that a disk that cannot be written is found at the start.
//
// Errors wrap ErrLocked, ErrCorrupt, ErrNoSpace or the error of the operating system.
func Open(dir string) (*Store, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("data directory %s: %w", dir, err)
	}
	path := filepath.Join(abs, fileName)
	if err := create(abs, path); err != nil {
		return nil, durable.Unusable(abs, kept, err)
	}
	s, err := open(path)
	switch {
	case errors.Is(err, ErrLocked):
		return nil, fmt.Errorf("data directory %s: %w: stop it, or choose another directory", abs, err)
	case errors.Is(err, ErrCorrupt):
		return nil, fmt.Errorf("%s: %w: restore it from a copy, and know that the highest fencing "+
			"token is then that of the copy", path, err)
	case err != nil:
		return nil, durable.Unusable(abs, kept, err)
	}
	return s, nil
}

// create makes an empty store, unless dir already has a store. The file gets the name path only when
// it is complete, so a full disk at the first start leaves no partial file there.
func create(dir, path string) error {
	if err := durable.MakeDir(dir); err != nil {
		return err
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	temp, err := os.CreateTemp(dir, fileName+".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	if err := temp.Close(); err != nil {
		return err
	}
	db, err := bbolt.Open(temp.Name(), 0o600, nil)
	if err != nil {
		return asNoSpace(err)
	}
	if err := errors.Join(db.Update(furnish), db.Close()); err != nil {
		return asNoSpace(err)
	}
	// Unlike a rename, a link leaves alone what another process made meanwhile.
	if err := os.Link(temp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return durable.SyncDir(dir)
}

// open opens and checks the file. For a damaged file, bbolt may panic, or touch memory behind the
// end of the file. In both cases open returns ErrCorrupt.
func open(path string) (s *Store, err error) {
	var file *os.File
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if cause := recover(); cause != nil {
			s, err = nil, fmt.Errorf("%w: %v", ErrCorrupt, cause)
		}
		if errors.Is(err, ErrCorrupt) && file != nil {
			// bbolt's own Close would unmap what check's goroutine may still
			// hold, or panic again. So the mapping stays, and with it the lock
			// even of a closed file.
			_ = syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
			_ = file.Close()
		}
	}()
	const once = time.Nanosecond // how long to wait for the lock: no time
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout: once,
		OpenFile: func(path string, flag int, mode os.FileMode) (*os.File, error) {
			file, err = openOld(path, flag, mode)
			return file, err
		},
	})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, ErrLocked
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum),
		errors.Is(err, bolterrors.ErrVersionMismatch):
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	case err != nil:
		return nil, asNoSpace(err)
	}
	err = db.View(check)
	if err == nil {
		err = asNoSpace(db.Update(rewrite))
	}
	if err != nil && !errors.Is(err, ErrCorrupt) {
		return nil, errors.Join(err, db.Close())
	}
	return newStore(db), err
}

// openOld opens an existing file, and refuses a file that is too short. Without openOld, bbolt would
// treat an empty file as a new one, and the store would begin again without a token.
func openOld(path string, flag int, mode os.FileMode) (*os.File, error) {
	const smallest = 4 * 4096 // two roots, a list of free pages and a leaf
	f, err := os.OpenFile(path, flag&^os.O_CREATE, mode)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() < smallest {
		err = fmt.Errorf("%w: it has only %d bytes", ErrCorrupt, info.Size())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// furnish creates the buckets of a new store, and writes the zero Token as its highest token.
func furnish(tx *bbolt.Tx) error {
	_, err := tx.CreateBucket(values)
	if err != nil {
		return err
	}
	b, err := tx.CreateBucket(tokens)
	if err != nil {
		return err
	}
	return b.Put(highest, encode(highest, fence.Token{}, nil))
}

// rewrite writes the highest token once more.
func rewrite(tx *bbolt.Tx) error {
	t, err := highestIn(tx)
	if err != nil {
		return err
	}
	return seal(tx, t)
}

// seal makes t the highest token.
func seal(tx *bbolt.Tx, t fence.Token) error {
	return tx.Bucket(tokens).Put(highest, encode(highest, t, nil))
}

// highestIn returns the highest token, or the zero Token if the store has seen none.
func highestIn(tx *bbolt.Tx) (t fence.Token, err error) {
	t, _, err = decode(highest, tx.Bucket(tokens).Get(highest))
	if err != nil {
		return fence.Token{}, fmt.Errorf("the highest fencing token: %w", err)
	}
	return t, nil
}
