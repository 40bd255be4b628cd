package examples

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/examples/internal/cluster"
	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/fence/kv"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
)

// clients run at once, each of them so many acts.
func clients(n, acts int, act func(client, i int)) {
	var running sync.WaitGroup
	for client := range n {
		running.Go(func() {
			for i := range acts {
				act(client, i)
			}
		})
	}
	running.Wait()
}

// "Database: Leader accepts writes": no acknowledged write is lost.
func TestDatabase(t *testing.T) {
	t.Parallel()
	c := start(t, "database")
	done := c.killLeaderAt(t, 30)
	clients(4, 20, func(client, i int) {
		c.must(t, "PUT", fmt.Sprintf("/rows/%d-%d", client, i), fmt.Sprint("value ", i))
		done()
	})
	clients(4, 20, func(client, i int) {
		if got := c.must(t, "GET", fmt.Sprintf("/rows/%d-%d", client, i), ""); got != fmt.Sprint("value ", i) {
			t.Errorf("row %d-%d is %q", client, i, got)
		}
	})
	c.checkFenced(t)
}

// "Cache: Leader manages keys": nobody reads what is older than a write that was acknowledged.
func TestCache(t *testing.T) {
	t.Parallel()
	c := start(t, "cache")
	done := c.killLeaderAt(t, 30)
	clients(4, 20, func(client, i int) {
		key := fmt.Sprint("/keys/", client)
		c.must(t, "PUT", key, fmt.Sprint(i))
		if got := c.must(t, "GET", key, ""); got != fmt.Sprint(i) {
			t.Errorf("key %d is %q after %d was written", client, got, i)
		}
		done()
	})
	c.checkFenced(t)
}

// "Lock service: Leader grants locks": one holds it, and each grant has a higher number.
func TestLockService(t *testing.T) {
	t.Parallel()
	c := start(t, "lockservice")
	done := c.killLeaderAt(t, 30)
	var holders, last atomic.Int64
	clients(4, 12, func(client, i int) {
		lock := fmt.Sprintf("/locks/printer/%d-%d", client, i)
		answer, err := c.ask("POST", lock, "")
		for ; refused(err); answer, err = c.ask("POST", lock, "") { // another holds it
			time.Sleep(time.Millisecond) // another process: it can only be asked again
		}
		if n := holders.Add(1); n != 1 {
			t.Errorf("%d hold it at once", n)
		}
		var number int64
		if _, bad := fmt.Sscan(answer, &number); err != nil || bad != nil || last.Swap(number) >= number {
			t.Errorf("grant %q is not above the one before: %v", answer, err)
		}
		done()
		holders.Add(-1)
		c.must(t, "DELETE", lock, "")
	})
	c.checkFenced(t)
}

func refused(err error) bool {
	_, is := errors.AsType[cluster.Refused](err)
	return is
}

// "Scheduler: Leader distributes tasks": no job is lost, and none is done twice.
func TestScheduler(t *testing.T) {
	t.Parallel()
	c := start(t, "scheduler")
	done := c.killLeaderAt(t, 30)
	clients(2, 30, func(client, i int) {
		c.must(t, "POST", fmt.Sprintf("/jobs/%d-%d", client, i), "")
		done()
	})
	var did []string
	c.await(t, "the last job", func() bool {
		did = strings.Fields(c.must(t, "GET", "/done", ""))
		return len(did) >= 60
	})
	slices.Sort(did)
	if unique := slices.Compact(slices.Clone(did)); len(unique) != 60 || len(did) != 60 {
		t.Errorf("%d jobs of 60 are done, %d times", len(unique), len(did))
	}
	c.once(t, "did")
	c.checkFenced(t)
}

// once checks that the processes said no line of that kind twice.
func (c *trio) once(t *testing.T, kind string) {
	t.Helper()
	by := map[string]string{}
	for _, line := range c.lines(": " + kind + " ") {
		who, what, _ := strings.Cut(line, ": ")
		if other, twice := by[what]; twice {
			t.Errorf("%q of %s and of %s", what, other, who)
		}
		by[what] = who
	}
}

// "Queue: Leader assigns partitions": each has one owner, and no offset is consumed twice.
func TestQueue(t *testing.T) {
	t.Parallel()
	c := start(t, "queue")
	c.await(t, "work", func() bool { return len(c.lines(": consumed ")) > 60 })
	killed := c.killLeader(t)
	at := len(c.lines(": consumed "))
	c.await(t, "somebody else to consume each partition", func() bool {
		seen := map[string]bool{}
		for _, line := range c.lines(": consumed ")[at:] {
			if part := strings.Fields(line); part[0] != fmt.Sprintf("%d:", killed) {
				seen[part[2]] = true
			}
		}
		return len(seen) == 6
	})
	kept, err := c.storage.Get("queue")
	if err != nil || bytes.Count(kept.Data, []byte(`"Owner"`)) != 6 ||
		bytes.Contains(kept.Data, []byte(`"Owner":""`)) ||
		bytes.Contains(kept.Data, fmt.Appendf(nil, `"Owner":"%d"`, killed)) {
		t.Errorf("each partition wants one owner that lives: %s, %v", kept.Data, err)
	}
	for offset := range len(c.lines(": consumed 0 ")) + 20 {
		if _, err := c.ask("POST", fmt.Sprintf("/consumed/0/%d/stranger", offset), ""); !refused(err) {
			t.Errorf("a stranger consumes message %d: %v", offset, err)
		}
	}
	c.once(t, "consumed")
	c.checkFenced(t)
}

// "Who provides total ordering for multicasts": all nodes deliver the same messages in the same order, and
// every number that was acknowledged is that message's.
func TestSequencer(t *testing.T) {
	t.Parallel()
	c := start(t, "sequencer")
	done := c.killLeaderAt(t, 20)
	var mu sync.Mutex
	numbered, last := map[string]string{}, 0
	clients(4, 10, func(client, i int) {
		text := fmt.Sprintf("message-%d-%d", client, i)
		number := c.must(t, "POST", "/messages", text)
		mu.Lock()
		if other, twice := numbered[number]; twice {
			t.Errorf("%s is the number of %s and of %s", number, other, text)
		}
		numbered[number] = text
		n, _ := strconv.Atoi(number)
		last = max(last, n)
		mu.Unlock()
		done()
	})
	order := map[byte][]string{}
	c.await(t, "two nodes to deliver everything", func() bool {
		clear(order)
		for _, line := range c.lines(": delivers ") {
			order[line[0]] = append(order[line[0]], line[len("1: delivers "):])
		}
		full := 0
		for _, messages := range order {
			if len(messages) >= last {
				full++
			}
		}
		return full == 2
	})
	for node, messages := range order {
		for i, message := range messages {
			number, text, _ := strings.Cut(message, " ")
			if number != fmt.Sprint(i+1) || numbered[number] != "" && numbered[number] != text {
				t.Errorf("node %c delivers %q as number %d, which is %q", node, message, i+1, numbered[number])
			}
			for other := range order {
				if len(order[other]) > i && order[other][i] != message {
					t.Errorf("nodes %c and %c deliver %q and %q", node, other, message, order[other][i])
				}
			}
		}
	}
	c.checkFenced(t)
}

// "Who is the root server in a NTP hierarchy": all clocks agree, and the next root goes on with the time
// of the one before, although its own clock is wrong by hours.
func TestNTP(t *testing.T) {
	t.Parallel()
	wrong := []time.Duration{0, time.Hour, -2 * time.Hour}
	c := start(t, "ntp", "-wrong=0", "-wrong=1h", "-wrong=-2h")
	agreed := func(by time.Duration, strata string) bool { // all that live tell the same time, with one root
		var found []string
		for i, addr := range c.addrs {
			if c.processes[i] == nil {
				continue
			}
			var stratum string
			var told int64
			if _, err := fmt.Sscan(get(t, "http://"+addr+"/clock"), &stratum, &told); err != nil {
				t.Fatal(err)
			}
			if off := time.Until(time.Unix(0, told)) - by; off.Abs() < time.Minute {
				found = append(found, stratum)
			}
		}
		slices.Sort(found)
		return strings.Join(found, " ") == strata
	}
	var root int
	c.await(t, "a root", func() bool { return len(c.lines(": leads ")) > 0 })
	_, _ = fmt.Sscanf(c.lines(": leads ")[0], "%d:", &root)
	c.await(t, "one time", func() bool { return agreed(wrong[root-1], "1 2 2") })
	c.killLeader(t)
	c.await(t, "the next root with the same time", func() bool { return agreed(wrong[root-1], "1 2") })
}

// "What if there are two leaders, what if servers disagree, what if the leader crashes": the balance is that
// of the deposits that were acknowledged, on both replicas that are left.
func TestBank(t *testing.T) {
	t.Parallel()
	c := start(t, "bank")
	done := c.killLeaderAt(t, 20)
	clients(4, 10, func(client, i int) {
		deposit := fmt.Sprintf("/deposits/%d-%d/%d", client, i, client+1)
		c.must(t, "POST", deposit, "")
		c.must(t, "POST", deposit, "") // which counts no second time
		done()
	})
	const want = 10 * (1 + 2 + 3 + 4)
	if balance := c.must(t, "GET", "/balance", ""); balance != fmt.Sprint(want) {
		t.Errorf("the balance is %s, want %d", balance, want)
	}
	for i, addr := range c.addrs {
		if c.processes[i] == nil {
			continue
		}
		sum, replica := 0, kv.NewClient("http://"+addr)
		for booking := 1; booking <= 40; booking++ {
			var name string
			var amount int
			v, err := replica.Get(t.Context(), fence.Token{}, fmt.Sprint("booking/", booking))
			if _, bad := fmt.Sscan(string(v.Data), &name, &amount); err != nil || bad != nil {
				t.Fatalf("booking %d of replica %d: %v, %v", booking, i+1, err, bad)
			}
			sum += amount
		}
		status, err := replica.Status(t.Context())
		if err != nil || sum != want {
			t.Errorf("replica %d: %d, want %d, %v", i+1, sum, want, err)
		}
		former := status.Token
		former.Term--
		if err := replica.Put(t.Context(), former, "booking/1", nil); err == nil {
			t.Errorf("replica %d takes a booking of a former leader", i+1)
		}
	}
}

// The notes' anti-patterns do harm, and beside them the right way does none.
func TestAntiPatterns(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	note := func(line []byte) { fmt.Fprintf(&said, "%s\n", line) }
	p, err := testcluster.StartHelper([]string{filepath.Join(binaries, "antipatterns")}, t.Output(), note)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	if err := p.Finish(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"bad way: 5 acknowledged writes lost; right way: 0", "bad way: 3 times two led; right way: 0",
		"bad way: 1 leader too many; right way: 0",
	} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("no %q in:\n%s", want, &said)
		}
	}
}

// "At most 80 lines": who learns from a program reads all of it.
func TestProgramsAreShort(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if n := bytes.Count(text, []byte("\n")); n > 80 {
			t.Errorf("%s has %d lines", path, n)
		}
		seen++
		return err
	})
	if err != nil || seen < 9 {
		t.Errorf("%d files, %v", seen, err)
	}
}
