package rounds

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable makes text from a log safe for a terminal. It writes numbers in place of control
// characters, of characters that turn the direction of writing or draw nothing, and of bytes that
// are not UTF-8.
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
