package membership

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/proto"
)

// loopbackConfig is that of a node on real sockets.
func loopbackConfig(id proto.NodeID, join ...string) Config {
	return Config{
		Self:    proto.Peer{ID: id, Incarnation: proto.NewIncarnation()},
		Cluster: "demo", Algorithm: "bully",
		Bind: netip.MustParseAddrPort("127.0.0.1:0"), ElectionAddr: "127.0.0.1:1", Join: join,
		Probe: func(context.Context, string) (proto.NodeID, proto.Incarnation, error) {
			return 0, proto.Incarnation{}, syscall.ECONNREFUSED
		},
		Logger: zerolog.Nop(),
	}
}

func startLoopback(t *testing.T, cfg Config) *Group {
	t.Helper()
	g, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

// awaitAlive reads views until one lists so many.
func awaitAlive(t *testing.T, g *Group, count int) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		select {
		case v, ok := <-g.Views():
			if !ok {
				t.Fatal("the views ended")
			}
			if len(v.Alive) == count {
				return
			}
		case <-deadline:
			t.Fatalf("no view of %d", count)
		}
	}
}

// Over real sockets: two nodes find each other, by name and with port 0, and a
// leave is seen.
func TestLoopback(t *testing.T) {
	a := startLoopback(t, loopbackConfig(1))
	_, port, _ := net.SplitHostPort(a.GossipAddr())
	b := startLoopback(t, loopbackConfig(2, "localhost:"+port))
	awaitAlive(t, a, 2)
	awaitAlive(t, b, 2)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := b.Leave(ctx); err != nil {
		t.Errorf("leave: %v", err)
	}
	for v := range a.Views() {
		if len(v.Alive) == 1 {
			if v.Evidence[len(v.Evidence)-1] != "left 2" {
				t.Errorf("told %v", v.Evidence)
			}
			break
		}
	}
	if err := a.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if _, ok := <-a.Views(); ok {
		t.Error("a view after the end")
	}
}

// slowStreams hands a node the streams that others open to it late, as a busy machine
// does; packets come in time.
type slowStreams struct {
	memberlist.Transport
	late chan net.Conn
}

func newSlowStreams(t *testing.T, of memberlist.Transport, by time.Duration) slowStreams {
	s, over := slowStreams{of, make(chan net.Conn, 100)}, make(chan struct{})
	t.Cleanup(func() { close(over) })
	go func() {
		for {
			select {
			case conn := <-of.StreamCh():
				time.AfterFunc(by, func() { s.late <- conn })
			case <-over:
				return
			}
		}
	}()
	return s
}

func (s slowStreams) StreamCh() <-chan net.Conn { return s.late }

// "Gossip, which is next, must not come first": a leave is told from a death although
// the goodbye takes longer than gossip.
func TestGoodbyeComesFirst(t *testing.T) {
	cfg := loopbackConfig(1)
	network, err := cfg.open()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Transport = newSlowStreams(t, network, streamTimeout/2)
	a := startLoopback(t, cfg)
	b := startLoopback(t, loopbackConfig(2, a.GossipAddr()))
	awaitAlive(t, b, 2)
	awaitAlive(t, a, 2)
	if err := b.Leave(t.Context()); err != nil {
		t.Errorf("leave: %v", err)
	}
	for v := range a.Views() {
		if len(v.Alive) == 1 {
			if v.Evidence[len(v.Evidence)-1] != "left 2" {
				t.Errorf("told %v", v.Evidence)
			}
			break
		}
	}
}

// "A node that does not know yet whether it is alone has no view": the first of one
// that joins others lists them, however slow the machine is.
func TestFirstViewIsOfAll(t *testing.T) {
	a := startLoopback(t, loopbackConfig(1))
	if v := <-a.Views(); len(v.Alive) != 1 {
		t.Errorf("the first of all sees %v", v)
	}
	b := startLoopback(t, loopbackConfig(2, a.GossipAddr()))
	if v := <-b.Views(); len(v.Alive) != 2 {
		t.Errorf("its first view is %v", v)
	}
}

// "Port in use: a clear error naming the address."
func TestPortInUse(t *testing.T) {
	a := startLoopback(t, loopbackConfig(1))
	cfg := loopbackConfig(2)
	cfg.Bind = netip.MustParseAddrPort(a.GossipAddr())
	_, err := Start(cfg)
	if err == nil {
		t.Fatal("started")
	}
	words := err.Error()
	if !errors.Is(err, ErrAddrInUse) || !strings.Contains(words, a.GossipAddr()) ||
		!strings.Contains(words, "another process") {
		t.Errorf("%v", err)
	}
}

// "Hostile gossip bytes": random bytes, cut frames and giant lengths, over UDP
// and TCP. The group survives, its view does not change, and it still works.
func TestHostileBytes(t *testing.T) {
	a := startLoopback(t, loopbackConfig(1))
	b := startLoopback(t, loopbackConfig(2, a.GossipAddr()))
	awaitAlive(t, a, 2)
	awaitAlive(t, b, 2)

	packets, err := net.Dial("udp", a.GossipAddr())
	if err != nil {
		t.Fatal(err)
	}
	defer packets.Close()
	random := rand.New(rand.NewPCG(1, 2))
	for _, frame := range hostileFrames(random) {
		_, _ = packets.Write(frame)
	}
	for _, frame := range hostileFrames(random) {
		throw(t, a.GossipAddr(), frame)
	}

	select {
	case v := <-a.Views():
		t.Errorf("the view changed: %v", v)
	case v := <-b.Views():
		t.Errorf("the other's view changed: %v", v)
	case err := <-a.Failed():
		t.Errorf("failed: %v", err)
	default:
	}
	startLoopback(t, loopbackConfig(3, a.GossipAddr()))
	awaitAlive(t, a, 3)
	awaitAlive(t, b, 3)
}

// throw opens a stream, writes the frame and waits for the other side to be done
// with it.
func throw(t *testing.T, addr string, frame []byte) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	_, _ = conn.Write(frame)
	_ = conn.(*net.TCPConn).CloseWrite()
	_, err = io.Copy(io.Discard, conn)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("a stream hangs")
	}
}

// hostileFrames starts with random bytes behind each of memberlist's message
// types, then has every prefix of well-formed ones and giant lengths.
func hostileFrames(random *rand.Rand) [][]byte {
	var frames [][]byte
	for range 40 {
		for kind := range byte(15) {
			frame := make([]byte, 1+random.IntN(300))
			for i := range frame {
				frame[i] = byte(random.Uint32())
			}
			frame[0] = kind
			frames = append(frames, frame)
		}
	}
	good := sampleMeta()
	for _, frame := range [][]byte{
		append([]byte{8}, encodeGoodbye(identity{1, first})...),                   // user message
		append([]byte{4, 0x86, 0xa4, 'M', 'e', 't', 'a', 0xda}, good.encode()...), // alive
		{6, 0x83, 0xa5, 'N', 'o', 'd', 'e', 's', 0xce, 0x7f, 0xff, 0xff, 0xff},    // push/pull
		{7, 255, 255, 255, 0, 1, 2},                                               // compound
	} {
		for n := range frame {
			frames = append(frames, frame[:n+1])
		}
	}
	for kind := range byte(15) {
		// bytes, string, array and map with a 32-bit length
		for _, code := range []byte{0xc6, 0xdb, 0xdd, 0xdf} {
			frame := binary.BigEndian.AppendUint32([]byte{kind, code}, 0xffffffff)
			frames = append(frames, append(frame, "tail"...))
		}
	}
	return frames
}
