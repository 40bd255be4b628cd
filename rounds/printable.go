package rounds

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Printable makes text from a log safe for a terminal. It writes numbers in place of control
// characters, which U+0080 to U+009F are too, of characters that turn the direction of writing or draw nothing,
// and of bytes that are not UTF-8.
func Printable(s string) string {
	if !strings.ContainsFunc(s, unfit) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i, c := range s {
		switch {
		case c == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, "\\x%02x", s[i])
		case unfit(c):
			fmt.Fprintf(&b, "\\u%04x", c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

func unfit(c rune) bool { return !unicode.IsPrint(c) }

// EscapeJSON makes encoded JSON safe for a terminal: in place of each character that Printable does not print
// it has an escape, so that the text that the JSON stands for is the same. White space of ASCII stays, for it
// can only stand between the values. It returns b if there is no such character.
func EscapeJSON(b []byte) []byte {
	if !bytes.ContainsFunc(b, unfitInJSON) && utf8.Valid(b) {
		return b
	}
	out := make([]byte, 0, len(b)+64)
	for len(b) > 0 {
		c, size := utf8.DecodeRune(b)
		switch {
		case c == utf8.RuneError && size == 1: // encoding/json decodes such a byte like this
			out = append(out, `\ufffd`...)
		case !unfitInJSON(c):
			out = append(out, b[:size]...)
		case c > 0xffff:
			high, low := utf16.EncodeRune(c)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, c)
		}
		b = b[size:]
	}
	return out
}

func unfitInJSON(c rune) bool {
	return unfit(c) && c != '\n' && c != '\r' && c != '\t'
}
