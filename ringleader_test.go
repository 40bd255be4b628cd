package ringleader_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/internal/trace"
)

// source is the directory of this package.
var source string

// TestMain runs everything in a directory of its own: a node keeps its data below it.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "ringleader-test-")
	if err == nil {
		source, err = os.Getwd()
	}
	if err == nil {
		err = os.Chdir(dir)
	}
	if err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// patience bounds a test on a machine that does much else at the same time.
const patience = time.Minute

// loopback is a node that nobody reaches from elsewhere.
func loopback(t *testing.T, id ringleader.NodeID) ringleader.Config {
	t.Helper()
	return ringleader.Config{
		ID: id, Voters: []ringleader.NodeID{id}, DataDir: t.TempDir(), LogLevel: "debug",
		GossipBind: "127.0.0.1:0", ElectionBind: "127.0.0.1:0", HTTPBind: "127.0.0.1:0",
	}
}

// start starts a node, and ends it with the test.
func start(t *testing.T, c ringleader.Config) *ringleader.Node {
	t.Helper()
	n, _ := startLogged(t, c)
	return n
}

// startLogged is start. It returns the log, too.
func startLogged(t *testing.T, c ringleader.Config) (*ringleader.Node, *lines) {
	t.Helper()
	var log lines
	c.Log = &log
	n, err := ringleader.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Leave(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return n, &log
}

// lines is a log that any goroutine may read.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// follows waits until a node names a leader, zero for nobody.
func follows(ctx context.Context, t *testing.T, n *ringleader.Node, leader ringleader.NodeID) {
	t.Helper()
	for belief := range n.Watch(ctx) {
		if belief.ID == leader {
			return
		}
	}
	t.Fatalf("it never named %v as the leader, but %+v", leader, n.Leader())
}

// "An embedded node and a CLI node form one cluster": the leader is killed, and the node in this
// program, which follows it, names the next; when it leads itself, it works.
func TestOneClusterWithTheCommandLine(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "ringleader")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./cmd/node")
	build.Dir = source
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c, err := testcluster.New(testcluster.Config{
		Binary: binary, Nodes: 3, Algorithm: "bully", Args: []string{"--voters", "1-3", "--failover-budget", "2s"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	own := c.Node(1)
	n := start(t, ringleader.Config{
		ID: 1, Voters: []ringleader.NodeID{1, 2, 3}, Join: []string{c.Node(2).Gossip, c.Node(3).Gossip},
		DataDir: own.DataDir, Profile: "local", FailoverBudget: 2 * time.Second, LogLevel: "debug",
		GossipBind: own.Gossip, ElectionBind: own.Election, HTTPBind: own.HTTP,
	})
	for _, id := range []ringleader.NodeID{2, 3} {
		if err := c.Start(id); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.WaitLeader(ctx, 3, 2, 3); err != nil {
		t.Fatal(err)
	}
	follows(ctx, t, n, 3)
	if _, err := c.Kill(3); err != nil {
		t.Fatal(err)
	}
	if _, err := c.WaitLeader(ctx, 2, 2); err != nil {
		t.Fatal(err)
	}
	follows(ctx, t, n, 2)
	led := make(chan ringleader.NodeID, 1)
	go func() {
		_ = n.Lead(ctx, func(_ context.Context, l ringleader.Lease) error {
			led <- l.Token().Leader
			<-ctx.Done()
			return nil
		})
	}()
	err = n.Transfer(ctx, 1, "a test")
	for err != nil && strings.Contains(err.Error(), "ask again") && ctx.Err() == nil { // the machine is busy
		err = n.Transfer(ctx, 1, "a test")
	}
	if err != nil {
		t.Fatal(err)
	}
	select {
	case id := <-led:
		if id != 1 {
			t.Errorf("the token is of node %v", id)
		}
	case <-ctx.Done():
		t.Error("it leads, and does not work")
	}
	cancel() // the work ends
}

// "Every wrong field of ringleader.Config (named, with what would be right)", one error each.
func TestWrongFields(t *testing.T) {
	type config = ringleader.Config
	for field, c := range map[string]struct {
		spoil func(*config)
		want  string
	}{
		"ID":                {func(c *config) { c.ID = 0 }, "a whole number from 1 to"},
		"Voters":            {func(c *config) { c.Voters = []ringleader.NodeID{1, 1} }, "name each voter once"},
		"Join":              {func(c *config) { c.Join = []string{"a:b:c"} }, "write host, host:port or IP:port"},
		"DataDir":           {func(c *config) { c.DataDir = "a\x00b" }, "want the path of a directory"},
		"Cluster":           {func(c *config) { c.Cluster = "a b" }, "a label is 1 to 64 letters"},
		"Algorithm":         {func(c *config) { c.Algorithm = "bulli" }, "bully"},
		"RankBy":            {func(c *config) { c.RankBy = "size" }, "there are id, ip, cpu"},
		"Profile":           {func(c *config) { c.Profile = "wan" }, "want one of lan, local, fast"},
		"LogLevel":          {func(c *config) { c.LogLevel = "loud" }, "want one of debug, info, warn, error"},
		"GossipBind":        {func(c *config) { c.GossipBind = "here" }, "write IP:PORT"},
		"ElectionBind":      {func(c *config) { c.ElectionBind = "1.2.3.4" }, "write IP:PORT"},
		"HTTPBind":          {func(c *config) { c.HTTPBind = "7948" }, "write IP:PORT"},
		"GossipAdvertise":   {func(c *config) { c.GossipAdvertise = "0.0.0.0" }, "the other nodes can reach"},
		"ElectionAdvertise": {func(c *config) { c.ElectionAdvertise = "x" }, "write IP or IP:PORT"},
		"APIToken":          {func(c *config) { c.APIToken = "short" }, "want at least 16"},
		"FailoverBudget": {
			func(c *config) { c.FailoverBudget = 30 * time.Millisecond }, "smallest budget that would do is",
		},
		"Lease":            {func(c *config) { c.Lease = time.Second }, "raise the lease or lower the failover budget"},
		"FirstTerm":        {func(c *config) { c.FirstTerm = 1 << 63 }, "want a whole number from 0"},
		"FenceAgent":       {func(c *config) { c.FenceAgent = "/no/such/agent" }, "name an executable file"},
		"FenceTimeout":     {func(c *config) { c.FenceTimeout = 1 }, "want a time from 10ms"},
		"PIDFile":          {func(c *config) { c.PIDFile = "a\x00b" }, "want the path of a file"},
		"ReconcileCmd":     {func(c *config) { c.ReconcileCmd = "a\x00b" }, "without a zero byte"},
		"ReconcileTimeout": {func(c *config) { c.ReconcileTimeout = -1 }, "want a time from 1ms"},
		"Health.Command":   {func(c *config) { c.Health.Command = "a\x00b" }, "without a zero byte"},
		"Health.URL":       {func(c *config) { c.Health.URL = "ftp://a" }, "begins with http://"},
		"Health.Interval":  {func(c *config) { c.Health.Interval = 1 }, "want a time from 10ms"},
		"Health.Timeout":   {func(c *config) { c.Health.Timeout = 2 * time.Hour }, "to 1h0m0s"},
		"Health.Rise":      {func(c *config) { c.Health.Rise = -1 }, "want a number from 1"},
		"Health.Fall":      {func(c *config) { c.Health.Fall = 1001 }, "to 1000"},
		"Health.HoldDown":  {func(c *config) { c.Health.HoldDown = -1 }, "want a time from 1ms"},
		"Health.Memory":    {func(c *config) { c.Health.Memory = 101 }, "from 0 to 100"},
		"Health.Disk":      {func(c *config) { c.Health.Disk = 101 }, "from 0 to 100"},
	} {
		cfg := loopback(t, 1)
		c.spoil(&cfg)
		n, err := ringleader.Start(t.Context(), cfg)
		if n != nil || !errors.Is(err, ringleader.ErrConfig) {
			t.Errorf("%s: started %v, %v", field, n, err)
			continue
		}
		wrong, _ := errors.AsType[ringleader.FieldError](err)
		text := err.Error()
		if wrong.Field != field || !strings.Contains(text, c.want) || strings.Contains(text, "\n") {
			t.Errorf("%s: %v; want %q", field, err, c.want)
		}
	}
}

// "The error joins one FieldError for each wrong field", also for what a part of the node would refuse
// later, and for what would be taken and do nothing.
func TestWrongTexts(t *testing.T) {
	type config = ringleader.Config
	several := []string{"224.0.0.1:7946", "255.255.255.255:7946", "[ff02::1]:7946"}
	for field, c := range map[string]struct {
		spoil func(c *config, text string)
		texts []string
	}{
		"Join": {
			func(c *config, text string) { c.Join = []string{"n1", text} },
			[]string{"\u00fc.de", "a\x00", "[::1", "[n1]", "n2,n3", "256.1.1.1", "10.0.0", "n1:0"},
		},
		"Cluster": {
			func(c *config, text string) { c.Cluster = text }, []string{"\u00fc", "a/b", strings.Repeat("a", 65)},
		},
		"GossipBind":        {func(c *config, text string) { c.GossipBind = text }, several},
		"ElectionBind":      {func(c *config, text string) { c.ElectionBind = text }, several},
		"HTTPBind":          {func(c *config, text string) { c.HTTPBind = text }, several},
		"GossipAdvertise":   {func(c *config, text string) { c.GossipAdvertise = text }, several},
		"ElectionAdvertise": {func(c *config, text string) { c.ElectionAdvertise = text }, several},
		"Health.URL": {
			func(c *config, text string) { c.Health.URL = text }, []string{"http://x:99999/", "http://x:0"},
		},
	} {
		for _, text := range c.texts {
			cfg := loopback(t, 1)
			c.spoil(&cfg, text)
			_, err := cfg.WithDefaults()
			if wrong, _ := errors.AsType[ringleader.FieldError](err); wrong.Field != field {
				t.Errorf("%s %q: %v", field, text, err)
			}
		}
	}
}

// "One FieldError for each wrong field", where only the start of a part tells: with the name that the
// field has in Go, and with what to do. A port in use is no wrong field, and may be free later.
func TestFieldsThatTheSystemRefuses(t *testing.T) {
	type config = ringleader.Config
	taken := freeAddr(t)
	l, err := net.Listen("tcp", taken)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		field, want string
		isConfig    bool
		spoil       func(c *config)
	}{
		{"RankBy", "name a directory", true, func(c *config) { c.RankBy = "files:/nonexistent" }},
		{"RankBy", "name a directory", true, func(c *config) { c.RankBy = "disk:/nonexistent" }},
		{"PIDFile", "name a file", true, func(c *config) { c.PIDFile = filepath.Join(dir, "none", "pid") }},
		{"PIDFile", "name a file", true, func(c *config) { c.PIDFile = dir }},
		{"DataDir", "choose another", true, func(c *config) { c.DataDir = file }},
		{"GossipBind", "choose another address", false, func(c *config) { c.GossipBind = taken }},
		{"ElectionBind", "choose another election address", false, func(c *config) { c.ElectionBind = taken }},
		{"HTTPBind", "choose another address", false, func(c *config) { c.HTTPBind = taken }},
		{"ElectionBind", "listens for gossip on", true, func(c *config) {
			c.GossipBind, c.ElectionBind = taken, taken
		}},
		{"HTTPBind", "listens for elections on", true, func(c *config) {
			c.ElectionBind = taken
			c.HTTPBind = "0.0.0.0" + taken[strings.LastIndex(taken, ":"):]
		}},
		{"GossipBind", "an address of this machine", false, func(c *config) {
			c.GossipBind, c.Insecure = "192.0.2.1:0", true
		}},
		{"ElectionBind", "of this machine", false, func(c *config) {
			c.ElectionBind, c.Insecure = "192.0.2.1:0", true
		}},
		{"HTTPBind", "choose another address", false, func(c *config) { c.HTTPBind, c.Insecure = "192.0.2.1:0", true }},
	} {
		cfg := loopback(t, 1)
		c.spoil(&cfg)
		n, err := ringleader.Start(t.Context(), cfg)
		if err == nil {
			_ = n.Leave()
			t.Errorf("%s: started", c.field)
			continue
		}
		wrong, _ := errors.AsType[ringleader.FieldError](err)
		if wrong.Field != c.field || errors.Is(err, ringleader.ErrConfig) != c.isConfig ||
			!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "setting") {
			t.Errorf("%s: %q; want %q", c.field, err, c.want)
		}
	}
}

// Nothing is left open by a start that cannot be ended.
func TestStartWithoutAContext(t *testing.T) {
	var none context.Context
	cfg := loopback(t, 1)
	if _, err := ringleader.Start(none, cfg); err == nil || !strings.Contains(err.Error(), "the context is nil") {
		t.Errorf("%v", err)
	}
	start(t, cfg) // its data directory is free
}

// Who gives a setting of the lease counts on a lease: without voters there is none. The default of
// Config.Lease is no such setting.
func TestLeaseWithoutVoters(t *testing.T) {
	type config = ringleader.Config
	for field, spoil := range map[string]func(c *config){
		"Lease":       func(c *config) { c.Lease = 3 * time.Second },
		"AwaitLeases": func(c *config) { c.AwaitLeases = true },
		"FirstTerm":   func(c *config) { c.FirstTerm = 2 },
	} {
		c := loopback(t, 1)
		c.Voters = nil
		spoil(&c)
		_, err := c.WithDefaults()
		if wrong, _ := errors.AsType[ringleader.FieldError](err); wrong.Field != field || !wrong.Relation {
			t.Errorf("%s: %v", field, err)
		}
	}
	c := loopback(t, 1)
	c.Voters = nil
	c, err := c.WithDefaults()
	if err == nil {
		_, err = c.WithDefaults()
	}
	if err != nil {
		t.Error(err)
	}
}

// "Voters: want at most 1000 voters in all", where no range was written.
func TestTooManyVoters(t *testing.T) {
	c := loopback(t, 1)
	for id := ringleader.NodeID(2); id < 3000; id++ {
		c.Voters = append(c.Voters, id)
	}
	_, err := c.WithDefaults()
	if err == nil || err.Error() != "Voters: want at most 1000 voters in all" {
		t.Error(err)
	}
}

// "One error per wrong field, joined."
func TestAllWrongFieldsAreTold(t *testing.T) {
	_, err := ringleader.Start(t.Context(), ringleader.Config{Cluster: "a b", Profile: "wan", HTTPBind: "x"})
	if err == nil || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("said %v; want ID, Cluster, Profile and HTTPBind", err)
	}
}

// "The zero Config with ID, Voters, Join, DataDir is the recommended one": what it becomes is
// right, and is no other when it is given.
func TestDefaults(t *testing.T) {
	c, err := ringleader.Config{
		ID: 7, Voters: []ringleader.NodeID{7, 8, 9}, GossipAdvertise: "10.0.0.1", ElectionAdvertise: "10.0.0.1",
	}.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if c.Algorithm != "bully" || c.FailoverBudget != time.Second || c.Lease != 2*time.Second || !*c.Preempt ||
		c.GossipAdvertise != "10.0.0.1:7946" || c.DataDir != "ringleader-data/7" {
		t.Errorf("%+v", c)
	}
	again, err := c.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if again.FailoverBudget != c.FailoverBudget || again.Lease != c.Lease || *again.Preempt != *c.Preempt {
		t.Errorf("%+v, and with its defaults %+v", c, again)
	}
}

// "Start twice on one data directory" says so, also after the first has been refused nothing.
func TestStartTwice(t *testing.T) {
	c := loopback(t, 1)
	n := start(t, c)
	_, err := ringleader.Start(t.Context(), c)
	if !errors.Is(err, ringleader.ErrInUse) || !strings.Contains(err.Error(), c.DataDir) ||
		!strings.Contains(err.Error(), "by this process") {
		t.Errorf("a second node in the same directory: %v", err)
	}
	if err := n.Leave(); err != nil {
		t.Fatal(err)
	}
	start(t, c)
}

// "Lead after Leave" says so, as all else that needs a node does.
func TestAfterLeave(t *testing.T) {
	n := start(t, loopback(t, 1))
	if err := n.Leave(); err != nil {
		t.Fatal(err)
	}
	never := func(context.Context, ringleader.Lease) error { return errors.New("it was called") }
	_, lent := n.Lend(t.Context())
	for what, err := range map[string]error{
		"lead": n.Lead(t.Context(), never), "lend": lent, "transfer": n.Transfer(t.Context(), 2, ""),
		"resign": n.Resign(t.Context(), ""), "pause": n.Pause(t.Context(), ""), "resume": n.Resume(t.Context()),
		"elect": n.Elect(t.Context(), ""),
	} {
		if !errors.Is(err, ringleader.ErrLeft) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := n.Err(); err != nil || n.Leave() != nil {
		t.Errorf("it left, and says %v", err)
	}
	<-n.Done()
}

// "It leaves by itself when ctx is done": its work ends first. What it logged are records as
// those of any node, whatever time format this program chose.
func TestLeavesWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var log lines
	c := loopback(t, 1)
	c.Log = &log
	n, err := ringleader.Start(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	err = n.Lead(t.Context(), func(ctx context.Context, _ ringleader.Lease) error {
		cancel()
		<-ctx.Done()
		return nil
	})
	if !errors.Is(err, ringleader.ErrLeft) {
		t.Errorf("Lead ended with %v", err)
	}
	<-n.Done()
	records, exact := 0, 0
	for line := range strings.Lines(log.String()) {
		if rec, err := trace.Parse([]byte(line)); err == nil {
			records++
			if rec.Time.Nanosecond() != 0 {
				exact++
			}
		}
	}
	if records < 3 || exact == 0 {
		t.Errorf("%d records, %d of them with a part of a second, in\n%s", records, exact, log.String())
	}
}

// Pausing, resuming, resigning, lending: what a program asks of its node it does.
func TestWhatAProgramAsks(t *testing.T) {
	n := start(t, loopback(t, 1))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	follows(ctx, t, n, 1)
	loan, err := n.Lend(ctx)
	if err != nil || loan.Token.Leader != 1 || loan.For <= 0 || !n.Return(loan) || n.Return(loan) {
		t.Errorf("lent %+v, %v", loan, err)
	}
	if err := n.Transfer(ctx, 5, "a test"); !errors.Is(err, ringleader.ErrRefused) {
		t.Errorf("a transfer to no voter: %v", err)
	}
	if err := n.Pause(ctx, "a test"); err != nil {
		t.Fatal(err)
	}
	follows(ctx, t, n, 0)
	if err := n.Resign(ctx, "a test"); !errors.Is(err, ringleader.ErrNoLeader) {
		t.Errorf("a resignation where nobody leads: %v", err)
	}
	if _, err := n.Lend(ctx); !errors.Is(err, ringleader.ErrNotLent) {
		t.Errorf("lent by who does not lead: %v", err)
	}
	if err := n.Resume(ctx); err != nil {
		t.Fatal(err)
	}
	follows(ctx, t, n, 1)
	var seen []ringleader.NodeID
	for change := range n.Changes(ctx, 0) {
		if seen = append(seen, change.Leader.ID); len(seen) == 3 {
			break
		}
	}
	if seen[0] != 1 || seen[1] != 0 || seen[2] != 1 {
		t.Errorf("leaders, in order: %v", seen)
	}
}

// A node inside a program serves no HTTP unless it is asked to, and can be told all it can be
// told by its methods.
func TestNoHTTPUnlessAsked(t *testing.T) {
	c := loopback(t, 1)
	c.HTTPBind = ""
	var log lines
	c.Log = &log
	n, err := ringleader.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	follows(t.Context(), t, n, 1)
	if err := n.Resign(t.Context(), "a test"); err != nil {
		t.Error(err)
	}
	if err := n.Leave(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), `"http":"none"`) {
		t.Errorf("said %s", log.String())
	}
}

// freeAddr is a loopback address on which nobody listens.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
