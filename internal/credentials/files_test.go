package credentials

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// "Files that it cannot use change nothing, and the log says why": a file that has no end, or whose reader waits for a
// writer, is such a file, and none is read beyond its limit.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	home := t.TempDir()
	a, err := NewAuthority(home, "blue")
	if err != nil {
		t.Fatal(err)
	}
	self := Identity{Cluster: "blue", ID: 1}
	dir, err := a.Issue(self, nil, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	k, err := Open(dir, self)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{caFile, certFile, keyFile, revokedFile, gossipFile} {
		path := filepath.Join(dir, name)
		good, wasThere := os.ReadFile(path)
		pipe := func() error { return syscall.Mkfifo(path, 0o600) }
		endless := func() error { return os.Symlink("/dev/zero", path) }
		dangling := func() error { return os.Symlink("nowhere", path) }
		large := func() error { return os.WriteFile(path, make([]byte, maxFile+1), 0o600) }
		for _, bad := range []struct {
			put  func() error
			want string
		}{
			{pipe, path + " is no regular file"},
			{endless, path + " is no regular file"},
			{dangling, path + " is a link to a file that is not there"},
			{large, path + ": 1048577 bytes, at most 1048576"},
		} {
			_ = os.Remove(path)
			if err := bad.put(); err != nil {
				t.Fatal(err)
			}
			_, shown := Show(dir)
			_, reloaded := k.Reload()
			_, opened := Open(dir, self)
			for _, err := range []error{shown, reloaded, opened} {
				if err == nil || err.Error() != bad.want {
					t.Errorf("%v, want %q", err, bad.want)
				}
			}
		}
		_ = os.Remove(path)
		if wasThere == nil {
			if err := os.WriteFile(path, good, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{caFile, issuedFile} {
		path := a.home(name)
		if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
			t.Fatal(err)
		}
		want := path + " is no regular file"
		if _, err := a.Complete(Identity{Cluster: "blue", ID: 2}, nil, time.Hour); err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
		if _, err := OpenAuthority(home); err == nil {
			t.Errorf("an authority without %s is opened", caFile)
		}
	}
}

// "The group may read a file of root's, if the node does not run as root: so Kubernetes mounts a Secret."
func TestWhoMayReadASecret(t *testing.T) {
	for _, tt := range []struct {
		mode       fs.FileMode
		byRoot     bool
		wantAdvice string
	}{
		{0o600, false, ""},
		{0o400, true, ""},
		{0o440, true, ""},
		{0o640, true, ""},
		{0o440, false, "chmod 600 tls.key"},
		{0o604, false, "chmod 600 tls.key"},
		{0o620, true, "chmod 440 tls.key, as defaultMode: 0440 of a Secret of Kubernetes"},
		{0o450, true, "chmod 440 tls.key, as defaultMode: 0440 of a Secret of Kubernetes"},
		{0o644, true, "chmod 440 tls.key, as defaultMode: 0440 of a Secret of Kubernetes"},
	} {
		err := tooWide("tls.key", tt.mode, tt.byRoot)
		want := fmt.Sprintf("mode %04o lets others read tls.key: %s", tt.mode, tt.wantAdvice)
		if tt.wantAdvice == "" && err != nil || tt.wantAdvice != "" && (err == nil || err.Error() != want) {
			t.Errorf("%04o, given by root: %v: %v, want %q", tt.mode, tt.byRoot, err, want)
		}
	}
}

// "ringleader keys cannot write into a Secret, and says so."
func TestKeysOfAReadOnlyDirectory(t *testing.T) {
	const todo = "this node may not write there; if it is a Secret of Kubernetes, rotate the keys by changing " +
		"gossip.key in the Secrets of all nodes"
	for _, why := range []error{syscall.EROFS, syscall.EACCES, syscall.EPERM} {
		err := notSaved("/credentials", &fs.PathError{Op: "open", Path: "/credentials/.gossip.key-1", Err: why})
		if !errors.Is(err, why) || !strings.HasSuffix(err.Error(), todo) {
			t.Errorf("%v: %v", why, err)
		}
	}
	if err := notSaved("/credentials", syscall.ENOSPC); strings.Contains(err.Error(), "Secret") {
		t.Error(err)
	}
}
