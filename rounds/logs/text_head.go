package logs

import "strings"

// head is the first line of a record: "[  2.104] 4 > peers 1 2" in a simulated run, or
// "15:04:05.000 INF 4 > …" on a node's terminal.
type head struct {
	before       string // what stands before all that
	seconds      string // of a simulated run
	clock, level string // on a terminal
	node, event  string
}

// maxDigits is the length of the greatest id.
const maxDigits = 20

// cutHead finds the first line of a record in s.
func cutHead(s string) (h head, ok bool) {
	const arrow = " > "
	for from := 0; ; {
		at := strings.Index(s[from:], arrow)
		if at < 0 {
			return h, false
		}
		at += from
		from = at + 1
		rest := s[:at]
		rest, h.node = cutDigits(rest)
		if len(h.node) == 0 || len(h.node) > maxDigits || !strings.HasSuffix(rest, " ") {
			continue
		}
		h.event = s[at+len(arrow):]
		rest = rest[:len(rest)-1]
		if h.seconds, h.before, ok = cutSeconds(rest); ok {
			return h, true
		}
		if h.clock, h.level, h.before, ok = cutClock(rest); ok {
			return h, true
		}
	}
}

// cutDigits splits off the digits at the end of s.
func cutDigits(s string) (rest, digits string) {
	i := len(s)
	for i > 0 && isDigit(s[i-1]) {
		i--
	}
	return s[:i], s[i:]
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// cutSeconds splits off "[  2.104]" at the end of s.
func cutSeconds(s string) (seconds, before string, ok bool) {
	const decimals, mostDigits = 3, 9
	inner, ok := strings.CutSuffix(s, "]")
	if !ok {
		return "", "", false
	}
	rest, fraction := cutDigits(inner)
	rest, dot := strings.CutSuffix(rest, ".")
	rest, whole := cutDigits(rest)
	if !dot || len(fraction) != decimals || len(whole) == 0 || len(whole) > mostDigits {
		return "", "", false
	}
	before, ok = strings.CutSuffix(strings.TrimRight(rest, " "), "[")
	return inner[len(rest):], before, ok
}

// cutClock splits off "15:04:05.000 INF" at the end of s.
func cutClock(s string) (clock, level, before string, ok bool) {
	const shape = "dd:dd:dd.ddd AAA"
	at := len(s) - len(shape)
	if at < 0 || at > 0 && isWordChar(s[at-1]) {
		return "", "", "", false
	}
	for i := range len(shape) {
		c := s[at+i]
		switch shape[i] {
		case 'd':
			ok = isDigit(c)
		case 'A':
			ok = c >= 'A' && c <= 'Z'
		default:
			ok = c == shape[i]
		}
		if !ok {
			return "", "", "", false
		}
	}
	clock, level, _ = strings.Cut(s[at:], " ")
	return clock, level, s[:at], true
}

func isWordChar(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}
