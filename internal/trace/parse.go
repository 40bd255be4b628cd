package trace

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrNotRecord says that a line is something else than a record.
var ErrNotRecord = errors.New("not a record")

// Parse reads one JSON line. Fields that this version does not know are
// passed over: records are read by older tools too.
func Parse(line []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(line, &r); err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrNotRecord, err)
	}
	if !r.IsRecord() {
		return Record{}, ErrNotRecord
	}
	return r, nil
}
