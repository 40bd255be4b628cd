package logs

import "strings"

// keep copies found to where the strings lie. A Builder never writes again
// what it gave out, as long as it has room.
func (s *scanner) keep(found []byte) string {
	if len(found) > s.chars.Cap()-s.chars.Len() {
		s.chars = &strings.Builder{}
		s.chars.Grow(max(charsAtOnce, len(found)))
	}
	at := s.chars.Len()
	s.chars.Write(found)
	return s.chars.String()[at:]
}

// list is a list of strings.
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

// numbers is a list of ids.
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

// cut takes what was added to room since from out of it, and makes new room
// when little is left.
func cut[T any](room *[]T, from int) []T {
	all := *room
	taken := all[from:len(all):len(all)]
	if cap(all)-len(all) < wordsAtOnce/8 {
		*room = make([]T, 0, wordsAtOnce)
	}
	return taken
}
