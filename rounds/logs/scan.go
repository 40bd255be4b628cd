package logs

import (
	"math"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// scanner reads records without reflection, and nearly without allocations. It reads the forms that nodes
// write and that log collectors make of them: any order of fields, fields of newer versions, white space,
// escapes. At the first byte that it does not understand it gives up, and trace.Parse reads the line. Both
// give the same record.
//
// The strings of many records lie in one large piece of memory, and so do their lists: to allocate each
// by itself costs 5 to 10 % of the processor time of the way from a log to the list of its rounds.
type scanner struct {
	line    []byte
	at      int  // where the scanner is in the line
	failed  bool // it gave up
	escaped bool // the last text had escapes

	names map[string]string // words that occur again and again
	last  lastNames
	days  [2]day // the dates of the last times: a collector writes times of its own

	chars    *strings.Builder // memory for strings
	words    room[string]     // memory for lists
	ids      room[uint64]
	told     room[trace.Reason]
	args     room[trace.Arg]
	decoded  []byte // the last text without its escapes
	unquoted [][]byte
}

const (
	// maxNames bounds the words that are kept, for logs in which they do not come again, and
	// maxName the length of such a word.
	maxNames, maxName = 1 << 10, 64
	// maxDepth bounds how deep lists and objects of newer versions lie in each other. The general
	// decoder reads deeper ones.
	maxDepth = 32
)

// lastNames are the words of the record before: the next one often has the same.
type lastNames struct {
	level, cluster, incarnation, algo, event, msg, sender, asked, store, security, role, guarantee, change, code string
}

func newScanner() *scanner { return &scanner{names: map[string]string{}, chars: &strings.Builder{}} }

// record reads object into rec. It returns false if it gives up.
func (s *scanner) record(object []byte, rec *trace.Record) bool {
	*rec = trace.Record{}
	s.line, s.at, s.failed = object, 0, false
	s.expect('{')
	for seen := uint64(0); !s.failed; {
		key := s.text()
		s.expect(':')
		bit := s.field(key, rec)
		if seen&bit != 0 {
			return false // the field was there before
		}
		seen |= bit
		if s.take('}') {
			s.space()
			return !s.failed && s.at == len(s.line)
		}
		s.expect(',')
	}
	return false
}

// field reads the value of a field, and returns a bit that only this field has.
func (s *scanner) field(key []byte, rec *trace.Record) (bit uint64) {
	switch string(key) {
	case "level":
		rec.Level, bit = s.name(&s.last.level), 1<<0
	case "time":
		rec.Time, bit = s.instant(), 1<<1
	case trace.ClockSetField:
		rec.ClockSet, bit = time.Duration(s.signed()), 1<<37
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
	case "from_incarnation":
		rec.Sender, bit = s.name(&s.last.sender), 1<<38
	case "detail":
		rec.Detail, bit = s.kept(), 1<<13
	default:
		return s.cause(key, rec)
	}
	return bit
}

// cause does what field does, for the fields about what happened and why.
func (s *scanner) cause(key []byte, rec *trace.Record) (bit uint64) {
	switch string(key) {
	case "alive":
		rec.Alive, bit = s.numbers(), 1<<14
	case "evidence":
		rec.Evidence, bit = s.kept(), 1<<15
	case "why":
		rec.Why, bit = s.list(), 1<<16
	case "reasons":
		rec.Reasons, bit = s.reasons(), 1<<17
	case "ranks":
		rec.Ranks, bit = s.list(), 1<<18
	case "about":
		rec.About, bit = s.number(), 1<<19
	case "unfit":
		rec.Unfit, bit = s.kept(), 1<<20
	case "sent":
		rec.Sent, bit = s.list(), 1<<21
	case "sent_bytes":
		rec.SentBytes, bit = s.count(), 1<<22
	case "store":
		rec.Store, bit = s.name(&s.last.store), 1<<35
	case "security":
		rec.Security, bit = s.name(&s.last.security), 1<<36
	case "asked":
		rec.Asked, bit = s.name(&s.last.asked), 1<<34
	default:
		return s.belief(key, rec)
	}
	return bit
}

// belief does what field does, for the fields about what the node believes.
func (s *scanner) belief(key []byte, rec *trace.Record) (bit uint64) {
	switch string(key) {
	case "role":
		rec.Role, bit = trace.Role(s.name(&s.last.role)), 1<<23
	case "leader":
		rec.Leader, bit = s.number(), 1<<24
	case "guarantee":
		rec.Guarantee, bit = s.name(&s.last.guarantee), 1<<25
	case "token":
		rec.Token, bit = s.number(), 1<<26
	case "valid_until":
		rec.ValidUntil, bit = s.instant(), 1<<27
	case "prev_leader":
		from := s.ids.begin()
		from = s.ids.add(from, s.number())
		rec.PrevLeader, bit = &s.ids.end(from)[0], 1<<28
	case "ineligible":
		rec.Ineligible, bit = s.kept(), 1<<29
	case "leader_change":
		rec.LeaderChange, bit = trace.Change(s.name(&s.last.change)), 1<<30
	case "round":
		rec.Round, bit = s.number(), 1<<32
	case "leader_term":
		rec.Led, bit = s.number(), 1<<33
	case "splits":
		rec.Splits, bit = s.splits(), 1<<31
	default:
		s.newer(key)
	}
	return bit
}

// newer passes over a field that this version does not know. encoding/json also takes NODE for node: only a
// key that is no such spelling of another is surely unknown.
func (s *scanner) newer(key []byte) {
	for _, c := range key {
		if (c < 'a' || c > 'z') && c != '_' && (c < '0' || c > '9') {
			s.failed = true
			return
		}
	}
	if recordFields()[string(key)] {
		s.failed = true // a field that this scanner has yet to learn
		return
	}
	s.skip(0)
}

// recordFields has the names of all fields of a record.
var recordFields = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for field := range reflect.TypeFor[trace.Record]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names[name] = true
	}
	return names
})

// skip passes over a value.
func (s *scanner) skip(depth int) {
	s.space()
	if depth > maxDepth || s.at == len(s.line) {
		s.failed = true
		return
	}
	switch c := s.line[s.at]; c {
	case '"':
		s.text()
	case '{', '[':
		s.skipAll(c+2, depth) // in ASCII, the closing bracket is two characters behind
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.skipNumber()
	}
}

// skipAll passes over a list or an object, which ends with the bracket closing.
func (s *scanner) skipAll(closing byte, depth int) {
	s.at++
	if s.take(closing) {
		return
	}
	for ; !s.failed; s.expect(',') {
		if closing == '}' {
			s.text()
			s.expect(':')
		}
		s.skip(depth + 1)
		if s.take(closing) {
			return
		}
	}
}

// skipNumber passes over any number that JSON can write.
func (s *scanner) skipNumber() {
	if s.at < len(s.line) && s.line[s.at] == '-' {
		s.at++
	}
	from := s.at
	s.digits()
	if s.at > from+1 && s.line[from] == '0' {
		s.failed = true
	}
	if s.at < len(s.line) && s.line[s.at] == '.' {
		s.at++
		s.digits()
	}
	if s.at < len(s.line) && (s.line[s.at] == 'e' || s.line[s.at] == 'E') {
		s.at++
		if s.at < len(s.line) && (s.line[s.at] == '+' || s.line[s.at] == '-') {
			s.at++
		}
		s.digits()
	}
}

// digits passes over one digit or more.
func (s *scanner) digits() {
	from := s.at
	for s.at < len(s.line) && s.line[s.at]-'0' <= 9 {
		s.at++
	}
	s.failed = s.failed || s.at == from
}

func (s *scanner) literal(l string) {
	if rest := s.line[s.at:]; len(rest) < len(l) || string(rest[:len(l)]) != l {
		s.failed = true
		return
	}
	s.at += len(l)
}

// space passes over white space.
func (s *scanner) space() {
	for s.at < len(s.line) {
		switch s.line[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

// take passes over c, and white space before it. It returns false if something else comes.
func (s *scanner) take(c byte) bool {
	if s.at < len(s.line) && s.line[s.at] <= ' ' {
		s.space()
	}
	if s.at == len(s.line) || s.line[s.at] != c {
		return false
	}
	s.at++
	return true
}

func (s *scanner) expect(c byte) {
	if !s.take(c) {
		s.failed = true
	}
}

// number reads a count or an id of up to 19 digits. The general decoder reads longer ones.
func (s *scanner) number() (n uint64) {
	s.space()
	from := s.at
	for s.at < len(s.line) && s.line[s.at]-'0' <= 9 {
		n = n*10 + uint64(s.line[s.at]-'0')
		s.at++
	}
	if length := s.at - from; length == 0 || length > 19 || length > 1 && s.line[from] == '0' {
		s.failed = true
	}
	return n
}

// signed reads a number that may be below zero.
func (s *scanner) signed() int64 {
	below := s.take('-')
	spaced := below && s.at < len(s.line) && s.line[s.at] <= ' '
	n := s.number()
	if spaced || n > math.MaxInt64 {
		s.failed = true
		return 0
	}
	if below {
		return -int64(n)
	}
	return int64(n)
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
