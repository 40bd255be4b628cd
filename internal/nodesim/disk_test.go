package nodesim

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"sync"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/node/statefile"
)

// disk is the disk of one machine, below a page cache that survives its processes. A
// power failure leaves, of what was not synced, any sectors and any of the names.
type disk struct {
	dice dice
	// slow is what a sync may take, at most.
	slow time.Duration

	mu     sync.Mutex
	names  map[string]*inode // as the page cache has them
	stored map[string]*inode // as the disk has them
	lock   *process
	full   bool
	broken bool // syncs fail
}

// inode is a file.
type inode struct {
	cache  []byte
	stored []byte
	end    int // of what was last written behind its beginning
}

// sector is what a disk writes as a whole, in bytes.
const sector = 512

func newDisk(seed uint64) *disk {
	return &disk{
		dice: newDice(seed, 3), slow: 3 * time.Millisecond,
		names: map[string]*inode{}, stored: map[string]*inode{},
	}
}

// lose empties the disk.
func (d *disk) lose() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.names, d.stored = map[string]*inode{}, map[string]*inode{}
}

// cutPower forgets what was not synced, some of it.
func (d *disk) cutPower() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for path := range d.names {
		if d.names[path] != d.stored[path] && d.dice.IntN(2) == 0 {
			d.stored[path] = d.names[path]
		}
	}
	d.names = maps.Clone(d.stored)
	for path, f := range d.names {
		if f == nil {
			delete(d.names, path)
			delete(d.stored, path)
			continue
		}
		if len(f.stored) != len(f.cache) { // its size was not durable
			if f.cache = bytes.Clone(f.stored); f.cache == nil {
				f.cache = []byte{}
			}
			continue
		}
		for at := 0; at < len(f.cache); at += sector {
			end := min(at+sector, len(f.cache))
			if d.dice.IntN(2) == 0 {
				copy(f.stored[at:end], f.cache[at:end])
			}
		}
		f.cache = bytes.Clone(f.stored)
	}
}

// wipe fills one sector of the file with what no process wrote, the last that was written or
// any before, and reports whether there is such a file.
func (d *disk) wipe(path string, last bool, with byte) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.names[path]
	if f == nil {
		return false
	}
	at := max(0, f.end-1) / sector * sector
	if !last {
		at = d.dice.IntN(at/sector+1) * sector
	}
	if at+sector > len(f.cache) {
		return false
	}
	for i := range sector {
		f.cache[at+i] = with
	}
	copy(f.stored, f.cache)
	return true
}

// files is the disk as one process sees it: a statefile.Disk.
type files struct {
	*disk
	p *process
}

func pathError(op, path string, err error) error { return &fs.PathError{Op: op, Path: path, Err: err} }

// MakeDir implements statefile.Disk. Directories need not be made here.
func (files) MakeDir(string) error { return nil }

// Lock implements statefile.Disk.
func (d files) Lock(string) (io.Closer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lock != nil && d.lock != d.p {
		return nil, statefile.ErrLocked
	}
	d.lock = d.p
	return unlocker(d), nil
}

type unlocker files

// Close implements io.Closer.
func (u unlocker) Close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.lock == u.p {
		u.lock = nil
	}
	return nil
}

// Open implements statefile.Disk.
func (d files) Open(path string) (statefile.DiskFile, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.names[path]
	if f == nil {
		return nil, pathError("open", path, fs.ErrNotExist)
	}
	return &file{files: d, inode: f}, nil
}

// Create implements statefile.Disk.
func (d files) Create(path string) (statefile.DiskFile, error) {
	if !d.p.gate.pass() {
		return nil, pathError("open", path, fs.ErrClosed)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full {
		return nil, pathError("open", path, syscall.ENOSPC)
	}
	d.names[path] = &inode{cache: []byte{}}
	return &file{files: d, inode: d.names[path]}, nil
}

// Rename implements statefile.Disk.
func (d files) Rename(from, to string) error {
	if !d.p.gate.pass() {
		return pathError("rename", from, fs.ErrClosed)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.names[to] = d.names[from]
	delete(d.names, from)
	return nil
}

// SyncDir implements statefile.Disk.
func (d files) SyncDir(dir string) error {
	return d.sync(dir, func() { d.stored = maps.Clone(d.names) })
}

// sync takes a while and then does what it is for, unless the process died meanwhile.
func (d files) sync(what string, do func()) error {
	d.mu.Lock()
	took := d.dice.N(d.slow)
	d.mu.Unlock()
	time.Sleep(took)
	if !d.p.gate.pass() {
		return pathError("sync", what, fs.ErrClosed)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken {
		return pathError("sync", what, syscall.EIO)
	}
	do()
	return nil
}

// file is an open file.
type file struct {
	files
	inode  *inode
	offset int
}

func (f *file) Read(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.offset >= len(f.inode.cache) {
		return 0, io.EOF
	}
	n := copy(b, f.inode.cache[f.offset:])
	f.offset += n
	return n, nil
}

func (f *file) Write(b []byte) (int, error) {
	n, err := f.put(b, f.offset)
	f.offset += n
	return n, err
}

func (f *file) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.put(b, int(at))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inode.end = int(at) + n
	return n, err
}

func (f *file) put(b []byte, at int) (int, error) {
	if !f.p.gate.pass() {
		return 0, fs.ErrClosed
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	grow := at + len(b) - len(f.inode.cache)
	if grow > 0 && f.full {
		return 0, fmt.Errorf("write: %w", syscall.ENOSPC)
	}
	if grow > 0 {
		f.inode.cache = append(f.inode.cache, make([]byte, grow)...)
	}
	return copy(f.inode.cache[at:], b), nil
}

func (f *file) Sync() error {
	return f.sync("file", func() { f.inode.stored = bytes.Clone(f.inode.cache) })
}

func (f *file) SyncData() error { return f.Sync() }

func (f *file) Named(path string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.names[path] == f.inode
}

func (f *file) Close() error { return nil }
