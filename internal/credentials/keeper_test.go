package credentials_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/proto"
)

const label = "blue"

func node(id proto.NodeID) credentials.Identity { return credentials.Identity{Cluster: label, ID: id} }

// authority returns a new one, and its directory.
func authority(t *testing.T) (*credentials.Authority, string) {
	t.Helper()
	dir := t.TempDir()
	a, err := credentials.NewAuthority(dir, label)
	if err != nil {
		t.Fatal(err)
	}
	return a, dir
}

// issue makes the credentials of a node.
func issue(t *testing.T, a *credentials.Authority, who credentials.Identity) string {
	t.Helper()
	dir, err := a.Issue(who, nil, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func open(t *testing.T, dir string, who credentials.Identity) *credentials.Keeper {
	t.Helper()
	k, err := credentials.Open(dir, who)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// shake connects two keepers, and returns whom each of them saw.
func shake(t *testing.T, dials, accepts *credentials.Keeper, wanted proto.NodeID) (
	conn net.Conn, dialled, caller proto.NodeID, dialErr, acceptErr error,
) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		raw, err := ln.Accept()
		if err != nil {
			acceptErr = err
			return
		}
		t.Cleanup(func() { _ = raw.Close() })
		conn, caller, acceptErr = accepts.Accept(t.Context(), raw)
		if acceptErr != nil {
			_ = raw.Close()
		}
	}()
	raw, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	_, dialled, dialErr = dials.Dial(raw, wanted)
	if dialErr != nil {
		_ = raw.Close()
	}
	<-done
	return conn, dialled, caller, dialErr, acceptErr
}

// Who lacks a file is told which, what it is for, and where it comes from.
func TestWhatIsMissing(t *testing.T) {
	a, home := authority(t)
	for file, says := range map[string]string{
		"ca.crt":  "it has the authorities that are believed: ringleader certs make and renew write it",
		"tls.crt": "it has this node's certificate: ringleader certs make --nodes ID makes one",
		"tls.key": "it has the private key of tls.crt: ringleader certs renew --nodes ID makes both",
		"gossip.key": "it has the keys of gossip, the same on all nodes: copy it from another node, " +
			"or from where ringleader certs make wrote it",
	} {
		dir := issue(t, a, node(1))
		if err := os.Remove(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
		_, err := credentials.Open(dir, node(1))
		if want := "there is no " + filepath.Join(dir, file) + ": " + says; err == nil || err.Error() != want {
			t.Errorf("without %s: %v, want %s", file, err, want)
		}
	}
	own := filepath.Join(home, "authority", "ca.crt")
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	_, err := credentials.OpenAuthority(home)
	if want := "there is no " + own + ": it has the authority's certificate"; err == nil ||
		!strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	nowhere := filepath.Join(t.TempDir(), "node-1")
	_, err = credentials.Asking(nowhere)
	if want := "there is no directory " + nowhere + ": ringleader certs make makes one for each node, and one for " +
		"operators"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestBothEndsProveWhoTheyAre(t *testing.T) {
	a, _ := authority(t)
	one, two := open(t, issue(t, a, node(1)), node(1)), open(t, issue(t, a, node(2)), node(2))
	_, dialled, caller, err1, err2 := shake(t, one, two, 2)
	if err := errors.Join(err1, err2); err != nil || dialled != 2 || caller != 1 {
		t.Fatalf("dialled %v, caller %v: %v", dialled, caller, err)
	}
}

func TestWhoIsRefused(t *testing.T) {
	a, dir := authority(t)
	b, _ := authority(t)
	one := open(t, issue(t, a, node(1)), node(1))
	two := open(t, issue(t, a, node(2)), node(2))
	stranger := open(t, issue(t, b, node(2)), node(2))
	green := credentials.Identity{Cluster: "green", ID: 7}
	other := open(t, issue(t, a, green), green)
	for _, c := range []struct {
		name           string
		dials, accepts *credentials.Keeper
		wanted         proto.NodeID
		says           string
	}{
		{"another node answers", one, two, 3, "its certificate is of node 2, and node 3 was dialled"},
		{"another authority answers", one, stranger, 2, "no authority of ca.crt vouches"},
		{"another authority dials", stranger, one, 1, "no authority of ca.crt vouches"},
		{"another cluster", other, one, 1, `of cluster "blue", this node's of cluster "green"`},
	} {
		_, _, _, err1, err2 := shake(t, c.dials, c.accepts, c.wanted)
		if err := errors.Join(err1, err2); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
	conn, _, _, err1, err2 := shake(t, two, one, 1)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if err := one.Check(conn); err != nil {
		t.Fatalf("before it was revoked: %v", err)
	}
	issue(t, a, node(2)) // the certificate of the link is not the last one
	if err := a.Revoke(2); err != nil {
		t.Fatal(err)
	}
	if changed, err := one.Reload(); !changed || err != nil {
		t.Fatalf("changed %v, %v", changed, err)
	}
	if err := one.Check(conn); err == nil || !strings.Contains(err.Error(), "was revoked") {
		t.Errorf("a link that is up: %v", err)
	}
	if _, _, _, _, err := shake(t, two, one, 1); err == nil || !strings.Contains(err.Error(), "was revoked") {
		t.Errorf("a new link: %v", err)
	}
	// A list that is gone lets nobody in again.
	if err := os.Remove(filepath.Join(one.Dir(), "revoked.crl")); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Reload(); err != nil {
		t.Fatal(err)
	}
	if err := one.Check(conn); err == nil {
		t.Error("who was revoked is believed again without the list")
	}
	if _, err := credentials.Open(filepath.Join(dir, "node-2"), node(2)); err == nil {
		t.Error("a node starts with a revoked certificate")
	}
	two = open(t, issue(t, a, node(2)), node(2))
	if _, _, _, err1, err2 := shake(t, two, one, 1); errors.Join(err1, err2) != nil {
		t.Errorf("with a new certificate: %v", errors.Join(err1, err2))
	}
}

func TestBadCredentials(t *testing.T) {
	a, _ := authority(t)
	for _, c := range []struct {
		name, says string
		spoil      func(dir string) error
	}{
		{"key of the world", "chmod 600", func(d string) error { return os.Chmod(d+"/tls.key", 0o644) }},
		{"empty key", "tls.key is empty: it has the", func(d string) error { return os.Truncate(d+"/tls.key", 0) }},
		{"half a certificate", "PEM", func(d string) error { return os.Truncate(d+"/tls.crt", 100) }},
		{"no authority", "there is no ", func(d string) error { return os.Remove(d + "/ca.crt") }},
		{"no key of gossip", "there is no key", func(d string) error {
			return os.WriteFile(d+"/gossip.key", []byte("#\n"), 0o600)
		}},
		{"short key", "a key of 3 bytes", func(d string) error {
			return os.WriteFile(d+"/gossip.key", []byte("AAAA\n"), 0o600)
		}},
		{"an empty list", "there is no PEM block", func(d string) error {
			return os.WriteFile(d+"/revoked.crl", nil, 0o600)
		}},
		{"no list", "there is no PEM block", func(d string) error {
			return os.WriteFile(d+"/revoked.crl", []byte("-"), 0o600)
		}},
		{"a node as authority", "is no authority's", func(d string) error {
			return os.Rename(d+"/tls.crt", d+"/ca.crt")
		}},
	} {
		dir := issue(t, a, node(4))
		if err := c.spoil(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := credentials.Open(dir, node(4)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := credentials.Open(issue(t, a, node(4)), node(5)); err == nil ||
		!strings.Contains(err.Error(), `is of node 4 of cluster "blue", and this is node 5`) {
		t.Errorf("another node's: %v", err)
	}
	dir, err := a.Issue(node(6), nil, -time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := credentials.Open(dir, node(6)); err == nil || !strings.Contains(err.Error(), "expired on") {
		t.Errorf("an expired one: %v", err)
	}
}

// "Revoked identities are refused and cut off", also where another file of the node cannot be used.
func TestRevokedBesideABadFile(t *testing.T) {
	a, _ := authority(t)
	dir := issue(t, a, node(1))
	one, two := open(t, dir, node(1)), open(t, issue(t, a, node(2)), node(2))
	conn, _, _, err1, err2 := shake(t, two, one, 1)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Truncate(filepath.Join(dir, "gossip.key"), 3), a.Revoke(2)); err != nil {
		t.Fatal(err)
	}
	if changed, err := one.Reload(); changed || err == nil {
		t.Fatalf("half a file: %v, %v", changed, err)
	}
	if err := one.Check(conn); err == nil {
		t.Error("a revoked node is believed")
	}
	if keys := one.GossipKeys(); len(keys) != 1 {
		t.Errorf("%d keys of gossip", len(keys))
	}
}

// A file that is just being written is no reason to lose what the node has.
func TestReloadKeepsWhatItHas(t *testing.T) {
	a, _ := authority(t)
	dir := issue(t, a, node(1))
	k := open(t, dir, node(1))
	if changed, err := k.Reload(); changed || err != nil {
		t.Fatalf("nothing changed: %v, %v", changed, err)
	}
	before := k.Expires()
	if err := os.Truncate(filepath.Join(dir, "tls.crt"), 10); err != nil {
		t.Fatal(err)
	}
	if changed, err := k.Reload(); changed || err == nil {
		t.Fatalf("half a file: %v, %v", changed, err)
	}
	if !k.Expires().Equal(before) {
		t.Error("half a file was taken")
	}
	if _, err := a.Issue(node(1), nil, 2*time.Hour); err != nil {
		t.Fatal(err)
	}
	if changed, err := k.Reload(); !changed || err != nil || !k.Expires().After(before) {
		t.Fatalf("a new one: %v, %v", changed, err)
	}
}

// docs/SECURITY.md: "Files that it cannot use change nothing, and the log says why". A file of several blocks of which
// one is half written, or cannot be read, is such a file: what is left of it is not what the operator wrote.
func TestABlockThatIsNotWhole(t *testing.T) {
	a, _ := authority(t)
	_, elsewhere := authority(t)
	dir := issue(t, a, node(1))
	issue(t, a, node(2))
	if err := a.Revoke(2); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ca.crt", "revoked.crl", "tls.crt"} {
		path := filepath.Join(dir, name)
		whole, err1 := os.ReadFile(path)
		other, err2 := os.ReadFile(filepath.Join(elsewhere, "authority", "ca.crt"))
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		for spoilt, text := range map[string][]byte{
			"the end is missing":            append(bytes.Clone(whole), other[:len(other)/2]...),
			"a byte order mark before it":   append(append([]byte("\xef\xbb\xbf"), other...), whole...),
			"no line feed between the two":  append(bytes.TrimSpace(bytes.Clone(whole)), other...),
			"a character that is no base64": append(bytes.Replace(other, []byte("M"), []byte("!"), 1), whole...),
		} {
			k := open(t, dir, node(1))
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := k.Reload(); err == nil || !strings.Contains(err.Error(), "PEM block in it is not whole") {
				t.Errorf("%s, %s: %v", name, spoilt, err)
			}
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestGossipKeysAreSaved(t *testing.T) {
	a, _ := authority(t)
	dir := issue(t, a, node(1))
	k := open(t, dir, node(1))
	keys := append([][]byte{credentials.NewGossipKey()}, k.GossipKeys()...)
	if err := k.SaveGossipKeys(keys); err != nil {
		t.Fatal(err)
	}
	if changed, err := k.Reload(); changed || err != nil {
		t.Errorf("what the keeper wrote itself has changed: %v, %v", changed, err)
	}
	if got := open(t, dir, node(1)).GossipKeys(); len(got) != 2 || string(got[0]) != string(keys[0]) {
		t.Errorf("%d keys are back", len(got))
	}
	if err := k.SaveGossipKeys(nil); err == nil {
		t.Error("no keys were saved")
	}
	if err := open(t, dir, node(1)).SaveGossipKeys(keys[:1]); err != nil {
		t.Fatal(err)
	}
	if err := k.SaveGossipKeys(keys); !errors.Is(err, credentials.ErrNotRead) {
		t.Errorf("over what somebody else wrote: %v", err)
	}
	if changed, err := k.Reload(); !changed || err != nil || k.SaveGossipKeys(keys) != nil {
		t.Errorf("once it is read: %v, %v", changed, err)
	}
}

// docs/SECURITY.md: "the keys of gossip, base64, one a line; the first one seals". A file that was put together by hand
// may have a line twice, an end of line of another system, and none at its end: each key counts once, and one that is
// removed is gone.
func TestGossipKeysCountOnce(t *testing.T) {
	a, _ := authority(t)
	dir := issue(t, a, node(1))
	key := base64.StdEncoding.EncodeToString(credentials.NewGossipKey())
	other := base64.StdEncoding.EncodeToString(credentials.NewGossipKey())
	text := key + "\r\n" + other + "\r\n\r\n" + key
	if err := os.WriteFile(filepath.Join(dir, "gossip.key"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	k := open(t, dir, node(1))
	if keys := k.GossipKeys(); len(keys) != 2 || base64.StdEncoding.EncodeToString(keys[0]) != key {
		t.Errorf("%d keys", len(keys))
	}
	if err := k.SaveGossipKeys(k.GossipKeys()[1:]); err != nil || len(k.GossipKeys()) != 1 {
		t.Errorf("%d keys are left, %v", len(k.GossipKeys()), err)
	}
}

// docs/SECURITY.md: "the keys of gossip, base64, one a line". A line may be as long as the file:
// none behind it is lost.
func TestGossipKeysBehindALongLine(t *testing.T) {
	a, _ := authority(t)
	dir := issue(t, a, node(1))
	key := base64.StdEncoding.EncodeToString(credentials.NewGossipKey())
	other := base64.StdEncoding.EncodeToString(credentials.NewGossipKey())
	text := key + "\n#" + strings.Repeat(" ", 1<<17) + "\n" + other + "\n"
	if err := os.WriteFile(filepath.Join(dir, "gossip.key"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if keys := open(t, dir, node(1)).GossipKeys(); len(keys) != 2 {
		t.Errorf("%d keys, want 2", len(keys))
	}
}

func TestParseIdentity(t *testing.T) {
	if i, err := credentials.ParseIdentity("ringleader:///blue/node/5"); err != nil || i != node(5) {
		t.Fatalf("%v, %v", i, err)
	}
	for _, text := range []string{
		"", "ringleader:///blue/node/0", "ringleader:///blue/node/05", "ringleader:///node/5", "https:///blue/node/5",
		"ringleader://host/blue/node/5", "ringleader:///blue/node/5?x", "ringleader:///blue/node/5#x",
		"ringleader:////blue/node/5", "ringleader:///blue/node/5/node/6", "ringleader:///blue%2f/node/5",
	} {
		if i, err := credentials.ParseIdentity(text); err == nil {
			t.Errorf("%q is %v", text, i)
		}
	}
}

func TestHandshakeEndsWithItsContext(t *testing.T) {
	a, _ := authority(t)
	k := open(t, issue(t, a, node(1)), node(1))
	near, far := net.Pipe()
	defer far.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := k.Accept(ctx, near); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
