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

// What is wrong with a payload, besides ErrMalformed.
var (
	// ErrKind says that a kind is no message this version knows.
	ErrKind = errors.New("unknown kind of message")
	// ErrValue says that a well-formed payload carries what no correct node
	// sends: an id of 0, an absurd term.
	ErrValue = errors.New("value out of range")
)

// Marshal returns m's kind and its payload. It refuses, with ErrKind or
// ErrValue, what Unmarshal would refuse at the other end.
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

// Aged is the payload of a message of this kind that has waited since it was marshalled.
// What LEASE and HEARTBEAT say is left of a lease counts from when they leave, so it is less
// by as much; ok is false when nothing is left.
func Aged(k Kind, payload []byte, waited time.Duration) (aged []byte, ok bool) {
	if k != KindLease && k != KindHeartbeat {
		return payload, true
	}
	m, err := k.Unmarshal(payload)
	waited += time.Microsecond - 1 // it is told in whole ones
	switch b := m.Body.(type) {
	case Lease:
		b.Remaining -= waited.Truncate(time.Microsecond)
		m.Body = b
	case Heartbeat:
		b.Remaining -= waited.Truncate(time.Microsecond)
		m.Body = b
	}
	if err == nil {
		_, payload, err = Marshal(m)
	}
	return payload, err == nil
}

// Unmarshal reads back what Marshal wrote, of the kind with this number. payload may be any
// bytes: what is not a valid message of the table is refused with ErrKind, ErrMalformed or
// ErrValue, having allocated no more than a few times its size. The Message keeps no
// reference to payload.
func (t *Kinds) Unmarshal(number uint8, payload []byte) (Message, error) {
	k, err := t.Of(number)
	if err != nil {
		return Message{}, fmt.Errorf("unmarshal: %w", err)
	}
	return k.Unmarshal(payload)
}

// Unmarshal reads back what Marshal wrote, as Kinds.Unmarshal does, of this kind.
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

// DecodeMsgpack reads exactly sixteen bytes of binary: the decoder's own way
// would accept fewer and leave the rest as it was.
func (s *Session) DecodeMsgpack(d *msgpack.Decoder) error {
	c, err := d.PeekCode()
	if err != nil {
		return err
	}
	if c != msgpcode.Bin8 {
		return fmt.Errorf("session of type 0x%02x: want %d bytes of binary", c, len(s))
	}
	n, err := d.DecodeBytesLen()
	if err != nil {
		return err
	}
	if n != len(s) {
		return fmt.Errorf("session of %d bytes: want %d", n, len(s))
	}
	return d.ReadFull(s[:])
}

// encoder and decoder are kept between payloads: making one costs more than
// coding a message.
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

// decode checks payload and reads it into the struct that v points to.
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
