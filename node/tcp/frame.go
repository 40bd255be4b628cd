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
	version   = 6
	headerLen = 6

	// maxControl is the size in bytes of the largest control frame. Before a peer is known, and in answers on
	// a link, only control frames are read. HELLO, WELCOME, REFUSE and ACK are all small.
	maxControl = 1 << 10

	// chunk is how many bytes are read, and how much memory is made for them, at a time. So a
	// header that declares a large length costs no memory before the bytes arrive.
	chunk = 4 << 10
)

// appendFrame appends one frame to dst, of the kind with this number.
func appendFrame[N ~uint8](dst []byte, number N, payload []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(payload)))
	dst = append(dst, version, byte(number))
	return append(dst, payload...)
}

// FrameSize returns how many bytes the frame of a message has; zero for a message that cannot be
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

// next reads one frame. It returns the number of its kind, and a payload of at most limit bytes
// that is valid until the next call. Its error is io.EOF only between two frames, and a fault if
// the bytes are no frame of this version.
func (r *frameReader) next(limit int) (number uint8, payload []byte, err error) {
	var header [headerLen]byte
	if _, err := io.ReadFull(r.src, header[:]); err != nil {
		return 0, nil, err
	}
	if isTLS(header) {
		return 0, nil, faultf(plaintext, "the other end speaks TLS, and this node runs without credentials: start all "+
			"nodes of a cluster with credentials, or all without")
	}
	length := binary.BigEndian.Uint32(header[:])
	if int64(length) > int64(limit) {
		return 0, nil, faultf(oversized, "a frame announces %d bytes where %d are allowed: "+
			"the other end is no correct Ringleader node", length, limit)
	}
	// A frame of another version is read to its end: the refusal is the answer to it.
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

// read fills the buffer with n bytes. It makes memory for them only as they arrive.
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

// control reads one control frame, which must be of one of the given kinds. If it is of another kind, the
// error is a fault whose sentence ends with the text where.
func (r *frameReader) control(where string, kinds ...proto.LinkKind) (proto.LinkBody, error) {
	number, payload, err := r.next(maxControl)
	if err != nil {
		return nil, err
	}
	kind := proto.LinkKind(number)
	if !slices.Contains(kinds, kind) {
		return nil, faultf(unexpected, "%v %s", kind, where)
	}
	return decodeControl(kind, payload)
}

func decodeControl(kind proto.LinkKind, payload []byte) (proto.LinkBody, error) {
	body, err := proto.UnmarshalLink(kind, payload)
	if err != nil {
		return nil, faultf(badPayload, "%v: %v", kind, err)
	}
	return body, nil
}

// noEOF turns io.EOF into another error: a stream that ends inside a frame did not end
// cleanly.
func noEOF(err error) error {
	if err == io.EOF { //nolint:errorlint // a wrapped one is another end
		return io.ErrUnexpectedEOF
	}
	return err
}
