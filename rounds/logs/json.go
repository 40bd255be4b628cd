package logs

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	fast "github.com/segmentio/encoding/json"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// attempts bounds how often one line is tried: something in braces may stand
// before a record.
const attempts = 4

var (
	// recordMark is in every record, as quotedMark is in one that is a string of
	// another JSON object, and in few other lines.
	recordMark = []byte(`"event"`)
	quotedMark = []byte(`\"event\"`)
)

// parse finds the record in a line; rec is its own in any case.
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

// decode reads a record. A line that ends in the middle is none.
func (s *scanner) decode(object []byte, rec *trace.Record) bool {
	if s.record(object, rec) {
		return rec.IsRecord()
	}
	*rec = trace.Record{}
	kept := bytes.Clone(object) // the fields refer to it
	rest, err := fast.Parse(kept, rec, fast.ZeroCopy)
	return err == nil && len(rest) == 0 && rec.IsRecord()
}

// parseQuoted finds a record that is a string in another object: docker's own
// files have it in "log", journald in "MESSAGE", and collectors elsewhere.
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

// deathNote reads what a simulation says of a node: "4 is dead".
func deathNote(line []byte) (node uint64, at time.Time, ok bool) {
	if !bytes.HasSuffix(line, []byte(` is dead"}`)) {
		return 0, at, false
	}
	var note struct {
		Time    time.Time
		Message string
	}
	if json.Unmarshal(line, &note) != nil {
		return 0, at, false
	}
	id, _, _ := strings.Cut(note.Message, " ")
	node, err := strconv.ParseUint(id, 10, 64)
	return node, note.Time, err == nil
}
