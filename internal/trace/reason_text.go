package trace

import (
	"strconv"
	"strings"
)

// In text, a reason's code and arguments stand in these brackets after its sentence.
const codeOpens, codeCloses = "  [", "]"

// Line returns a reason as one line of text: its sentence, and then its code and arguments in
// brackets, like "[nomination.call(nomination.gone(5), 2)]".
func Line(sentence string, r Reason) string {
	if r.Code == "" {
		return sentence
	}
	return sentence + codeOpens + r.String() + codeCloses
}

// CutLine splits a line that Line wrote into the sentence and the reason. The result ok is false if
// the line has no code. If the line is only a code, the sentence is the line.
func CutLine(line string) (sentence string, r Reason, ok bool) {
	if r, rest, fits := parseReason(line, 0); fits && rest == "" {
		return line, r, true
	}
	inner, closed := strings.CutSuffix(line, codeCloses)
	if !closed {
		return line, r, false
	}
	// The sentence may have a user's words in it, which may look like a code. Only a code
	// that ends with the line is the reason's.
	for from := 0; ; {
		at := strings.Index(inner[from:], codeOpens)
		if at < 0 {
			return line, Reason{}, false
		}
		at += from
		r, rest, fits := parseReason(inner[at+len(codeOpens):], 0)
		if fits && rest == "" {
			return line[:at], r, true
		}
		from = at + 1
	}
}

// mostDeep is the greatest depth of reasons in one line: a reason may have another reason as an
// argument.
const mostDeep = 8

// parseReason parses the reason at the beginning of s, as Reason.String writes it, and returns the
// rest of s. The parameter deep says in how many other reasons the reason is nested.
func parseReason(s string, deep int) (r Reason, rest string, ok bool) {
	end := strings.IndexFunc(s, func(c rune) bool { return c != '.' && !nameChar(c) })
	if end < 0 {
		end = len(s)
	}
	r.Code, rest = s[:end], s[end:]
	of, word, dot := strings.Cut(r.Code, ".")
	if !dot || !isName(of) || !isName(word) || deep > mostDeep {
		return r, s, false
	}
	rest, args := strings.CutPrefix(rest, "(")
	for args {
		var a Arg
		if a, rest, ok = parseArg(rest, deep+1); !ok {
			return r, s, false
		}
		r.Args = append(r.Args, a)
		if rest, args = strings.CutPrefix(rest, ", "); !args {
			if rest, ok = strings.CutPrefix(rest, ")"); !ok {
				return r, s, false
			}
		}
	}
	return r, rest, true
}

func parseArg(s string, deep int) (a Arg, rest string, ok bool) {
	if s != "" && s[0] == '"' {
		quoted, err := strconv.QuotedPrefix(s)
		if err != nil {
			return a, s, false
		}
		words, err := strconv.Unquote(quoted)
		return Arg{Is: Words, Words: words}, s[len(quoted):], err == nil
	}
	if cause, rest, ok := parseReason(s, deep); ok {
		return Arg{Is: Cause, Reason: &cause}, rest, true
	}
	end := strings.IndexAny(s, ",)")
	if end < 0 {
		return a, s, false
	}
	if isBare(s[:end]) {
		return Arg{Is: Words, Words: s[:end]}, s[end:], true
	}
	n, err := strconv.ParseUint(s[:end], 10, 64)
	return Arg{Number: n}, s[end:], err == nil
}

// isBare reports whether words need no quotes, because they look neither like a number nor like a
// code.
func isBare(s string) bool {
	first, last, dotted := strings.Cut(s, ".")
	switch {
	case isName(s):
		return true
	case s == "" || s[0] < '0' || s[0] > '9' || strings.Trim(s, "0123456789") == "":
		return false
	case dotted:
		return isName("x"+first) && isName("x"+last)
	}
	return isName("x" + s)
}

// isName reports whether s begins with a letter and contains only letters, digits, - and _.
func isName(s string) bool {
	return s != "" && (s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z') &&
		strings.IndexFunc(s, func(c rune) bool { return !nameChar(c) }) < 0
}

func nameChar(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}
