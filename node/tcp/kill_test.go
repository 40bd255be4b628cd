package tcp

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/proto"
)

// victimEnv makes the test binary a node, peer of the one whose address the
// variable has, until it is killed.
const victimEnv = "RINGLEADER_TEST_VICTIM_OF"

// victimsCredentials names the directory of its credentials, if it has any.
const victimsCredentials = "RINGLEADER_TEST_VICTIMS_CREDENTIALS"

func beVictim(parent string) {
	up := make(chan struct{}, 1)
	c := Config{
		Cluster: "demo", Algorithm: "bully", Kinds: catalog.Kinds(), ID: 2, Incarnation: proto.NewIncarnation(),
		Bind: "127.0.0.1:0", Receive: func(proto.Message) {}, Log: zerolog.Nop(),
		Evidence: func(Evidence) { up <- struct{}{} },
	}
	if dir := os.Getenv(victimsCredentials); dir != "" {
		k, err := credentials.Open(dir, credentials.Identity{Cluster: "demo", ID: 2})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		c.Security = k
	}
	tr, err := Listen(c)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	tr.SetPeers([]Peer{{ID: 1, Addr: parent}})
	<-up
	fmt.Println(tr.Addr(), tr.cfg.Incarnation)
	_, _ = io.Copy(io.Discard, os.Stdin) // a parent that dies takes its victim along
}

// startVictim starts node 2 as a process of its own, with more variables, and returns it, its
// incarnation and its address.
func startVictim(t *testing.T, n *node, more ...string) (*os.Process, proto.Incarnation, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), victimEnv+"="+n.Addr().String()), more...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	addr, incarnation, _ := strings.Cut(strings.TrimSpace(line), " ")
	return cmd.Process, incarnationOf(t, incarnation), addr
}

// "The peer with an open TCP connection reads EOF at once, and dialling again
// is refused": SIGKILL of a process is evidence, in this order.
func TestAKilledProcessIsProvenGone(t *testing.T) {
	t.Run("plain", func(t *testing.T) {
		n := start(t, 1)
		process, victim, addr := startVictim(t, n)
		killAndProve(t, n, process, victim, addr)
	})
	t.Run("under TLS", func(t *testing.T) {
		ca := newAuthority(t)
		n := start(t, 1, with(ca.keeper(1)))
		process, victim, addr := startVictim(t, n, victimsCredentials+"="+ca.issue(2))
		killAndProve(t, n, process, victim, addr)
	})
}

func killAndProve(t *testing.T, n *node, process *os.Process, victim proto.Incarnation, addr string) {
	t.Helper()
	n.SetPeers([]Peer{{ID: 2, Incarnation: victim, Addr: addr}})
	begun := time.Now()
	eventually(t, "the link is up, and no longer so new that its loss is not dialled at once",
		func() bool { return n.linked() == 1 && time.Since(begun) > 2*timingFor(defaultPatience).minBackoff })
	killed := time.Now()
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventuallyEqual(t, "evidence", n.events,
		said(proto.LinkUp, victim, 1), said(proto.LinkClosed, victim, 1),
		said(proto.LinkClosed, victim, 0), said(proto.DialRefused, victim, 0))
	t.Logf("proven dead %v after the kill", time.Since(killed))
}

// "No handshake is on the path of a failover between nodes that are up": from the kill to the proof, and to the first
// message between the survivors, none begins.
func TestNoHandshakeInAFailover(t *testing.T) {
	ca := newAuthority(t)
	counts := &counted{Security: ca.keeper(1)}
	a, b := start(t, 1, func(c *Config) { c.Security = counts }), start(t, 3, with(ca.keeper(3)))
	process, victim, addr := startVictim(t, a, victimsCredentials+"="+ca.issue(2))
	begun := time.Now()
	a.SetPeers([]Peer{{ID: 2, Incarnation: victim, Addr: addr}, b.asPeer()})
	b.SetPeers([]Peer{a.asPeer()})
	eventually(t, "the links are up, and no longer so new that their loss is not dialled at once", func() bool {
		return a.linked() == 2 && b.linked() == 1 && time.Since(begun) > 2*timingFor(defaultPatience).minBackoff
	})
	before := counts.handshakes.Load()
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the proof", a.proven)
	a.Send(message(1, 3, 1))
	eventually(t, "the message", func() bool { return len(b.received()) == 1 })
	if after := counts.handshakes.Load(); before == 0 || after != before {
		t.Errorf("%d handshakes before the kill, %d after it", before, after)
	}
}

// counted counts the handshakes that begin.
type counted struct {
	Security
	handshakes atomic.Int64
}

func (c *counted) Dial(conn net.Conn, wanted proto.NodeID) (net.Conn, proto.NodeID, error) {
	c.handshakes.Add(1)
	return c.Security.Dial(conn, wanted)
}

func (c *counted) Accept(ctx context.Context, conn net.Conn) (net.Conn, proto.NodeID, error) {
	c.handshakes.Add(1)
	return c.Security.Accept(ctx, conn)
}

// "Whatever a process leaves unread when it dies, that one ends cleanly": the kernel
// resets both links of a process that is killed with bytes unread on them, and the
// silent connection proves its death.
func TestABusyProcessIsProvenDead(t *testing.T) {
	for _, silent := range [][]proto.NodeID{nil, {1, 2}} {
		n := start(t, 1, func(c *Config) { c.SilentPeers = silent })
		process, victim, addr := startVictim(t, n)
		p := Peer{ID: 2, Incarnation: victim, Addr: addr}
		n.SetPeers([]Peer{p})
		eventually(t, "all connections are up", func() bool {
			return n.linked() == 1 && (silent == nil) == (n.peer(2).silent.conn.Load() == nil)
		})
		if err := process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		if _, err := syscall.Wait4(process.Pid, nil, syscall.WUNTRACED, nil); err != nil {
			t.Fatal(err) // it reads no more once it has stopped
		}
		n.Send(message(1, 2, 1))
		inbound := n.inbound.links[caller{id: 2, incarnation: victim}]
		inbound.say(proto.Pong{Count: 1, Micros: 1000}, time.Minute)
		eventually(t, "all is written", func() bool { return n.peer(2).out.waitingSince() != time.Time{} })
		if err := process.Kill(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "its address refuses", func() bool {
			return slices.Contains(n.events(), said(proto.DialRefused, victim, 0))
		})
		if n.proven() != (silent != nil) {
			t.Errorf("with silent connections to %v: proven %v: %q", silent, n.proven(), n.events())
		}
	}
}

// "One that does not come up, as on a busy machine, is tried again while the link is
// there", and Stats tells whether it is.
func TestSilentConnectionIsTriedAgain(t *testing.T) {
	incarnation := proto.NewIncarnation()
	var tries atomic.Int32
	addr := fake(t, func(r *raw) {
		hello, ok := r.hear().(proto.Hello)
		if !ok || hello.Silent && tries.Add(1) <= 3 {
			return // it is too busy, and ends the connection without a word
		}
		r.say(proto.Welcome{ID: 2, Incarnation: incarnation})
		r.untilClosed()
	})
	n := start(t, 1, func(c *Config) { c.SilentPeers = []proto.NodeID{2} })
	n.SetPeers([]Peer{{ID: 2, Incarnation: incarnation, Addr: addr}})
	eventually(t, "the silent connection is up", func() bool { return n.Stats().Peers[0].Watched })
	if got := tries.Load(); got != 4 {
		t.Errorf("it came up with try %d, want 4", got)
	}
}

func incarnationOf(t *testing.T, s string) proto.Incarnation {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(proto.Incarnation{}) {
		t.Fatalf("incarnation %q: %v", s, err)
	}
	return proto.Incarnation(b)
}
