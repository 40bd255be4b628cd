package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/credentials"
)

// closedPipe is where a command prints whose reader has ended. It keeps what was done before the first word.
type closedPipe struct {
	done  func() error
	first error
	asked bool
}

func (p *closedPipe) Write([]byte) (int, error) {
	if !p.asked {
		p.asked, p.first = true, p.done()
	}
	return 0, syscall.EPIPE
}

// Whoever stops reading what is printed, as certs make | head -1 does, keeps no file from being written: the process
// may be ended by its first word.
func TestFilesAreWrittenBeforeAnythingIsPrinted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "credentials")
	there := func(name string) func() error {
		return func() error {
			_, err := os.Stat(filepath.Join(dir, name))
			return err
		}
	}
	revoked := func() error {
		self := credentials.Identity{Cluster: "ringleader", ID: 1}
		if _, err := credentials.Open(filepath.Join(dir, "node-1"), self); err != nil {
			return nil //nolint:nilerr // it was believed before
		}
		return errors.New("the certificate of node 1 is still believed")
	}
	for _, step := range []struct {
		words []string
		done  func() error
	}{
		{[]string{"make", "--nodes", "1-3"}, there("operator/api.token")},
		{[]string{"make", "--nodes", "3-5"}, there("node-5/tls.crt")},
		{[]string{"revoke", "--nodes", "2,1"}, revoked},
	} {
		out := &closedPipe{done: step.done}
		err := newApp(out, io.Discard).Run(append(append([]string{"ringleader", "certs"}, step.words...), "--dir", dir))
		if !out.asked || out.first != nil || err == nil {
			t.Errorf("%q: when its first word was printed: %v; the command: %v", step.words, out.first, err)
		}
	}
}

// "`certs show` ends with 4 for a certificate that is revoked, has expired or is not yet valid."
func TestCertsShowSaysWhatIsNotValid(t *testing.T) {
	dir := t.TempDir()
	a, err := credentials.NewAuthority(dir, "blue")
	if err != nil {
		t.Fatal(err)
	}
	node, err := a.Issue(credentials.Identity{Cluster: "blue", ID: 1}, nil, -time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = newApp(&out, io.Discard).Run([]string{"ringleader", "certs", "show", node})
	if !regexp.MustCompile(`tls.crt: .*: expired\n`).MatchString(out.String()) || exitCode(err) != exitConfig {
		t.Errorf("%s, and ended with %d: %v", out.String(), exitCode(err), err)
	}
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		c    credentials.Certificate
		want string
	}{
		{credentials.Certificate{NotAfter: now.Add(time.Hour)}, ""},
		{credentials.Certificate{NotAfter: now.Add(-time.Second)}, "expired"},
		{credentials.Certificate{NotAfter: now.Add(-time.Second), Revoked: true}, "revoked"},
		{
			credentials.Certificate{NotBefore: now.Add(time.Second), NotAfter: now.Add(time.Hour)},
			"not yet valid, from 2026-11-27T12:00:01Z on",
		},
	} {
		if got := tt.c.Invalid(now); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.c, got, tt.want)
		}
	}
}

// "`certs show` ends with 4 … for files that a node refuses": also for tokens, in the node's own words. A directory
// to ask with may have a token alone.
func TestCertsShowNamesTokensThatANodeRefuses(t *testing.T) {
	dir := t.TempDir()
	a, err := credentials.NewAuthority(dir, "blue")
	if err != nil {
		t.Fatal(err)
	}
	node, err1 := a.Issue(credentials.Identity{Cluster: "blue", ID: 1}, nil, time.Hour)
	operator, err2 := a.Operator()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	const token = "0123456789abcdef-token"
	for _, tt := range []struct{ dir, text, want string }{
		{node, "", ": it is empty"},
		{node, "operate " + token, ": its last line has no end"},
		{node, "operate short\n", ": line 1: a token of 5 bytes is easily guessed"},
		{node, token + "\n", ": want lines operate TOKEN and read TOKEN"},
		{node, "operate " + token + "\n", ""},
		{operator, "", ": it is empty"},
		{operator, token, ""},
	} {
		path := filepath.Join(tt.dir, "api.token")
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := newApp(io.Discard, io.Discard).Run([]string{"ringleader", "certs", "show", tt.dir})
		if tt.want == "" && err == nil {
			continue
		}
		if tt.want == "" || exitCode(err) != exitConfig || !strings.HasPrefix(err.Error(), path+tt.want) {
			t.Errorf("%q: ended with %d: %v; want %s", tt.text, exitCode(err), err, path+tt.want)
		}
	}
	path := filepath.Join(node, "api.token")
	if err := errors.Join(os.Remove(path), os.Symlink("nowhere", path)); err != nil {
		t.Fatal(err)
	}
	want := path + " is a link to a file that is not there"
	err = newApp(io.Discard, io.Discard).Run([]string{"ringleader", "certs", "show", node})
	if exitCode(err) != exitConfig || err.Error() != want {
		t.Errorf("ended with %d: %v; want %s", exitCode(err), err, want)
	}
}

// Commands that make certificates at the same time forget none: revoke takes back all that were made.
func TestCertsTakeTurns(t *testing.T) {
	const nodes, times = 4, 5
	dir := t.TempDir()
	certs := func(words ...string) {
		line := append([]string{"certs"}, append(words, "--dir", dir)...)
		if out, err := exec.CommandContext(t.Context(), "ringleader", line...).CombinedOutput(); err != nil {
			t.Errorf("%q: %v: %s", line, err, out)
		}
	}
	certs("make", "--nodes", "1-4")
	var all sync.WaitGroup
	for id := range nodes {
		all.Go(func() {
			for range times {
				certs("renew", "--nodes", strconv.Itoa(id+1))
			}
		})
	}
	all.Wait()
	made, err := os.ReadFile(filepath.Join(dir, "authority", "issued"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(made, []byte("\n")); n != nodes*(1+times) {
		t.Errorf("%d certificates are remembered, want %d", n, nodes*(1+times))
	}
}

// "Keep the authority apart": while it is elsewhere, no other one is made for the nodes that it has made.
func TestCertsMakeNoSecondAuthority(t *testing.T) {
	dir := t.TempDir()
	line := []string{"ringleader", "certs", "make", "--dir", dir, "--nodes", "1-3"}
	if err := newApp(io.Discard, io.Discard).Run(line); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "authority", "ca.key")); err != nil {
		t.Fatal(err)
	}
	err := newApp(io.Discard, io.Discard).Run(line)
	if exitCode(err) != exitConfig || !strings.Contains(err.Error(), "bring back "+filepath.Join(dir, "authority")) {
		t.Errorf("ended with %d: %v", exitCode(err), err)
	}
}

// docs/SECURITY.md: "`ringleader certs revoke --nodes 2` takes all certificates of the node back". "Nothing is revoked"
// is true of all nodes that were named.
func TestRevokeNothingOrAll(t *testing.T) {
	dir := t.TempDir()
	certs := func(words ...string) (string, error) {
		var out bytes.Buffer
		err := newApp(&out, io.Discard).Run(append([]string{"ringleader", "certs"}, append(words, "--dir", dir)...))
		return out.String(), err
	}
	if _, err := certs("make", "--nodes", "1-3"); err != nil {
		t.Fatal(err)
	}
	out, err := certs("revoke", "--nodes", "2,9")
	if exitCode(err) != exitConfig || !strings.Contains(err.Error(), "nothing is revoked") {
		t.Errorf("ended with %d: %v", exitCode(err), err)
	}
	if _, err := os.Stat(filepath.Join(dir, "node-1", "revoked.crl")); err == nil || out != "" {
		t.Errorf("nothing is revoked, and it says %q; the list of node 1: %v", out, err)
	}
}

// docs/SECURITY.md: "`certs show DIR`" says whose the certificates are. One that names no node is no authority's for
// that, and an authority is the one that a certificate is of, not the one that issued it.
func TestCertsShowSaysWhoseACertificateIs(t *testing.T) {
	for want, c := range map[string]credentials.Certificate{
		"f: node 1 of cluster blue, by the root, until ": {
			Identity: credentials.Identity{Cluster: "blue", ID: 1}, Subject: "node 1", Issuer: "the root",
		},
		"f: authority between, by the root, until ":         {Subject: "between", Issuer: "the root", Authority: true},
		"f: authority the root, until ":                     {Subject: "the root", Issuer: "the root", Authority: true},
		"f: host, which names no node, by the root, until ": {Subject: "host", Issuer: "the root"},
	} {
		var out bytes.Buffer
		c.Path = "f"
		if err := writeCert(&out, c, ""); err != nil || !strings.HasPrefix(out.String(), want) {
			t.Errorf("%q, want %q: %v", out.String(), want, err)
		}
	}
}

// docs/OPERATING.md: "curl wants the address in the certificate, too: ringleader certs takes names and addresses for
// it". What is neither, as an address with a port, would stand there as a name that no client asks for.
func TestCertsTakeNamesAndAddresses(t *testing.T) {
	for host, code := range map[string]int{
		"node1.example.com": exitOK, "*.example.com": exitOK, "10.0.0.1": exitOK, "fd00::1": exitOK,
		"node1.example.com:7948": exitUsage, "10.0.0.1:7948": exitUsage, "[fd00::1]": exitUsage, "10.0.0": exitUsage,
		"https://node1": exitUsage, "two\nlines": exitUsage, "knoten-ü": exitUsage, "": exitUsage,
	} {
		dir := filepath.Join(t.TempDir(), "credentials")
		line := []string{"ringleader", "certs", "make", "--dir", dir, "--nodes", "1", "--host", "1=" + host}
		err := newApp(io.Discard, io.Discard).Run(line)
		if _, there := os.Stat(dir); exitCode(err) != code || (there == nil) != (code == exitOK) {
			t.Errorf("%q: ended with %d: %v; what it makes: %v", host, exitCode(err), err, there)
		}
	}
}

// "Nothing is renewed", and why: that the notes of the authority cannot be read does not say that a node has no
// certificate.
func TestRenewSaysWhyNothingIsRenewed(t *testing.T) {
	dir := t.TempDir()
	certs := func(words ...string) error {
		line := append([]string{"ringleader", "certs"}, append(words, "--dir", dir)...)
		return newApp(io.Discard, io.Discard).Run(line)
	}
	if err := certs("make", "--nodes", "1"); err != nil {
		t.Fatal(err)
	}
	want := "no certificate was made for node 2 in " + dir + ": nothing is renewed; make one with ringleader certs make"
	if err := certs("renew", "--nodes", "1,2"); exitCode(err) != exitConfig || err.Error() != want {
		t.Errorf("ended with %d: %v", exitCode(err), err)
	}
	notes := filepath.Join(dir, "authority", "issued")
	if err := os.WriteFile(notes, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := certs("renew", "--nodes", "1"); exitCode(err) != exitConfig || !strings.HasPrefix(err.Error(), notes) {
		t.Errorf("ended with %d: %v", exitCode(err), err)
	}
}
