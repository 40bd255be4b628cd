package kubernetes

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/storeurl"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/store"
	"github.com/ringleader-dev/ringleader/store/storetest"
)

const ttl = 2 * time.Second

func at(t *testing.T, server, name string, change ...func(*Config)) store.Store {
	t.Helper()
	c := Config{Namespace: "default", Name: name, Server: server}
	for _, do := range change {
		do(&c)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStoreKubernetes(t *testing.T) {
	f := newFake(t)
	var count atomic.Int64
	storetest.Run(t, storetest.Rig{TTL: ttl, New: func(t *testing.T) store.Store {
		return at(t, f.URL, fmt.Sprintf("election-%d", count.Add(1)))
	}})
}

// Promise: many that stand at once get one leader, and each token is above the last.
func TestConflicts(t *testing.T) {
	f := newFake(t)
	var players []*storetest.Player
	for id := range proto.NodeID(8) {
		players = append(players, storetest.Open(t, at(t, f.URL, "k"), id+1, time.Minute))
	}
	var last algorithms.Entry
	for range 10 {
		var all sync.WaitGroup
		answers := make([]algorithms.Answered, len(players))
		for i, p := range players {
			all.Go(func() { answers[i] = p.Stand() })
		}
		all.Wait()
		leads := -1
		for i, a := range answers {
			if a.Held() {
				if leads >= 0 {
					t.Fatalf("two lead: %+v and %+v", answers[leads], a)
				}
				leads = i
			}
		}
		if leads < 0 || answers[leads].Own.Token <= last.Token {
			t.Fatalf("after %+v: %+v", last, answers)
		}
		last = answers[leads].Own
		players[leads].Leave()
	}
}

// Promise: a storm of conflicts ends with the context, and does no harm.
func TestConflictStorm(t *testing.T) {
	f := newFake(t)
	one := storetest.Open(t, at(t, f.URL, "k"), 1, time.Minute)
	first := one.Leads(one.Stand())
	var storm atomic.Bool
	f.before.set(func(_ http.ResponseWriter, r *http.Request) bool {
		if storm.Load() && r.Method == http.MethodPut {
			f.edit("k", func(meta, _ map[string]any) { meta["labels"] = map[string]any{"at": time.Now().String()} })
		}
		return false
	})
	storm.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if a, err := one.Ask(ctx, algorithms.Ask{Verb: algorithms.AskRenew}); err == nil ||
		errors.Is(err, store.ErrWrong) {
		t.Errorf("in a storm: %+v, %v", a, err)
	}
	storm.Store(false)
	if again := one.Leads(one.Renew()); again != first {
		t.Errorf("after a storm %+v, before %+v", again, first)
	}
	f.mu.Lock()
	if f.objects["k"]["metadata"].(map[string]any)["labels"] == nil {
		t.Error("a renewal takes away what another wrote")
	}
	f.mu.Unlock()
}

// Promise: a reply that is lost after the effect leaves an entry that is found again, with its own token.
func TestLostReply(t *testing.T) {
	f := newFake(t)
	s := at(t, f.URL, "k")
	one, two := storetest.Open(t, s, 1, time.Minute), storetest.Open(t, s, 2, time.Minute)
	one.Leads(one.Stand())
	one.Leave()
	var lose atomic.Bool
	f.after.set(func(*http.Request) {
		if lose.Load() {
			panic(http.ErrAbortHandler)
		}
	})
	lose.Store(true)
	if a, err := one.Ask(t.Context(), algorithms.Ask{Verb: algorithms.AskStand}); err == nil {
		t.Errorf("without a reply: %+v", a)
	}
	lose.Store(false)
	seen := two.Look().Holder
	if first := one.Leads(one.Stand()); first != seen {
		t.Errorf("it leads by %+v, and another saw %+v", first, seen)
	}
	lose.Store(true)
	if a, err := one.Ask(t.Context(), algorithms.Ask{Verb: algorithms.AskRenew, Lent: true}); err == nil {
		t.Errorf("without a reply: %+v", a)
	}
	lose.Store(false)
	if a := one.Renew(); !a.Held() || !a.Own.Lent {
		t.Errorf("the mark of a loan is lost with the reply: %+v", a)
	}
}

// Promise: a server that is away for longer than the TTL takes the lease from nobody, but gives no old token again:
// the others may have seen nobody lead.
func TestServerAway(t *testing.T) {
	f := newFake(t)
	one := storetest.Open(t, at(t, f.URL, "k"), 1, ttl)
	first := one.Leads(one.Stand())
	var away atomic.Bool
	f.before.set(func(w http.ResponseWriter, _ *http.Request) bool {
		if away.Load() {
			http.Error(w, "etcd is away", http.StatusServiceUnavailable)
		}
		return away.Load()
	})
	away.Store(true)
	if a, err := one.Ask(t.Context(), algorithms.Ask{Verb: algorithms.AskRenew}); err == nil ||
		errors.Is(err, store.ErrWrong) {
		t.Errorf("away: %+v, %v", a, err)
	}
	time.Sleep(ttl)
	away.Store(false)
	if a := one.Renew(); !a.Own.IsZero() {
		t.Errorf("an entry that is over is renewed: %+v", a)
	}
	// A renewal that was given up comes late.
	f.edit("k", func(_, spec map[string]any) { spec["renewTime"] = time.Now().UTC().Format(micro) })
	if a := one.Look(); !a.Own.IsZero() {
		t.Errorf("an entry that was over comes back: %+v", a)
	}
	if next := one.Leads(one.Stand()); next.Token <= first.Token {
		t.Errorf("after %+v it leads by %+v", first, next)
	}
}

// Promise: whoever deletes the object ends the leadership, and the next token is above all before, though
// leaseTransitions starts again.
func TestDeleted(t *testing.T) {
	f := newFake(t)
	s := at(t, f.URL, "k")
	one, two := storetest.Open(t, s, 1, time.Minute), storetest.Open(t, s, 2, time.Minute)
	first := one.Leads(one.Stand())
	two.Look()
	f.remove("k")
	if a := one.Renew(); !a.Own.IsZero() {
		t.Errorf("a renewal makes the object again: %+v", a)
	}
	if next := two.Leads(two.Stand()); next.Token <= first.Token {
		t.Errorf("after %+v another leads by %+v", first, next)
	}
}

// Promise: a candidate of another program is waited for, has a token between ours, and its duration counts from
// when its record was seen to change.
func TestForeignCandidate(t *testing.T) {
	f := newFake(t)
	one := storetest.Open(t, at(t, f.URL, "k"), 1, time.Minute)
	first := one.Leads(one.Stand())
	one.Leave()
	long := time.Now().Add(-time.Hour).Format(time.RFC3339) // its clock is an hour behind
	f.edit("k", func(_, spec map[string]any) {
		spec["holderIdentity"], spec["leaseDurationSeconds"], spec["renewTime"] = "host_1", 1, long
		spec["leaseTransitions"] = 7
	})
	began := time.Now()
	a := one.Stand()
	if a.Held() || a.Holder.Foreign == "" || a.Holder.Token <= first.Token {
		t.Errorf("behind a stranger: %+v", a)
	}
	next := one.Takes()
	if took := time.Since(began); took < time.Second {
		t.Errorf("a stranger of a second is followed after %v", took)
	}
	if next.Token <= a.Holder.Token || f.spec("k")["leaseTransitions"] != 8.0 {
		t.Errorf("after %+v comes %+v, as %v", a.Holder, next, f.spec("k"))
	}
	// It keeps the annotation of ours.
	f.edit("k", func(_, spec map[string]any) { spec["holderIdentity"] = "host_2" })
	if a := one.Renew(); !a.Own.IsZero() || a.Holder.Token <= next.Token {
		t.Errorf("taken by a stranger: %+v", a)
	}
}

// Promise: client-go reads times in whole seconds. What it may take for the same record is promised nothing more.
func TestWholeSeconds(t *testing.T) {
	f := newFake(t)
	one := storetest.Open(t, at(t, f.URL, "k"), 1, ttl)
	one.Leads(one.Stand())
	var second any
	var first time.Time // when the record left that client-go saw first
	for began := time.Now(); time.Since(began) < 2500*time.Millisecond; time.Sleep(90 * time.Millisecond) {
		sent := time.Now()
		a := one.Renew()
		one.Leads(a)
		if is := f.spec("k")["renewTime"].(string)[:19]; is != second {
			second, first = is, time.Now()
		}
		if until := sent.Add(a.Keeps); until.After(first.Add(ttl)) {
			t.Errorf("it may lead for %v longer than client-go lets it", until.Sub(first.Add(ttl)))
		}
		if a.Keeps < ttl-time.Second {
			t.Errorf("it is kept for %v", a.Keeps)
		}
	}
	// Without the last reply, and with a clock that was set back, the next record is another in any case.
	for _, by := range []time.Duration{0, 500 * time.Millisecond, time.Hour} {
		was := time.Now().UTC().Add(by).Truncate(time.Microsecond)
		f.edit("k", func(_, spec map[string]any) { spec["renewTime"] = was.Format(micro) })
		a := one.Renew()
		is, err := time.Parse(micro, f.spec("k")["renewTime"].(string))
		if err != nil || is.Unix() <= was.Unix() || a.Keeps != ttl {
			t.Errorf("renewed %v after %v: %+v", is, was, a)
		}
	}
}

// Promise: "GET-free": a renewal is one request, and so is the takeover of a dead process's entry.
func TestRequests(t *testing.T) {
	f := newFake(t)
	var count atomic.Int64
	f.before.set(func(_ http.ResponseWriter, r *http.Request) bool {
		if !r.URL.Query().Has("watch") {
			count.Add(1)
		}
		return false
	})
	s := at(t, f.URL, "k")
	one, two := storetest.Open(t, s, 1, time.Minute), storetest.Open(t, s, 2, time.Minute)
	one.Leads(one.Stand())
	dead := two.Look().Holder
	count.Store(0)
	one.Renew()
	if n := count.Swap(0); n != 1 {
		t.Errorf("a renewal is %d requests", n)
	}
	two.Look() // the watch may not have told yet
	count.Store(0)
	two.Leads(two.Do(algorithms.AskStand, algorithms.Ask{Remove: dead}))
	if n := count.Load(); n != 1 {
		t.Errorf("a takeover is %d requests", n)
	}
}

// Promise: each error says what to do.
func TestCheck(t *testing.T) {
	f := newFake(t)
	other := httptest.NewServer(http.FileServer(http.Dir(t.TempDir())))
	t.Cleanup(other.Close)
	secure := httptest.NewTLSServer(f)
	t.Cleanup(secure.Close)
	var code atomic.Int64
	f.before.set(func(w http.ResponseWriter, r *http.Request) bool {
		if c := int(code.Load()); c != 0 && r.URL.Path != "/version" {
			status(w, c, "leases", "no")
			return true
		}
		return false
	})
	for _, c := range []struct {
		want   string
		code   int64
		server string
		change func(*Config)
	}{
		{"create the namespace none", 0, f.URL, func(c *Config) { c.Namespace = "none" }},
		{"grant the verbs get, create, update and watch on leases", 403, f.URL, nil},
		{"does not know who we are", 401, f.URL, nil},
		{"no API server of Kubernetes", 0, other.URL, nil},
		{"give the ca=FILE", 0, secure.URL, nil},
		{"write server=https://", 0, strings.Replace(secure.URL, "https", "http", 1), nil},
		{"write server=http://", 0, strings.Replace(f.URL, "http", "https", 1), nil},
	} {
		code.Store(c.code)
		s := at(t, c.server, "k", func(is *Config) {
			if c.change != nil {
				c.change(is)
			}
		})
		err := storetest.Open(t, s, 1, ttl).Check(t.Context())
		if !errors.Is(err, store.ErrWrong) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q, got %v", c.want, err)
		}
	}
	code.Store(0)
	ca := write(t, "ca", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})))
	for _, s := range []store.Store{at(t, f.URL, "k"), at(t, secure.URL, "k", func(c *Config) { c.CA = ca })} {
		p := storetest.Open(t, s, 1, ttl)
		for range 2 {
			if err := p.Check(t.Context()); err != nil {
				t.Error(err)
			}
			p.Stand()
		}
	}
	f.stop()
	if err := storetest.Open(t, at(t, f.URL, "k"), 1, ttl).Check(t.Context()); err == nil ||
		errors.Is(err, store.ErrWrong) {
		t.Errorf("a server that is away: %v", err)
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Promise: the token's file is read for each request, also in a pod and by a kubeconfig.
func TestAccess(t *testing.T) {
	f := newFake(t)
	secure := httptest.NewTLSServer(f)
	t.Cleanup(secure.Close)
	var got atomic.Value
	f.before.set(func(_ http.ResponseWriter, r *http.Request) bool {
		if !r.URL.Query().Has("watch") { // a watch begins whenever it can
			got.Store(r.Header.Get("Authorization"))
		}
		return false
	})
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	token := write(t, "token", "one\n")
	dir := filepath.Dir(token)
	if err := os.WriteFile(filepath.Join(dir, "ca.crt"), ca, 0o600); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "config")
	if err := os.WriteFile(config, fmt.Appendf(nil, `{current-context: c,
		contexts: [{name: c, context: {cluster: k, user: u}},
		{name: exec, context: {cluster: k, user: e}}], clusters: [{name: k, cluster: {server: %q,
		certificate-authority-data: %s}}], users: [{name: u, user: {tokenFile: token}},
		{name: e, user: {exec: {command: x}}}]}`,
		secure.URL, base64.StdEncoding.EncodeToString(ca)), 0o600); err != nil {
		t.Fatal(err)
	}
	host, port, _ := strings.Cut(strings.TrimPrefix(secure.URL, "https://"), ":")
	t.Setenv("KUBERNETES_SERVICE_HOST", host)
	t.Setenv("KUBERNETES_SERVICE_PORT", port)
	inPod, podErr := fromPod(dir)
	byFile, fileErr := fromKubeconfig(config, "")
	if err := errors.Join(podErr, fileErr); err != nil {
		t.Fatal(err)
	}
	for _, a := range []access{inPod, byFile} {
		p := storetest.Open(t, &place{Config{Namespace: "default", Name: "k"}, a}, 1, ttl)
		for _, word := range []string{"two", "three"} {
			if err := os.WriteFile(token, []byte(word), 0o600); err != nil {
				t.Fatal(err)
			}
			if p.Look(); got.Load() != "Bearer "+word {
				t.Errorf("the request is by %q, want %s", got.Load(), word)
			}
		}
	}
	for name, want := range map[string]string{"exec": "only a token and a certificate", "none": "no context"} {
		if _, err := fromKubeconfig(config, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("context %s: %v", name, err)
		}
	}
	if _, err := fromPod("/none"); err == nil || !strings.Contains(err.Error(), "no service account") {
		t.Errorf("a pod without a service account: %v", err)
	}
}

// What a URL may say, and what is said of a wrong one.
func TestParse(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	token := write(t, "token", "secret")
	for text, want := range map[string]string{
		"kubernetes://ns/name?server=http://h":                           "kubernetes://ns/name?server=http%3A%2F%2Fh",
		"kubernetes://ns/name?server=https://h:6443&token-file=" + token: "token-file=",
		"kubernetes://ns/name":                                           "this is no pod: give kubeconfig=FILE",
		"kubernetes://ns":                                                "the name of the Lease is missing",
		"kubernetes:///name":                                             `the namespace ""`,
		"kubernetes://ns,b/name":                                         `the namespace "ns,b"`,
		"kubernetes://ns/a/b":                                            `the name "a/b" of the Lease`,
		"kubernetes://me:secret@ns/name":                                 "write kubernetes://NAMESPACE/NAME",
		"kubernetes://ns/name?x=1":                                       `there is no option "x": there are ca,`,
		"kubernetes://ns/name?ca=":                                       "the option ca needs one value",
		"kubernetes://ns/name?ca=f":                                      "Give server=URL",
		"kubernetes://ns/name?context=f":                                 "give kubeconfig=FILE",
		"kubernetes://ns/name?kubeconfig=f&server=http://h":              "give it alone",
		"kubernetes://ns/name?kubeconfig=/none":                          "read the kubeconfig",
		"kubernetes://ns/name?kubeconfig=" + token:                       "is no kubeconfig",
		"kubernetes://ns/name?server=h:1":                                "write server=https://HOST:PORT",
		"kubernetes://ns/name?server=ftp://h":                            "want https:// or http://",
		"kubernetes://ns/name?server=https://h&token-file=/none":         "read the token",
		"kubernetes://ns/name?server=https://h&cert=f":                   "go together",
		"kubernetes://ns/name?server=https://h&ca=/none":                 "read the CA",
		"kubernetes://ns/name?server=https://h&ca=" + token:              "no certificate in the CA",
	} {
		u, err := storeurl.Split(text)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		s, err := Parse(u)
		if err != nil {
			got = err.Error()
		} else {
			got = s.String()
		}
		if !strings.Contains(got, want) || strings.Contains(got, "secret") {
			t.Errorf("%s gives %s, want %s", text, got, want)
		}
	}
}
