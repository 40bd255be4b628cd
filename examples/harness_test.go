package examples

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/examples/internal/cluster"
	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/fence/kv"
	"github.com/ringleader-dev/ringleader/fence/store"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
)

// binaries is the directory of the programs.
var binaries string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "examples-test-")
	if err != nil {
		panic(err)
	}
	binaries = dir
	code := 1
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", dir+"/", "./...")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
	} else {
		code = m.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// patience bounds a test on a machine that does much else at the same time.
const patience = time.Minute

// trio is three processes of a program, and the storage that they share.
type trio struct {
	storage *store.Store
	addrs   []string // at which they answer requests

	mu        sync.Mutex
	processes []*testcluster.Process // nil for one that was killed
	said      []string               // lines of them, each as "ID: line", in the order in which they came
	changed   chan struct{}          // closed when a line comes
}

// start starts a program thrice. Of flags, the first node has the first.
func start(t *testing.T, name string, flags ...string) *trio {
	t.Helper()
	ports, err := testcluster.HoldPorts(6)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ports.Release)
	c := &trio{addrs: ports.Addrs[3:], changed: make(chan struct{})}
	if c.storage, err = store.Open(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.storage.Close() })
	storage := httptest.NewServer(kv.NewHandler(c.storage, func(*http.Request, error) {}))
	t.Cleanup(storage.Close)
	data, started := t.TempDir(), time.Now()
	t.Cleanup(func() { c.end(t, time.Since(started)) })
	for i := range 3 {
		line := []string{
			filepath.Join(binaries, name), "-id", fmt.Sprint(i + 1), "-data", data, "-store", storage.URL,
			"-gossip", strings.Join(ports.Addrs[:3], ","), "-http", strings.Join(c.addrs, ","),
		}
		if len(flags) > 0 {
			line = append(line, flags[i])
		}
		said := func(line []byte) { c.note(fmt.Sprintf("%d: %s", i+1, line)) }
		p, err := testcluster.StartHelper(line, writer(said), said)
		if err != nil {
			t.Fatal(err)
		}
		c.processes = append(c.processes, p)
	}
	return c
}

// writer is a function that is given what is written.
type writer func([]byte)

func (w writer) Write(text []byte) (int, error) { w(text); return len(text), nil }

// end ends what was started.
func (c *trio) end(t *testing.T, took time.Duration) {
	for _, p := range c.processes {
		if p != nil {
			_ = p.Kill()
		}
	}
	if t.Failed() {
		t.Logf("after %v:\n%s", took, strings.Join(c.lines(""), "\n"))
	}
}

func (c *trio) note(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = append(c.said, line)
	close(c.changed)
	c.changed = make(chan struct{})
}

// lines are those that contain a text.
func (c *trio) lines(text string) (found []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, line := range c.said {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

// await waits until a condition is fulfilled. It looks when a process says something, and now and then.
func (c *trio) await(t *testing.T, what string, fulfilled func() bool) {
	t.Helper()
	for late := time.After(patience); ; {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		if fulfilled() {
			return
		}
		select {
		case <-changed:
		case <-time.After(50 * time.Millisecond):
		case <-late:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// ask asks whoever leads, and gives up when nobody answers for too long.
func (c *trio) ask(method, path, body string) (string, error) {
	var answer string
	var err error
	answered := make(chan bool)
	go func() {
		answer, err = cluster.Ask(c.addrs, method, path, body)
		close(answered)
	}()
	select {
	case <-answered:
		return answer, err
	case <-time.After(patience):
		return "", errors.New("nobody answers")
	}
}

// must is ask for what is not refused.
func (c *trio) must(t *testing.T, method, path, body string) string {
	t.Helper()
	answer, err := c.ask(method, path, body)
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
	}
	return strings.TrimSpace(answer)
}

// killLeader kills the process that said last that it leads, and returns its id. It waits for nobody.
func (c *trio) killLeader(t *testing.T) (id int) {
	t.Helper()
	c.await(t, "a leader", func() bool { return len(c.lines(": leads ")) > 0 })
	leads := c.lines(": leads ")
	if _, err := fmt.Sscanf(leads[len(leads)-1], "%d:", &id); err != nil {
		t.Fatal(err)
	}
	if err := c.processes[id-1].Kill(); err != nil {
		t.Fatal(err)
	}
	c.processes[id-1] = nil
	return id
}

// killLeaderAt kills the leader when so many of the acts that it is told of are done.
func (c *trio) killLeaderAt(t *testing.T, acts int) (done func()) {
	var mu sync.Mutex
	return func() {
		mu.Lock()
		defer mu.Unlock()
		if acts--; acts == 0 {
			c.killLeader(t)
		}
	}
}

// checkFenced checks that a second leader came, and that the storage refuses the first one's token.
func (c *trio) checkFenced(t *testing.T) {
	t.Helper()
	if n := len(c.lines(": leads ")); n < 2 {
		t.Errorf("%d leaderships", n)
	}
	highest, err := c.storage.Highest()
	if err != nil || highest.Term < 2 {
		t.Errorf("the highest token is %v, %v", highest, err)
	}
	former := highest
	former.Term--
	if err := c.storage.Put(former, "late", nil); !errors.Is(err, fence.ErrStaleToken) {
		t.Errorf("a write with the token %v of before: %v", former, err)
	}
}

// get is what one node answers.
func get(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
