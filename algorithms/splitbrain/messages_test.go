package splitbrain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/splitbrain"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// Messages "contain id:attr", and are shown with it.
func TestBodies(t *testing.T) {
	p := proto.Peer{ID: 5, Session: proto.Session{1}, Attr: 80}
	reign := proto.Epoch{Term: 3, Leader: 5, Session: p.Session}
	rival := proto.Epoch{Term: 2, Leader: 4, Session: p.Session}
	steptest.Bodies(t, map[string]proto.Payload{
		"ACCOUNT leader 5, term 3, led 2s, stopped 1s": splitbrain.Account{
			Reign: reign, Led: 2 * time.Second, Ago: time.Second, Stopped: true, After: rival,
		},
		"ACCOUNT leader 5, term 3, led 876000h0m0s, stopping 0s": splitbrain.Account{Reign: reign, Led: splitbrain.MaxReign},
		"TRUCE":                    splitbrain.Truce{Session: p.Session},
		"SETTLED leader 5, term 3": splitbrain.Settled{Reign: reign},
		"SETTLED leader 5, term 3, rival 4, overlap 2s": splitbrain.Settled{
			Reign: reign, Stopped: true, After: rival, Rival: rival, Overlap: 2 * time.Second,
			Tries: 3, Exit: -1, Problem: "exit status 1",
		},
	})
	steptest.Refused(t, map[string]proto.Payload{
		"a reign of nobody":     splitbrain.Account{Reign: proto.Epoch{Term: 3, Session: p.Session}},
		"a reign of no process": splitbrain.Account{Reign: proto.Epoch{Term: 3, Leader: 5}},
		"a reign of term 0":     splitbrain.Account{Reign: proto.Epoch{Leader: 5, Session: p.Session}},
		"a reign, absurd term": splitbrain.Account{
			Reign: proto.Epoch{Term: proto.MaxTerm + 1, Leader: 5, Session: p.Session},
		},
		"a reign for ever":             splitbrain.Account{Reign: reign, Led: splitbrain.MaxReign + 1},
		"a reign before it":            splitbrain.Account{Reign: reign, Led: -1},
		"a reign to come":              splitbrain.Account{Reign: reign, Ago: -1},
		"a reign after one of term 0":  splitbrain.Account{Reign: reign, After: proto.Epoch{Leader: 2}},
		"a truce of nobody":            splitbrain.Truce{},
		"settled, after one of term 0": splitbrain.Settled{Reign: reign, After: proto.Epoch{Leader: 2}},
		"a rival of term 0":            splitbrain.Settled{Reign: reign, Rival: proto.Epoch{Leader: 2}},
		"an overlap before it":         splitbrain.Settled{Reign: reign, Overlap: -1},
		"an exit code there is not":    splitbrain.Settled{Reign: reign, Exit: 256},
		"too many tries":               splitbrain.Settled{Reign: reign, Tries: 1001},
		"a problem without end":        splitbrain.Settled{Reign: reign, Problem: strings.Repeat("x", 300)},
	})
}
