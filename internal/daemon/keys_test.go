package daemon

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/node/httpapi"
)

// withKeys returns the keys of a node with fresh credentials, its log, and the directory of the credentials.
func withKeys(t *testing.T) (keys *gossipKeys, log *bytes.Buffer, dir string) {
	t.Helper()
	home := t.TempDir()
	authority, err := credentials.NewAuthority(home, "blue")
	if err != nil {
		t.Fatal(err)
	}
	self := credentials.Identity{Cluster: "blue", ID: 3}
	if dir, err = authority.Issue(self, nil, time.Hour); err != nil {
		t.Fatal(err)
	}
	kept, err := credentials.Open(dir, self)
	if err != nil {
		t.Fatal(err)
	}
	log = &bytes.Buffer{}
	d := &Daemon{Settings: Settings{ID: 3, Credentials: kept}, log: zerolog.New(log)}
	if _, err := d.openKeys(); err != nil {
		t.Fatal(err)
	}
	return d.keys, log, dir
}

// What an operator does with the keys is on the disk, and in the keyring, and each order may be given again.
func TestChangeKeys(t *testing.T) {
	g, log, dir := withKeys(t)
	old := credentials.Fingerprint(g.ring.List()[0])
	key := credentials.NewGossipKey()
	fresh := credentials.Fingerprint(key)
	for _, step := range []struct {
		name  string
		order httpapi.KeyOrder
		want  []string
		says  string // of the refusal
	}{
		{"list", httpapi.KeyOrder{Do: httpapi.ListKeys}, []string{old}, ""},
		{"use too early", httpapi.KeyOrder{Do: httpapi.UseKey, Fingerprint: fresh}, nil, "has no key " + fresh},
		{"a short key", httpapi.KeyOrder{Do: httpapi.AddKey, Key: key[:5]}, nil, "a key of 5 bytes"},
		{"add", httpapi.KeyOrder{Do: httpapi.AddKey, Key: key}, []string{old, fresh}, ""},
		{"add again", httpapi.KeyOrder{Do: httpapi.AddKey, Key: key}, []string{old, fresh}, ""},
		{"remove what seals", httpapi.KeyOrder{Do: httpapi.RemoveKey, Fingerprint: old}, nil, "seals with the key"},
		{"use", httpapi.KeyOrder{Do: httpapi.UseKey, Fingerprint: fresh}, []string{fresh, old}, ""},
		{"use again", httpapi.KeyOrder{Do: httpapi.UseKey, Fingerprint: fresh}, []string{fresh, old}, ""},
		{"remove", httpapi.KeyOrder{Do: httpapi.RemoveKey, Fingerprint: old}, []string{fresh}, ""},
		{"remove again", httpapi.KeyOrder{Do: httpapi.RemoveKey, Fingerprint: old}, []string{fresh}, ""},
	} {
		before := fingerprints(g.ring.List())
		got, err := g.ChangeKeys(t.Context(), step.order)
		if !slices.Equal(got, step.want) {
			t.Errorf("%s: %v, want %v", step.name, got, step.want)
		}
		if refused := step.says != ""; refused != errors.Is(err, httpapi.ErrConflict) ||
			refused && !strings.Contains(err.Error(), step.says) || !refused && err != nil {
			t.Errorf("%s: %v, want %q", step.name, err, step.says)
		}
		if step.want == nil {
			step.want = before
		}
		if now := fingerprints(g.ring.List()); !slices.Equal(now, step.want) {
			t.Errorf("%s: the keyring has %v", step.name, now)
		}
		again, err := credentials.Open(dir, credentials.Identity{Cluster: "blue", ID: 3})
		if err != nil || !slices.Equal(fingerprints(again.GossipKeys()), step.want) {
			t.Errorf("%s: the disk has %v, %v", step.name, fingerprints(again.GossipKeys()), err)
		}
	}
	secret := base64.StdEncoding.EncodeToString(key)
	if text := log.String(); strings.Contains(text, secret) || !strings.Contains(text, fresh) {
		t.Errorf("logged %s", text)
	}
}

func TestKeysHaveABound(t *testing.T) {
	g, _, _ := withKeys(t)
	for range credentials.MaxGossipKeys - 1 {
		order := httpapi.KeyOrder{Do: httpapi.AddKey, Key: credentials.NewGossipKey()}
		if _, err := g.ChangeKeys(t.Context(), order); err != nil {
			t.Fatal(err)
		}
	}
	order := httpapi.KeyOrder{Do: httpapi.AddKey, Key: credentials.NewGossipKey()}
	if _, err := g.ChangeKeys(t.Context(), order); !errors.Is(err, httpapi.ErrConflict) ||
		!strings.Contains(err.Error(), "has 8 keys") {
		t.Errorf("%v", err)
	}
}

// A change that cannot be kept does not take effect.
func TestKeysThatAreNotSaved(t *testing.T) {
	g, _, dir := withKeys(t)
	before := fingerprints(g.ring.List())
	path := filepath.Join(dir, "gossip.key")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	theirs := "# keys of gossip\n" + string(text)
	if err := os.WriteFile(path, []byte(theirs), 0o600); err != nil {
		t.Fatal(err)
	}
	order := httpapi.KeyOrder{Do: httpapi.AddKey, Key: credentials.NewGossipKey()}
	if _, err := g.ChangeKeys(t.Context(), order); !errors.Is(err, httpapi.ErrConflict) {
		t.Errorf("over a file that somebody else wrote: %v", err)
	}
	if now := fingerprints(g.ring.List()); !slices.Equal(now, before) {
		t.Errorf("the keyring has %v", now)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != theirs {
		t.Errorf("the file is %s, %v", got, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := g.ChangeKeys(t.Context(), order); err == nil || errors.Is(err, httpapi.ErrConflict) {
		t.Errorf("without a disk: %v", err)
	}
	if now := fingerprints(g.ring.List()); !slices.Equal(now, before) {
		t.Errorf("the keyring has %v", now)
	}
}

// A file that was changed by hand takes effect once it is read.
func TestKeysAreReloaded(t *testing.T) {
	g, log, dir := withKeys(t)
	other, err := credentials.Open(dir, credentials.Identity{Cluster: "blue", ID: 3})
	if err != nil {
		t.Fatal(err)
	}
	keys := append([][]byte{credentials.NewGossipKey()}, other.GossipKeys()...)
	if err := other.SaveGossipKeys(keys); err != nil {
		t.Fatal(err)
	}
	if changed, err := g.kept.Reload(); !changed || err != nil {
		t.Fatalf("%v, %v", changed, err)
	}
	for range 2 {
		if err := g.applyReloaded(); err != nil {
			t.Fatal(err)
		}
	}
	if got := g.ring.List(); !slices.EqualFunc(got, keys, bytes.Equal) {
		t.Errorf("the keyring has %v", fingerprints(got))
	}
	if n := strings.Count(log.String(), "were read again"); n != 1 {
		t.Errorf("logged %d times", n)
	}
}
