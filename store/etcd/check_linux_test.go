package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/store"
	"github.com/ringleader-dev/ringleader/store/storetest"
)

// check checks with the options, and fails the test unless the error wraps store.ErrWrong and contains the text.
// An empty text wants no error.
func check(t *testing.T, o Config, text string) *storetest.Player {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	p := storetest.Open(t, s, 1, ttl)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err = p.Check(ctx)
	switch {
	case text == "" && err != nil:
		t.Errorf("%v: %v", s, err)
	case text != "" && (!errors.Is(err, store.ErrWrong) || !strings.Contains(err.Error(), text)):
		t.Errorf("%v: %v, want ErrWrong with %q", s, err, text)
	}
	return p
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What is wrong with a store is said with what to do.
func TestCheck(t *testing.T) {
	s := start(t)
	o := Config{Servers: []string{s.addr}, Prefix: "/check"}
	check(t, o, "")
	if text := s.ctl(t, "get", "--prefix", "/check"); text != "" {
		t.Errorf("checking wrote %q", text)
	}

	s.ctl(t, "put", "/check/note", "no candidate")
	check(t, o, "delete it, or choose another prefix")
	s.ctl(t, "del", "/check/note")

	// "etcdctl elect /check" would queue behind the candidates of /check/more, and so would we.
	more := check(t, Config{Servers: o.Servers, Prefix: "/check/more"}, "")
	more.Takes()
	check(t, o, `/check/more", which lies below /check: name another prefix`)
	more.Leave()
	p := check(t, o, "")
	p.Takes()
	check(t, Config{Servers: o.Servers, Prefix: "/check/more/yet"},
		`the prefix lies below /check, where another election is`)
	p.Leave()

	web := httptest.NewServer(nil)
	defer web.Close()
	check(t, Config{Servers: []string{web.Listener.Addr().String()}, Prefix: "/check"}, "this is not etcd")
	// A server that does not speak TLS ends the connection, as one that stops does.
	e, err := New(Config{Servers: []string{s.addr}, Prefix: "/check", TLS: &tls.Config{}})
	if err != nil {
		t.Fatal(err)
	}
	err = storetest.Open(t, e, 1, ttl).Check(t.Context())
	if err == nil || !strings.Contains(err.Error(), "leave out tls") {
		t.Errorf("TLS with a server that has none: %v", err)
	}

	secure := httptest.NewTLSServer(nil)
	defer secure.Close()
	o.Servers, o.TLS = []string{secure.Listener.Addr().String()}, &tls.Config{}
	check(t, o, "give ca=FILE")
}

// etcd's own authentication: the user needs the password, and a role for the prefix.
func TestUser(t *testing.T) {
	s := start(t)
	for _, args := range [][]string{
		{"user", "add", "root:rootpw"},
		{"role", "add", "root"},
		{"user", "grant-role", "root", "root"},
		{"role", "add", "elector"},
		{"role", "grant-permission", "elector", "--prefix=true", "readwrite", "/mine/"},
		{"user", "add", "node:nodepw"},
		{"user", "grant-role", "node", "elector"},
		{"auth", "enable"},
	} {
		s.ctl(t, args...)
	}
	o := Config{Servers: []string{s.addr}, Prefix: "/mine"}
	check(t, o, "user=NAME")
	o.User, o.PasswordFile = "node", file(t, "wrong\n")
	check(t, o, "password-file=FILE")
	o.PasswordFile = file(t, "nodepw\n")
	p := check(t, o, "")
	first := p.Leads(p.Stand())
	for range 3 {
		p.Leads(p.Renew())
	}
	other := check(t, o, "")
	other.Follows(other.Look(), first)
	p.Do(algorithms.AskLeave, algorithms.Ask{})
	other.Takes()

	// A server that starts again knows no token of before. The watch is to live on, too.
	s.kill()
	s.run(t)
	within(t, "the token is renewed", func() bool {
		_, err := ask(other, algorithms.AskRenew, ttl)
		return err == nil
	})
	second := other.Takes()
	p.Follows(p.Look(), second)
	drain(p)
	other.Leave()
	select {
	case <-p.Changed():
	case <-time.After(patience):
		t.Error("the watch ended with the token")
	}
	o.Prefix = "/theirs"
	check(t, o, "roles in etcd")
}

// While no server is there, an error says so, and opening waits for none.
func TestAway(t *testing.T) {
	o := Config{Servers: []string{freeAddr(t), freeAddr(t)}, Prefix: "/away"}
	o.User, o.PasswordFile = "node", file(t, "nodepw")
	for _, o := range []Config{o, {Servers: o.Servers, Prefix: o.Prefix}} {
		s, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		p := storetest.Open(t, s, 1, ttl)
		for _, verb := range []algorithms.AskVerb{algorithms.AskLook, algorithms.AskStand, algorithms.AskRenew} {
			_, err := ask(p, verb, patience)
			if err == nil || !strings.Contains(err.Error(), "connection refused") || errors.Is(err, store.ErrWrong) {
				t.Errorf("%s: %v", verb, err)
			}
		}
		if err := p.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("check: %v", err)
		}
	}
}
