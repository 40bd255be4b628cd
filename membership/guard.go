package membership

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// The guard stands between the network and memberlist, which believes the lengths that it is told: twenty
// bytes on a stream make it allocate 117 MB, and a small compressed packet unpacks to 40 MB. Nodes send
// nothing compressed, and no lengths beyond these bounds. The guard drops everything else before memberlist
// reads it.
const (
	maxStates  = 4096                                      // members in one exchange of state
	maxRoll    = maxMessage + 1 + processLen*(maxStates+1) // a notice and a roll, which follow the members
	maxMessage = noticeLen + MaxNotice                     // the largest notice or goodbye
	maxStream  = 4 << 20                                   // all of one stream, in bytes
)

// The message types of memberlist that the guard has to know. The numbers are part of memberlist's protocol.
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

// guard is the transport that memberlist gets, with the checks.
type guard struct {
	memberlist.Transport
	packets chan *memberlist.Packet
	streams chan net.Conn
	down    chan struct{}
	once    sync.Once
	parting atomic.Bool // this node leaves: a heardConn waits until the other side has read everything
	unheard atomic.Bool // the other side of a stream did not read everything
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

// DialTimeout opens a stream, and checks what the other side sends on it.
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

// heardConn is a stream on which this node only sends. Close waits until the other side has
// read everything and closes its end, for streamTimeout at most.
type heardConn struct {
	net.Conn
	unheard *atomic.Bool // set if the other side has not read everything
}

func (c heardConn) Close() error {
	_ = c.SetReadDeadline(time.Now().Add(streamTimeout))
	if _, err := io.Copy(io.Discard, c.Conn); err != nil {
		c.unheard.Store(true)
	}
	return c.Conn.Close()
}

// Shutdown closes the transport. memberlist goes on reading until Shutdown returns.
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

// packetIsPlain reports whether no part of a packet is compressed, or is itself a packet of several parts.
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

// guardedConn checks the head of a stream before memberlist reads it.
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

// look returns the stream if its head is allowed. Otherwise it returns a reader that only returns an error,
// which says why the stream is not read.
func (c *guardedConn) look() io.Reader {
	var seen bytes.Buffer
	stream := io.LimitReader(c.Conn, maxStream)
	if err := checkHead(io.TeeReader(stream, &seen)); err != nil {
		return failed{err}
	}
	return io.MultiReader(&seen, stream)
}

// failed is a stream that only returns an error.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }

// checkHead reads the head of a stream, and maybe more. The head is a byte for the type and, for some types,
// a msgpack map of lengths. It returns an error if no node begins a stream in this way.
func checkHead(stream io.Reader) error {
	var kind [1]byte
	if _, err := io.ReadFull(stream, kind[:]); err != nil {
		return err
	}
	switch kind[0] {
	case pingMsg, ackMsg, errMsg:
		return nil
	case pushPullMsg, userMsg:
		if err := checkLengths(msgpack.NewDecoder(stream)); err != nil {
			return fmt.Errorf("%w: %w", errHostile, err)
		}
		return nil
	}
	return fmt.Errorf("%w: a stream of type %d", errHostile, kind[0])
}

// headBounds are the bounds of the fields of memberlist's pushPullHeader and userMsgHeader.
var headBounds = map[string]uint64{
	"Nodes": maxStates, "UserStateLen": maxRoll, "Join": 1, "UserMsgLen": maxMessage,
}

// checkLengths returns an error for a length above its bound, and for a head that memberlist would not write:
// a map of more than 15 fields, or a key of more than 31 bytes.
func checkLengths(d *msgpack.Decoder) error {
	if code, err := d.PeekCode(); err != nil || !msgpcode.IsFixedMap(code) {
		return cmp.Or(err, errors.New("a header that is no small map"))
	}
	fields, err := d.DecodeMapLen()
	for ; err == nil && fields > 0; fields-- {
		err = checkLength(d)
	}
	return err
}

func checkLength(d *msgpack.Decoder) error {
	if code, err := d.PeekCode(); err != nil || !msgpcode.IsFixedString(code) {
		return cmp.Or(err, errors.New("a key that is no short string"))
	}
	key, err := d.DecodeString()
	if err != nil {
		return err
	}
	bound, known := headBounds[key]
	if !known {
		return fmt.Errorf("a header with %.20q", key)
	}
	code, err := d.PeekCode()
	if err != nil {
		return err
	}
	if code == msgpcode.True || code == msgpcode.False {
		_, err := d.DecodeBool() // Join
		return err
	}
	value, err := d.DecodeUint64() // of a negative number it makes a huge one
	if err == nil && value > bound {
		err = fmt.Errorf("%s %d, at most %d", key, value, bound)
	}
	return err
}
