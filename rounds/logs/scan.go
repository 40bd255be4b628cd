package logs

import (
	"math"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// scanner reads records in the one shape in which nodes write them: JSON
// without white space, strings without escapes, each field once. It gives up at
// the first byte that is anything else, and the general decoder takes over; what
// both read, they read alike.
//
// What a record refers to lies in few large pieces, since most of a log's cost
// is otherwise to allocate its strings one by one.
type scanner struct {
	rest   []byte
	names  map[string]string // words that come again and again
	last   [numNames]string  // what each field that is such a word said last
	chars  *strings.Builder  // room for strings
	words  []string          // and for lists of them
	ids    []uint64
	told   []trace.Reason
	args   []trace.Arg
	failed bool
}

const (
	// charsAtOnce and wordsAtOnce are how much room is made at a time: a string
	// that is kept holds on to so much.
	charsAtOnce, wordsAtOnce = 16 << 10, 256
	// maxNames bounds the words that are known, in case they do not come again.
	maxNames = 1 << 10
)

// The fields that are names.
const (
	levelName = iota
	clusterName
	sessionName
	algoName
	eventName
	msgName
	roleName
	guaranteeName
	changeName
	numNames
)

func newScanner() *scanner { return &scanner{names: map[string]string{}, chars: &strings.Builder{}} }

// record reads object into rec; false when it is not of that shape.
func (s *scanner) record(object []byte, rec *trace.Record) bool {
	*rec = trace.Record{}
	s.rest, s.failed = object, false
	s.expect('{')
	for seen := uint32(0); !s.failed; {
		key := s.text()
		s.expect(':')
		bit := s.field(key, rec)
		if seen&bit != 0 {
			return false // said twice
		}
		seen |= bit
		if s.take('}') {
			return !s.failed && len(s.rest) == 0
		}
		s.expect(',')
	}
	return false
}

// field reads the value of a field. The bit it returns is the field's own.
func (s *scanner) field(key []byte, rec *trace.Record) (bit uint32) {
	switch string(key) {
	case "level":
		rec.Level, bit = s.name(levelName), 1<<0
	case "time":
		rec.Time, bit = s.instant(), 1<<1
	case "cluster":
		rec.Cluster, bit = s.name(clusterName), 1<<2
	case "node":
		rec.Node, bit = s.number(), 1<<3
	case "session":
		rec.Session, bit = s.name(sessionName), 1<<4
	case "algo":
		rec.Algo, bit = s.name(algoName), 1<<5
	case "seq":
		rec.Seq, bit = s.number(), 1<<6
	case "hlc":
		rec.HLC, bit = s.kept(), 1<<7
	case "term":
		rec.Term, bit = s.number(), 1<<8
	case "event":
		rec.Event, bit = s.name(eventName), 1<<9
	case "from":
		rec.From, bit = s.number(), 1<<10
	case "msg":
		rec.Msg, bit = s.name(msgName), 1<<11
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
	case "sent":
		rec.Sent, bit = s.list(), 1<<17
	case "sent_bytes":
		rec.SentBytes, bit = s.count(), 1<<26
	default:
		return s.belief(key, rec)
	}
	return bit
}

// belief reads the value of one of the fields on what the node believes.
func (s *scanner) belief(key []byte, rec *trace.Record) (bit uint32) {
	switch string(key) {
	case "role":
		rec.Role, bit = trace.Role(s.name(roleName)), 1<<18
	case "leader":
		rec.Leader, bit = s.number(), 1<<19
	case "guarantee":
		rec.Guarantee, bit = s.name(guaranteeName), 1<<20
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
		rec.LeaderChange, bit = trace.Change(s.name(changeName)), 1<<24
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

// text is a string of plain characters, within the line.
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

// name is a string that is likely to come again, most of all in the same field.
func (s *scanner) name(field int) string {
	found := s.text()
	if s.last[field] != string(found) {
		s.last[field] = s.known(found)
	}
	return s.last[field]
}

func (s *scanner) known(found []byte) string {
	if known, ok := s.names[string(found)]; ok {
		return known
	}
	if len(s.names) >= maxNames {
		clear(s.names)
	}
	name := string(found)
	s.names[name] = name
	return name
}

// kept is a string with room of its own.
func (s *scanner) kept() string { return s.keep(s.text()) }

// number is a count or an id. Those of twenty digits are left to the other
// decoder.
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

// count is a number that an int holds.
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
