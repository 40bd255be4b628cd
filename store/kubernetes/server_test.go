//go:build kubernetes && linux

package kubernetes

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/needs"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/store"
	"github.com/ringleader-dev/ringleader/store/storetest"
)

// built is the directory of the programs that make test-kubernetes builds.
var built = os.Getenv("RINGLEADER_KUBERNETES")

// realServer is an API server of Kubernetes over an etcd of its own.
type realServer struct {
	url, ca     string
	boss, plain string // files of the tokens of one who may do all, and of one who may do nothing yet
}

// start starts both, and waits until Leases can be made.
func start(t *testing.T) *realServer {
	t.Helper()
	etcd, err := exec.LookPath("etcd")
	if built == "" {
		err = errors.Join(err, errors.New("RINGLEADER_KUBERNETES is not set: run make test-kubernetes"))
	}
	needs.Here(t, "a real API server of Kubernetes", err)
	dir := t.TempDir()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	for name, text := range map[string]string{
		"key": string(private), "boss": "boss", "plain": "plain",
		"tokens": "boss,boss,1,system:masters\nplain,plain,2,\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	client, peers, secure := free(t), free(t), free(t)
	_, port, _ := net.SplitHostPort(secure)
	run(t, io.Discard, etcd, "--data-dir", dir+"/etcd", "--logger", "zap", "--log-level", "error",
		"--listen-client-urls", "http://"+client, "--advertise-client-urls", "http://"+client,
		"--listen-peer-urls", "http://"+peers, "--initial-advertise-peer-urls", "http://"+peers,
		"--initial-cluster", "default=http://"+peers)
	log := &output{}
	run(t, log, filepath.Join(built, "apiserver"), "--etcd-servers", "http://"+client,
		"--service-account-issuer=https://x", "--service-account-key-file", dir+"/key",
		"--service-account-signing-key-file", dir+"/key", "--cert-dir", dir+"/certs", "--secure-port", port,
		"--bind-address=127.0.0.1", "--service-cluster-ip-range=10.96.0.0/24", "--authorization-mode=RBAC",
		"--token-auth-file", dir+"/tokens")
	s := &realServer{
		url: "https://127.0.0.1:" + port, ca: dir + "/certs/apiserver.crt", boss: dir + "/boss", plain: dir + "/plain",
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		err := errors.New("it has no certificate yet")
		if _, statErr := os.Stat(s.ca); statErr == nil {
			err = storetest.Open(t, s.at(t, "ready"), 1, ttl).Check(t.Context())
		}
		if err == nil {
			return s
		}
		if time.Now().After(end) {
			t.Fatalf("the API server is not ready: %v\n%s", err, log)
		}
	}
}

func (s *realServer) at(t *testing.T, name string, change ...func(*Config)) store.Store {
	t.Helper()
	as := func(c *Config) { c.CA, c.TokenFile = s.ca, s.boss }
	return at(t, s.url, name, append([]func(*Config){as}, change...)...)
}

// post makes objects as one who may do all.
func (s *realServer) post(t *testing.T, method, path, body string) {
	t.Helper()
	p := s.at(t, "any").(*place)
	e, err := p.Open(store.Candidate{TTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.(*election).api.read(t.Context(), method, path, "", []byte(body)); err != nil {
		t.Fatal(err)
	}
}

// output is what a process prints; its test may read it in the meantime.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// run runs a program until the end of the test.
func run(t *testing.T, out io.Writer, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	return cmd
}

func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestRealServer(t *testing.T) {
	s := start(t)
	t.Run("storetest", func(t *testing.T) {
		var count atomic.Int64
		storetest.Run(t, storetest.Rig{TTL: ttl, New: func(t *testing.T) store.Store {
			return s.at(t, fmt.Sprintf("election-%d", count.Add(1)))
		}})
	})
	t.Run("an object that is deleted", s.deleted)
	t.Run("what Check says", s.checks)
	t.Run("how fast", s.pace)
	t.Run("a rival on client-go", s.rival)
}

// A PUT of an object that is gone would make it again, were it not for its uid.
func (s *realServer) deleted(t *testing.T) {
	one := storetest.Open(t, s.at(t, "gone"), 1, time.Minute)
	first := one.Leads(one.Stand())
	s.post(t, http.MethodDelete, "/apis/coordination.k8s.io/v1/namespaces/default/leases/gone", "{}")
	if a := one.Renew(); !a.Own.IsZero() {
		t.Errorf("a renewal makes the object again: %+v", a)
	}
	if next := one.Leads(one.Stand()); next.Token <= first.Token {
		t.Errorf("after %+v it leads by %+v", first, next)
	}
}

func (s *realServer) checks(t *testing.T) {
	plain := func(c *Config) { c.TokenFile = s.plain }
	for want, change := range map[string]func(*Config){
		"create the namespace none": func(c *Config) { c.Namespace = "none" },
		"grant the verbs get":       plain,
		"does not know who we are":  func(c *Config) { c.TokenFile = write(t, "token", "x") },
		"give the ca=FILE":          func(c *Config) { c.CA = "" },
		"write server=https://HOST": func(c *Config) { c.Server, c.CA = "http"+strings.TrimPrefix(s.url, "https"), "" },
	} {
		err := storetest.Open(t, s.at(t, "k", change), 1, ttl).Check(t.Context())
		if !errors.Is(err, store.ErrWrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
		t.Log(err)
	}
	const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/"
	s.post(t, http.MethodPost, rbac+"roles", `{"metadata": {"name": "elects"}, "rules": [{"apiGroups":
		["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "update", "watch"]}]}`)
	s.post(t, http.MethodPost, rbac+"rolebindings", `{"metadata": {"name": "elects"}, "roleRef": {"apiGroup":
		"rbac.authorization.k8s.io", "kind": "Role", "name": "elects"},
		"subjects": [{"kind": "User", "name": "plain"}]}`)
	p := storetest.Open(t, s.at(t, "granted", plain), 1, ttl)
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := p.Check(t.Context())
		if err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("what it asks for is granted: %v", err)
		}
	}
	p.Leads(p.Stand())
	if err := p.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// pace measures.
func (s *realServer) pace(t *testing.T) {
	took := map[string][]time.Duration{}
	one, two := storetest.Open(t, s.at(t, "pace"), 1, ttl), storetest.Open(t, s.at(t, "pace"), 2, ttl)
	measure := func(what string, do func()) {
		began := time.Now()
		do()
		took[what] = append(took[what], time.Since(began))
	}
	hear := func() {
		select {
		case <-two.Changed():
		case <-time.After(time.Minute):
			t.Fatal("no hint")
		}
	}
	for range 20 {
		first := one.Takes()
		measure("renew", func() { one.Renew() })
		measure("look", func() { two.Look() })
		measure("remove the entry of a dead process and lead", func() {
			two.Leads(two.Do(algorithms.AskStand, algorithms.Ask{Remove: first}))
		})
		two.Leave()
		one.Takes()
		two.Look()
		for drained := false; !drained; {
			select {
			case <-two.Changed():
			case <-time.After(100 * time.Millisecond):
				drained = true
			}
		}
		measure("leave, hear of it, and lead", func() {
			one.Leave()
			for !two.Stand().Held() {
				hear()
			}
		})
		two.Leave()
	}
	for range 3 {
		one.Takes()
		two.Look()
		measure("hear that a lease of 2s is over, and lead", func() {
			for !two.Stand().Held() {
				hear()
			}
		})
		two.Leave()
	}
	for what, all := range took {
		slices.Sort(all)
		t.Logf("%s: median %v, most %v (%d)", what, all[len(all)/2].Round(10*time.Microsecond),
			all[len(all)-1].Round(10*time.Microsecond), len(all))
	}
}

// stage is where the mixed election is watched: nobody may lead before the lease of another is over.
type stage struct {
	*testing.T
	mu     sync.Mutex
	leads  map[string]time.Time // until when, as far as the leader knows
	last   proto.Term
	ended  time.Time // when the last leader was killed or left
	turns  map[string]int
	vacant map[string][]time.Duration
	kind   string // how the last leadership ended
}

// ever is for who leads until it says that it stops.
var ever = time.Now().Add(24 * time.Hour)

func (s *stage) begins(name string, until time.Time, token proto.Term) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other, end := range s.leads {
		if other != name && time.Now().Before(end) {
			s.Errorf("%s leads, and %s leads for another %v", name, other, time.Until(end))
		}
	}
	if token != 0 && token <= s.last {
		s.Errorf("%s leads with the token %d after %d", name, token, s.last)
	}
	s.last = max(s.last, token)
	if _, again := s.leads[name]; !again {
		kind, _, _ := strings.Cut(name, "-")
		s.turns[kind]++
		if !s.ended.IsZero() {
			s.vacant[s.kind] = append(s.vacant[s.kind], time.Since(s.ended))
			s.ended = time.Time{}
		}
	}
	s.leads[name] = until
}

func (s *stage) ends(name, how string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, led := s.leads[name]; led {
		delete(s.leads, name)
		s.ended, s.kind = time.Now(), how
	}
}

// rival has two candidates on client-go and two of ours in one election, and kills whoever leads, again and again.
// One of ours that is killed stops asking at once, but counts as the leader until its lease is over.
func (s *realServer) rival(t *testing.T) {
	on := &stage{T: t, leads: map[string]time.Time{}, turns: map[string]int{}, vacant: map[string][]time.Duration{}}
	var all sync.WaitGroup
	defer all.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	for i := range 2 {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				s.clientGo(ctx, on, fmt.Sprintf("client-go-%d-%d", i, n))
			}
		})
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				s.ours(ctx, on, fmt.Sprintf("ours-%d-%d", i, n), proto.NodeID(i+1), n)
				select { // the others are slower
				case <-ctx.Done():
				case <-time.After(3 * time.Second):
				}
			}
		})
	}
	<-ctx.Done()
	all.Wait()
	t.Logf("leaderships: %v", on.turns)
	for how, vacant := range on.vacant {
		slices.Sort(vacant)
		t.Logf("nobody led after %s: median %v, from %v to %v (%d)", how, vacant[len(vacant)/2].Round(time.Millisecond),
			vacant[0].Round(time.Millisecond), vacant[len(vacant)-1].Round(time.Millisecond), len(vacant))
	}
	if on.turns["client"] < 3 || on.turns["ours"] < 3 {
		t.Errorf("not all of them lead: %v", on.turns)
	}
}

// leadFor is how long a leader leads before it is killed.
const leadFor = time.Second

func (s *realServer) clientGo(ctx context.Context, on *stage, name string) {
	out, in := io.Pipe()
	cmd := exec.CommandContext(ctx, filepath.Join(built, "rival"), s.url, "boss", "mixed", name)
	cmd.Stdout = in
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		on.Error(err)
		return
	}
	go func() {
		_ = cmd.Wait() // it is killed
		on.ends(name, "the kill of one on client-go")
		_ = in.Close()
	}()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch lines.Text() {
		case "leads":
			on.begins(name, ever, 0)
			time.AfterFunc(leadFor, func() { _ = cmd.Process.Kill() })
		case "stops":
			on.ends(name, "the end of one on client-go")
		}
	}
}

// ours leads once. Each second time it leaves, and else it just stops.
func (s *realServer) ours(ctx context.Context, on *stage, name string, id proto.NodeID, n int) {
	c := store.Candidate{Cluster: "mixed", Peer: proto.Peer{ID: id, Incarnation: proto.NewIncarnation()}, TTL: ttl}
	e, err := s.at(on.T, "mixed").Open(c)
	if err != nil {
		on.Error(err)
		return
	}
	defer e.Close()
	var own algorithms.Entry
	var began time.Time
	for verb := algorithms.AskStand; ctx.Err() == nil; {
		sent := time.Now()
		a, err := e.Ask(ctx, algorithms.Ask{Verb: verb})
		switch {
		case err != nil:
		case a.Held() && own.IsZero():
			own, began, verb = a.Own, time.Now(), algorithms.AskRenew
			on.begins(name, sent.Add(a.Keeps), own.Token)
		case a.Held() && a.Own.Key == own.Key:
			on.begins(name, sent.Add(a.Keeps), 0)
		case !own.IsZero():
			on.Errorf("%s had %+v, and the answer is %+v", name, own, a)
			return
		}
		if !own.IsZero() && time.Since(began) > leadFor {
			if n%2 == 1 {
				on.ends(name, "the leave of one of ours")
				_, _ = e.Ask(ctx, algorithms.Ask{Verb: algorithms.AskLeave, Remove: own})
				return
			}
			on.mu.Lock()
			on.ended, on.kind = time.Now(), "the death of one of ours"
			on.mu.Unlock()
			return
		}
		select {
		case <-ctx.Done():
		case <-e.Changed():
		case <-time.After(300 * time.Millisecond):
		}
	}
}
