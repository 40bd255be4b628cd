package tcp

import (
	"bytes"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// Whatever bytes come over a connection, before its handshake or after: no
// panic, no more memory than a few times their size, and nothing is handed up
// but valid messages from the node that the handshake named.
func FuzzServe(f *testing.F) {
	for _, a := range attacks(f) {
		f.Add(true, a.bytes)
		f.Add(false, a.bytes)
	}
	f.Add(true, bytes.Repeat(frameOf(f, message(1, 2, 1)), 3*ackEvery))
	n := start(f, 2)
	kind, payload, err := proto.MarshalLink(n.helloFrom(1))
	if err != nil {
		f.Fatal(err)
	}
	hello := appendFrame(nil, kind, payload)
	f.Fuzz(func(t *testing.T, greeted bool, stream []byte) {
		if greeted {
			stream = append(bytes.Clone(hello), stream...)
		}
		// The fuzzer allocates too, now and then: it is the least that counts.
		spent := feed(t, n, stream)
		for range 4 {
			if spent > 8*uint64(len(stream))+32<<10 {
				spent = min(spent, feed(t, n, stream))
			}
		}
		if spent > 8*uint64(len(stream))+32<<10 {
			t.Fatalf("%d bytes allocated for %d", spent, len(stream))
		}
		for _, m := range n.got {
			if _, _, err := proto.Marshal(m); err != nil || m.From != 1 || m.To != 2 {
				t.Fatalf("handed up: %+v, %v", m, err)
			}
		}
		n.got = nil
	})
}

// feed plays a caller who says stream and hangs up. It returns how many bytes
// were allocated meanwhile.
func feed(t *testing.T, n *node, stream []byte) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	near, far := net.Pipe()
	defer near.Close()
	if err := near.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); n.host(far) }()
	answers := make(chan struct{})
	go func() { defer close(answers); _, _ = io.Copy(io.Discard, near) }()
	if _, err := near.Write(stream); isTimeout(err) {
		t.Fatal("neither read nor closed")
	}
	_ = near.Close()
	<-done
	<-answers
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
