package proto

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// Limits of a payload. A map that this version writes has about a dozen keys. Keys that a newer
// version adds, and this one skips, count toward the limits, too.
const (
	// MaxPayload is the size of the largest payload, in bytes.
	MaxPayload = 64 << 10
	maxDepth   = 8
	maxKeys    = 32
)

// ErrMalformed says that the bytes are no payload that a correct node writes.
var ErrMalformed = errors.New("malformed payload")

// Check reads through payload before anything is decoded from it. The decoder trusts its input:
// five bytes that announce a huge array exhaust the memory, a repeated key overwrites a value, and
// a number too large for its field wraps around. Therefore Check returns an error that wraps
// ErrMalformed, unless
//
//  1. the payload is one map and nothing follows it;
//  2. every announced length fits in the bytes that are left;
//  3. maps and arrays nest at most 8 deep and a map has at most 32 keys;
//  4. every key is a string, and no map has a key twice, however encoded;
//  5. no integer is above 2^63 - 1;
//  6. there is no nil (an absent value has no key) and no extension type.
//
// Check allocates nothing for a correct payload.
func Check(payload []byte) error {
	if len(payload) > MaxPayload {
		return malformed("%d bytes: at most %d", len(payload), MaxPayload)
	}
	w := walk{rest: payload}
	c, err := w.code()
	if err != nil {
		return err
	}
	if !isMap(c) {
		return malformed("it is no map")
	}
	if err := w.value(c, 1); err != nil {
		return err
	}
	if len(w.rest) > 0 {
		return malformed("%d bytes after its end", len(w.rest))
	}
	return nil
}

// walk is a position in a payload: rest has the bytes that were not read yet.
type walk struct{ rest []byte }

// value reads the rest of a value. c is the value's first byte, its code, which was read before. depth
// is the number of maps and arrays around the value.
func (w *walk) value(c byte, depth int) error {
	switch {
	case msgpcode.IsFixedNum(c), c == msgpcode.False, c == msgpcode.True:
		return nil
	case isText(c):
		_, err := w.text(c)
		return err
	case isMap(c):
		return w.mapping(c, depth)
	case isArray(c):
		return w.array(c, depth)
	case c == msgpcode.Uint64:
		return w.uint64()
	}
	size := scalarSize(c)
	if size == 0 {
		return malformed("type 0x%02x is not in use", c)
	}
	_, err := w.take(size)
	return err
}

// mapping reads a map's keys and values.
func (w *walk) mapping(c byte, depth int) error {
	n, err := w.count(c, msgpcode.FixedMapMask, msgpcode.Map16)
	if err != nil {
		return err
	}
	if depth > maxDepth {
		return malformed("more than %d levels deep", maxDepth)
	}
	if n > maxKeys {
		return malformed("a map of %d keys: at most %d", n, maxKeys)
	}
	var keys [maxKeys][]byte
	for i := range n {
		key, err := w.key()
		if err != nil {
			return err
		}
		for _, earlier := range keys[:i] {
			if bytes.Equal(key, earlier) {
				return malformed("key %q twice", key)
			}
		}
		keys[i] = key
		if err := w.next(depth + 1); err != nil {
			return err
		}
	}
	return nil
}

// array reads an array's elements. Each element has at least one byte.
func (w *walk) array(c byte, depth int) error {
	n, err := w.count(c, msgpcode.FixedArrayMask, msgpcode.Array16)
	if err != nil {
		return err
	}
	if depth > maxDepth {
		return malformed("more than %d levels deep", maxDepth)
	}
	if n > len(w.rest) {
		return malformed("an array of %d in %d bytes", n, len(w.rest))
	}
	for range n {
		if err := w.next(depth + 1); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) next(depth int) error {
	c, err := w.code()
	if err != nil {
		return err
	}
	return w.value(c, depth)
}

// key reads a map's key and returns its text without its length: the decoder treats all encodings
// of one text as the same key.
func (w *walk) key() ([]byte, error) {
	c, err := w.code()
	if err != nil {
		return nil, err
	}
	if !msgpcode.IsString(c) {
		return nil, malformed("a key of type 0x%02x: want a string", c)
	}
	return w.text(c)
}

// text reads a string or binary value and returns its bytes.
func (w *walk) text(c byte) ([]byte, error) {
	if msgpcode.IsFixedString(c) {
		return w.take(int(c & msgpcode.FixedStrMask))
	}
	first := msgpcode.Str8
	if msgpcode.IsBin(c) {
		first = msgpcode.Bin8
	}
	n, err := w.length(1 << (c - first))
	if err != nil {
		return nil, err
	}
	return w.take(n)
}

// count reads how many entries a container has. The number is in the code itself, or in the two or
// four bytes after it.
func (w *walk) count(c, mask, first byte) (int, error) {
	if c < msgpcode.Nil {
		return int(c & mask), nil
	}
	return w.length(2 << (c - first))
}

// length reads an unsigned number of size bytes.
func (w *walk) length(size int) (int, error) {
	b, err := w.take(size)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, octet := range b {
		n = n<<8 | int(octet)
	}
	return n, nil
}

func (w *walk) uint64() error {
	b, err := w.take(8)
	if err != nil {
		return err
	}
	if b[0] > math.MaxInt8 {
		return malformed("an integer above 2^63 - 1")
	}
	return nil
}

func (w *walk) code() (byte, error) {
	b, err := w.take(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

func (w *walk) take(n int) ([]byte, error) {
	if n > len(w.rest) {
		return nil, malformed("%d bytes announced, %d left", n, len(w.rest))
	}
	b := w.rest[:n]
	w.rest = w.rest[n:]
	return b, nil
}

// scalarSize returns the number of bytes that follow the code of a number. It returns 0 for nil, for
// an extension, and for the one code that is never used.
func scalarSize(c byte) int {
	switch c {
	case msgpcode.Uint8, msgpcode.Int8:
		return 1
	case msgpcode.Uint16, msgpcode.Int16:
		return 2
	case msgpcode.Uint32, msgpcode.Int32, msgpcode.Float:
		return 4
	case msgpcode.Int64, msgpcode.Double:
		return 8
	}
	return 0
}

func isMap(c byte) bool {
	return msgpcode.IsFixedMap(c) || c == msgpcode.Map16 || c == msgpcode.Map32
}

func isArray(c byte) bool {
	return msgpcode.IsFixedArray(c) || c == msgpcode.Array16 || c == msgpcode.Array32
}

func isText(c byte) bool { return msgpcode.IsString(c) || msgpcode.IsBin(c) }

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)
}
