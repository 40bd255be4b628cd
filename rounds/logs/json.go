package logs

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	fast "github.com/segmentio/encoding/json"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// attempts bounds how many opening braces of a line are tried: another object may stand
// before the record.
const attempts = 4

var (
	// recordMark is in every record, and quotedMark in every record that is a string of
	// another JSON object. Few other lines have them.
	recordMark = []byte(`"event"`)
	quotedMark = []byte(`\"event\"`)
)

// parse reads the record in a line into rec. It returns false if there is none; rec may
// then hold anything.
func (s *scanner) parse(line []byte, rec *trace.Record) bool {
	if !bytes.Contains(line, recordMark) {
		return bytes.Contains(line, quotedMark) && s.parseQuoted(line, rec)
	}
	end := bytes.LastIndexByte(line, '}')
	for range attempts {
		at := bytes.IndexByte(line, '{')
		if at < 0 || end < at {
			return false
		}
		if s.decode(line[at:end+1], rec) {
			return true
		}
		line, end = line[at+1:], end-at-1
	}
	return false
}

// decode reads an object that is a record. It returns false for any other object, and for a record
// that ends in the middle.
func (s *scanner) decode(object []byte, rec *trace.Record) bool {
	if s.record(object, rec) {
		return rec.IsRecord()
	}
	*rec = trace.Record{}
	kept := trace.Renamed(object) // the fields refer to it
	rest, err := fast.Parse(kept, rec, fast.ZeroCopy)
	return err == nil && len(rest) == 0 && rec.IsRecord()
}

// parseQuoted reads a record that is a string in another object: docker's own files have it
// in "log", journald in "MESSAGE", and log collectors in other fields.
func (s *scanner) parseQuoted(line []byte, rec *trace.Record) bool {
	at, end := bytes.IndexByte(line, '{'), bytes.LastIndexByte(line, '}')
	if at < 0 || end < at {
		return false
	}
	var outer map[string]any
	if json.Unmarshal(line[at:end+1], &outer) != nil {
		return false
	}
	for _, value := range outer {
		inner, ok := value.(string)
		if ok && strings.Contains(inner, string(recordMark)) && s.parse([]byte(inner), rec) {
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
