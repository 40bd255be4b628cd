package daemon

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/node/clock"
)

// Timestamp adds the time to each line of the log, and by how much somebody set the clock since the process began, if
// that was done. Package zerolog's own timestamp would have the format that the program has set for all its logs.
type Timestamp struct{}

// Run adds the fields to a line.
func (Timestamp) Run(e *zerolog.Event, _ zerolog.Level, _ string) {
	now, set := clock.Wall()
	e.Str(zerolog.TimestampFieldName, now.Format(time.RFC3339Nano))
	if set != 0 {
		e.Int64(trace.ClockSetField, int64(set))
	}
}
