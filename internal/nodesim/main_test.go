package nodesim

import (
	"runtime/debug"
	"testing"
)

// Schedules make much garbage and keep little: collecting it four times as rarely saves more than half of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}
