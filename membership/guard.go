package membership

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/rs/zerolog"
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
	encryptMsg  = 10
	checksumMsg = 12
	errMsg      = 13
)

var errHostile = errors.New("dropped what no node sends")

// guard is the transport that memberlist gets, with the checks. With keys, it opens what is encrypted, checks what is
// in it, and passes on what arrived.
type guard struct {
	memberlist.Transport
	keys    *Keyring // nil: gossip is not encrypted
	drops   drops
	open    openStreams
	large   chan struct{} // holds a token for each large stream that is being read
	packets chan *memberlist.Packet
	streams chan net.Conn
	down    chan struct{}
	once    sync.Once
	parting atomic.Bool // this node leaves: a heardConn waits until the other side has read everything
	unheard atomic.Bool // the other side of a stream did not read everything
}

func newGuard(t memberlist.Transport, keys *Keyring, log zerolog.Logger) *guard {
	g := &guard{
		Transport: t, keys: keys,
		drops:   drops{log: log, said: logLimiter{period: complainEvery, most: maxComplaints}},
		large:   make(chan struct{}, maxLarge),
		packets: make(chan *memberlist.Packet),
		streams: make(chan net.Conn),
		down:    make(chan struct{}),
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
	checked := &guardedConn{Conn: conn, guard: g, from: addr}
	if g.parting.Load() {
		return heardConn{checked, &g.unheard}, nil
	}
	return checked, nil
}

// heardConn is a stream of a node that leaves. Close waits until the other side has
// read everything and closes its end, for streamTimeout at most.
type heardConn struct {
	*guardedConn
	unheard *atomic.Bool // set if the other side has not read everything
}

func (c heardConn) Close() error {
	_ = c.SetReadDeadline(time.Now().Add(streamTimeout))
	if _, err := io.Copy(io.Discard, c.Conn); err != nil { // unchecked: nobody looks at it
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
	var scratch []byte
	for {
		select {
		case p := <-g.Transport.PacketCh():
			var err error
			if scratch, err = g.checkPacket(scratch, p.Buf); err != nil {
				g.drops.note(p.From.String(), err)
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
			checked := &guardedConn{Conn: conn, guard: g, from: conn.RemoteAddr().String()}
			if evicted := g.open.enter(checked); evicted != nil {
				g.drops.crowded.Add(1)
				_ = evicted.Conn.Close() // whatever it was, it came from where most come from
			}
			select {
			case g.streams <- checked:
			case <-g.down:
				_ = conn.Close()
				return
			}
		case <-g.down:
			return
		}
	}
}

// checkPacket returns an error unless memberlist may have a packet. It may write to scratch, and returns it for the
// next packet.
func (g *guard) checkPacket(scratch, packet []byte) ([]byte, error) {
	switch {
	case g.keys != nil:
		return g.keys.openPacket(scratch, packet)
	case !packetIsPlain(packet):
		return scratch, errHostile
	}
	return scratch, nil
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

// guardedConn checks the head of a stream before memberlist reads it, and all of an encrypted one.
type guardedConn struct {
	net.Conn
	guard *guard
	from  string // the address of the other side
	body  io.Reader
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
	body, err := c.guard.checkStream(io.LimitReader(c.Conn, maxStream))
	if err == nil {
		return body
	}
	said := c.guard.drops.note(c.from, err)
	if errors.Is(err, errUnsealed) || errors.Is(err, errUnknownKey) || errors.Is(err, errNoKeyring) {
		err = fmt.Errorf("its gossip %w", err) // memberlist says before it whom it failed to join
	}
	if said {
		// memberlist tells the other side of an error that comes after the first byte, with an answer that is sealed
		// if this node's gossip is. So the other side learns it, too, once it has sent all.
		_ = c.SetReadDeadline(time.Now().Add(drainTime))
		_, _ = io.CopyN(io.Discard, c.Conn, smallStream)
		return io.MultiReader(bytes.NewReader([]byte{encryptMsg}), failed{err})
	}
	return failed{err}
}

// checkStream returns what memberlist may read of a stream.
func (g *guard) checkStream(stream io.Reader) (io.Reader, error) {
	var seen bytes.Buffer
	if g.keys == nil {
		if err := checkHead(io.TeeReader(stream, &seen)); err != nil {
			return nil, err
		}
		return io.MultiReader(&seen, stream), nil
	}
	frame, err := g.readSealed(stream)
	if err == nil {
		err = g.keys.openStream(frame)
	}
	return bytes.NewReader(frame), err
}

// What a node keeps of encrypted streams that it cannot judge before they are whole. Whoever can dial may send them.
const (
	smallStream = 64 << 10 // bytes; the members of a hundred nodes
	maxLarge    = 4        // larger streams that are read at a time

	// drainTime is how long a node goes on reading what it will not open, before it says so.
	drainTime = 100 * time.Millisecond
)

// readSealed reads all of an encrypted stream. Of large streams it reads a few at a time.
func (g *guard) readSealed(stream io.Reader) ([]byte, error) {
	frame := make([]byte, streamHead)
	if _, err := io.ReadFull(stream, frame[:1]); err != nil {
		return nil, err
	}
	if frame[0] != encryptMsg {
		return nil, errUnsealed
	}
	if _, err := io.ReadFull(stream, frame[1:]); err != nil {
		return nil, err
	}
	length := uint64(binary.BigEndian.Uint32(frame[1:]))
	if length < sealOverhead || length > maxStream-streamHead {
		return nil, fmt.Errorf("%w: a sealed stream of %d bytes", errHostile, length)
	}
	if length > smallStream {
		select {
		case g.large <- struct{}{}:
			defer func() { <-g.large }()
		case <-time.After(streamTimeout):
			return nil, errors.New("other large streams are being read")
		}
	}
	return readGrowing(stream, frame, streamHead+int(length))
}

// readGrowing reads until b has size bytes. It allocates for what has arrived, not for what is to come.
func readGrowing(r io.Reader, b []byte, size int) ([]byte, error) {
	for len(b) < size {
		step := min(size-len(b), max(len(b), 4<<10))
		grown := make([]byte, len(b)+step)
		copy(grown, b)
		if _, err := io.ReadFull(r, grown[len(b):]); err != nil {
			return nil, err
		}
		b = grown
	}
	return b, nil
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
	case encryptMsg:
		return errNoKeyring
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
