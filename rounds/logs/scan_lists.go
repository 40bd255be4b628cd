package logs

import (
	"strings"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

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

// list reads a list of strings.
func (s *scanner) list() []string {
	from := len(s.words)
	for s.expect('['); !s.failed; s.expect(',') {
		s.words = append(s.words, s.kept())
		if s.take(']') {
			break
		}
	}
	return cut(&s.words, from)
}

// reasons reads a list of reasons.
func (s *scanner) reasons() []trace.Reason {
	from := len(s.told)
	for s.expect('['); !s.failed; s.expect(',') {
		s.told = append(s.told, s.reason(0))
		if s.take(']') {
			break
		}
	}
	return cut(&s.told, from)
}

// mostArgs bounds the arguments of a reason, and mostCauses how deep its causes lie in each other.
// The general decoder reads reasons with more.
const mostArgs, mostCauses = 8, 8

// reason reads {"code":…,"args":[…]}. Without arguments, there is no "args".
func (s *scanner) reason(causes int) (r trace.Reason) {
	s.literal(`{"code":`)
	r.Code = s.name(&s.last.code)
	if s.take('}') {
		return r
	}
	s.literal(`,"args":[`)
	var args [mostArgs]trace.Arg
	n := 0
	for ; !s.failed; s.expect(',') {
		if n == mostArgs || causes == mostCauses {
			s.failed = true
			break
		}
		args[n] = s.arg(causes + 1)
		n++
		if s.take(']') {
			break
		}
	}
	s.expect('}')
	from := len(s.args)
	s.args = append(s.args, args[:n]...)
	r.Args = cut(&s.args, from)
	return r
}

func (s *scanner) arg(causes int) trace.Arg {
	switch {
	case len(s.rest) > 0 && s.rest[0] == '"':
		return trace.Arg{Is: trace.Words, Words: s.kept()}
	case len(s.rest) > 0 && s.rest[0] == '{':
		cause := s.reason(causes)
		return trace.Arg{Is: trace.Cause, Reason: &cause}
	}
	return trace.Arg{Number: s.number()}
}

func (s *scanner) literal(l string) {
	if len(s.rest) < len(l) || string(s.rest[:len(l)]) != l {
		s.failed = true
		return
	}
	s.rest = s.rest[len(l):]
}

// numbers reads a list of ids.
func (s *scanner) numbers() []uint64 {
	from := len(s.ids)
	s.expect('[')
	if s.take(']') {
		return []uint64{} // nobody, which is not the same as not told
	}
	for ; !s.failed; s.expect(',') {
		s.ids = append(s.ids, s.number())
		if s.take(']') {
			break
		}
	}
	return cut(&s.ids, from)
}

// cut returns what was added to room since the index from. It allocates new room when little
// is left.
func cut[T any](room *[]T, from int) []T {
	all := *room
	taken := all[from:len(all):len(all)]
	if cap(all)-len(all) < wordsAtOnce/8 {
		*room = make([]T, 0, wordsAtOnce)
	}
	return taken
}
