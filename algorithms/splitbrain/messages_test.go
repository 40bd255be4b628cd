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
	p := proto.Peer{ID: 5, Incarnation: proto.Incarnation{1}, Attr: 80}
	leadership := proto.Leadership{Term: 3, Leader: 5, Incarnation: p.Incarnation}
	rival := proto.Leadership{Term: 2, Leader: 4, Incarnation: p.Incarnation}
	steptest.Bodies(t, map[string]proto.Payload{
		"REPORT leader 5, term 3, led 2s, stopped 1s": splitbrain.Report{
			Leadership: leadership, Led: 2 * time.Second, Ago: time.Second, Stopped: true, After: rival,
		},
		"REPORT leader 5, term 3, led 876000h0m0s, stopping 0s": splitbrain.Report{
			Leadership: leadership, Led: splitbrain.MaxLeadership,
		},
		"STOP":                    splitbrain.Stop{Incarnation: p.Incarnation},
		"RESUME leader 5, term 3": splitbrain.Resume{Leadership: leadership},
		"RESUME leader 5, term 3, rival 4, overlap 2s": splitbrain.Resume{
			Leadership: leadership, Stopped: true, After: rival, Rival: rival, By: 5, Overlap: 2 * time.Second,
			Tries: 3, Exit: -1, Problem: "exit status 1",
		},
	})
	steptest.Refused(t, map[string]proto.Payload{
		"a leadership of nobody": splitbrain.Report{
			Leadership: proto.Leadership{Term: 3, Incarnation: p.Incarnation},
		},
		"a leadership of no process": splitbrain.Report{Leadership: proto.Leadership{Term: 3, Leader: 5}},
		"a leadership of term 0": splitbrain.Report{
			Leadership: proto.Leadership{Leader: 5, Incarnation: p.Incarnation},
		},
		"a leadership, absurd term": splitbrain.Report{
			Leadership: proto.Leadership{Term: proto.MaxTerm + 1, Leader: 5, Incarnation: p.Incarnation},
		},
		"a leadership for ever":  splitbrain.Report{Leadership: leadership, Led: splitbrain.MaxLeadership + 1},
		"a leadership before it": splitbrain.Report{Leadership: leadership, Led: -1},
		"a leadership to come":   splitbrain.Report{Leadership: leadership, Ago: -1},
		"a leadership after one of term 0": splitbrain.Report{
			Leadership: leadership, After: proto.Leadership{Leader: 2},
		},
		"a stop of nobody":             splitbrain.Stop{},
		"settled, after one of term 0": splitbrain.Resume{Leadership: leadership, After: proto.Leadership{Leader: 2}},
		"a rival of term 0": splitbrain.Resume{
			Leadership: leadership, Rival: proto.Leadership{Leader: 2}, By: 5,
		},
		"recovered by nobody":       splitbrain.Resume{Leadership: leadership, Rival: rival},
		"recovered from no split":   splitbrain.Resume{Leadership: leadership, By: 5},
		"an overlap before it":      splitbrain.Resume{Leadership: leadership, Overlap: -1},
		"an exit code there is not": splitbrain.Resume{Leadership: leadership, Exit: 256},
		"too many tries":            splitbrain.Resume{Leadership: leadership, Tries: 1001},
		"a problem without end":     splitbrain.Resume{Leadership: leadership, Problem: strings.Repeat("x", 300)},
	})
}
