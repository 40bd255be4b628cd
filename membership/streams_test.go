package membership

import (
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/rs/zerolog"
)

// crowdedTransport is a transport into which a test puts streams.
type crowdedTransport struct {
	memberlist.Transport
	packets chan *memberlist.Packet
	streams chan net.Conn
}

func (c crowdedTransport) PacketCh() <-chan *memberlist.Packet { return c.packets }
func (c crowdedTransport) StreamCh() <-chan net.Conn           { return c.streams }
func (c crowdedTransport) Shutdown() error                     { return nil }

// fromAddr is a stream from an address.
type fromAddr struct {
	net.Conn
	from string
}

func (f fromAddr) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(f.from))
}

// "Thousands of slow and half-open connections": a node keeps a bounded number of streams open, and an address that
// floods it loses only its own, the oldest first.
func TestOpenStreamsAreBounded(t *testing.T) {
	of := crowdedTransport{packets: make(chan *memberlist.Packet), streams: make(chan net.Conn)}
	g := newGuard(of, nil, zerolog.Nop())
	defer func() { _ = g.Shutdown() }()
	dial := func(from string) (near, far net.Conn) {
		near, far = net.Pipe()
		t.Cleanup(func() { _, _ = near.Close(), far.Close() })
		of.streams <- fromAddr{near, from}
		return <-g.StreamCh(), far
	}
	_, honest := dial("10.0.0.1:7946") // the oldest of all
	var near, far []net.Conn
	const more = 10
	for range maxStreams - 1 + more {
		n, f := dial("10.66.0.1:999")
		near, far = append(near, n), append(far, f)
	}
	for i, f := range far[:more] {
		_ = f.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := f.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("stream %d of the flood is open: %v", i, err)
		}
	}
	if n := g.drops.counted().Crowded; n != more {
		t.Errorf("counted %d", n)
	}
	for _, n := range near {
		_ = n.Close() // memberlist is done with it
	}
	for range maxStreams - 1 {
		dial("10.66.0.1:999")
	}
	if n := g.drops.counted().Crowded; n != more {
		t.Errorf("with room again, %d are counted", n)
	}
	said := make(chan error)
	go func() { _, err := honest.Write([]byte{pingMsg}); said <- err }()
	g.open.mu.Lock()
	first := g.open.all[0]
	g.open.mu.Unlock()
	if _, err := first.Conn.Read(make([]byte, 1)); err != nil {
		t.Errorf("the honest stream: %v", err)
	}
	if err := <-said; err != nil {
		t.Error(err)
	}
}
