package membership

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"
)

// guard stands between the network and memberlist, which believes the lengths it
// is told: twenty bytes on a stream make it allocate 117 MB, and a small
// compressed packet unpacks to 40. Nodes send nothing compressed and no lengths
// beyond these bounds, so whatever has them is dropped unread.
const (
	maxStates  = 4096                                      // members in one exchange of state
	maxRoll    = maxMessage + 1 + processLen*(maxStates+1) // what goes with it: a notice, a roll
	maxMessage = noticeLen + MaxNotice                     // a notice, or a goodbye
	maxStream  = 4 << 20                                   // all of one stream
)

// memberlist's message types, as far as the guard has to know them. The numbers
// are part of its protocol.
const (
	pingMsg     = 0
	ackMsg      = 2
	pushPullMsg = 6
	compoundMsg = 7
	userMsg     = 8
	compressMsg = 9
	checksumMsg = 12
	errMsg      = 13
)

var errHostile = errors.New("dropped what no node sends")

// guard is the transport as memberlist sees it.
type guard struct {
	memberlist.Transport
	packets chan *memberlist.Packet
	streams chan net.Conn
	down    chan struct{}
	once    sync.Once
	parting atomic.Bool // what is said must have been heard: see heardConn
	unheard atomic.Bool // something has not been
}

func newGuard(t memberlist.Transport) *guard {
	g := &guard{
		Transport: t,
		packets:   make(chan *memberlist.Packet),
		streams:   make(chan net.Conn),
		down:      make(chan struct{}),
	}
	go g.passPackets()
	go g.passStreams()
	return g
}

func (g *guard) PacketCh() <-chan *memberlist.Packet { return g.packets }
func (g *guard) StreamCh() <-chan net.Conn           { return g.streams }

// DialTimeout guards what the other side answers.
func (g *guard) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	conn, err := g.Transport.DialTimeout(addr, timeout)
	if err != nil {
		return nil, err
	}
	if g.parting.Load() {
		return heardConn{conn, &g.unheard}, nil
	}
	return &guardedConn{Conn: conn}, nil
}

// heardConn is a stream on which something is only said. It closes once the other
// side, which has taken it in, closes its end.
type heardConn struct {
	net.Conn
	unheard *atomic.Bool // set when it does not
}

func (c heardConn) Close() error {
	_ = c.SetReadDeadline(time.Now().Add(streamTimeout))
	if _, err := io.Copy(io.Discard, c.Conn); err != nil {
		c.unheard.Store(true)
	}
	return c.Conn.Close()
}

// Shutdown closes the transport. memberlist reads on until it returns.
func (g *guard) Shutdown() error {
	err := g.Transport.Shutdown()
	g.once.Do(func() { close(g.down) })
	return err
}

func (g *guard) passPackets() {
	for {
		select {
		case p := <-g.Transport.PacketCh():
			if !packetIsPlain(p.Buf) {
				continue
			}
			select {
			case g.packets <- p:
			case <-g.down:
				return
			}
		case <-g.down:
			return
		}
	}
}

func (g *guard) passStreams() {
	for {
		select {
		case conn := <-g.Transport.StreamCh():
			select {
			case g.streams <- &guardedConn{Conn: conn}:
			case <-g.down:
				_ = conn.Close()
				return
			}
		case <-g.down:
			return
		}
	}
}

// packetIsPlain reports whether nothing in a packet is compressed, or packed
// twice.
func packetIsPlain(b []byte) bool {
	if len(b) > 5 && b[0] == checksumMsg {
		b = b[5:]
	}
	if len(b) < 2 || b[0] != compoundMsg {
		return len(b) == 0 || b[0] != compressMsg
	}
	// compound: number of parts, the length of each in two bytes, the parts
	count := int(b[1])
	if len(b) < 2+2*count {
		return false
	}
	lengths, parts := b[2:2+2*count], b[2+2*count:]
	for ; len(lengths) > 0; lengths = lengths[2:] {
		n := int(lengths[0])<<8 | int(lengths[1])
		if n > len(parts) {
			return false
		}
		if n > 0 && (parts[0] == compressMsg || parts[0] == compoundMsg) {
			return false
		}
		parts = parts[n:]
	}
	return true
}

// guardedConn looks at the head of a stream before anything of it is read.
type guardedConn struct {
	net.Conn
	body io.Reader
}

// Read is called by one goroutine at a time.
func (c *guardedConn) Read(p []byte) (int, error) {
	if c.body == nil {
		c.body = c.look()
	}
	return c.body.Read(p)
}

// look is the stream, or the reason why it is not read.
func (c *guardedConn) look() io.Reader {
	h := head{in: bufio.NewReader(io.LimitReader(c.Conn, maxStream))}
	if err := h.check(); err != nil {
		return failed{err}
	}
	return io.MultiReader(bytes.NewReader(h.seen), h.in)
}

// failed is a stream that gives nothing but an error.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }

// head is the beginning of a stream: a byte for the type, and for some types a
// msgpack map of lengths.
type head struct {
	in   *bufio.Reader
	seen []byte
}

func (h *head) check() error {
	kind, err := h.next(1)
	if err != nil {
		return err
	}
	switch kind[0] {
	case pingMsg, ackMsg, errMsg:
		return nil
	case pushPullMsg, userMsg:
		return h.checkLengths()
	}
	return fmt.Errorf("%w: a stream of type %d", errHostile, kind[0])
}

// headBounds are the fields of pushPullHeader and userMsgHeader.
var headBounds = map[string]uint64{
	"Nodes": maxStates, "UserStateLen": maxRoll, "Join": 1, "UserMsgLen": maxMessage,
}

// checkLengths refuses any length beyond its bound.
func (h *head) checkLengths() error {
	size, err := h.next(1)
	if err != nil {
		return err
	}
	if size[0] < 0x80 || size[0] > 0x8f {
		return fmt.Errorf("%w: a header that is no small map", errHostile)
	}
	for range size[0] & 0x0f {
		key, err := h.key()
		if err != nil {
			return err
		}
		bound, ok := headBounds[key]
		if !ok {
			return fmt.Errorf("%w: a header with %.20q", errHostile, key)
		}
		value, err := h.value()
		if err != nil {
			return err
		}
		if value > bound {
			return fmt.Errorf("%w: %s %d, at most %d", errHostile, key, value, bound)
		}
	}
	return nil
}

func (h *head) key() (string, error) {
	size, err := h.next(1)
	if err != nil {
		return "", err
	}
	if size[0] < 0xa0 || size[0] > 0xbf {
		return "", fmt.Errorf("%w: a key that is no short string", errHostile)
	}
	text, err := h.next(int(size[0] & 0x1f))
	return string(text), err
}

// value is a whole number or a truth value. A negative one comes out huge.
func (h *head) value() (uint64, error) {
	code, err := h.next(1)
	if err != nil {
		return 0, err
	}
	switch c := code[0]; {
	case c < 0x80:
		return uint64(c), nil
	case c == 0xc2 || c == 0xc3: // false, true
		return uint64(c & 1), nil
	case c >= 0xcc && c <= 0xcf: // unsigned, 1 to 8 bytes
		return h.number(1<<(c-0xcc), false)
	case c >= 0xd0 && c <= 0xd3: // signed
		return h.number(1<<(c-0xd0), true)
	}
	return 0, fmt.Errorf("%w: a length that is no number", errHostile)
}

func (h *head) number(size int, signed bool) (uint64, error) {
	b, err := h.next(size)
	if err != nil {
		return 0, err
	}
	n := uint64(0)
	if signed && b[0] >= 0x80 {
		n = ^n
	}
	for _, x := range b {
		n = n<<8 | uint64(x)
	}
	return n, nil
}

// next reads n bytes more.
func (h *head) next(n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(h.in, b); err != nil {
		return nil, err
	}
	h.seen = append(h.seen, b...)
	return b, nil
}
