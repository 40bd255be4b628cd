package statefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/durable"
	"github.com/ringleader-dev/ringleader/proto"
)

// The errors of Open and Save. Every error also wraps the system's error, if there is one.
var (
	// ErrLocked: another File uses the directory, in this process or another.
	ErrLocked = errors.New("in use")
	// ErrCorrupt: the state exists but cannot be trusted.
	ErrCorrupt = errors.New("damaged")
	// ErrForeign: the directory belongs to another node or cluster.
	ErrForeign = errors.New("belongs to another node or cluster")
	// ErrFormat: another release wrote the state, in a format that this one does not read.
	ErrFormat = errors.New("written by another release")
	// ErrTermBack: Save was called with a lower term than before, with fewer terms reserved, or
	// without the vote or the promise that was saved.
	ErrTermBack = errors.New("a term never goes back")
	// ErrState: Save was called with values that no correct node has.
	ErrState = errors.New("not a valid state")
	// ErrClosed: Save was called after Close.
	ErrClosed = errors.New("the state file is closed")
)

const (
	stateName = "state.json"
	tempName  = "state.json.tmp"
	lockName  = "lock"
)

// Owner identifies the node whose state a directory holds.
type Owner struct {
	Cluster string // the cluster's label, at most 255 bytes of UTF-8
	ID      proto.NodeID
}

// File is the open state of one node. It belongs to one goroutine at a time.
type File struct {
	disk   Disk
	dir    string
	owner  Owner
	lock   io.Closer // nil once closed
	saved  algorithms.State
	broken error // the first write that failed

	log       DiskFile // the state file; nil before it exists
	size, end int      // the size of log and the end of what is written in it, in bytes; zero before it exists
	last      uint64   // the number of the last record; zero for none
}

// Open locks dir, creating it with mode 0700 if it is missing, and returns the state that it holds:
// the zero State if no process of this node ever saved one.
//
// The state that Open returns is durable. Open writes it once more, for two reasons. An earlier
// process may have left it only in the system's cache. And the node should learn at its start, and
// not during an election, that it cannot write to the directory.
//
// Errors wrap ErrLocked, ErrCorrupt, ErrFormat, ErrForeign or the system's error.
func Open(dir string, owner Owner) (*File, algorithms.State, error) {
	return OpenOn(system{}, dir, owner)
}

// OpenOn does what Open does, on a given Disk.
func OpenOn(disk Disk, dir string, owner Owner) (*File, algorithms.State, error) {
	if err := owner.validate(); err != nil {
		return nil, algorithms.State{}, err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, algorithms.State{}, fmt.Errorf("data directory %s: %w", dir, err)
	}
	f := &File{disk: disk, dir: abs, owner: owner}
	if err := f.open(); err != nil {
		return nil, algorithms.State{}, errors.Join(err, f.Close())
	}
	return f, f.saved, nil
}

func (f *File) open() error {
	if err := f.disk.MakeDir(f.dir); err != nil {
		return f.unusable(err)
	}
	var err error
	if f.lock, err = f.disk.Lock(filepath.Join(f.dir, lockName)); err != nil {
		if errors.Is(err, ErrLocked) {
			return fmt.Errorf("data directory %s: %w", f.dir, err)
		}
		return f.unusable(err)
	}
	if err := f.load(); err != nil {
		return err
	}
	if err := f.write(f.saved); err != nil {
		return f.unusable(err)
	}
	return nil
}

// load reads the state into f.saved. It ignores other files in the directory: a temporary file is what a Save
// that never finished left, and the node has sent nothing that depends on it.
func (f *File) load() error {
	path := filepath.Join(f.dir, stateName)
	data, err := readSmall(f.disk, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return f.unusable(err)
	}
	owner, state, last, err := latest(data)
	if errors.Is(err, ErrFormat) {
		return fmt.Errorf("state file %s: %w", path, err)
	}
	if err != nil {
		return fmt.Errorf("state file %s: %w: remove the file to let node %d begin again at "+
			"term 0; if it is a voter it then asks the others what it voted in", path, err, f.owner.ID)
	}
	if owner != f.owner {
		return fmt.Errorf("data directory %s: %w: it keeps the state of node %d of cluster %q, "+
			"this is node %d of cluster %q: give each node a directory of its own",
			f.dir, ErrForeign, owner.ID, owner.Cluster, f.owner.ID, f.owner.Cluster)
	}
	f.saved, f.last = state, last
	return nil
}

// Save makes s durable before it returns. After an error the caller must end the node: nobody knows what the
// disk holds until it is read again, so every later Save fails too.
func (f *File) Save(s algorithms.State) error {
	if err := f.save(s); err != nil {
		return fmt.Errorf("save term %d in %s: %w", max(s.Term, s.Vote.Term), f.dir, err)
	}
	return nil
}

func (f *File) save(s algorithms.State) error {
	switch {
	case f.lock == nil:
		return ErrClosed
	case f.broken != nil:
		// After a failed fsync the page cache may show what the disk does
		// not hold, and the next fsync may report success for it.
		return fmt.Errorf("an earlier save failed: %w", f.broken)
	}
	if err := validate(s); err != nil {
		return fmt.Errorf("%w: %w", ErrState, err)
	}
	switch {
	case s.Term < f.saved.Term:
		return fmt.Errorf("%w: term %d is saved", ErrTermBack, f.saved.Term)
	case s.Vote.Term < f.saved.Vote.Term, s.Promise < f.saved.Promise:
		return fmt.Errorf("%w: a vote in term %d and a promise of %v are saved",
			ErrTermBack, f.saved.Vote.Term, f.saved.Promise)
	case s.Vote.Term == f.saved.Vote.Term && f.saved.Vote.ID != 0 && s.Vote != f.saved.Vote:
		return fmt.Errorf("%w: a vote for %d in term %d is saved",
			ErrTermBack, f.saved.Vote.ID, f.saved.Vote.Term)
	case s.Voters.Version < f.saved.Voters.Version:
		return fmt.Errorf("%w: list %d of the voters is saved", ErrTermBack, f.saved.Voters.Version)
	case s.Reserved < f.saved.Reserved:
		return fmt.Errorf("%w: term %d is reserved", ErrTermBack, f.saved.Reserved)
	}
	if err := f.write(s); err != nil {
		f.broken = err
		return fmt.Errorf("%w: nothing was promised that is not on the disk: make the directory "+
			"writable with some space left, and start the node again", err)
	}
	f.saved = s
	return nil
}

// Close lets another process use the directory. The lock file stays: if it were removed, two
// processes could each hold a lock of their own.
func (f *File) Close() error {
	if f.lock == nil {
		return nil
	}
	err := f.lock.Close()
	f.lock = nil
	if f.log != nil {
		err = errors.Join(err, f.log.Close())
	}
	return err
}

// unusable returns an error that says what the directory is needed for, and why it could not be
// used at the start.
func (f *File) unusable(err error) error {
	return durable.Unusable(f.dir, "the term and vote", err)
}
