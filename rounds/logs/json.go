package logs

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

const (
	// attempts bounds how many opening braces of a line are tried: another object may stand
	// before the record.
	attempts = 4
	// maxQuotes bounds how often a record is a string in another string.
	maxQuotes = 3
)

var (
	// nodesBegin is how nodes begin each line.
	nodesBegin = []byte(`{"level":`)
	// quotedNodes is how the line of a node begins that is a string of something else.
	quotedNodes = []byte(`{\"level\":`)
	// recordMark is in every record, and quotedMark in every record that is a string of
	// something else. Few other lines have them.
	recordMark = []byte(`"event"`)
	quotedMark = []byte(`\"event`)
	// quotedBegin is where such a record, or what has it as a string, begins.
	quotedBegin = []byte(`{\`)
)

// parse reads the record in a line into rec. It returns false if there is none; rec may
// then hold anything.
func (s *scanner) parse(line []byte, rec *trace.Record) bool { return s.parseIn(line, rec, 0) }

// parseIn does what parse does, for a line that was so many strings in each other.
func (s *scanner) parseIn(line []byte, rec *trace.Record, quotes int) bool {
	if !bytes.Contains(line, recordMark) {
		return quotes < maxQuotes && s.parseQuoted(line, rec, quotes)
	}
	end := bytes.LastIndexByte(line, '}')
	for range attempts {
		at := bytes.IndexByte(line, '{')
		if at < 0 || end < at {
			return false
		}
		if s.read(line[at:end+1], rec) {
			return true
		}
		line, end = line[at+1:], end-at-1
	}
	return false
}

// read reads an object that is a record. It returns false for any other object, and for a record
// that ends in the middle.
func (s *scanner) read(object []byte, rec *trace.Record) bool {
	if s.record(object, rec) {
		return rec.IsRecord()
	}
	parsed, err := trace.Parse(object)
	*rec = parsed
	return err == nil
}

// parseQuoted reads a record that is a string in something else: docker's own files have it
// in "log", journald in "MESSAGE", log collectors in other fields, and loggers that write key=value
// in msg="…".
func (s *scanner) parseQuoted(line []byte, rec *trace.Record, quotes int) bool {
	if !bytes.Contains(line, quotedMark) {
		return false
	}
	if len(s.unquoted) == quotes {
		s.unquoted = append(s.unquoted, nil)
	}
	for range attempts {
		at := bytes.Index(line, quotedBegin)
		if at < 0 {
			return false
		}
		inner := unquote(s.unquoted[quotes][:0], line[at:])
		line = line[at+1:]
		s.unquoted[quotes] = inner // its memory, for the next one
		if s.parseIn(inner, rec, quotes+1) {
			return true
		}
	}
	return false
}

// deathNote reads the line in which a simulation says that a node died.
func deathNote(line []byte) (node uint64, at time.Time, ok bool) {
	if !bytes.Contains(line, []byte(`"dead":`)) {
		return formerDeath(line)
	}
	var note trace.Note
	err := json.Unmarshal(line, &note)
	return note.Dead, note.Time, err == nil && note.Dead != 0
}
