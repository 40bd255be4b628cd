package membership

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"runtime"
	"testing"
)

// What memberlist would unpack never reaches it.
func TestPacketIsPlain(t *testing.T) {
	for _, tt := range []struct {
		name   string
		packet []byte
		want   bool
	}{
		{"nothing", nil, true},
		{"alive", []byte{4, 1, 2}, true},
		{"compressed", []byte{compressMsg, 1}, false},
		{"alive with a checksum", []byte{checksumMsg, 0, 0, 0, 0, 4}, true},
		{"compressed with a checksum", []byte{checksumMsg, 0, 0, 0, 0, compressMsg}, false},
		{"two parts", []byte{compoundMsg, 2, 0, 1, 0, 2, 4, 5, 5}, true},
		{"an empty part", []byte{compoundMsg, 1, 0, 0}, true},
		{"second part compressed", []byte{compoundMsg, 2, 0, 1, 0, 1, 4, compressMsg}, false},
		{"compound in compound", []byte{compoundMsg, 1, 0, 2, compoundMsg, 0}, false},
		{"lengths cut short", []byte{compoundMsg, 2, 0, 1, 0}, false},
		{"part cut short", []byte{compoundMsg, 1, 0, 2, 4}, false},
		{"compound without a count", []byte{compoundMsg}, true}, // memberlist refuses it
	} {
		if got := packetIsPlain(tt.packet); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

func lengths(kind byte, key string, code byte, value ...byte) []byte {
	b := append([]byte{kind, 0x81, 0xa0 | byte(len(key))}, key...)
	return append(append(b, code), value...)
}

// A stream's lengths are bounded before anything is allocated for them, and a
// stream within the bounds arrives whole.
func TestStreamHeads(t *testing.T) {
	for _, tt := range []struct {
		name string
		head []byte
		want error
	}{
		{"nothing", nil, io.EOF},
		{"ping", []byte{pingMsg, 1, 2, 3}, nil},
		{"compressed", []byte{compressMsg, 1, 2, 3}, errHostile},
		{"label", []byte{244, 1, 2}, errHostile},
		{"few states", lengths(pushPullMsg, "Nodes", 5), nil},
		{"many states", lengths(pushPullMsg, "Nodes", 0xcd, 0x10, 0x00), nil},
		{"too many states", lengths(pushPullMsg, "Nodes", 0xcd, 0x10, 0x01), errHostile},
		{"a million states", lengths(pushPullMsg, "Nodes", 0xce, 0, 0x10, 0, 0), errHostile},
		{"signed", lengths(pushPullMsg, "Nodes", 0xd1, 0, 7), nil},
		{"negative", lengths(pushPullMsg, "Nodes", 0xd0, 0xff), errHostile},
		{"negative in a byte", lengths(pushPullMsg, "Nodes", 0xff), errHostile},
		{"huge", lengths(pushPullMsg, "Nodes", 0xcf, bytes.Repeat([]byte{255}, 8)...), errHostile},
		{"a string", lengths(pushPullMsg, "Nodes", 0xa1, 'x'), errHostile},
		{"join", lengths(pushPullMsg, "Join", 0xc3), nil},
		{"long roll", lengths(pushPullMsg, "UserStateLen", 0xce, 0, 16, 0, 0), errHostile},
		{"goodbye", lengths(userMsg, "UserMsgLen", 25), nil},
		{"long message", lengths(userMsg, "UserMsgLen", 0xcd, 2, 20), errHostile},
		{"unknown field", lengths(userMsg, "Else", 1), errHostile},
		{"key that is no string", []byte{userMsg, 0x81, 1, 1}, errHostile},
		{"header that is no map", []byte{userMsg, 0x91, 1}, errHostile},
		{"large map", []byte{userMsg, 0xde, 0, 1}, errHostile},
		{"cut short", lengths(pushPullMsg, "Nodes", 0xcd, 1), io.ErrUnexpectedEOF},
	} {
		near, far := net.Pipe()
		stream := append(bytes.Clone(tt.head), "and the rest"...)
		if errors.Is(tt.want, io.EOF) || errors.Is(tt.want, io.ErrUnexpectedEOF) {
			stream = tt.head
		}
		go func() {
			_, _ = far.Write(stream)
			_ = far.Close()
		}()
		got, err := io.ReadAll(bufio.NewReader(&guardedConn{Conn: near, guard: &guard{}}))
		if tt.want == nil && (err != nil || !bytes.Equal(got, stream)) {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
		// io.ReadAll takes the end of the stream for success
		ended := errors.Is(tt.want, io.EOF) && err == nil
		if tt.want != nil && (len(got) > 0 || !ended && !errors.Is(err, tt.want)) {
			t.Errorf("%s: %q, %v, want %v", tt.name, got, err, tt.want)
		}
		_ = near.Close()
	}
}

// A stream is not read for ever.
func TestStreamIsBounded(t *testing.T) {
	near, far := net.Pipe()
	go func() {
		_, err := far.Write([]byte{pingMsg})
		for err == nil {
			_, err = far.Write(make([]byte, 1<<16))
		}
	}()
	n, err := io.Copy(io.Discard, &guardedConn{Conn: near, guard: &guard{}})
	if n != maxStream || err != nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
	_ = near.Close()
}

// Twenty bytes that state a giant length cost no more than a buffer.
func TestGiantLengthsAllocateLittle(t *testing.T) {
	a := startLoopback(t, loopbackConfig(1))
	fields := map[byte][]string{
		pingMsg: {"Node"}, ackMsg: {"Payload"}, 4: {"Meta", "Vsn"}, // 4 is alive
		pushPullMsg: {"Nodes", "UserStateLen"}, userMsg: {"UserMsgLen"},
		compressMsg: {"Buf"}, errMsg: {"Error"},
	}
	packets, err := net.Dial("udp", a.GossipAddr())
	if err != nil {
		t.Fatal(err)
	}
	defer packets.Close()
	for kind, names := range fields {
		for _, name := range names {
			for _, code := range []byte{0xc6, 0xdb, 0xdd, 0xdf, 0xce} {
				length := binary.BigEndian.AppendUint32(nil, 1<<20)
				frame := append(lengths(kind, name, code, length...), "tail"...)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, _ = packets.Write(frame)
				throw(t, a.GossipAddr(), frame)
				runtime.ReadMemStats(&after)
				if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
					t.Errorf("%d, %s as %#x: %d bytes allocated", kind, name, code, got)
				}
			}
		}
	}
}

// Whatever arrives, the guard itself does not fall.
func FuzzGuard(f *testing.F) {
	f.Add([]byte{compoundMsg, 2, 0, 1, 0, 2, 4, 5, 5})
	f.Add(lengths(pushPullMsg, "Nodes", 0xce, 0, 0x10, 0, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		packetIsPlain(b)
		var seen bytes.Buffer
		if err := checkHead(io.TeeReader(bytes.NewReader(b), &seen)); err == nil && !bytes.HasPrefix(b, seen.Bytes()) {
			t.Errorf("%x was seen as %x", b, seen.Bytes())
		}
	})
}
