package tcp

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/ringleader-dev/ringleader/proto"
)

const (
	// version is the protocol version in every frame's header. The header
	// itself never changes, so that any two versions can tell each other apart.
	version   = 5
	headerLen = 6

	// maxControl bounds what is read before a peer is known, and what may be
	// answered on a link: HELLO, WELCOME, REFUSE and ACK are all small.
	maxControl = 1 << 10

	// chunk is how much is read, and made room for, at a time: the length that
	// a header declares is not paid for before it arrives.
	chunk = 4 << 10
)

// appendFrame appends one frame to dst, of the kind with this number.
func appendFrame[N ~uint8](dst []byte, number N, payload []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(payload)))
	dst = append(dst, version, byte(number))
	return append(dst, payload...)
}

// FrameSize is how many bytes the frame of a message has; zero for one that cannot be
// sent. Any goroutine may call it.
func FrameSize(m proto.Message) int {
	_, payload, err := proto.Marshal(m)
	if err != nil {
		return 0
	}
	return headerLen + len(payload)
}

// frameReader reads frames. It belongs to one goroutine at a time.
type frameReader struct {
	src *bufio.Reader
	buf []byte
}

func newFrameReader(r io.Reader) *frameReader {
	return &frameReader{src: bufio.NewReaderSize(r, chunk)}
}

// next reads one frame, the number of its kind and a payload of at most limit bytes,
// valid until the next call. Its error is io.EOF only where a frame could have begun, and a
// fault when the bytes are no frame of this version.
func (r *frameReader) next(limit int) (number uint8, payload []byte, err error) {
	var header [headerLen]byte
	if _, err := io.ReadFull(r.src, header[:]); err != nil {
		return 0, nil, err
	}
	length := binary.BigEndian.Uint32(header[:])
	if int64(length) > int64(limit) {
		return 0, nil, faultf(oversized, "a frame announces %d bytes where %d are allowed: "+
			"the other end is no correct Ringleader node", length, limit)
	}
	// The payload is read even if the version is not mine: my answer is about it.
	payload, err = r.read(int(length))
	if err != nil {
		return 0, nil, err
	}
	if got := header[4]; got != version {
		return 0, nil, faultf(otherVersion, "the other end speaks protocol version %d, "+
			"this node version %d: run the same release on both", got, version)
	}
	return header[5], payload, nil
}

// read fills the buffer with n bytes, making room only as they arrive.
func (r *frameReader) read(n int) ([]byte, error) {
	r.buf = r.buf[:0]
	for len(r.buf) < n {
		have := len(r.buf)
		step := min(n-have, chunk)
		r.buf = slices.Grow(r.buf, step)[:have+step]
		if _, err := io.ReadFull(r.src, r.buf[have:]); err != nil {
			return nil, fmt.Errorf("in the middle of a frame: %w", noEOF(err))
		}
	}
	return r.buf, nil
}

// more reports whether a whole frame is waiting, so that next would not block.
func (r *frameReader) more() bool {
	waiting := r.src.Buffered()
	if waiting < headerLen {
		return false
	}
	header, err := r.src.Peek(headerLen)
	return err == nil && int64(waiting-headerLen) >= int64(binary.BigEndian.Uint32(header))
}

// noEOF: a stream that ends inside a frame did not end cleanly.
func noEOF(err error) error {
	if err == io.EOF { //nolint:errorlint // a wrapped one is another end
		return io.ErrUnexpectedEOF
	}
	return err
}
