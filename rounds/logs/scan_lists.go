package logs

import (
	"encoding/json"
	"slices"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// roomAtOnce is the number of elements for which a room allocates memory at a time.
const roomAtOnce = 256

// room is memory for many short lists. A list that somebody keeps also keeps its neighbours.
type room[T any] struct{ all []T }

// begin begins a list, and returns the index of its first element.
func (r *room[T]) begin() (from int) { return len(r.all) }

// add appends an element to the list that began at from. It returns where the list begins now: a list
// that does not fit moves, and leaves the others behind.
func (r *room[T]) add(from int, element T) int {
	if len(r.all) == cap(r.all) {
		begun := r.all[from:]
		r.all = append(make([]T, 0, max(roomAtOnce, 2*len(begun))), begun...)
		from = 0
	}
	r.all = append(r.all, element)
	return from
}

// end returns the list that began at from.
func (r *room[T]) end(from int) []T {
	list := r.all[from:len(r.all):len(r.all)]
	if len(list) > roomAtOnce/2 {
		r.all = nil // or else many short lists would keep a long one
	}
	return list
}

// list reads a list of strings.
func (s *scanner) list() []string {
	s.expect('[')
	if s.take(']') {
		return []string{} // which is not the same as no list
	}
	from := s.words.begin()
	for ; !s.failed; s.expect(',') {
		from = s.words.add(from, s.kept())
		if s.take(']') {
			break
		}
	}
	return s.words.end(from)
}

// numbers reads a list of ids.
func (s *scanner) numbers() []uint64 {
	s.expect('[')
	if s.take(']') {
		return []uint64{} // nobody, which is not the same as not told
	}
	from := s.ids.begin()
	for ; !s.failed; s.expect(',') {
		from = s.ids.add(from, s.number())
		if s.take(']') {
			break
		}
	}
	return s.ids.end(from)
}

// splits reads the news of split brains, which are long and rare.
func (s *scanner) splits() (splits []trace.Split) {
	s.space()
	from := s.at
	s.skip(0)
	if !s.failed && json.Unmarshal(trace.Renamed(s.line[from:s.at]), &splits) != nil {
		s.failed = true
	}
	return splits
}

// reasons reads a list of reasons.
func (s *scanner) reasons() []trace.Reason {
	from := s.told.begin()
	for s.expect('['); !s.failed; s.expect(',') {
		from = s.told.add(from, s.reason(0))
		if s.take(']') {
			break
		}
	}
	return s.told.end(from)
}

// mostArgs bounds the arguments of a reason, and mostCauses how deep its causes lie in each other.
// The general decoder reads reasons with more.
const mostArgs, mostCauses = 8, 8

// reason reads {"code":…,"args":[…]}. Without arguments, there is no "args".
func (s *scanner) reason(causes int) (r trace.Reason) {
	coded := false
	for s.expect('{'); !s.failed; s.expect(',') {
		key := s.text()
		s.expect(':')
		switch {
		case string(key) == "code" && !coded:
			r.Code, coded = s.name(&s.last.code), true
		case string(key) == "args" && r.Args == nil && causes < mostCauses:
			r.Args = s.arguments(causes + 1)
		default:
			s.failed = true
		}
		if s.take('}') {
			break
		}
	}
	return r
}

// arguments reads the arguments of a reason. Those of a cause lie by themselves: in a room, the last one that somebody
// keeps would keep the room before it, and so all of them.
func (s *scanner) arguments(causes int) []trace.Arg {
	var args [mostArgs]trace.Arg // those of a cause come in between
	n := 0
	for s.expect('['); !s.failed && n < mostArgs; s.expect(',') {
		args[n] = s.arg(causes)
		n++
		if s.take(']') {
			if causes > 1 {
				return slices.Clone(args[:n])
			}
			from := s.args.begin()
			for _, arg := range args[:n] {
				from = s.args.add(from, arg)
			}
			return s.args.end(from)
		}
	}
	s.failed = true
	return nil
}

func (s *scanner) arg(causes int) trace.Arg {
	s.space()
	switch {
	case s.at < len(s.line) && s.line[s.at] == '"':
		return trace.Arg{Is: trace.Words, Words: s.kept()}
	case s.at < len(s.line) && s.line[s.at] == '{':
		cause := s.reason(causes)
		return trace.Arg{Is: trace.Cause, Reason: &cause}
	}
	return trace.Arg{Number: s.number()}
}
