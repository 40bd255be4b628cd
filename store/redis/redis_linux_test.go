package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/store"
	"github.com/ringleader-dev/ringleader/store/storetest"
)

const ttl = 2 * time.Second

// three are three servers that do not know each other.
func three(t *testing.T) []*server {
	return []*server{start(t), start(t), start(t)}
}

func at(t *testing.T, key string, servers ...*server) store.Store {
	t.Helper()
	c := Config{Key: key}
	for _, s := range servers {
		c.Servers = append(c.Servers, s.address)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func rig(servers ...*server) storetest.Rig {
	var count atomic.Int64
	return storetest.Rig{TTL: ttl, New: func(t *testing.T) store.Store {
		return at(t, fmt.Sprintf("election-%d", count.Add(1)), servers...)
	}}
}

func TestStoreRedis(t *testing.T)   { storetest.Run(t, rig(start(t))) }
func TestStoreRedlock(t *testing.T) { storetest.Run(t, rig(three(t)...)) }

// Promise: a candidate of another program excludes us, and we exclude it.
func TestForeignCandidate(t *testing.T) {
	s := start(t)
	one := storetest.Open(t, at(t, "k", s), 1, ttl)
	set := func() string { return s.cli(t, "SET", "k", "host-1", "NX", "PX", "60000") }
	first := one.Leads(one.Stand())
	if got := set(); got != "" {
		t.Errorf("another makes an entry next to ours: %s", got)
	}
	one.Leave()
	if got := set(); got != "OK" {
		t.Errorf("another makes no entry where there is none: %s", got)
	}
	a := one.Stand()
	if a.Held() || !a.Own.IsZero() || a.Holder.Foreign != `the candidate "host-1" of another program` {
		t.Errorf("we see %+v", a)
	}
	if a.Holder.Token != first.Token {
		t.Errorf("whoever raised no token has the token %d, want %d", a.Holder.Token, first.Token)
	}
	one.Do(algorithms.AskRemove, algorithms.Ask{Remove: a.Holder})
	one.Leave()
	if got := s.cli(t, "GET", "k"); got != "host-1" {
		t.Errorf("we removed the entry of a stranger: %q", got)
	}
	s.cli(t, "DEL", "k")
	if again := one.Leads(one.Stand()); again.Token <= first.Token {
		t.Errorf("the token %d is not above %d", again.Token, first.Token)
	}
}

// A key without a TTL keeps everybody out for ever: whoever looks is told so, and what shows it.
func TestForeignForEver(t *testing.T) {
	s := start(t)
	p, err := parse("redis://" + s.address + "/my%20jobs?db=3")
	if err != nil {
		t.Fatal(err)
	}
	s.cli(t, "-n", "3", "SET", "my jobs", "host-1")
	want := `the candidate "host-1" of another program, which has no TTL and stays for ever ` +
		`(redis-cli -n 3 GET "my jobs" shows it; DEL "my jobs" in place of GET removes it)`
	if a := storetest.Open(t, p, 1, ttl).Stand(); a.Held() || a.Holder.Foreign != want {
		t.Errorf("we see %+v, want %s", a, want)
	}
}

// Promise: the token survives a crash of a server that syncs, and asking works again.
func TestServerRestarts(t *testing.T) {
	s := start(t)
	one := storetest.Open(t, at(t, "k", s), 1, time.Minute)
	first := one.Leads(one.Stand())
	s.kill()
	fails(t, one, algorithms.AskRenew, time.Second)
	s.start(t)
	if again := one.Leads(one.Renew()); again != first {
		t.Errorf("after the restart %+v, want %+v", again, first)
	}
	one.Leave()
	if again := one.Leads(one.Stand()); again.Token <= first.Token {
		t.Errorf("the token %d is not above %d", again.Token, first.Token)
	}
}

// fails asks with little patience, and wants an error in time, which may pass.
func fails(t *testing.T, p *storetest.Player, verb algorithms.AskVerb, within time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	began := time.Now()
	_, err := p.Ask(ctx, algorithms.Ask{Verb: verb})
	switch took := time.Since(began); {
	case err == nil:
		t.Fatalf("there was an answer to %s", verb)
	case errors.Is(err, store.ErrWrong):
		t.Errorf("the error will not pass: %v", err)
	case took > within+time.Second:
		t.Errorf("the error came after %v, not %v", took, within)
	}
}

// A server that hangs in the middle of a renewal.
func TestServerHangs(t *testing.T) {
	s := start(t)
	one := storetest.Open(t, at(t, "k", s), 1, time.Minute)
	first := one.Leads(one.Stand())
	s.signal(t, syscall.SIGSTOP)
	fails(t, one, algorithms.AskRenew, 200*time.Millisecond)
	fails(t, one, algorithms.AskLeave, 200*time.Millisecond)
	began := time.Now()
	two := storetest.Open(t, at(t, "k", s), 2, time.Minute)
	fails(t, two, algorithms.AskLook, 200*time.Millisecond)
	if err := two.Close(); err != nil || time.Since(began) > 2*time.Second {
		t.Errorf("closed after %v: %v", time.Since(began), err)
	}
	s.signal(t, syscall.SIGCONT)
	// The late request to leave may have been carried out, and then a new one leads.
	if again := one.Leads(one.Stand()); again.Token < first.Token {
		t.Errorf("then %+v, before %+v", again, first)
	}
}

// Promise: "a request of the same process that was given up, and arrives late, undoes nothing".
func TestLateRequest(t *testing.T) {
	s := start(t)
	one := storetest.Open(t, at(t, "k", s), 1, ttl)
	first := one.Leads(one.Stand())
	one.Do(algorithms.AskRenew, algorithms.Ask{Lent: true})
	e := one.Election.(*election)
	for name, late := range map[string]verb{"leave": leave, "renew": renew} {
		if _, err := e.run(t.Context(), e.servers[0], late, ask{number: 1}); err != nil {
			t.Fatal(err)
		}
		a := one.Look()
		a.Holder.Lent = !a.Holder.Lent
		if a.Holder != first {
			t.Errorf("after a late %s: %+v, want %+v, lent", name, a.Holder, first)
		}
	}
}

// Promise: a majority is enough, and less than one is not.
func TestMajority(t *testing.T) {
	servers := three(t)
	s := at(t, "k", servers...)
	one, two := storetest.Open(t, s, 1, ttl), storetest.Open(t, s, 2, ttl)
	first := one.Leads(one.Stand())
	servers[0].kill()
	if again := one.Leads(one.Renew()); again != first {
		t.Errorf("without one server %+v is %+v", first, again)
	}
	two.Follows(two.Stand(), first)
	one.Leave()
	second := two.Leads(two.Stand())
	if second.Token <= first.Token {
		t.Errorf("the token %d is not above %d", second.Token, first.Token)
	}
	servers[1].kill()
	fails(t, two, algorithms.AskRenew, time.Second)
	servers[0].start(t)
	// The first server has heard of nothing since the first leader.
	third := one.Takes()
	if third.Token <= second.Token {
		t.Errorf("the token %d is not above %d", third.Token, second.Token)
	}
	if err := one.Check(t.Context()); err != nil {
		t.Errorf("with a majority: %v", err)
	}
}

// A reply that never comes, as on a connection that a firewall forgot: whoever asks is free again when it gives up.
func TestGivesUp(t *testing.T) {
	s := start(t)
	one := storetest.Open(t, at(t, "k", s), 1, ttl)
	one.Leads(one.Stand())
	s.signal(t, syscall.SIGSTOP)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(ttl/10, cancel)
	began := time.Now()
	if _, err := one.Ask(ctx, algorithms.Ask{Verb: algorithms.AskRenew}); err == nil {
		t.Error("a server that hangs has answered")
	}
	if took := time.Since(began); took > ttl/4 {
		t.Errorf("it gave up after %v, and was told to after %v", took, ttl/10)
	}
}

// Promise: a majority is enough, also when one server takes requests and answers none.
func TestOneOfThreeHangs(t *testing.T) {
	servers := three(t)
	s := at(t, "k", servers...)
	one, two := storetest.Open(t, s, 1, ttl), storetest.Open(t, s, 2, ttl)
	first := one.Leads(one.Stand())
	servers[2].signal(t, syscall.SIGSTOP)
	within := func(what string, ask func()) {
		t.Helper()
		began := time.Now()
		if ask(); time.Since(began) > ttl/4 {
			t.Errorf("to %s took %v: a host gives up after %v", what, time.Since(began), ttl/4)
		}
	}
	for range 8 { // more often than a client has connections
		within("renew", func() { one.Leads(one.Renew()) })
	}
	within("leave", func() { one.Leave() })
	var second algorithms.Entry
	within("stand", func() { second = two.Leads(two.Stand()) })
	if second.Token <= first.Token {
		t.Errorf("the token %d is not above %d", second.Token, first.Token)
	}
	within("open, and look", func() { storetest.Open(t, s, 3, ttl).Look() })
	within("check", func() {
		if err := two.Check(t.Context()); err != nil {
			t.Errorf("with a majority: %v", err)
		}
	})
	servers[2].signal(t, syscall.SIGCONT)
	time.Sleep(ttl / 4) // what it has heard meanwhile, it does now
	if again := two.Leads(two.Renew()); again != second {
		t.Errorf("%+v is %+v after requests that were late", second, again)
	}
}

// One of three has the entry of a stranger: it is no majority, and excludes nobody.
func TestSplit(t *testing.T) {
	servers := three(t)
	one := storetest.Open(t, at(t, "k", servers...), 1, ttl)
	servers[0].cli(t, "SET", "k", "host-1", "PX", "60000")
	first := one.Leads(one.Stand())
	one.Leave()
	servers[1].cli(t, "SET", "k", "host-2", "PX", "60000")
	if a := one.Stand(); !a.Own.IsZero() || !a.Holder.IsZero() {
		t.Errorf("nobody has a majority: %+v", a)
	}
	if got := servers[2].cli(t, "GET", "k"); got != "" {
		t.Errorf("it left what it made: %q", got)
	}
	servers[1].cli(t, "SET", "k", "host-1", "PX", "60000")
	if a := one.Stand(); !a.Own.IsZero() || a.Holder.Foreign == "" {
		t.Errorf("a stranger has a majority: %+v", a)
	}
	servers[0].cli(t, "DEL", "k")
	if second := one.Takes(); second.Token <= first.Token {
		t.Errorf("the token %d is not above %d", second.Token, first.Token)
	}
}

// Candidates that stand at the same time: never two lead, and no two have one token.
func TestRace(t *testing.T) {
	servers := three(t)
	s := at(t, "k", servers...)
	var tokens, leading atomic.Int64
	for id := range proto.NodeID(4) {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			t.Parallel()
			p := storetest.Open(t, s, id+1, 10*time.Second)
			for led := 0; led < 10; time.Sleep(time.Duration(id+1) * 3 * time.Millisecond) {
				a := p.Stand()
				if !a.Held() {
					continue
				}
				led++
				if n := leading.Add(1); n != 1 {
					t.Errorf("%d lead", n)
				}
				if last := tokens.Swap(int64(a.Own.Token)); last >= int64(a.Own.Token) {
					t.Errorf("the token %d comes after %d", a.Own.Token, last)
				}
				time.Sleep(time.Millisecond)
				leading.Add(-1)
				p.Leave()
			}
		})
	}
}

func TestCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	plain, guarded := start(t), start(t, "--requirepass", "secret")
	host, port, _ := net.SplitHostPort(plain.address)
	replica := start(t, "--replicaof", host, port)
	plain.cli(t, "LPUSH", "list", "x")
	plain.cli(t, "SET", "text:token", "x")
	web, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	go func() {
		for {
			conn, err := web.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			_ = conn.Close()
		}
	}()
	secret := "?password-file=" + file
	twice := plain.address + ",localhost:" + port + "," + guarded.address + "/k"
	for url, want := range map[string]string{
		plain.address + "/k":                         "",
		plain.address + "/k" + secret:                "", // whoever needs none may give one
		guarded.address + "/k" + secret:              "",
		guarded.address + "/k" + secret + "&user=me": "the user or the password is wrong",
		guarded.address + "/k":                       "it wants a password: give password-file=FILE",
		plain.address + "/k?password-file=/none":     "read the password",
		plain.address + "/k?db=99":                   "no such database",
		plain.address + "/list":                      "the key holds something else",
		plain.address + "/text":                      "somebody else wrote to it",
		replica.address + "/k":                       "name the primary",
		web.Addr().String() + "/k":                   "this is not Redis",
		twice:                                        "are the same server",
	} {
		s, err := parse("redis://" + url)
		if err != nil {
			t.Fatal(err)
		}
		err = storetest.Open(t, s, 1, ttl).Check(t.Context())
		if want == "" && err == nil {
			continue
		}
		if want == "" || !errors.Is(err, store.ErrWrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
	s, err := New(Config{Servers: []string{"127.0.0.1:" + storetest.FreePort(t)}, Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	if err := storetest.Open(t, s, 1, ttl).Check(t.Context()); err == nil || errors.Is(err, store.ErrWrong) {
		t.Errorf("a server that is away: %v", err)
	}
}
