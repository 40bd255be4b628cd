package statefile

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Whatever stands where a file or directory of ours should be is an error that
// names it, and is left alone.
func TestObstacles(t *testing.T) {
	file := func(path string) error { return os.WriteFile(path, []byte("mine"), 0o600) }
	directory := func(path string) error { return os.Mkdir(path, 0o700) }
	cases := []struct {
		name, path string
		put        func(string) error
	}{
		{"a file for the directory", "data", file},
		{"a directory for the state", "data/state.json", directory},
		{"a directory for the temporary file", "data/state.json.tmp", directory},
		{"a directory for the lock", "data/lock", directory},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			dir, path := filepath.Join(root, "data"), filepath.Join(root, c.path)
			if path != dir {
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.put(path); err != nil {
				t.Fatal(err)
			}
			_, _, err := Open(dir, demo4)
			if err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("Open: %v, want an error that names %s", err, path)
			}
			if _, err := os.Stat(path); err != nil {
				t.Error(err)
			}
		})
	}
}

// "Temporary file, fsync, rename, fsync of the directory": so a file takes the place of
// another, and a state that is added is written and synced. Whichever of these fails, nothing
// is done after it, what failed is told, which is no damage, and the state before or the new
// one is kept.
func TestEachCallMayFail(t *testing.T) {
	want := strings.Fields("read write sync rename syncdir write syncdata write sync rename syncdir " +
		"write sync rename syncdir read")
	for fails := 0; ; fails++ {
		f, _ := mustOpen(t, t.TempDir())
		mustSave(t, f, voted)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		disk := &failing{fails: fails}
		err := use(disk, f.dir)
		if disk.open != 0 {
			t.Errorf("after %v, %d files are open", disk.calls, disk.open)
		}
		if fails > len(disk.calls) && err == nil {
			break
		}
		if calls := slices.Compact(slices.Clone(disk.calls)); fails == 0 && (err != nil || !slices.Equal(calls, want)) {
			t.Fatalf("%v, %v; want %v", calls, err, want)
		}
		if fails > 0 && (!errors.Is(err, errDisk) || errors.Is(err, ErrCorrupt) || len(disk.calls) != fails) {
			t.Errorf("call %d of %v failed: %v", fails, disk.calls, err)
		}
		if _, s := mustOpen(t, f.dir); s != voted && s != later {
			t.Errorf("after %v: %+v", disk.calls, s)
		}
	}
}

// use opens dir, saves a state, again when the room is used up, and a notice, and reads
// that.
func use(disk Disk, dir string) error {
	f, _, err := OpenOn(disk, dir, demo4)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Save(later); err != nil {
		return err
	}
	f.end = f.size
	if err := f.Save(later); err != nil {
		return err
	}
	if err := f.SaveNotice(Notice{Version: 1, Origin: 1}); err != nil {
		return err
	}
	_, err = f.Notice()
	return err
}

// failing is the system's disk that notes what is asked of it, and fails once.
type failing struct {
	system
	calls []string
	fails int // the call that does, from 1
	open  int // files
}

var errDisk = errors.New("the disk failed")

// after notes a call, and returns how it ended.
func (d *failing) after(call string, err error) error {
	if d.calls = append(d.calls, call); len(d.calls) == d.fails {
		return errDisk
	}
	return err
}

func (d *failing) Open(path string) (DiskFile, error)   { return d.opened(d.system.Open(path)) }
func (d *failing) Create(path string) (DiskFile, error) { return d.opened(d.system.Create(path)) }

func (d *failing) opened(f DiskFile, err error) (DiskFile, error) {
	if err != nil {
		return nil, err
	}
	d.open++
	return &failingFile{f, d}, nil
}

func (d *failing) Rename(from, to string) error {
	return d.after("rename", d.system.Rename(from, to))
}

func (d *failing) SyncDir(dir string) error { return d.after("syncdir", d.system.SyncDir(dir)) }

type failingFile struct {
	DiskFile
	disk *failing
}

func (f *failingFile) Read(b []byte) (int, error) {
	n, err := f.DiskFile.Read(b)
	return n, f.disk.after("read", err)
}

func (f *failingFile) Write(b []byte) (int, error) {
	n, err := f.DiskFile.Write(b)
	return n, f.disk.after("write", err)
}

func (f *failingFile) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.DiskFile.WriteAt(b, at)
	return n, f.disk.after("write", err)
}

func (f *failingFile) Sync() error     { return f.disk.after("sync", f.DiskFile.Sync()) }
func (f *failingFile) SyncData() error { return f.disk.after("syncdata", f.DiskFile.SyncData()) }

func (f *failingFile) Close() error {
	f.disk.open--
	return f.DiskFile.Close()
}
