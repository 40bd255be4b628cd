package credentials_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/credentials"
)

// complete makes up for what node 1's directory has lost, and returns what was written.
func complete(t *testing.T, a *credentials.Authority) []string {
	t.Helper()
	wrote, err := a.Complete(node(1), nil, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(wrote)
	return wrote
}

// "What is lost or empty is written again, and only that; a new certificate where the key is lost".
func TestWhatIsLostIsWrittenAgain(t *testing.T) {
	a, _ := authority(t)
	dir := issue(t, a, node(1))
	pair := []string{"ca.crt", "tls.crt", "tls.key"}
	for name, wrote := range map[string][]string{
		"ca.crt": {"ca.crt"}, "gossip.key": {"gossip.key"}, "api.token": {"api.token"},
		"tls.crt": pair, "tls.key": pair,
	} {
		path := filepath.Join(dir, name)
		for what, spoil := range map[string]func() error{
			"lost":  func() error { return os.Remove(path) },
			"empty": func() error { return os.Truncate(path, 0) },
		} {
			key, err := os.ReadFile(filepath.Join(dir, "gossip.key"))
			if err = errors.Join(err, spoil()); err != nil {
				t.Fatal(err)
			}
			if got := complete(t, a); !slices.Equal(got, wrote) {
				t.Errorf("%s is %s: wrote %q, want %q", name, what, got, wrote)
			}
			open(t, dir, node(1))
			if got, err := os.ReadFile(filepath.Join(dir, "gossip.key")); err != nil || !bytes.Equal(got, key) {
				t.Errorf("%s is %s: another key of gossip: %v", name, what, err)
			}
			if info, err := os.Stat(filepath.Join(dir, "api.token")); err != nil || info.Size() == 0 {
				t.Errorf("%s is %s: no tokens: %v", name, what, err)
			}
			if got := complete(t, a); len(got) > 0 {
				t.Errorf("nothing is lost, and %q was written", got)
			}
		}
	}
}

// A key that is another certificate's is lost, too: a disk was full between the two.
func TestAKeyOfAnotherCertificate(t *testing.T) {
	a, _ := authority(t)
	dir := issue(t, a, node(1))
	path := filepath.Join(dir, "tls.crt")
	former, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	issue(t, a, node(1))
	if err := os.WriteFile(path, former, 0o600); err != nil {
		t.Fatal(err)
	}
	if wrote := complete(t, a); !slices.Contains(wrote, "tls.key") {
		t.Errorf("wrote %q", wrote)
	}
	open(t, dir, node(1))
}

// "A second run completes": an authority of which a full disk took a part is made anew.
func TestHalfAnAuthority(t *testing.T) {
	for _, name := range []string{"ca.crt", "gossip.key", "api.token", "issued", "ca.key"} {
		dir := t.TempDir()
		there := filepath.Join(dir, "authority", name)
		if err := os.MkdirAll(there, 0o700); err != nil { // a directory: nothing can be written there
			t.Fatal(err)
		}
		if _, err := credentials.NewAuthority(dir, label); err == nil {
			t.Fatalf("%s was not written, and nobody says so", name)
		}
		if err := os.Remove(there); err != nil {
			t.Fatal(err)
		}
		if _, err := credentials.OpenAuthority(dir); !errors.Is(err, credentials.ErrAuthority) {
			t.Errorf("without %s there is an authority: %v", name, err)
		}
		a, err := credentials.NewAuthority(dir, label)
		if err != nil {
			t.Fatalf("without %s: %v", name, err)
		}
		open(t, issue(t, a, node(1)), node(1))
	}
}

// What the authority has lost it takes from the directories that it made, and never makes a key of gossip that the
// nodes do not have.
func TestTheAuthorityTakesBackWhatItLost(t *testing.T) {
	a, home := authority(t)
	restore := func(says string, want ...string) {
		t.Helper()
		wrote, err := a.Restore()
		if refused := says != ""; !slices.Equal(wrote, want) || refused != (err != nil) ||
			refused && !strings.Contains(err.Error(), says) {
			t.Errorf("wrote %q, %v, want %q, %q", wrote, err, want, says)
		}
	}
	lose := func(paths ...string) {
		t.Helper()
		for _, p := range paths {
			if err := os.Remove(filepath.Join(home, p)); err != nil {
				t.Fatal(err)
			}
		}
	}
	lose("authority/gossip.key", "authority/api.token")
	restore("", "gossip.key", "api.token") // nobody has one yet
	dir := issue(t, a, node(1))
	issue(t, a, node(2))
	before, err := a.GossipKey()
	if err != nil {
		t.Fatal(err)
	}
	restore("")
	lose("authority/gossip.key", "authority/api.token", "node-1/gossip.key")
	restore("", "gossip.key", "api.token")
	if key, err := a.GossipKey(); err != nil || key != before {
		t.Errorf("another key of gossip: %v", err)
	}
	if wrote := complete(t, a); !slices.Equal(wrote, []string{"gossip.key"}) {
		t.Errorf("wrote %q", wrote)
	}
	if err := open(t, dir, node(1)).SaveGossipKeys([][]byte{credentials.NewGossipKey()}); err != nil {
		t.Fatal(err)
	}
	lose("authority/gossip.key")
	restore("differ: run this again with --gossip-key")
	lose("node-1/gossip.key", "node-2/gossip.key")
	restore("run this again with --gossip-key")
}
