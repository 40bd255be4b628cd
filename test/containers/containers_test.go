// Package containers_test runs docker-compose.yml on a real engine and does to
// it, by scripts/, what people do by hand: kill, pause, cut, heal, restart.
package containers_test

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/long"
	"github.com/ringleader-dev/ringleader/internal/needs"
)

// Bounds on what usually takes a few seconds. They are wide because the engine,
// five nodes and the other tests may share two cores.
const (
	electBound = 2 * time.Minute
	healBound  = 3 * time.Minute
)

var allNodes = []string{"n1", "n2", "n3", "n4", "n5"}

func without(gone ...string) []string {
	return slices.DeleteFunc(slices.Clone(allNodes), func(name string) bool {
		return slices.Contains(gone, name)
	})
}

// needEngine ends the test where there is no engine.
func needEngine(t *testing.T) {
	t.Helper()
	needs.Here(t, "a cluster of containers", missing())
}

// "After any of them scripts/status shows one leader, or says why not."
func TestContainers(t *testing.T) {
	t.Parallel()
	needEngine(t)
	algorithm := "bully"
	if long.Test(t) {
		algorithm = "ring"
	}
	startCluster(t, "", "ALGORITHM="+algorithm).faults(t, []fault{
		{"starts", starts},
		{"secured", secured},
		{"kill", kill},
		{"pause", pause},
		{"cut the leader off", cutLeader},
		{"cut a group off", cutGroup},
		{"cut off and joined by hand", byHand},
		{"rolling restart", rollingRestart},
		{"random kills", chaos},
		{"stop", stop},
	})
}

func TestLongContainers(t *testing.T) { TestContainers(t) }

// And without voters.
func TestLongContainersBestEffort(t *testing.T) {
	needEngine(t)
	startCluster(t, "", "VOTERS=none").faults(t, []fault{
		{"cut the leader off", cutLeaderUnvoted},
		{"cut a group off", cutGroupUnvoted},
	})
}

// "1 to 50; n10 and above work; ids and voters follow without editing, ids are stable over
// restarts; it ends by printing the URLs and the next three commands."
func TestLongNodes(t *testing.T) {
	needEngine(t)
	c := startCluster(t, "", "NODES=11")
	urls := regexp.MustCompile(`(?m)^n(\d+)  (https://127\.0\.0\.1:\d+)/v1/status$`)
	ports := map[string]bool{}
	for _, node := range urls.FindAllStringSubmatch(c.started, -1) {
		if ports[node[2]] {
			t.Errorf("two nodes at %s", node[2])
		}
		ports[node[2]] = true
		c.answers(t, "n"+node[1], `"self":`+node[1]+`,`)
	}
	next := regexp.MustCompile(`(?m)^  scripts/\S+ .* # `).FindAllString(c.started, -1)
	if len(ports) != 11 || len(next) != 3 {
		t.Errorf("%d URLs, next %q", len(ports), next)
	}
	c.leader(t, healBound)
	c.script(t, "restart", "n10")
	c.leader(t, healBound)
	c.answers(t, "n10", `"self":10,`)
	c.answers(t, "n10", `"voters":[1,2,3,4,5,6,7,8,9,10,11]`)

	out, err := c.run("bash", "-c", c.compose()+" up --detach --no-build --scale node=12")
	if err != nil {
		t.Fatalf("--scale: %v\n%s", err, out)
	}
	c.leader(t, healBound)
	c.answers(t, "n12", `"self":12,`)
	if out, err := c.run("env", "NODES=12", c.dir+"/scripts/up"); err == nil ||
		!strings.Contains(out, "the data of this cluster is of the voters 1-11, and 1-12 are others") {
		t.Errorf("other voters with the same data: %v\n%s", err, out)
	}
}

// "Plain docker-compose up on a fresh clone works, or says in its first line what to type."
func TestFreshClone(t *testing.T) {
	needEngine(t)
	c := &cluster{dir: t.TempDir(), ctx: untilCleanup(t), env: os.Environ()}
	c.checkout(t)
	out, err := c.run("bash", "-c", "unset RINGLEADER_IMAGE; "+c.compose()+" up")
	if first, _, _ := strings.Cut(out, "\n"); err == nil || !strings.Contains(first, "type make up") {
		t.Errorf("%v\n%s", err, out)
	}
}

// fault is something that is done to the whole cluster, and what must come of it.
type fault struct {
	name string
	test func(*testing.T, *cluster)
}

// faults does one after the other, as long as each leaves the whole cluster.
func (c *cluster) faults(t *testing.T, faults []fault) {
	for _, f := range faults {
		if !t.Run(f.name, func(t *testing.T) { f.test(t, c) }) {
			return
		}
	}
}

// All agree on one leader, each container is found healthy, and the log is one
// JSON record a line.
func starts(t *testing.T, c *cluster) {
	c.leader(t, electBound)
	for _, node := range allNodes {
		c.await(t, node, "{{.State.Health.Status}}", "healthy")
	}
	for line := range strings.Lines(c.script(t, "logs")) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not a JSON record: %s", line)
		}
	}
}

// "Secured from the first second": the nodes serve HTTPS, to who has a token; what scripts/up prints asks them; the
// user alone can read what it copied for that; no node has the key of the authority; and `up` keeps all credentials.
func secured(t *testing.T, c *cluster) {
	at := regexp.MustCompile(`(?m)^n1  https://(127\.0\.0\.1:\d+)/v1/status$`).FindStringSubmatch(c.started)
	if at == nil {
		t.Fatal("scripts/up printed no URL of n1")
	}
	strangers := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
	}}
	for scheme, want := range map[string]int{"http": http.StatusBadRequest, "https": http.StatusUnauthorized} {
		r, err := strangers.Get(scheme + "://" + at[1] + "/v1/status")
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("%s without a token: %s, want %d", scheme, r.Status, want)
		}
	}
	told := regexp.MustCompile(`(?m)^  (bin/ringleader|curl) .*`).FindAllString(c.started, -1)
	if len(told) != 2 {
		t.Errorf("scripts/up told %d ways to ask, want 2", len(told))
	}
	if _, err := exec.LookPath("curl"); err != nil {
		told = told[:1]
	}
	for _, line := range told {
		until(t, "an answer to "+line, func() (string, bool) {
			out, err := c.run("bash", "-c", line)
			return fmt.Sprintf("%s\n%v", out, err), err == nil && strings.Contains(out, "compose")
		})
	}
	operator := filepath.Join(c.dir, "bin", "operator")
	for path, want := range map[string]os.FileMode{operator: 0o700, filepath.Join(operator, "api.token"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: want mode %o, got %v, %v", path, want, info, err)
		}
	}
	if out, err := c.inside(t, "n1", "certs", "renew", "--dir", "/credentials", "--nodes", "1"); err == nil ||
		!strings.Contains(out, "there is none in /credentials") {
		t.Errorf("a node has the authority: %v\n%s", err, out)
	}
	keys := c.oneKey(t)
	if out, err := c.run("bash", "-c", c.compose()+" up --detach --no-build"); err != nil {
		t.Fatalf("up once more: %v\n%s", err, out)
	}
	if again := c.oneKey(t); again != keys {
		t.Errorf("up once more: keys of gossip were\n%s\nand are\n%s", keys, again)
	}
}

// oneKey waits until all nodes say that they have one key of gossip and seal with it, and returns what that shows. A
// node answers within seconds, but on a busy machine.
func (c *cluster) oneKey(t *testing.T) (keys string) {
	t.Helper()
	until(t, "one key that all nodes seal with", func() (string, bool) {
		out, err := c.inside(t, "n1", "keys", "list")
		keys = out
		return fmt.Sprintf("%s\n%v", out, err), err == nil && strings.Count(out, " 1 2 3 4 5") == 2
	})
	return keys
}

// A killed leader is replaced and stays dead; started again it joins.
func kill(t *testing.T, c *cluster) {
	_, term := c.leader(t, electBound)
	old := strings.TrimPrefix(c.script(t, "kill-leader"), "killed ")
	next, nextTerm := c.leader(t, electBound)
	if next == old || nextTerm <= term {
		t.Errorf("%s leads term %d after %s of term %d was killed", next, nextTerm, old, term)
	}
	if state := c.inspect(t, old, "{{.State.Status}}"); state != "exited" {
		t.Errorf("the killed %s is %s, want exited", old, state)
	}
	c.script(t, "restart", old)
	c.leader(t, electBound)
	toldOfKill(t, c, old, next, term, nextTerm)
}

// "docker-compose logs | ringleader rounds" lists the round that followed a kill, and who led in
// the end; scripts/rounds shows the whole of it. On a busy machine the voters may answer too late in
// the first term after the kill: then the line of the second is about both.
func toldOfKill(t *testing.T, c *cluster, old, next string, term, nextTerm int) {
	t.Helper()
	list, err := c.run("bash", "-c", "set -o pipefail; "+c.compose()+" logs | bin/ringleader rounds")
	t.Logf("logs | ringleader rounds\n%s", list)
	id := strings.TrimPrefix(old, "n")
	line := regexp.MustCompile(`(?m)^ *(\d+)(-\d+)? .* (leader ` + id + ` is gone: |the process of node ` + id +
		` ended |node ` + id + ` stopped answering )`)
	of := 0
	if m := line.FindStringSubmatch(list); m != nil {
		of, _ = strconv.Atoi(m[1])
	}
	if err != nil || of <= term || of > nextTerm {
		t.Errorf("%v; of the terms %d to %d none is held since %s is gone", err, term+1, nextTerm, old)
	}
	won := fmt.Sprintf(`(?m)^ *(\d+-)?%d +\S+ +%s `, nextTerm, strings.TrimPrefix(next, "n"))
	if !regexp.MustCompile(won).MatchString(list) {
		t.Errorf("no line of term %d, led by %s", nextTerm, next)
	}
	shown := c.script(t, "rounds", strconv.Itoa(nextTerm))
	if want := fmt.Sprintf("Term %d of cluster compose, ", nextTerm); !strings.HasPrefix(shown, want) {
		t.Errorf("scripts/rounds %d does not begin with %q", nextTerm, want)
	}
}

// The others replace a frozen leader; when it goes on, one of the two leaders
// steps down.
func pause(t *testing.T, c *cluster) {
	old, term := c.leader(t, electBound)
	c.script(t, "pause", old)
	next, nextTerm := c.leader(t, electBound)
	if next == old || nextTerm <= term {
		t.Errorf("%s leads term %d after %s of term %d was paused", next, nextTerm, old, term)
	}
	c.script(t, "unpause", old)
	c.leader(t, healBound)
}

// "Without a majority it steps down before the promises end": the others elect,
// and the old leader leads no more. After the cut they become one again.
func cutLeader(t *testing.T, c *cluster) {
	old, _ := c.leader(t, electBound)
	c.script(t, "cut", old)
	c.leader(t, electBound, without(old)...)
	c.leaderless(t, old)
	c.refuted(t)
	c.script(t, "heal")
	c.leader(t, healBound)
}

// "A majority of voters grants the nominee the term": a smaller group elects
// nobody, the larger one does.
func cutGroup(t *testing.T, c *cluster) {
	c.script(t, "cut", "n1", "n2")
	c.leader(t, electBound, without("n1", "n2")...)
	c.leaderless(t, "n1", "n2")
	c.refuted(t)
	c.heals(t, "n1 was on "+c.project+"_cut_n1_n2: moved to "+c.project+"_cluster")
	c.leader(t, healBound)
}

// "docker network disconnect and connect by hand come back by themselves", also where each
// gets the address that another had; and scripts/heal "mends every cut, its own or not, and
// says what it did".
func byHand(t *testing.T, c *cluster) {
	network := c.project + "_cluster"
	by := func(verb string, nodes ...string) {
		t.Helper()
		for _, node := range nodes {
			if out, err := c.run("docker", "network", verb, network, c.container(t, node)); err != nil {
				t.Fatalf("docker network %s %s: %v\n%s", verb, node, err, out)
			}
		}
	}
	by("disconnect", "n4", "n5")
	c.leader(t, electBound, without("n4", "n5")...)
	c.refuted(t)
	by("connect", "n5", "n4")
	c.leader(t, healBound)
	c.heals(t, "n4 had no name on "+network+": joined it again")
	by("disconnect", "n3")
	c.heals(t, "n3 was on no network: joined "+network)
	c.leader(t, healBound)
	c.heals(t, "no node was cut off: nothing to heal")
}

// The others elect while the old leader, which cannot know, goes on: best
// effort. After the cut they become one again.
func cutLeaderUnvoted(t *testing.T, c *cluster) {
	old, _ := c.leader(t, electBound)
	c.script(t, "cut", old)
	c.leader(t, electBound, without(old)...)
	if alone, _ := c.leader(t, electBound, old); alone != old {
		t.Errorf("%s, cut off, follows %s", old, alone)
	}
	c.refuted(t)
	c.script(t, "heal")
	c.leader(t, healBound)
}

// A group that is cut off still reaches its own: it elects a leader, too.
func cutGroupUnvoted(t *testing.T, c *cluster) {
	c.script(t, "cut", "n1", "n2")
	c.leader(t, electBound, "n1", "n2")
	c.leader(t, electBound, without("n1", "n2")...)
	c.refuted(t)
	c.script(t, "heal")
	c.leader(t, healBound)
}

func rollingRestart(t *testing.T, c *cluster) { c.script(t, "rolling-restart") }

func chaos(t *testing.T, c *cluster) { c.script(t, "chaos", "--seed", "1", "--rounds", "2") }

// "SIGTERM and SIGINT resign, leave and exit 0 … Works as PID 1."
func stop(t *testing.T, c *cluster) {
	old, _ := c.leader(t, electBound)
	id := c.inspect(t, old, "{{.Id}}")
	if out, err := c.run("docker", "stop", id); err != nil {
		t.Fatalf("docker stop: %v\n%s", err, out)
	}
	if code := c.inspect(t, old, "{{.State.ExitCode}}"); code != "0" {
		t.Errorf("%s ended with %s on SIGTERM, want 0", old, code)
	}
	c.leader(t, electBound)
}
