package credentials

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// The files of a directory of credentials.
const (
	certFile    = "tls.crt"
	keyFile     = "tls.key"
	caFile      = "ca.crt"
	revokedFile = "revoked.crl"
	gossipFile  = "gossip.key"
	tokenFile   = "api.token"

	maxFile = 1 << 20 // bytes
)

// ReadSecret returns what is in a file that only its owner may read. It refuses a file that others may read, one
// that is no regular file, and one above limit bytes. The group may read a file of root's, unless this process runs as
// root.
func ReadSecret(path string, limit int64) ([]byte, error) {
	return readRegular(path, limit, func(info fs.FileInfo) error {
		return tooWide(path, info.Mode().Perm(), givenByRoot(info))
	})
}

// ReadFile returns what is in a file, whoever may read it. It refuses one that is no regular file, and one above 1 MiB.
func ReadFile(path string) ([]byte, error) {
	return readRegular(path, maxFile, func(fs.FileInfo) error { return nil })
}

// readRegular returns what is in a file. It refuses one that is no regular file, since such a one may keep its reader
// waiting, one that allowed has an error for, and one above limit bytes. So it does with what the file was replaced by
// before it was opened. A link to nothing is not taken for a file that need not be there.
func readRegular(path string, limit int64, allowed func(fs.FileInfo) error) ([]byte, error) {
	refused := func(info fs.FileInfo, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && isLink(path):
			return fmt.Errorf("%s is a link to a file that is not there", path)
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is no regular file", path)
		case info.Size() > limit:
			return fmt.Errorf("%s: %d bytes, at most %d", path, info.Size(), limit)
		}
		return allowed(info)
	}
	if err := refused(os.Stat(path)); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if err := refused(f.Stat()); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// givenByRoot reports whether a file is root's, and this process is not: then it reads the file because root let its
// group do so.
func givenByRoot(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Uid == 0 && os.Geteuid() != 0
}

// tooWide returns an error for a file of a secret that others than its owner may use. If it is given by root, its group
// may read it: that is how Kubernetes lets a process read a Secret, and PostgreSQL allows the same.
func tooWide(path string, mode fs.FileMode, byRoot bool) error {
	wide, advice := fs.FileMode(0o077), "chmod 600 "+path
	if byRoot {
		wide, advice = 0o037, "chmod 440 "+path+", as defaultMode: 0440 of a Secret of Kubernetes"
	}
	if mode&wide == 0 {
		return nil
	}
	return fmt.Errorf("mode %04o lets others read %s: %s", mode, path, advice)
}

// isThere returns an error unless there is something at path: fs.ErrNotExist if not even a link is.
func isThere(path string) error {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && isLink(path) {
		return fmt.Errorf("%s is a link to a directory that is not there", path)
	}
	return err
}

// makeDir makes a directory that its owner alone may read, unless there is one.
func makeDir(path string) error {
	if err := isThere(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.MkdirAll(path, 0o700)
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// ifThere turns the error that a file is not there into no content.
func ifThere(b []byte, err error) ([]byte, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// Lock waits until no other process changes what is in dir, and keeps others waiting until the result is closed. It
// fails with fs.ErrNotExist where there is no such directory.
func Lock(dir string) (io.Closer, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be no directory
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(&os.PathError{Op: "flock", Path: dir, Err: err}, f.Close())
	}
	return f, nil
}
