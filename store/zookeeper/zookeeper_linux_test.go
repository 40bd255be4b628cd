package zookeeper

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/needs"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/store"
	"github.com/ringleader-dev/ringleader/store/storetest"
)

const ttl = 5 * tick

func at(t *testing.T, path string, servers ...*server) store.Store {
	t.Helper()
	c := Config{Path: path, Tick: tick}
	for _, s := range servers {
		c.Servers = append(c.Servers, s.address)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStoreZooKeeper(t *testing.T) {
	s := start(t)
	var count atomic.Int64
	storetest.Run(t, storetest.Rig{TTL: ttl, New: func(t *testing.T) store.Store {
		return at(t, fmt.Sprintf("/elections/%d", count.Add(1)), s)
	}})
}

// kazoo is the candidate of another program.
type kazoo struct {
	cmd  *exec.Cmd
	said chan string
}

// rival is what it runs. It says when it is ready and when it leads, and leads until it is told to stop.
const rival = `
import sys
from kazoo.client import KazooClient
zk = KazooClient(hosts=sys.argv[1], timeout=float(sys.argv[4]))
zk.start()
def lead():
    print("leads", flush=True)
    sys.stdin.readline()
if sys.argv[3] == "contenders":
    print(" ".join(zk.Election(sys.argv[2]).contenders()), flush=True)
else:
    print("ready", flush=True)
    if sys.argv[3] == "Election":
        zk.Election(sys.argv[2], "host-1").run(lead)
    else:
        with zk.Lock(sys.argv[2], "host-1"):
            lead()
    print("left", flush=True)
    sys.stdin.readline()
zk.stop()
`

// debian is the Python for which Debian packages kazoo.
const debian = "/usr/bin/python3"

func startKazoo(t *testing.T, s *server, path, what string) *kazoo {
	t.Helper()
	needs.Here(t, "a candidate of kazoo", exec.Command(debian, "-c", "import kazoo").Run())
	timeout := fmt.Sprint(ttl.Seconds())
	k := &kazoo{exec.Command(debian, "-c", rival, s.address, path, what, timeout), make(chan string, 9)}
	k.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	k.cmd.Stderr = os.Stderr
	in, err := k.cmd.StdinPipe()
	out, bad := k.cmd.StdoutPipe()
	if err := errors.Join(err, bad, k.cmd.Start()); err != nil {
		t.Fatal(err)
	}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			k.said <- lines.Text()
		}
		close(k.said)
	}()
	t.Cleanup(func() {
		_ = in.Close()
		k.kill()
	})
	return k
}

func (k *kazoo) kill() {
	_ = k.cmd.Process.Kill()
	_ = k.cmd.Wait()
}

func (k *kazoo) says(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-k.said:
		if got != want {
			t.Fatalf("kazoo says %q, want %q", got, want)
		}
	case <-time.After(time.Minute):
		t.Fatalf("kazoo does not say %q", want)
	}
}

func (k *kazoo) silent(t *testing.T, forHow time.Duration) {
	t.Helper()
	select {
	case got := <-k.said:
		t.Fatalf("kazoo says %q", got)
	case <-time.After(forHow):
	}
}

// Promise: a candidate of another program excludes us, and we exclude it, whoever came first and however it ends.
func TestKazoo(t *testing.T) {
	s := start(t)
	for _, what := range []string{"Lock", "Election"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			path := "/kazoo/" + what
			one := storetest.Open(t, at(t, path, s), 1, ttl)
			first := one.Leads(one.Stand())
			k := startKazoo(t, s, path, what)
			k.says(t, "ready")
			for began := time.Now(); time.Since(began) < ttl; time.Sleep(ttl / 10) {
				one.Leads(one.Renew())
			}
			k.silent(t, 0)
			startKazoo(t, s, path, "contenders").says(t, one.Value(false)+" host-1")
			one.Leave()
			k.says(t, "leads")
			a := one.Stand()
			if a.Held() || a.Own.IsZero() || a.Holder.Foreign != `the candidate "host-1" of another program` ||
				a.Holder.Token <= first.Token {
				t.Errorf("behind kazoo: %+v", a)
			}
			one.Do(algorithms.AskRemove, algorithms.Ask{Remove: a.Holder})
			if again := one.Renew(); again.Holder != a.Holder || again.Own != a.Own {
				t.Errorf("having asked to remove a stranger: %+v, want %+v", again, a)
			}
			k.kill()
			if second := one.Takes(); second != a.Own {
				t.Errorf("we lead with %+v, not with what stood: %+v", second, a.Own)
			}
			// Now our process ends, as far as the servers can tell.
			k = startKazoo(t, s, path, what)
			k.says(t, "ready")
			k.silent(t, ttl/2)
			began := time.Now()
			last := one.Renew()
			one.Leads(last)
			if err := one.Close(); err != nil {
				t.Error(err)
			}
			k.says(t, "leads")
			if took := time.Since(began); took < last.Keeps {
				t.Errorf("our entry was to last %v, and kazoo leads after %v", last.Keeps, took)
			}
		})
	}
}

// Each recipe sees the others, and Check says so if it is not seen.
func TestMixedRecipes(t *testing.T) {
	s := start(t)
	open := func(r Recipe, id proto.NodeID) *storetest.Player {
		p, err := New(Config{Servers: []string{s.address}, Path: "/mixed", Tick: tick, Recipe: r})
		if err != nil {
			t.Fatal(err)
		}
		return storetest.Open(t, p, id, time.Minute/10)
	}
	one, two, three := open(Kazoo, 1), open(Latch, 2), open(Lock, 3)
	if err := one.Check(t.Context()); err != nil {
		t.Error(err)
	}
	first := one.Leads(one.Stand())
	two.Follows(two.Stand(), first)
	three.Follows(three.Stand(), first)
	err := two.Check(t.Context())
	if !errors.Is(err, store.ErrWrong) || !strings.Contains(err.Error(), "give recipe=kazoo") {
		t.Errorf("one of another recipe stands: %v", err)
	}
	one.Leave()
	second := two.Leads(two.Renew())
	three.Follows(three.Renew(), second)
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

// answers asks until there is an answer.
func answers(t *testing.T, p *storetest.Player, verb algorithms.AskVerb) algorithms.Answered {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		ctx, cancel := context.WithTimeout(t.Context(), ttl)
		a, err := p.Ask(ctx, algorithms.Ask{Verb: verb})
		cancel()
		if err == nil {
			return a
		}
		if time.Now().After(end) {
			t.Fatalf("no answer to %s: %v", verb, err)
		}
		time.Sleep(ttl / 20)
	}
}

// A server that is killed: asking fails, and works again.
func TestServerRestarts(t *testing.T) {
	s := start(t)
	one := storetest.Open(t, at(t, "/k", s), 1, 20*tick)
	first := one.Leads(one.Stand())
	s.kill()
	fails(t, one, algorithms.AskRenew, ttl)
	began := time.Now()
	away := storetest.Open(t, at(t, "/k", s), 2, ttl)
	fails(t, away, algorithms.AskLook, ttl/4)
	if err := away.Close(); err != nil || time.Since(began) > 3*time.Second {
		t.Errorf("closed after %v: %v", time.Since(began), err)
	}
	s.start(t)
	if again := answers(t, one, algorithms.AskStand); !again.Held() || again.Own.Token < first.Token {
		t.Errorf("after the restart %+v, before it %+v", again, first)
	}
}

// A server that hangs in the middle of a renewal.
func TestServerHangs(t *testing.T) {
	s := start(t)
	one := storetest.Open(t, at(t, "/k", s), 1, 20*tick)
	first := one.Leads(one.Stand())
	s.signal(t, syscall.SIGSTOP)
	fails(t, one, algorithms.AskRenew, tick)
	fails(t, one, algorithms.AskStand, tick)
	began := time.Now()
	two := storetest.Open(t, at(t, "/k", s), 2, ttl)
	fails(t, two, algorithms.AskLook, tick)
	if err := two.Close(); err != nil || time.Since(began) > 3*time.Second {
		t.Errorf("closed after %v: %v", time.Since(began), err)
	}
	s.signal(t, syscall.SIGCONT)
	if again := answers(t, one, algorithms.AskRenew); again.Own != first || !again.Held() {
		t.Errorf("then %+v, before %+v", again, first)
	}
	// Longer than a session.
	s.signal(t, syscall.SIGSTOP)
	time.Sleep(21 * tick)
	s.signal(t, syscall.SIGCONT)
	if again := answers(t, one, algorithms.AskStand); !again.Held() || again.Own.Token <= first.Token {
		t.Errorf("after a session %+v, before %+v", again, first)
	}
}

// Promise: what a follower has not told dies with it, and an entry is kept for as long as we said.
func TestFollowerDies(t *testing.T) {
	servers := ensemble(t)
	for range 2 {
		for i, s := range servers {
			one := storetest.Open(t, at(t, "/k", s), 1, ttl)
			two := storetest.Open(t, at(t, "/k", servers[(i+1)%3], servers[(i+2)%3]), 2, ttl)
			one.Leads(one.Stand())
			// A server that is busy tells late that the session lives on: until it does, the entry is kept for less.
			var (
				began time.Time
				a     algorithms.Answered
			)
			for renewals := 0; renewals < 6 || a.Keeps < ttl-tick-tick/2; renewals++ {
				if renewals == 100 {
					t.Fatalf("the entry is kept for %v of %v only", a.Keeps, ttl)
				}
				time.Sleep(ttl / 3)
				began = time.Now()
				a = one.Renew()
				one.Leads(a)
			}
			s.kill()
			for !answers(t, two, algorithms.AskStand).Held() {
				time.Sleep(tick / 10)
			}
			if took := time.Since(began); took < a.Keeps {
				t.Errorf("the entry was to last %v, and another led after %v", a.Keeps, took)
			} else {
				t.Logf("kept for %v of %v, and another leads after %v", a.Keeps, ttl, took)
			}
			two.Leave()
			if err := one.Close(); err != nil {
				t.Error(err)
			}
			s.start(t)
		}
	}
}

// Promise: whatever another program writes into the znode of a leader, it leads on, and soon all read so.
func TestOverwritten(t *testing.T) {
	s := start(t)
	one := storetest.Open(t, at(t, "/k", s), 1, ttl)
	two := storetest.Open(t, at(t, "/k", s), 2, ttl)
	first := one.Leads(one.Stand())
	conn, _, err := zk.Connect([]string{s.address}, ttl, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Set("/k/"+nameIn(first), []byte("foo"), -1); err != nil {
		t.Fatal(err)
	}
	if got := two.Look(); got.Holder.Foreign == "" {
		t.Fatalf("the first is %+v", got.Holder)
	}
	one.Leads(one.Renew())
	two.Follows(two.Look(), first)
}

func TestCheck(t *testing.T) {
	s := start(t)
	password := filepath.Join(t.TempDir(), "password")
	other := filepath.Join(t.TempDir(), "password")
	if err := errors.Join(os.WriteFile(password, []byte("secret\n"), 0o600),
		os.WriteFile(other, []byte("guess\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
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
	for _, c := range []struct{ url, want string }{
		{s.address + "/open/k", ""},
		{s.address + "/closed?user=me&password-file=" + password, ""},
		{s.address + "/closed/k?user=me&password-file=" + password, ""},
		{s.address + "/closed/more?user=me&password-file=" + other, "the user may not do this"},
		{s.address + "/closed/more", "the user may not do this"},
		{s.address + "/k?user=me&password-file=/none", "read the password"},
		{web.Addr().String() + "/k", "is no ZooKeeper"},
	} {
		p, err := parse("zookeeper://" + c.url + map[bool]string{true: "&", false: "?"}[strings.Contains(c.url, "?")] +
			"tick=" + tick.String())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute/2)
		one := storetest.Open(t, p, 1, ttl)
		err = one.Check(ctx)
		cancel()
		if c.want == "" && err == nil {
			one.Leads(one.Stand())
			continue
		}
		if c.want == "" || !errors.Is(err, store.ErrWrong) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.url, err, c.want)
		}
	}
	p := at(t, "/k", &server{address: "127.0.0.1:" + storetest.FreePort(t)})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	err = storetest.Open(t, p, 1, ttl).Check(ctx)
	if err == nil || errors.Is(err, store.ErrWrong) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("a server that is away: %v", err)
	}
}
