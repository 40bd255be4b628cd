package memtest

import (
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/memberlist"
)

// backlog is how many packets, and how many streams, may wait at a Transport before more are
// dropped.
const backlog = 1024

// Transport connects one memberlist to a Network.
type Transport struct {
	net     *Network
	addr    netip.AddrPort
	packets chan *memberlist.Packet
	streams chan net.Conn
	down    chan struct{}
	once    sync.Once
}

var _ memberlist.Transport = (*Transport)(nil)

func newTransport(n *Network, addr netip.AddrPort) *Transport {
	return &Transport{
		net: n, addr: addr,
		packets: make(chan *memberlist.Packet, backlog),
		streams: make(chan net.Conn, backlog),
		down:    make(chan struct{}),
	}
}

// FinalAdvertiseAddr returns the Transport's own address, whatever is configured.
func (t *Transport) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return t.addr.Addr().AsSlice(), int(t.addr.Port()), nil
}

// WriteTo sends a packet. The packet is lost, without an error, if the direction is cut, no
// Transport is at addr, or too many packets wait there.
func (t *Transport) WriteTo(b []byte, addr string) (time.Time, error) {
	now := time.Now()
	end, open := t.net.route(t.addr.String(), addr)
	if end == nil || !open {
		return now, nil
	}
	packet := &memberlist.Packet{
		Buf: slices.Clone(b), From: net.UDPAddrFromAddrPort(t.addr), Timestamp: now,
	}
	select {
	case end.packets <- packet:
	default:
	}
	return now, nil
}

// PacketCh returns the channel of packets that arrived.
func (t *Transport) PacketCh() <-chan *memberlist.Packet { return t.packets }

// DialTimeout opens a stream. The stream is refused at once if no Transport is at addr. The dial fails after
// timeout if one of the two directions is cut.
func (t *Transport) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	t.net.countStream()
	end, there := t.net.route(t.addr.String(), addr)
	_, back := t.net.route(addr, t.addr.String())
	if there && end == nil {
		return nil, dialError(syscall.ECONNREFUSED)
	}
	if !there || !back {
		select {
		case <-time.After(timeout):
			return nil, dialError(os.ErrDeadlineExceeded)
		case <-t.down:
			return nil, dialError(net.ErrClosed)
		}
	}
	near, far := net.Pipe()
	select {
	case end.streams <- stream{far, t.addr}:
		return stream{near, end.addr}, nil
	default:
		return nil, dialError(syscall.ECONNREFUSED)
	}
}

// stream is one end of a stream, with the address of the Transport at the other.
type stream struct {
	net.Conn
	remote netip.AddrPort
}

func (s stream) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(s.remote) }

func dialError(err error) error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: err}
}

// StreamCh returns the channel of streams that others opened.
func (t *Transport) StreamCh() <-chan net.Conn { return t.streams }

// Shutdown takes the Transport off the network.
func (t *Transport) Shutdown() error {
	t.once.Do(func() {
		t.net.remove(t)
		close(t.down)
	})
	return nil
}
