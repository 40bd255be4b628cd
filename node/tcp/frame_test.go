package tcp

import (
	"bytes"
	"errors"
	"io"
	"math"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

func TestFramesComeBack(t *testing.T) {
	sizes := []int{0, 1, chunk - 1, chunk, chunk + 1, proto.MaxPayload}
	var stream []byte
	for i, n := range sizes {
		stream = appendFrame(stream, uint8(i), bytes.Repeat([]byte{byte(i)}, n))
	}
	for name, src := range map[string]io.Reader{
		"at once":     bytes.NewReader(stream),
		"in halves":   iotest.HalfReader(bytes.NewReader(stream)),
		"by the byte": iotest.OneByteReader(bytes.NewReader(stream)),
	} {
		r := newFrameReader(src)
		for i, n := range sizes {
			kind, payload, err := r.next(proto.MaxPayload)
			if err != nil || kind != uint8(i) ||
				!bytes.Equal(payload, bytes.Repeat([]byte{byte(i)}, n)) {
				t.Fatalf("%s: frame %d: kind %d, %d bytes, %v", name, i, kind, len(payload), err)
			}
		}
		if _, _, err := r.next(proto.MaxPayload); err != io.EOF {
			t.Errorf("%s: at the end: %v", name, err)
		}
	}
}

// A stream ends cleanly between two frames and nowhere else.
// FrameSize is what the link writes, to the byte.
func TestFrameSize(t *testing.T) {
	m := proto.Message{From: 1, To: 2, Term: 3, Seq: 4, Body: nomination.Coordinator{Leader: proto.Peer{
		ID: 1, Incarnation: proto.Incarnation{1},
	}}}
	kind, payload, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := FrameSize(m), len(appendFrame(nil, kind.Number(), payload)); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
	if got := FrameSize(proto.Message{}); got != 0 {
		t.Errorf("a message that cannot be sent has %d bytes", got)
	}
}

func TestAStreamThatEndsInsideAFrame(t *testing.T) {
	frame := appendFrame(nil, nomination.KindTimeoutNow.Number(), make([]byte, 10))
	for n := 1; n < len(frame); n++ {
		_, _, err := newFrameReader(bytes.NewReader(frame[:n])).next(10)
		if !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

func TestFramesThatAreFaults(t *testing.T) {
	for name, c := range map[string]struct {
		stream []byte
		want   reason
	}{
		"one byte too long": {appendFrame(nil, uint8(1), make([]byte, 101)), oversized},
		"huge":              {[]byte{0xff, 0xff, 0xff, 0xff, version, 1}, oversized},
		"of other software": {[]byte("GET / HTTP/1.1\r\n\r\n"), oversized},
		"of version 0":      {[]byte{0, 0, 0, 0, 0, 1}, otherVersion},
		"of version 1":      {[]byte{0, 0, 0, 1, 1, 1, 7}, otherVersion},
		"of a newer one":    {[]byte{0, 0, 0, 1, version + 1, 1, 7}, otherVersion},
	} {
		_, _, err := newFrameReader(bytes.NewReader(c.stream)).next(100)
		if f := faultIn(err); f == nil || f.reason != c.want {
			t.Errorf("a frame %s: %v, want %v", name, err, c.want)
		}
	}
}

// A declared length is not paid for before it arrives. Others may allocate at the
// same time: the least of some tries counts.
func TestADeclaredLengthAllocatesNothing(t *testing.T) {
	header := appendFrame(nil, uint8(1), make([]byte, proto.MaxPayload))[:headerLen+5]
	least := uint64(math.MaxUint64)
	for range 20 {
		r := newFrameReader(bytes.NewReader(header))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := r.next(proto.MaxPayload)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Error("five bytes were taken for a whole payload")
		}
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	if least > 3*chunk {
		t.Errorf("%d bytes allocated", least)
	}
}
