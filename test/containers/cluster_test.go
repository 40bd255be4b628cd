package containers_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// cluster is a project of docker-compose, started from a checkout in miniature
// in a directory of its own, so that it shares nothing with a cluster that
// `make up` started: neither name, image, ports nor volumes.
type cluster struct {
	dir string
	env []string
	// project names the containers, networks and volumes, by compose's labels.
	project string
	image   string
	started string          // what scripts/up said
	ctx     context.Context // of every command, see untilCleanup
}

// startCluster builds the image and starts the nodes. They are gone, with all they left,
// when the test ends. env are variables of scripts/up; override is what differs from
// docker-compose.yml, "" for nothing.
func startCluster(t *testing.T, override string, env ...string) *cluster {
	t.Helper()
	suffix := make([]byte, 4)
	_, _ = rand.Read(suffix)
	project := "ringleader-test-" + hex.EncodeToString(suffix)
	c := &cluster{
		dir:     t.TempDir(),
		project: project,
		image:   project + ":test",
		ctx:     untilCleanup(t),
	}
	c.env = append(
		os.Environ(),
		"COMPOSE_PROJECT_NAME="+c.project,
		"RINGLEADER_IMAGE="+c.image,
		"RINGLEADER_TARGET=host",
	)
	c.env = append(c.env, env...)
	c.checkout(t)
	if override != "" { // under a name that every compose reads by itself
		file := filepath.Join(c.dir, "docker-compose.override.yml")
		if err := os.WriteFile(file, []byte(override), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { c.remove(t) })
	c.started = c.script(t, "up")
	return c
}

// programs is the directory of the static binary that all clusters run, built by whichever
// needs it first.
var programs string

func TestMain(m *testing.M) {
	var err error
	if programs, err = os.MkdirTemp("", "ringleader-containers-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(programs)
	os.Exit(code)
}

var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(programs, "ringleader")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", path, "../../cmd/node")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the binary: %w\n%s", err, out)
	}
	return path, nil
})

// checkout copies what a cluster needs out of this checkout, and the static binary.
func (c *cluster) checkout(t *testing.T) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Dockerfile", ".dockerignore", "docker-compose.yml"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(c.dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	scripts := filepath.Join(root, "scripts")
	if err := os.CopyFS(filepath.Join(c.dir, "scripts"), os.DirFS(scripts)); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(c.dir, "bin", "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	built, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(built)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "bin", "ringleader"), program, 0o755); err != nil {
		t.Fatal(err)
	}
}

// remove takes away all that carries the project's label, even after a test
// that failed half-way, and says so when something stays.
func (c *cluster) remove(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Second)
	defer cancel()
	c.ctx = ctx
	if t.Failed() {
		for _, name := range []string{"status", "logs"} {
			out, _ := c.run(filepath.Join(c.dir, "scripts", name))
			t.Logf("scripts/%s of the failed cluster:\n%s", name, out)
		}
	}
	if out, err := c.run(filepath.Join(c.dir, "scripts", "down"), "--volumes"); err != nil {
		t.Errorf("scripts/down: %v\n%s", err, out)
	}
	if out, err := c.run("docker", "image", "rm", c.image); err != nil {
		t.Errorf("remove the image: %v\n%s", err, out)
	}
	ours := "label=com.docker.compose.project=" + c.project
	for _, list := range [][]string{
		{"docker", "ps", "--all", "--quiet", "--filter", ours},
		{"docker", "network", "ls", "--quiet", "--filter", ours},
		{"docker", "volume", "ls", "--quiet", "--filter", ours},
		{"docker", "network", "ls", "--quiet", "--filter", "label=ringleader.cut=" + c.project},
	} {
		if left, err := c.run(list[0], list[1:]...); err != nil || left != "" {
			t.Errorf("left behind: %q, %v (%s)", left, err, strings.Join(list, " "))
		}
	}
}

// script runs one of scripts/ and returns what it printed.
func (c *cluster) script(t *testing.T, name string, args ...string) string {
	t.Helper()
	start := time.Now()
	out, err := c.run(filepath.Join(c.dir, "scripts", name), args...)
	t.Logf("scripts/%s %s (%.1f s)\n%s",
		name, strings.Join(args, " "), time.Since(start).Seconds(), out)
	if err != nil {
		t.Fatalf("scripts/%s %s: %v", name, strings.Join(args, " "), err)
	}
	return out
}

// compose is the command that there is, the newer one first as in scripts/.
func (c *cluster) compose() string {
	if _, err := c.run("docker", "compose", "version"); err != nil {
		return "docker-compose"
	}
	return "docker compose"
}

func (c *cluster) run(name string, args ...string) (string, error) {
	cmd := exec.CommandContext(c.ctx, name, args...)
	cmd.Dir = c.dir
	cmd.Env = c.env
	// A script that was ended must not leave us waiting for its children.
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

var oneLeader = regexp.MustCompile(`one leader: (\d+), term (\d+)$`)

// leader waits, at most for within, until the nodes, all by default, agree on
// one leader who is among them; it returns the leader's name and the term.
func (c *cluster) leader(t *testing.T, within time.Duration, nodes ...string) (string, int) {
	t.Helper()
	seconds := strconv.Itoa(int(within.Seconds()))
	out := c.script(t, "status", append([]string{"--wait", seconds}, nodes...)...)
	match := oneLeader.FindStringSubmatch(out)
	if match == nil {
		t.Fatalf("scripts/status ended with 0 but names no leader")
	}
	term, err := strconv.Atoi(match[2])
	if err != nil {
		t.Fatal(err)
	}
	return "n" + match[1], term
}

// leaderless waits until each of the nodes knows no leader.
func (c *cluster) leaderless(t *testing.T, nodes ...string) {
	t.Helper()
	want := strings.Join(nodes, " knows no leader; ") + " knows no leader"
	until(t, want, func() (string, bool) {
		out, _ := c.run(filepath.Join(c.dir, "scripts", "status"), nodes...)
		return out, strings.HasSuffix(out, want)
	})
}

// refuted checks that scripts/status, asked about all, denies one leader and
// says why.
func (c *cluster) refuted(t *testing.T) {
	t.Helper()
	out, err := c.run(filepath.Join(c.dir, "scripts", "status"))
	t.Logf("scripts/status\n%s", out)
	if err == nil || !strings.Contains(out, "no one leader: the nodes are cut apart") {
		t.Errorf("scripts/status does not say that the nodes are cut apart (%v)", err)
	}
}

// heals runs scripts/heal, which has to say this.
func (c *cluster) heals(t *testing.T, want string) {
	t.Helper()
	if out := c.script(t, "heal"); !strings.Contains(out, want) {
		t.Errorf("scripts/heal does not say %q", want)
	}
}

// answers waits until a node's status has a text.
func (c *cluster) answers(t *testing.T, node, want string) {
	t.Helper()
	until(t, "a status of "+node+" with "+want, func() (string, bool) {
		out, err := c.inside(t, node, "status", "-o", "json")
		return fmt.Sprintf("%s%v", out, err), strings.Contains(out, want)
	})
}

// await asks until a property of a node's container is as wanted.
func (c *cluster) await(t *testing.T, node, format, want string) {
	t.Helper()
	until(t, format+" of "+node+" that is "+want, func() (string, bool) {
		got := c.inspect(t, node, format)
		return got, got == want
	})
}

// until tries until it is as wanted, for electBound at most.
func until(t *testing.T, want string, try func() (got string, ok bool)) {
	t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(electBound)
	for {
		got, ok := try()
		if ok {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("want %s within %v:\n%s", want, electBound, got)
		}
	}
}

// inside runs the program in a node's container.
func (c *cluster) inside(t *testing.T, node string, args ...string) (string, error) {
	t.Helper()
	return c.run("docker", append([]string{"exec", c.container(t, node), "ringleader"}, args...)...)
}

// inspect prints one property of a node's container.
func (c *cluster) inspect(t *testing.T, node, format string) string {
	t.Helper()
	out, err := c.run("docker", "inspect", "--format", format, c.container(t, node))
	if err != nil {
		t.Fatalf("inspect %s: %v\n%s", node, err, out)
	}
	return out
}

// container is the id of a node's container.
func (c *cluster) container(t *testing.T, node string) string {
	t.Helper()
	id, err := c.run("docker", "ps", "--all", "--quiet",
		"--filter", "label=com.docker.compose.project="+c.project,
		"--filter", "label=com.docker.compose.service=node",
		"--filter", "label=com.docker.compose.container-number="+strings.TrimPrefix(node, "n"))
	if err != nil {
		t.Fatalf("find the container of %s: %v\n%s", node, err, id)
	}
	return id
}

// untilCleanup ends when somebody interrupts the test, or a minute before the
// test binary's own deadline: either would end it without cleaning up.
func untilCleanup(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	t.Cleanup(cancel)
	if deadline, ok := t.Deadline(); ok {
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-time.Minute))
		t.Cleanup(cancel)
	}
	return ctx
}

// missing says what this machine lacks for the test, nil for nothing.
func missing() error {
	if _, err := exec.LookPath("docker"); err != nil {
		return errors.New("there is no docker command")
	}
	if out, err := exec.Command("docker", "version").CombinedOutput(); err != nil {
		return fmt.Errorf("no Docker engine answers: %s", out)
	}
	if exec.Command("docker", "compose", "version").Run() == nil {
		return nil
	}
	if _, err := exec.LookPath("docker-compose"); err != nil {
		return errors.New("there is neither docker compose nor docker-compose")
	}
	return nil
}
