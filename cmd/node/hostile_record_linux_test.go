//go:build hostile

package main

import (
	"bytes"
	"encoding/binary"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
)

// enterNamespace puts the calling goroutine, and a thread that nobody else gets, into a network namespace. What the
// goroutine listens on and dials belongs to that.
func enterNamespace(t *testing.T, name string) {
	runtime.LockOSThread() // for ever: the thread ends with the goroutine
	f, err := os.Open("/run/netns/" + name)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
		t.Errorf("enter the namespace %s: %v", name, err)
	}
}

// dialFrom dials a TCP address from a namespace.
func dialFrom(t *testing.T, namespace, addr string) (conn net.Conn, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		enterNamespace(t, namespace)
		conn, err = net.DialTimeout("tcp", addr, 10*time.Second)
	}()
	<-done
	return conn, err
}

// The ports of a node.
const (
	gossipPort   = 7946
	electionPort = 7947
	httpPort     = 7948
)

// packet is something that was sent to an address.
type packet struct {
	to      string // host:port
	payload []byte
}

// recording is what nodes sent to each other.
type recording struct {
	mu      sync.Mutex
	gossip  []packet               // in packets
	streams map[streamID]*recorded // of links and of gossip
	sockets []*os.File
	readers sync.WaitGroup
}

type streamID struct{ from, to string }

// recorded is the beginning of what one end of a connection sent.
type recorded struct {
	packet
	next uint32 // number of the byte that comes next
}

const (
	mostRecordedPackets = 3000
	mostRecordedBytes   = 16 << 10 // of a stream
)

// record records what comes to hosts from others.
func (h *hostile) record(hosts []testcluster.Host) *recording {
	h.Helper()
	r := &recording{streams: map[streamID]*recorded{}}
	for _, host := range hosts {
		opened := make(chan error)
		var fd int
		go func() {
			enterNamespace(h.T, namespace(host))
			var err error
			const all = unix.ETH_P_ALL>>8 | unix.ETH_P_ALL&0xff<<8 // in the order of the network
			fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, all)
			opened <- err
		}()
		h.check(<-opened)
		f := os.NewFile(uintptr(fd), "packets of "+host.IP)
		r.sockets = append(r.sockets, f)
		r.readers.Go(func() {
			for b := make([]byte, 1<<17); ; {
				n, err := f.Read(b)
				if err != nil {
					return
				}
				r.note(b[:n], host.IP)
			}
		})
	}
	h.Cleanup(r.stop)
	return r
}

func (r *recording) stop() {
	for _, f := range r.sockets {
		_ = f.Close()
	}
	r.readers.Wait()
}

// note reads a packet of IPv4 to a host.
func (r *recording) note(b []byte, host string) {
	if len(b) < 20 || b[0]>>4 != 4 {
		return
	}
	head := int(b[0]&15) * 4
	size := int(binary.BigEndian.Uint16(b[2:]))
	from, to := net.IP(b[12:16]).String(), net.IP(b[16:20]).String()
	protocol := b[9]
	if to != host || from == host || size > len(b) || size < head+8 {
		return
	}
	b = b[head:size]
	source := net.JoinHostPort(from, strconv.Itoa(int(binary.BigEndian.Uint16(b))))
	port := binary.BigEndian.Uint16(b[2:])
	target := net.JoinHostPort(to, strconv.Itoa(int(port)))
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case protocol == unix.IPPROTO_UDP && port == gossipPort:
		if len(r.gossip) < mostRecordedPackets {
			r.gossip = append(r.gossip, packet{target, bytes.Clone(b[8:])})
		}
	case protocol == unix.IPPROTO_TCP && (port == gossipPort || port == electionPort) && len(b) >= 20:
		const syn = 2
		number, id := binary.BigEndian.Uint32(b[4:]), streamID{source, target}
		if b[13]&syn != 0 {
			r.streams[id] = &recorded{packet{to: target}, number + 1}
			return
		}
		s := r.streams[id]
		if payload := b[int(b[12]>>4)*4:]; s != nil && number == s.next && len(s.payload) < mostRecordedBytes {
			s.payload = append(s.payload, payload...)
			s.next += uint32(len(payload))
		}
	}
}

// lacks returns what was not heard yet; "" if all was.
func (r *recording) lacks() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	links := 0
	for _, s := range r.streams {
		if strings.HasSuffix(s.to, ":7947") && len(s.payload) > 2<<10 {
			links++
		}
	}
	if len(r.gossip) < 30 || links < hostileNodes {
		return "too little was sent to record it"
	}
	return ""
}

// all returns the streams, those of links if port is theirs.
func (r *recording) all(port string) (streams []packet) {
	for _, s := range r.streams {
		if strings.HasSuffix(s.to, ":"+port) && len(s.payload) > 0 {
			streams = append(streams, s.packet)
		}
	}
	return streams
}
