package credentials_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/internal/credentials"
)

// "`/readyz` says so": a node says itself that the others refuse it, whatever it is for which they do so, and is not
// refused any more once it has files that they accept.
func TestANodeKnowsThatItIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		says  string
		spoil func(a *credentials.Authority, dir string) error
	}{
		"revoked": {"was revoked", func(a *credentials.Authority, _ string) error { return a.Revoke(1) }},
		"of an authority that is out": {"no authority of ca.crt", func(_ *credentials.Authority, dir string) error {
			_, home := authority(t)
			text, err := os.ReadFile(filepath.Join(home, "authority", "ca.crt"))
			return errors.Join(err, os.WriteFile(filepath.Join(dir, "ca.crt"), text, 0o600))
		}},
		"expired": {"expired on", func(*credentials.Authority, string) error {
			time.Sleep(time.Hour + time.Second) // of the bubble
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, _ := authority(t)
				dir := issue(t, a, node(1))
				k := open(t, dir, node(1))
				if err := k.Refused(); err != nil {
					t.Fatal(err)
				}
				if err := c.spoil(a, dir); err != nil {
					t.Fatal(err)
				}
				_, _ = k.Reload()
				if err := k.Refused(); err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v, want %q", err, c.says)
				}
				issue(t, a, node(1))
				if changed, err := k.Reload(); !changed || err != nil || k.Refused() != nil {
					t.Errorf("with new files: changed %v, %v, refused: %v", changed, err, k.Refused())
				}
			})
		})
	}
}

// A certificate is refused before its time, too: when the clock was set back.
func TestTooEarlyForTheCertificate(t *testing.T) {
	a, _ := authority(t)
	dir := issue(t, a, node(1))
	k := open(t, dir, node(1))
	synctest.Test(t, func(t *testing.T) { // it begins in the year 2000
		if err := k.Refused(); err == nil || !strings.Contains(err.Error(), "is valid from") {
			t.Error(err)
		}
	})
}

// The wrong ca.crt, and the former one again: nothing else has changed meanwhile.
func TestTheFormerAuthorityIsBack(t *testing.T) {
	a, _ := authority(t)
	_, home := authority(t)
	dir := issue(t, a, node(1))
	k, path := open(t, dir, node(1)), filepath.Join(dir, "ca.crt")
	former, err1 := os.ReadFile(path)
	other, err2 := os.ReadFile(filepath.Join(home, "authority", "ca.crt"))
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	for _, text := range [][]byte{other, former} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = k.Reload()
	}
	if err := k.Refused(); err != nil {
		t.Error(err)
	}
}

// Links tell a certificate that has expired from one that is not believed: the other end may have renewed it.
func TestWhatHasExpiredIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := authority(t)
		one, two := open(t, issue(t, a, node(1)), node(1)), open(t, issue(t, a, node(2)), node(2))
		conn, _, _, err1, err2 := shake(t, two, one, 1)
		if err := errors.Join(err1, err2, one.Check(conn)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour + time.Second) // of the bubble
		err := one.Check(conn)
		if e, ok := err.(interface{ Expired() bool }); !ok || !e.Expired() {
			t.Errorf("%v does not say that it has expired", err)
		}
	})
}
