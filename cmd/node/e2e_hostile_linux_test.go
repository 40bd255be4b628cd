//go:build hostile

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/needs"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

var (
	flagFrames = flag.Int("frames", 9000, "how many `frames` TestHostileTraffic sends: of garbage, of valid "+
		"shape and of replayed traffic together")
	flagHostileBudget = flag.Duration("hostile-budget", 2*time.Second,
		"`TIME`: the failover budget of the nodes of TestHostileTraffic")
)

// mostMemory is by how much the resident memory of a node may grow while strangers attack it.
const mostMemory = 32 << 20

// hostileNodes are the nodes under attack. The attacker and the client have hosts of their own on the same switch.
const hostileNodes = 3

// hostile is a cluster with credentials under attack. Each node has a network of its own.
type hostile struct {
	e2e
	attacker string                  // the namespace of the attacker
	relays   map[proto.NodeID]string // where this process reaches the HTTP service of each node
	rest     map[proto.NodeID]int    // bytes of memory before the first attack
	before   testcluster.Belief      // who led before the first attack
	*recording
}

// "Hostile traffic, measured against a live cluster of three under load, in network namespaces. No leader lost, no
// panic, memory within 32 MiB of rest, a fresh honest node joins within seconds meanwhile." The attacker has no
// credentials, and hears all that is sent; of the last kind but one he has the key of gossip.
func TestHostileTraffic(t *testing.T) {
	h := newHostile(t)
	lent := h.lends(h.client(h.before.Leader))
	share := *flagFrames / 3
	for _, kind := range []struct {
		name   string
		frames int
		attack func(*attack)
	}{
		{"garbage", share, (*attack).garbage},
		{"valid shape", share, (*attack).validShape},
		{"replayed", share, (*attack).replayed},
		{"slow and half-open connections", min(share, 30000), (*attack).slow},
		{"unfinished handshakes of TLS", min(share, 30000), (*attack).unfinished},
		{"huge and compressed gossip, also with the key", min(share, 30000), (*attack).huge},
		{"HTTP: floods, slow bodies, big headers", min(share, 30000), (*attack).http},
	} {
		h.suffer(kind.name, kind.frames, kind.attack)
	}
	if n := lent(); n == 0 {
		t.Error("no lease was lent meanwhile")
	} else {
		t.Logf("meanwhile the leader lent its lease %d times", n)
	}
}

func newHostile(t *testing.T) *hostile {
	const hosts = hostileNodes + 2
	needs.Here(t, "hostile traffic in networks of its own", testcluster.MayCut(hosts))
	w, err := testcluster.NewNetwork(hosts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	all := w.Hosts()
	h := &hostile{
		e2e: newE2EAs(t, testcluster.Config{
			Nodes: hostileNodes, Algorithm: "bully", Secured: true, Hosts: all[:hostileNodes],
			Args: []string{"--voters", "1-3", "--preempt=false", "--failover-budget", flagHostileBudget.String()},
		}),
		attacker: namespace(all[hostileNodes]), relays: map[proto.NodeID]string{}, rest: map[proto.NodeID]int{},
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	t.Cleanup(cancel)
	h.ctx = ctx
	h.recording = h.record(all[:hostileNodes])
	for i, n := range h.Nodes() {
		h.start(n.ID)
		h.relays[n.ID] = h.relay(namespace(all[hostileNodes+1]), all[i].IP+":7948")
	}
	h.before = h.agreed()
	for _, n := range h.Nodes() {
		h.told(n.ID, func(s httpapi.Status) bool { return len(s.Alive) == hostileNodes })
	}
	h.eventually(h.recording.lacks)
	h.recording.stop()
	for _, n := range h.Nodes() {
		h.rest[n.ID] = residentMemory(t, h.PID(n.ID))
	}
	return h
}

// start starts a node, whose HTTP service is for others, too.
func (h *hostile) start(id proto.NodeID) {
	h.Helper()
	h.check(h.Start(id, "--http-bind", h.ip(id)+":7948"))
}

func (h *hostile) ip(id proto.NodeID) string {
	ip, _, _ := net.SplitHostPort(h.Node(id).Gossip)
	return ip
}

// client returns a client of a node. Its requests come from the client's host.
func (h *hostile) client(id proto.NodeID) httpapi.Client {
	h.Helper()
	c, err := h.Client(id)
	h.check(err)
	c.Addr = h.relays[id]
	return c
}

// told is as that of securedE2E.
func (h *hostile) told(id proto.NodeID, wanted func(httpapi.Status) bool) httpapi.Status {
	h.Helper()
	return h.statusOf(h.client(id), wanted)
}

// suffer lets an attacker send frames of one kind, and more of them until a node that was killed when he began is
// back. Then it looks what came of it.
func (h *hostile) suffer(name string, frames int, kind func(*attack)) {
	h.Helper()
	follower := without(h.before.Leader, 1, 2, 3)[0]
	victims := without(follower, 1, 2, 3)
	used := map[proto.NodeID]int{}
	for _, id := range victims {
		used[id] = processorTicks(h.T, h.PID(id))
	}
	peak, look := h.watchMemory()
	ctx, cancel := context.WithTimeout(h.Context(), 5*patience)
	h.ctx = ctx
	a := &attack{T: h.T, h: h, wanted: int64(frames), end: ctx}
	began := time.Now()
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel()
	for range 2 {
		workers.Go(func() {
			enterNamespace(h.T, h.attacker)
			kind(a)
		})
	}
	_, err := h.Kill(follower)
	h.check(err)
	h.told(h.before.Leader, func(s httpapi.Status) bool { return len(s.Alive) == hostileNodes-1 })
	restarted := time.Now()
	h.start(follower)
	h.agreed()
	h.told(h.before.Leader, func(s httpapi.Status) bool { return len(s.Alive) == hostileNodes })
	back := time.Since(restarted)
	a.over.Store(true)
	workers.Wait()
	took := time.Since(began)
	look()

	after := h.agreed()
	if after != h.before {
		h.Fatalf("%s: %+v lead, it was %+v before", name, after, h.before)
	}
	var memory, processor []string
	for _, n := range h.Nodes() {
		if code, words, ended := h.Ended(n.ID); ended {
			h.Errorf("%s: node %v ended with %d: %s", name, n.ID, code, words)
		}
		more := peak[n.ID] - h.rest[n.ID]
		memory = append(memory, fmt.Sprintf("%+.1f", float64(more)/(1<<20)))
		if more > mostMemory && !underRace {
			h.Errorf("%s: node %v has %d bytes of memory more than at rest", name, n.ID, more)
		}
	}
	for _, id := range victims {
		ticks := processorTicks(h.T, h.PID(id)) - used[id]
		processor = append(processor, fmt.Sprintf("%.0f", float64(ticks)/took.Seconds())) // of 100 a second
	}
	h.Logf("%-46s %8d frames in %5.1f s; leader %v of term %d, before and after %v of %d; memory %s MiB above rest; "+
		"processor %s %% of a core; a node was back after %.1f s", name+":", a.sent.Load(), took.Seconds(),
		h.before.Leader, h.before.Term, after.Leader, after.Term, strings.Join(memory, ", "),
		strings.Join(processor, ", "), back.Seconds())
}

// watchMemory notes the most memory that each node has, until the function look is called.
func (h *hostile) watchMemory() (peak map[proto.NodeID]int, look func()) {
	peak = map[proto.NodeID]int{}
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.NewTicker(50 * time.Millisecond); ; {
			for _, n := range h.Nodes() {
				if now, err := procStatus(h.PID(n.ID)); err == nil { // it may be down
					peak[n.ID] = max(peak[n.ID], now)
				}
			}
			select {
			case <-tick.C:
			case <-over:
				return
			}
		}
	}()
	return peak, func() { close(over); <-done }
}

// procStatus returns the bytes of resident memory of a process.
func procStatus(pid int) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, fmt.Errorf("process %d has ended", pid)
	}
	kib, err := strconv.Atoi(fields[0])
	return kib << 10, err
}

func residentMemory(t *testing.T, pid int) int {
	t.Helper()
	n, err := procStatus(pid)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// processorTicks returns the processor time of a process, in user and in system mode, in hundredths of a second.
func processorTicks(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		t.Fatal(err)
	}
	system, err := strconv.Atoi(fields[12])
	if err != nil {
		t.Fatal(err)
	}
	return user + system
}

// relay passes connections of this process on to an address, from a namespace.
func (h *hostile) relay(namespace, to string) string {
	h.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	h.check(err)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer in.Close()
				out, err := dialFrom(h.T, namespace, to)
				if err != nil {
					return
				}
				defer out.Close()
				go func() {
					_, _ = io.Copy(out, in)
					_ = out.Close()
				}()
				_, _ = io.Copy(in, out)
			})
		}
	})
	h.Cleanup(func() { _ = ln.Close(); wg.Wait() })
	return ln.Addr().String()
}

// attack is what an attacker sends. Some goroutines run it, each on a thread in the attacker's namespace.
type attack struct {
	*testing.T
	h      *hostile
	wanted int64
	sent   atomic.Int64
	over   atomic.Bool     // may end as soon as all is sent
	end    context.Context // when it ends in any case
}

// more counts n frames, and reports whether there is more to send.
func (a *attack) more(n int) bool {
	enough := a.sent.Add(int64(n)) >= a.wanted
	if enough {
		time.Sleep(time.Millisecond) // it only goes on
	}
	return a.end.Err() == nil && (!enough || !a.over.Load())
}

// namespace returns the name of the namespace of a host.
func namespace(h testcluster.Host) string { return h.Enter[len(h.Enter)-1] }
