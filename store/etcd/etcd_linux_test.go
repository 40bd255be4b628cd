package etcd

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Rig{New: start(t).election, TTL: ttl})
}

// rival is a candidate that another program runs: "etcdctl elect".
type rival struct {
	*exec.Cmd
	log *output
}

func (s *server) rival(t *testing.T, election, value string) *rival {
	t.Helper()
	cmd, log := s.ctlCommand(t, "elect", election, value)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := &rival{Cmd: cmd, log: log}
	t.Cleanup(r.kill)
	return r
}

// kill ends it with no chance to leave.
func (r *rival) kill() {
	if r.ProcessState == nil {
		_ = r.Process.Kill()
		_ = r.Wait()
	}
}

// leads waits until it says that it leads.
func (r *rival) leads(t *testing.T, value string) {
	t.Helper()
	within(t, "the rival leads", func() bool { return strings.Contains(r.log.String(), value) })
}

// within waits until something is so.
func within(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not so after %v: %s", patience, what)
		}
	}
}

// Candidates of "etcdctl elect" and nodes queue in one election.
func TestRivals(t *testing.T) {
	s := start(t)
	node := storetest.Open(t, s.named(t, "/mixed"), 1, ttl)
	former := s.rival(t, "/mixed", "former")
	former.leads(t, "former")
	a := node.Stand()
	if a.Held() || a.Own.IsZero() || a.Holder.Foreign != `the candidate "former" of another program` {
		t.Fatalf("behind the rival: %+v", a)
	}
	place := a.Own
	if a := node.Do(algorithms.AskStand, algorithms.Ask{Remove: a.Holder}); a.Held() {
		t.Fatalf("it removed the rival's entry: %+v", a)
	}
	next := s.rival(t, "/mixed", "next")
	within(t, "three queue", func() bool {
		return strings.Count(s.ctl(t, "get", "--prefix", "/mixed/", "--keys-only"), "/mixed/") == 3
	})
	former.kill()
	// Its TTL is 60 s: end it sooner.
	key, _, _ := strings.Cut(strings.TrimPrefix(a.Holder.Key, "/mixed/"), "@")
	s.ctl(t, "lease", "revoke", key)
	if first := node.Takes(); first != place {
		t.Errorf("it stood as %+v, and leads as %+v", place, first)
	}
	for range 10 {
		node.Leads(node.Renew())
		time.Sleep(ttl / 10)
	}
	if text := next.log.String(); strings.Contains(text, "next") {
		t.Fatalf("two lead: %s", text)
	}
	node.Leave()
	next.leads(t, "next")
	if a := node.Look(); !strings.Contains(a.Holder.Foreign, "next") || !a.Own.IsZero() {
		t.Errorf("having left: %+v", a)
	}
}

// ask asks with a bound, as a node does, and returns the error.
func ask(p *storetest.Player, verb algorithms.AskVerb, bound time.Duration) (algorithms.Answered, error) {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	return p.Ask(ctx, algorithms.Ask{Number: 1000, Verb: verb})
}

// A server that is away makes asks fail soon; one that is back finds the entry as it was.
func TestServerRestarts(t *testing.T) {
	s := start(t)
	const long = 20 * time.Second
	node := storetest.Open(t, s.named(t, "/restart"), 1, long)
	first := node.Leads(node.Stand())
	s.kill()
	for range 3 {
		began := time.Now()
		if a, err := ask(node, algorithms.AskRenew, ttl); err == nil {
			t.Fatalf("no server answers: %+v", a)
		} else if took := time.Since(began); took > ttl+time.Second {
			t.Errorf("the ask took %v: %v", took, err)
		}
	}
	drain(node)
	s.run(t)
	var again algorithms.Answered
	within(t, "the server answers", func() bool {
		var err error
		again, err = ask(node, algorithms.AskRenew, ttl)
		return err == nil
	})
	if got := node.Leads(again); got != first {
		t.Errorf("%+v is %+v after the restart", first, got)
	}
	other := storetest.Open(t, s.named(t, "/restart"), 2, long)
	other.Follows(other.Stand(), first)
	node.Leave()
	select {
	case <-other.Changed():
	case <-time.After(patience):
		t.Error("the watch ended with the server")
	}
	other.Takes()
}

func drain(p *storetest.Player) {
	for {
		select {
		case <-p.Changed():
		default:
			return
		}
	}
}

// A server that is stopped does not answer, and keeps nobody from ending an ask, or from closing.
func TestServerPauses(t *testing.T) {
	s := start(t)
	const long = 10 * time.Second
	election := s.named(t, "/pause")
	node, closing := storetest.Open(t, election, 1, long), storetest.Open(t, election, 2, long)
	first := node.Leads(node.Stand())
	closing.Stand()
	s.signal(t, syscall.SIGSTOP)
	began := time.Now()
	for _, verb := range []algorithms.AskVerb{algorithms.AskRenew, algorithms.AskStand, algorithms.AskLook} {
		if a, err := ask(node, verb, ttl/4); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %+v, %v", verb, a, err)
		}
	}
	if err := closing.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > long/2 {
		t.Errorf("it took %v", took)
	}
	s.signal(t, syscall.SIGCONT)
	if again := node.Leads(node.Renew()); again != first {
		t.Errorf("%+v is %+v after the pause", first, again)
	}
}

// One of several members that hangs or is away does not make asks fail.
func TestMemberHangs(t *testing.T) {
	s, hanging := start(t), start(t)
	hanging.signal(t, syscall.SIGSTOP)
	const long = 10 * time.Second
	e, err := New(Config{Servers: []string{hanging.addr, s.addr, freeAddr(t)}, Prefix: "/members"})
	if err != nil {
		t.Fatal(err)
	}
	node := storetest.Open(t, e, 1, long)
	within(t, "it leads", func() bool {
		a, err := ask(node, algorithms.AskStand, long/4)
		return err == nil && a.Held()
	})
	for range 5 {
		if a, err := ask(node, algorithms.AskRenew, long/4); err != nil || !a.Held() {
			t.Errorf("%+v, %v", a, err)
		}
	}
}

// requests returns how many messages the server has received, by their method.
func (s *server) requests(t *testing.T) map[string]int {
	t.Helper()
	r, err := http.Get("http://" + s.addr + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[string]int)
	line := regexp.MustCompile(`(?m)^grpc_server_msg_received_total\{grpc_method="(\w+)",.*\} (\d+)$`)
	for _, found := range line.FindAllStringSubmatch(string(text), -1) {
		if n, _ := strconv.Atoi(found[2]); n > 0 {
			count[found[1]] = n
		}
	}
	return count
}

// Promise: whoever has looked takes the place of a dead leader in one round trip.
func TestOneRoundTrip(t *testing.T) {
	s := start(t)
	const long = time.Minute
	election := s.named(t, "/trip")
	one, two := storetest.Open(t, election, 1, long), storetest.Open(t, election, 2, long)
	one.Leads(one.Stand())
	dead := two.Look().Holder
	before := s.requests(t)
	two.Leads(two.Do(algorithms.AskStand, algorithms.Ask{Remove: dead}))
	after := s.requests(t)
	for method := range after {
		after[method] -= before[method]
		if after[method] == 0 {
			delete(after, method)
		}
	}
	delete(after, "Watch") // which begins after the first answer, beside all else
	// The other two are made at the same time.
	if want := map[string]int{"Txn": 1, "LeaseKeepAlive": 1}; !maps.Equal(after, want) {
		t.Errorf("it made the requests %v, want %v", after, want)
	}
}
