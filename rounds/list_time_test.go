package rounds_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// listed returns the list of a selection of what the logs tell, in one line.
func (v *voters) listed(t *testing.T, s report.Selection) string {
	t.Helper()
	var out bytes.Buffer
	if err := report.List(&out, v.b.History().Groups[0], s); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// What happened to node 3 was left out of the list until 12:00:03: it had been silent since 12:00:02.000, and was until
// 12:00:05.000.
func TestAListUntilTheMiddleOfAPauseTellsOfIt(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee, v.level = "bully", "best-effort", "info"
	v.leadAlone(3, 0, 1)
	for _, node := range []uint64{1, 2} {
		v.add(node, int(node), trace.Record{
			Term: 1, Event: "receive", Leader: 3, Why: []string{"3 leads term 1 -> follow it"},
		})
	}
	v.add(2, 2000, trace.Record{
		Term: 2, Event: "peers", Alive: []uint64{1, 2}, Evidence: "heartbeat-missed 3", Leader: 2,
		Why: []string{"leader 3 is gone -> call an election of term 2", "no higher node is alive -> lead term 2"},
	})
	v.add(3, 5000, trace.Record{Term: 1, Event: "timeout", Leader: 3})
	const want = "3 was silent to node 2 from 12:00:02.000 at the latest [peers saw: 2:2] to 12:00:05.000 [3:2]"
	for _, s := range []report.Selection{{}, {Until: atMS(3000)}, {Since: atMS(3000)}} {
		if text := v.listed(t, s); !strings.Contains(text, want) {
			t.Errorf("want %q in: %s", want, text)
		}
	}
	if text := v.listed(t, report.Selection{Until: atMS(1000)}); strings.Contains(text, "silent") {
		t.Errorf("of a later time: %s", text)
	}
}

// "1 …; started again at 12:00:03.000": nothing told how to read what had happened before. With --until, "…" stood
// before what is told, too, where only what came after was left out.
func TestAListSaysWhatItLeavesOutOfANode(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee = "bully", "best-effort"
	v.leadAlone(1, 0, 1)
	for i := 1; i <= 6; i++ {
		v.start(1, i*1000)
	}
	const how = "… is what happened before or after; another --until TIME shows the last 5 until then"
	for from, s := range map[string]report.Selection{
		"1 …; started again at 12:00:04.000":      {},
		"1 ended, unseen; started again at 12:00": {Until: atMS(1500)},
	} {
		text := v.listed(t, s)
		if !strings.Contains(text, from) || !strings.Contains(text, how) {
			t.Errorf("want %q and %q in: %s", from, how, text)
		}
		if after := strings.Contains(text, "]; … "); after == s.Until.IsZero() {
			t.Errorf("what came after is left out: %v, in: %s", after, text)
		}
	}
}
