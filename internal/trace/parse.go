package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrNotRecord says that a line is not a record.
var ErrNotRecord = errors.New("not a record")

// Parse reads one JSON line. It ignores fields that this version does not know, so that older tools
// can read newer records.
func Parse(line []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(Renamed(line), &r); err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrNotRecord, err)
	}
	if !r.IsRecord() {
		return Record{}, ErrNotRecord
	}
	return r, nil
}

// Renamed returns a copy of a line in which each key has its present name: until 2026-11 an
// incarnation was called a session.
func Renamed(line []byte) []byte {
	return bytes.ReplaceAll(line, []byte(`"session":`), []byte(`"incarnation":`))
}
