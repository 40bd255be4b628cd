package sim

import (
	"runtime/debug"
	"testing"
)

// Schedules make much garbage and keep little: collecting it four times as rarely saves a quarter of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}
