package daemon

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/internal/credentials"
)

// watching is the watch of node 3 of a new authority, at a time of its own.
type watching struct {
	*testing.T
	*credentialsWatch
	authority *credentials.Authority
	self      credentials.Identity
	told      bytes.Buffer
}

func watch(t *testing.T) *watching {
	t.Helper()
	a, err := credentials.NewAuthority(t.TempDir(), "blue")
	if err != nil {
		t.Fatal(err)
	}
	w := &watching{T: t, authority: a, self: credentials.Identity{Cluster: "blue", ID: 3}}
	dir := w.issue()
	kept, err := credentials.Open(dir, w.self)
	if err != nil {
		t.Fatal(err)
	}
	s := Settings{ID: 3, Credentials: kept, CredentialsDir: dir}
	w.credentialsWatch = &credentialsWatch{
		Daemon: &Daemon{Settings: s, log: zerolog.New(&w.told)}, reload: kept.Reload, warned: time.Now(),
	}
	if _, err := w.openKeys(); err != nil {
		t.Fatal(err)
	}
	if w.tokens, err = openTokens(s, w.log); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *watching) issue() (dir string) {
	w.Helper()
	dir, err := w.authority.Issue(w.self, nil, time.Hour)
	if err != nil {
		w.Fatal(err)
	}
	return dir
}

// says looks at the files twice, and wants these texts in the log, once each and in this order, and no other line.
func (w *watching) says(want ...string) {
	w.Helper()
	w.told.Reset()
	for range 2 {
		w.look(w.Context(), time.Now())
		time.Sleep(rereadEvery)
	}
	lines := strings.Split(strings.TrimSpace(w.told.String()), "\n")
	if len(want) == 0 {
		want = []string{""}
	}
	for i, text := range want {
		if len(lines) != len(want) || !strings.Contains(lines[i], text) {
			w.Fatalf("it says\n%s\nwant %q", w.told.String(), want)
		}
	}
}

// Whoever read that files are not taken reads, too, when they are: also if they are those that the node has.
func TestFilesThatAreGoodAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t)
		path := filepath.Join(w.CredentialsDir, "gossip.key")
		text, err := os.ReadFile(path)
		if err = errors.Join(err, os.WriteFile(path, []byte("AAAA\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		w.says("credentials on disk cannot be used")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		w.says("the credentials on disk can be used again")
		w.says()
	})
}

// "A node looks at the files each 5 s. Files that it cannot use change nothing, and the log says why": also the tokens,
// if nobody asks the node anything.
func TestTokensThatCannotBeUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t)
		path := w.Credentials.Token()
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []struct {
			text string
			mode os.FileMode
			says string
		}{
			{"", 0o600, "it is empty"},
			{"operate short\n", 0o600, "easily guessed"},
			{string(good), 0o644, "chmod 600"},
		} {
			if err := errors.Join(os.WriteFile(path, []byte(bad.text), 0o600), os.Chmod(path, bad.mode)); err != nil {
				t.Fatal(err)
			}
			w.says(bad.says)
			if err := errors.Join(os.WriteFile(path, good, 0o600), os.Chmod(path, 0o600)); err != nil {
				t.Fatal(err)
			}
			w.says("the tokens on disk can be used again")
		}
	})
}

// "Files that it cannot use change nothing, and the log says why": also files of a disk that does not answer. The node
// still ends when it is told to, and takes the files once they can be read.
func TestFilesThatDoNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t)
		answer := make(chan struct{})
		w.reload = func() (bool, error) {
			<-answer
			return w.Credentials.Reload()
		}
		w.says("the files have not been read within 5s")
		told, tell := context.WithCancel(t.Context())
		tell()
		began := time.Now()
		if w.look(told, began); time.Now() != began {
			t.Errorf("a node that is told to end waits for %v", time.Since(began))
		}
		w.issue()
		close(answer)
		w.says("new credentials", "this node's certificate expires in 1h")
	})
}

// "`/readyz` and `status` say so, and the log": of a node whose own directory says that it was taken back.
func TestTheRevokedNodeSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t)
		w.says()
		if err := w.authority.Revoke(3); err != nil {
			t.Fatal(err)
		}
		w.says("credentials on disk cannot be used", "this node's certificate is not valid")
		if why := w.refusal(); !strings.Contains(why, "was revoked") {
			t.Errorf("%q", why)
		}
		w.issue()
		w.says("new credentials", "this node's certificate is valid again", "this node's certificate expires in 1h")
		time.Sleep(2 * time.Hour)
		w.says("this node's certificate is not valid")
		if why := w.refusal(); !strings.Contains(why, "expired on") {
			t.Errorf("%q", why)
		}
		if err := w.authority.Revoke(3); err != nil { // a file changes, and the clock goes on
			t.Fatal(err)
		}
		w.says("credentials on disk cannot be used")
	})
}

// "From its first start with credentials a node keeps its identity beside its votes": also after one whose disk was
// full, or that a power failure ended, which left the file empty.
func TestAnEmptyPinIsNoIdentity(t *testing.T) {
	w := watch(t)
	w.Cluster, w.DataDir = "blue", t.TempDir()
	path := filepath.Join(w.DataDir, pin)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	plain := &Daemon{Settings: Settings{ID: 3, Cluster: "blue", DataDir: w.DataDir}}
	if err := plain.pinIdentity(); err == nil || !strings.Contains(err.Error(), "give them again") {
		t.Errorf("without credentials: %v", err)
	}
	if err := w.pinIdentity(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != w.self.String()+"\n" {
		t.Errorf("%q, %v", text, err)
	}
	w.ID = 4
	if err := w.pinIdentity(); err == nil {
		t.Error("another node uses the votes")
	}
}

// "A pipe, a device, a link to nothing … are such files" as a node does not wait for: the start with one ends.
func TestAPinThatIsNoFile(t *testing.T) {
	w := watch(t)
	for name, make := range map[string]func(string) error{
		"pipe":            func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"directory":       func(path string) error { return os.Mkdir(path, 0o700) },
		"link to nothing": func(path string) error { return os.Symlink(path+"-gone", path) },
	} {
		w.Cluster, w.DataDir = "blue", t.TempDir()
		if err := make(filepath.Join(w.DataDir, pin)); err != nil {
			t.Fatal(err)
		}
		if err := w.pinIdentity(); err == nil || !strings.Contains(err.Error(), pin) {
			t.Errorf("a %s: %v", name, err)
		}
	}
}
