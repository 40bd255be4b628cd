package proto

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// The errors of Marshal and Unmarshal, besides ErrMalformed.
var (
	// ErrKind says that this version does not know the kind of the message.
	ErrKind = errors.New("unknown kind of message")
	// ErrValue says that a well-formed payload has a value that no correct node sends: an id of 0,
	// or an absurd term.
	ErrValue = errors.New("value out of range")
)

// Marshal returns the kind and the payload of m. It returns an error that wraps ErrKind or ErrValue
// for a message that the receiver's Unmarshal would refuse.
func Marshal(m Message) (Kind, []byte, error) {
	w := wireOf(m)
	if w == nil {
		return Kind{}, nil, fmt.Errorf("marshal a message with body %T: %w", m.Body, ErrKind)
	}
	kind := m.Body.Kind()
	if err := validate(w, m.Body); err != nil {
		return Kind{}, nil, fmt.Errorf("marshal %v: %w", kind, err)
	}
	payload, err := encode(w)
	return kind, payload, err
}

// Aged returns the payload for a message that waited before it is sent. payload is what Marshal
// returned before the wait, and waited is the length of the wait. A HEARTBEAT says how much of the
// lease remains when it is sent, so Aged subtracts waited. ok is false if no time remains.
func Aged(k Kind, payload []byte, waited time.Duration) (aged []byte, ok bool) {
	if k != KindHeartbeat {
		return payload, true
	}
	m, err := k.Unmarshal(payload)
	waited += time.Microsecond - 1 // the message has whole microseconds: round up
	if b, ok := m.Body.(Heartbeat); ok {
		b.Remaining -= waited.Truncate(time.Microsecond)
		m.Body = b
	}
	if err == nil {
		_, payload, err = Marshal(m)
	}
	return payload, err == nil
}

// Unmarshal reads a payload that Marshal wrote. number is the number of the message's kind. payload
// may be any bytes: if the message is not valid, or its kind not in the table, Unmarshal returns an
// error that wraps ErrKind, ErrMalformed or ErrValue. It allocates at most a few times the size of
// payload. The Message keeps no reference to payload.
func (t *Kinds) Unmarshal(number uint8, payload []byte) (Message, error) {
	k, err := t.Of(number)
	if err != nil {
		return Message{}, fmt.Errorf("unmarshal: %w", err)
	}
	return k.Unmarshal(payload)
}

// Unmarshal reads a payload of this kind, as Kinds.Unmarshal does.
func (k Kind) Unmarshal(payload []byte) (Message, error) {
	w := newWire(k)
	if err := decode(payload, w); err != nil {
		return Message{}, fmt.Errorf("unmarshal %v: %w", k, err)
	}
	m := w.message()
	if err := validate(w, m.Body); err != nil {
		return Message{}, fmt.Errorf("unmarshal %v: %w", k, err)
	}
	return m, nil
}

func validate(w wire, b Body) error {
	err := w.validate()
	if lease, ok := b.(interface{ validate() error }); ok && err == nil {
		err = lease.validate()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrValue, err)
	}
	return nil
}

// DecodeMsgpack reads exactly sixteen bytes of binary. The decoder's default would accept fewer
// bytes and leave the rest of s unchanged.
func (s *Incarnation) DecodeMsgpack(d *msgpack.Decoder) error {
	c, err := d.PeekCode()
	if err != nil {
		return err
	}
	if c != msgpcode.Bin8 {
		return fmt.Errorf("incarnation of type 0x%02x: want %d bytes of binary", c, len(s))
	}
	n, err := d.DecodeBytesLen()
	if err != nil {
		return err
	}
	if n != len(s) {
		return fmt.Errorf("incarnation of %d bytes: want %d", n, len(s))
	}
	return d.ReadFull(s[:])
}

// encoder and decoder are reused, since a new encoder costs more than encoding a message.
type encoder struct {
	buf bytes.Buffer
	enc *msgpack.Encoder
}

type decoder struct {
	src bytes.Reader
	dec *msgpack.Decoder
}

var encoders = sync.Pool{New: func() any {
	e := &encoder{}
	e.enc = msgpack.NewEncoder(&e.buf)
	e.enc.UseCompactInts(true)
	return e
}}

var decoders = sync.Pool{New: func() any {
	d := &decoder{}
	d.dec = msgpack.NewDecoder(&d.src)
	return d
}}

// encode writes the struct that v points to.
func encode(v any) ([]byte, error) {
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	e.buf.Reset()
	if err := e.enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return bytes.Clone(e.buf.Bytes()), nil
}

// decode checks payload and decodes it into the struct that v points to.
func decode(payload []byte, v any) error {
	if err := Check(payload); err != nil {
		return err
	}
	d := decoders.Get().(*decoder)
	defer decoders.Put(d)
	d.src.Reset(payload)
	defer d.src.Reset(nil)
	if err := d.dec.Decode(v); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}
