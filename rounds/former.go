package rounds

import (
	"strings"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/trace"
)

// Records of the release before have sentences only, and so has text for people. This file
// and its table alone read sentences, and nothing is ever added: a reason that has a code
// is not read with them.

// former is a sentence of that release: # is a number, * are words, and $ is the reason
// that it follows from.
type former struct {
	algorithm string // "" of what algorithms share
	pattern   string
	code      string
}

var (
	formerWhole     = map[string][]former{} // by the sentence
	formerDecisions = map[string][]former{} // by what stands behind "$ -> "
	formerEnds      []former                // "$, and so on"
	formerWords     []former                // with *
)

func init() {
	for _, f := range formerSentences {
		decision, follows := strings.CutPrefix(f.pattern, "$ -> ")
		switch {
		case strings.Contains(f.pattern, "*"):
			formerWords = append(formerWords, f)
		case follows:
			formerDecisions[decision] = append(formerDecisions[decision], f)
		case f.pattern[0] == '$':
			formerEnds = append(formerEnds, f)
		default:
			formerWhole[f.pattern] = append(formerWhole[f.pattern], f)
		}
	}
}

// formerReason is what the sentence was, the zero reason but for the sentence where it
// decided nothing.
func formerReason(algorithm, why string) reason {
	told := formerly(algorithm, why)
	return reason{catalog.Reason(told.Code), told.Args, why}
}

func formerly(algorithm, why string) trace.Reason {
	var room [256]byte
	shape := shapeOf(room[:0], why)
	if f, ok := pick(formerWhole[string(shape)], algorithm); ok {
		return trace.Reason{Code: f.code, Args: numbersIn(why)}
	}
	if told, ok := formerFixed[why]; ok {
		return told
	}
	cause, decision, arrow := strings.Cut(why, " -> ")
	if arrow {
		if f, ok := pick(formerDecisions[string(shapeOf(room[:0], decision))], algorithm); ok {
			return trace.Reason{Code: f.code, Args: append([]trace.Arg{formerCause(algorithm, cause)}, numbersIn(decision)...)}
		}
	}
	for _, f := range formerWords {
		if args, ok := fill(f.pattern, why); ok {
			return trace.Reason{Code: f.code, Args: args}
		}
	}
	for _, f := range formerEnds {
		if begin, end, ok := cutShape(why, f.pattern[1:]); ok {
			return trace.Reason{Code: f.code, Args: append([]trace.Arg{formerCause(algorithm, begin)}, numbersIn(end)...)}
		}
	}
	if arrow {
		return formerly(algorithm, cause)
	}
	return trace.Reason{}
}

// cutShape cuts off the end that has the shape.
func cutShape(why, shape string) (begin, end string, ok bool) {
	head, _, _ := strings.Cut(shape, "#")
	for from := 0; ; {
		at := strings.Index(why[from:], head)
		if at < 0 {
			return "", "", false
		}
		at += from
		if string(shapeOf(nil, why[at:])) == shape {
			return why[:at], why[at:], true
		}
		from = at + 1
	}
}

// formerCause is the reason that another follows from.
func formerCause(algorithm, cause string) trace.Arg {
	if told := formerly(algorithm, cause); told.Code != "" {
		return trace.Arg{Is: trace.Cause, Reason: &told}
	}
	return trace.Arg{Is: trace.Words, Words: cause}
}

// pick is the algorithm's own sentence among equal ones, or else the first.
func pick(equal []former, algorithm string) (f former, ok bool) {
	for _, f := range equal {
		if f.algorithm == algorithm {
			return f, true
		}
	}
	if len(equal) == 0 {
		return f, false
	}
	return equal[0], true
}

// shapeOf puts # for each number.
func shapeOf(b []byte, s string) []byte {
	in := false
	for _, c := range []byte(s) {
		digit := c >= '0' && c <= '9'
		switch {
		case !digit:
			b = append(b, c)
		case !in:
			b = append(b, '#')
		}
		in = digit
	}
	return b
}

func fixed(code string, words ...string) trace.Reason {
	told := trace.Reason{Code: code}
	for _, w := range words {
		told.Args = append(told.Args, trace.Arg{Is: trace.Words, Words: w})
	}
	return told
}

func numbersIn(s string) (args []trace.Arg) {
	for s != "" {
		n, rest, ok := leadingNumber(s)
		if ok {
			args, s = append(args, trace.Arg{Number: n}), rest
			continue
		}
		s = s[1:]
	}
	return args
}

// fill fills the pattern's places with what the sentence has there. Words go up to the last
// of what stands behind them.
func fill(pattern, why string) (args []trace.Arg, ok bool) {
	for pattern != "" {
		at := strings.IndexAny(pattern, "#*")
		if at < 0 {
			return args, why == pattern
		}
		rest, fits := strings.CutPrefix(why, pattern[:at])
		if !fits {
			return nil, false
		}
		if pattern[at] == '*' {
			end := strings.LastIndex(rest, pattern[at+1:])
			if strings.Contains(pattern[at+1:], "*") {
				end = strings.LastIndex(rest, strings.TrimSuffix(pattern[at+1:], "*"))
			}
			if end < 0 {
				return nil, false
			}
			args = append(args, trace.Arg{Is: trace.Words, Words: rest[:end]})
			why, pattern = rest[end:], pattern[at+1:]
			if pattern == "" {
				return args, why == ""
			}
			continue
		}
		n, rest, isNumber := leadingNumber(rest)
		if !isNumber {
			return nil, false
		}
		args, why, pattern = append(args, trace.Arg{Number: n}), rest, pattern[at+1:]
	}
	return args, why == ""
}
