package tcp

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// Whatever bytes come where a handshake of TLS belongs, or after one of node 1's: no panic, the connection ends, and
// nothing is handed up but valid messages from node 1 on a link of node 1's certificate.
func FuzzServeSecured(f *testing.F) {
	ca := newAuthority(f)
	dials := ca.keeper(1)
	n := start(f, 2, with(ca.keeper(2)))
	kind, payload, err := proto.MarshalLink(n.helloFrom(1))
	if err != nil {
		f.Fatal(err)
	}
	hello := appendFrame(nil, kind, payload)
	for _, a := range attacks(f) {
		f.Add(true, a.bytes)
		f.Add(false, a.bytes)
	}
	f.Add(true, append(bytes.Clone(hello), frameOf(f, message(1, 2, 1))...))
	f.Add(true, append(bytes.Clone(hello), frameOf(f, message(3, 2, 1))...))
	opening := openingOf(f, func(conn net.Conn) { _, _, _ = dials.Dial(conn, 2) })
	f.Add(false, opening)
	f.Add(false, opening[:len(opening)/2])
	f.Add(false, append(bytes.Clone(opening), opening...))
	f.Add(false, []byte{0x16, 3, 3, 0xff, 0xff, 1, 0xff, 0xff, 0xff}) // lengths that no record has
	f.Add(false, []byte{0x15, 3, 3, 0, 2, 2, 80})                     // an alert
	f.Fuzz(func(t *testing.T, proven bool, stream []byte) {
		near, far := net.Pipe()
		defer near.Close()
		if err := near.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() { defer close(done); n.host(far) }()
		conn := near
		if proven {
			if conn, _, err = dials.Dial(near, 2); err != nil {
				t.Fatal(err)
			}
		}
		answers := make(chan struct{})
		go func() { defer close(answers); _, _ = io.Copy(io.Discard, conn) }()
		if _, err := conn.Write(stream); isTimeout(err) {
			t.Fatal("neither read nor closed")
		}
		_ = near.Close()
		<-done
		<-answers
		for _, m := range n.messages() {
			if _, _, err := proto.Marshal(m); err != nil || m.From != 1 || m.To != 2 || !proven {
				t.Fatalf("handed up, of a proven node: %v, %+v, %v", proven, m, err)
			}
		}
		n.mu.Lock()
		n.got = nil
		n.log.Reset()
		n.mu.Unlock()
	})
}

// openingOf returns the first bytes that one end of a connection writes.
func openingOf(f *testing.F, speak func(net.Conn)) []byte {
	f.Helper()
	near, far := net.Pipe()
	done := make(chan struct{})
	go func() { defer close(done); speak(far) }()
	b := make([]byte, 1<<14)
	size, err := near.Read(b)
	_ = near.Close()
	<-done
	if err != nil {
		f.Fatal(err)
	}
	return b[:size]
}
