package logging

import (
	"bytes"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// Promise: on a terminal, records are printed in the grammar of the simulator
// and other log lines with their message; as JSON both stay as they are.
func TestConsole(t *testing.T) {
	at := time.Date(2026, 11, 20, 15, 4, 5, 0, time.Local)
	was := uint64(5)
	var out bytes.Buffer
	log := zerolog.New(newConsole(&out, true))
	trace.Write(log, trace.Record{
		Level: "info", Time: at, Node: 4, Seq: 1, Event: "peers", Alive: []uint64{1, 4},
		Evidence: "link-closed 5", Why: []string{"leader 5 is gone -> call an election"},
		Sent: []string{"COORDINATOR>1#4:1"}, Role: trace.Leading, Leader: 4, Term: 2,
		PrevLeader: &was, LeaderChange: trace.Elected,
	})
	log.Warn().Time("time", at).Str("cluster", "c").Uint64("node", 4).Str("peer", "5").
		Msg("slow")
	const want = `15:04:05.000 INF 4 > peers 1 4 (link-closed 5)
            leader 5 is gone -> call an election
            COORDINATOR > 1
            = leads term 2 (elected)
15:04:05.000 WRN slow peer=5
`
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}
