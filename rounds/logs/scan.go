package logs

import (
	"math"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// scanner reads records in the one form in which nodes write them: JSON without white
// space, strings without escapes, each field once. At the first byte that differs from
// this form it gives up, and the general decoder reads the line. Both give the same record.
//
// Without the scanner, the way from a log to the list of its rounds costs 10 to 40 % more
// processor time (BenchmarkLines). The strings of many records lie in one large piece of
// memory: to allocate each by itself costs 5 to 10 %.
type scanner struct {
	rest   []byte
	names  map[string]string // words that occur again and again
	last   lastNames
	chars  *strings.Builder // memory for strings
	words  []string         // memory for lists of strings
	ids    []uint64
	told   []trace.Reason
	args   []trace.Arg
	failed bool
}

const (
	// charsAtOnce and wordsAtOnce are how much memory is allocated at a time. A string that
	// somebody keeps also keeps the whole piece of memory.
	charsAtOnce, wordsAtOnce = 16 << 10, 256
	// maxNames bounds the words that are kept, for logs in which they do not come again.
	maxNames = 1 << 10
)

// lastNames are the words of the record before: the next one often has the same.
type lastNames struct{ level, cluster, incarnation, algo, event, msg, role, guarantee, change, code string }

func newScanner() *scanner { return &scanner{names: map[string]string{}, chars: &strings.Builder{}} }

// record reads object into rec. It returns false if it gives up.
func (s *scanner) record(object []byte, rec *trace.Record) bool {
	*rec = trace.Record{}
	s.rest, s.failed = object, false
	s.expect('{')
	for seen := uint32(0); !s.failed; {
		key := s.text()
		s.expect(':')
		bit := s.field(key, rec)
		if seen&bit != 0 {
			return false // the field was there before
		}
		seen |= bit
		if s.take('}') {
			return !s.failed && len(s.rest) == 0
		}
		s.expect(',')
	}
	return false
}

// field reads the value of a field, and returns a bit that only this field has.
func (s *scanner) field(key []byte, rec *trace.Record) (bit uint32) {
	switch string(key) {
	case "level":
		rec.Level, bit = s.name(&s.last.level), 1<<0
	case "time":
		rec.Time, bit = s.instant(), 1<<1
	case "cluster":
		rec.Cluster, bit = s.name(&s.last.cluster), 1<<2
	case "node":
		rec.Node, bit = s.number(), 1<<3
	case "incarnation", "session": // the latter until 2026-11
		rec.Incarnation, bit = s.name(&s.last.incarnation), 1<<4
	case "algo":
		rec.Algo, bit = s.name(&s.last.algo), 1<<5
	case "seq":
		rec.Seq, bit = s.number(), 1<<6
	case "hlc":
		rec.HLC, bit = s.kept(), 1<<7
	case "term":
		rec.Term, bit = s.number(), 1<<8
	case "event":
		rec.Event, bit = s.name(&s.last.event), 1<<9
	case "from":
		rec.From, bit = s.number(), 1<<10
	case "msg":
		rec.Msg, bit = s.name(&s.last.msg), 1<<11
	case "msg_id":
		rec.MsgID, bit = s.kept(), 1<<12
	case "detail":
		rec.Detail, bit = s.kept(), 1<<13
	case "alive":
		rec.Alive, bit = s.numbers(), 1<<14
	case "evidence":
		rec.Evidence, bit = s.kept(), 1<<15
	case "why":
		rec.Why, bit = s.list(), 1<<16
	case "reasons":
		rec.Reasons, bit = s.reasons(), 1<<27
	case "ranks":
		rec.Ranks, bit = s.list(), 1<<28
	case "about":
		rec.About, bit = s.number(), 1<<29
	case "unfit":
		rec.Unfit, bit = s.kept(), 1<<30
	case "sent":
		rec.Sent, bit = s.list(), 1<<17
	case "sent_bytes":
		rec.SentBytes, bit = s.count(), 1<<26
	default:
		return s.belief(key, rec)
	}
	return bit
}

// belief does what field does, for the fields about what the node believes.
func (s *scanner) belief(key []byte, rec *trace.Record) (bit uint32) {
	switch string(key) {
	case "role":
		rec.Role, bit = trace.Role(s.name(&s.last.role)), 1<<18
	case "leader":
		rec.Leader, bit = s.number(), 1<<19
	case "guarantee":
		rec.Guarantee, bit = s.name(&s.last.guarantee), 1<<20
	case "token":
		rec.Token, bit = s.number(), 1<<21
	case "valid_until":
		rec.ValidUntil, bit = s.instant(), 1<<22
	case "prev_leader":
		prev := s.number()
		rec.PrevLeader, bit = &prev, 1<<23
	case "ineligible":
		rec.Ineligible, bit = s.kept(), 1<<25
	case "leader_change":
		rec.LeaderChange, bit = trace.Change(s.name(&s.last.change)), 1<<24
	default: // of a newer version, or no record at all
		s.failed = true
	}
	return bit
}

func (s *scanner) take(c byte) bool {
	if len(s.rest) == 0 || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

func (s *scanner) expect(c byte) {
	if !s.take(c) {
		s.failed = true
	}
}

// text reads a string of plain ASCII characters. The result lies in the line.
func (s *scanner) text() []byte {
	s.expect('"')
	for i, c := range s.rest {
		switch {
		case c == '"':
			found := s.rest[:i]
			s.rest = s.rest[i+1:]
			return found
		case c == '\\', c < ' ', c > '~':
			s.failed = true
			return nil
		}
	}
	s.failed = true
	return nil
}

// name reads a string that is likely to come again. Often it is equal to last, the last one of its field.
func (s *scanner) name(last *string) string {
	found := s.text()
	if string(found) == *last {
		return *last
	}
	known, ok := s.names[string(found)]
	if !ok {
		if len(s.names) >= maxNames {
			clear(s.names)
		}
		known = string(found)
		s.names[known] = known
	}
	*last = known
	return known
}

// kept reads a string, and copies it into memory of its own.
func (s *scanner) kept() string { return s.keep(s.text()) }

// number reads a count or an id of up to 19 digits. The general decoder reads longer ones.
func (s *scanner) number() (n uint64) {
	i := 0
	for i < len(s.rest) && s.rest[i] >= '0' && s.rest[i] <= '9' {
		n = n*10 + uint64(s.rest[i]-'0')
		i++
	}
	if i == 0 || i > 19 || i > 1 && s.rest[0] == '0' {
		s.failed = true
	}
	s.rest = s.rest[i:]
	return n
}

// count reads a number that an int can hold.
func (s *scanner) count() int {
	n := s.number()
	if n > math.MaxInt {
		s.failed = true
		return 0
	}
	return int(n)
}

func (s *scanner) instant() time.Time {
	found := s.text()
	if s.failed {
		return time.Time{}
	}
	var at time.Time
	if at.UnmarshalText(found) != nil {
		s.failed = true
	}
	return at
}
