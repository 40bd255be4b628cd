package logs

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// charsAtOnce is how much memory for strings is allocated at a time. A string that somebody keeps also
// keeps the whole piece of memory.
const charsAtOnce = 16 << 10

// text reads a string. The result is valid until text is called again.
func (s *scanner) text() []byte {
	s.expect('"')
	if s.failed {
		return nil
	}
	s.escaped = false
	from := s.at
	i := from + plain(s.line[from:])
	switch {
	case i == len(s.line) || s.line[i] < ' ':
		s.failed = true
		return nil
	case s.line[i] == '"':
		s.at = i + 1
		return s.line[from:i]
	}
	return s.decode(i)
}

// plain returns how many characters s begins with that stand for themselves in a string of JSON, and are
// ASCII.
func plain(s []byte) int {
	const (
		ones   = 0x0101010101010101
		spaces = ones * ' '
		quotes = ones * '"'
		slants = ones * '\\'
		tops   = ones * 0x80
	)
	i := 0
	for ; len(s)-i >= 8; i += 8 {
		// The lowest byte of found whose top bit is set is the first character that is special.
		// Those behind it may be wrong, for a subtraction borrows from them.
		x := binary.LittleEndian.Uint64(s[i:])
		found := (x | (x - spaces) | ((x ^ quotes) - ones) | ((x ^ slants) - ones)) & tops
		if found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c == '"' || c == '\\' || c < ' ' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

// decode reads a string of which the line has plain characters up to the index i.
func (s *scanner) decode(i int) []byte {
	from := s.at
	s.decoded = s.decoded[:0]
	for i < len(s.line) && s.line[i] >= ' ' {
		switch s.line[i] {
		case '"':
			s.decoded = append(s.decoded, s.line[from:i]...)
			s.at = i + 1
			s.failed = s.failed || !utf8.Valid(s.decoded)
			return s.decoded
		case '\\':
			s.escaped = true
			s.decoded = append(s.decoded, s.line[from:i]...)
			length := s.escape(s.line[i:])
			if length == 0 {
				s.failed = true
				return nil
			}
			i += length
			from = i
		default:
			i++
		}
		i += plain(s.line[i:])
	}
	s.failed = true
	return nil
}

// escape appends what an escape at the beginning of esc stands for, and returns the length of the escape. It
// returns 0 if that is no escape, or half a character.
func (s *scanner) escape(esc []byte) (length int) {
	if len(esc) < 2 {
		return 0
	}
	if at := strings.IndexByte(`"\/bfnrt`, esc[1]); at >= 0 {
		s.decoded = append(s.decoded, "\"\\/\b\f\n\r\t"[at])
		return 2
	}
	if esc[1] != 'u' || len(esc) < 6 {
		return 0
	}
	c, ok := hex(esc[2:6])
	if !ok || utf16.IsSurrogate(c) {
		return 0
	}
	s.decoded = utf8.AppendRune(s.decoded, c)
	return 6
}

// hex reads digits of base 16.
func hex(digits []byte) (c rune, ok bool) {
	for _, d := range digits {
		at := strings.IndexByte("0123456789abcdefABCDEF", d)
		if at < 0 {
			return 0, false
		}
		if at > 15 {
			at -= 6
		}
		c = c<<4 | rune(at)
	}
	return c, true
}

// name reads a string that is likely to come again. Often it is equal to last, the last one of its field.
func (s *scanner) name(last *string) string {
	if rest := s.line[s.at:]; len(rest) > len(*last)+1 && rest[0] == '"' &&
		rest[1+len(*last)] == '"' && string(rest[1:1+len(*last)]) == *last {
		s.at += len(*last) + 2
		return *last
	}
	found := s.text()
	if s.failed {
		return "" // or else what is no text would be known from now on
	}
	if len(found) > maxName {
		return s.keep(found)
	}
	known, ok := s.names[string(found)]
	if !ok {
		if len(s.names) >= maxNames {
			clear(s.names)
		}
		known = string(found)
		s.names[known] = known
	}
	if !s.escaped { // or else it might look like the end of a string, and more
		*last = known
	}
	return known
}

// kept reads a string, and copies it into memory of its own.
func (s *scanner) kept() string { return s.keep(s.text()) }

// keep copies found into the memory for strings. A strings.Builder that does not grow never
// changes what it has given out.
func (s *scanner) keep(found []byte) string {
	if len(found) > s.chars.Cap()-s.chars.Len() {
		s.chars = &strings.Builder{}
		s.chars.Grow(max(charsAtOnce, len(found)))
	}
	at := s.chars.Len()
	s.chars.Write(found)
	return s.chars.String()[at:]
}

// unquote appends to to what a string of JSON or of Go stands for, which begins behind its quotation mark. It
// stops at the closing one, at the end of s, or at what is no escape.
func unquote(to, s []byte) []byte {
	for len(s) > 0 && s[0] != '"' {
		i := plain(s)
		to, s = append(to, s[:i]...), s[i:]
		if len(s) > 0 && s[0] != '"' && s[0] != '\\' {
			to, s = append(to, s[0]), s[1:]
			continue
		}
		if len(s) < 2 || s[0] != '\\' {
			return to
		}
		length := 2
		if at := strings.IndexByte(`"\/'bfnrtav`, s[1]); at >= 0 {
			to = append(to, "\"\\/'\b\f\n\r\t\a\v"[at])
		} else if to, length = unquoteCode(to, s); length == 0 {
			return to
		}
		s = s[length:]
	}
	return to
}

// unquoteCode reads \x1b, \u001b or \U0000001b, and returns its length, 0 if it is none.
func unquoteCode(to, s []byte) (longer []byte, length int) {
	length = map[byte]int{'x': 4, 'u': 6, 'U': 10}[s[1]]
	if length == 0 || len(s) < length {
		return to, 0
	}
	c, err := strconv.ParseUint(string(s[2:length]), 16, 32)
	switch {
	case err != nil:
		return to, 0
	case s[1] == 'x':
		return append(to, byte(c)), length
	case len(s) >= 12 && s[6] == '\\' && s[7] == 'u' && utf16.IsSurrogate(rune(c)):
		if low, ok := hex(s[8:12]); ok && utf16.DecodeRune(rune(c), low) != utf8.RuneError {
			return utf8.AppendRune(to, utf16.DecodeRune(rune(c), low)), 12
		}
	}
	return utf8.AppendRune(to, rune(c)), length
}
