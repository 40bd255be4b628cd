package logs

import (
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Reader reads a stream as UTF-8. Shells of Windows write files in UTF-16, which begin with the mark
// U+FEFF and then a character of ASCII. It passes any other stream on as it is.
type utf16Reader struct {
	from   io.Reader
	begun  bool
	order  binary.ByteOrder // nil if the stream is not UTF-16
	raw    []byte           // what was read of the stream and not decoded
	out    []byte           // what was decoded and not handed out
	err    error            // what comes behind out
	buffer [1 << 15]byte
}

func newUTF16Reader(from io.Reader) io.Reader { return &utf16Reader{from: from} }

// Read implements io.Reader.
func (u *utf16Reader) Read(p []byte) (int, error) {
	if !u.begun {
		u.begun = true
		u.begin()
	}
	for len(u.out) == 0 && u.err == nil {
		if u.order == nil {
			return u.from.Read(p)
		}
		u.fill()
		u.decode()
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, u.err
}

// begin reads the first bytes, as many as it takes to tell whether the stream is UTF-16.
func (u *utf16Reader) begin() {
	for u.mayBe() && len(u.raw) < 4 && u.err == nil {
		u.fill()
	}
	switch raw := u.raw; {
	case len(raw) < 4 || !u.mayBe():
		u.out, u.raw = u.raw, nil
	case raw[0] == 0xff:
		u.order, u.raw = binary.LittleEndian, raw[2:]
		u.decode()
	default:
		u.order, u.raw = binary.BigEndian, raw[2:]
		u.decode()
	}
}

// mayBe reports whether the bytes that were read may be the beginning of UTF-16.
func (u *utf16Reader) mayBe() bool {
	for i, c := range u.raw[:min(4, len(u.raw))] {
		little := u.raw[0] == 0xff
		var ok bool
		switch i {
		case 0:
			ok = c == 0xff || c == 0xfe
		case 1:
			ok = c == 0xff^0xfe^u.raw[0]
		default:
			ok = (c == 0) == (little == (i == 3)) && c < utf8.RuneSelf
		}
		if !ok {
			return false
		}
	}
	return true
}

// fill reads some bytes.
func (u *utf16Reader) fill() {
	have := copy(u.buffer[:], u.raw)
	n, err := u.from.Read(u.buffer[have:])
	u.raw, u.err = u.buffer[:have+n], err
}

// decode decodes what was read. At the end of the stream that is everything, and before that all but half a
// character.
func (u *utf16Reader) decode() {
	out := u.out[:0]
	for len(u.raw) > 1 {
		c, size := rune(u.order.Uint16(u.raw)), 2
		if utf16.IsSurrogate(c) {
			if len(u.raw) < 4 && u.err == nil {
				break
			}
			low := rune(utf8.RuneError)
			if len(u.raw) >= 4 {
				low = rune(u.order.Uint16(u.raw[2:]))
			}
			if c = utf16.DecodeRune(c, low); c != utf8.RuneError {
				size = 4
			}
		}
		out, u.raw = utf8.AppendRune(out, c), u.raw[size:]
	}
	if u.err != nil && len(u.raw) > 0 {
		out, u.raw = utf8.AppendRune(out, utf8.RuneError), nil
	}
	u.out = out
}
