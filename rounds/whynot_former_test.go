package rounds_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// whyNot returns why a node does not lead, in one line.
func (v *voters) whyNot(t *testing.T, id uint64) string {
	t.Helper()
	var out bytes.Buffer
	if err := report.WhyNot(&out, v.b.History().Groups[0], id); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// "Node 2 has led nobody since 12:00:01.000: it handed over" was all that was told of a leader that had been asked to
// resign, and stood aside until its process ended.
func TestWhyNotOfOneThatStoodAsideToTheEnd(t *testing.T) {
	const asked = "asked to resign at noon by 10.0.0.1"
	v := newVoters()
	v.algo, v.guarantee = "bully", "best-effort"
	v.leadAlone(2, 0, 1)
	v.add(1, 1, trace.Record{Term: 1, Event: "receive", Leader: 2, Why: []string{"2 leads term 1 -> follow it"}})
	two := uint64(2)
	v.add(2, 1000, trace.Record{
		Term: 1, Event: "eligible", Unfit: asked, Ineligible: asked, PrevLeader: &two, LeaderChange: trace.Resigned,
		Why: []string{"not eligible: " + asked + " -> step down, hand over to 1"}, Sent: []string{"STAND_NOW>1#2:7"},
	})
	v.add(1, 1001, trace.Record{
		Term: 2, Event: "receive", From: 2, Msg: "STAND_NOW", MsgID: "2:7", Leader: 1,
		Why: []string{"2 hands over -> call an election of term 2", "no higher node is alive -> lead term 2"},
	})
	v.add(2, 1002, trace.Record{
		Term: 2, Event: "receive", Leader: 1, Ineligible: asked, Why: []string{"1 leads term 2 -> follow it"},
	})
	v.add(2, 2000, trace.Record{
		Term: 2, Event: "resign", Detail: "told to stop by SIGTERM", Leader: 1, Ineligible: asked,
		Why: []string{"asked to resign -> stand aside"},
	})
	v.b.Left(trace.Farewell{Time: atMS(2250), Cluster: "c", Node: 2, Message: "the node resigned and left"})
	v.add(1, 2300, trace.Record{Term: 2, Event: "timeout", Leader: 1})
	text := v.whyNot(t, 2)
	for _, want := range []string{
		"it handed over: " + asked + " [",
		"It stood aside from 12:00:01.000 until then: " + asked + " [2:2].",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in: %s", want, text)
		}
	}
}

// "Node 2 has led nobody since 12:00:01.000: it stepped down" was told of a leader from which a node took over that
// outranks it.
func TestWhyNotOfOneThatWasOutranked(t *testing.T) {
	v := newVoters()
	v.algo, v.guarantee = "bully", "best-effort"
	v.leadAlone(2, 0, 1)
	v.add(3, 1000, trace.Record{
		Term: 2, Event: "timeout", Leader: 3, Why: []string{
			"this node ranks above leader 2 -> call an election of term 2", "no higher node is alive -> lead term 2",
		}, Sent: []string{"COORDINATOR>2#3:1"},
	})
	v.add(2, 1001, trace.Record{
		Term: 2, Event: "receive", From: 3, Msg: "COORDINATOR", MsgID: "3:1", Leader: 3,
		Why: []string{"term 2 is above 1 -> adopt it", "3 leads term 2 -> follow it"},
	})
	text := v.whyNot(t, 2)
	if want := "node 3 outranks node 2 and took over [2:2 3:1]."; !strings.Contains(text, want) {
		t.Errorf("want %q in: %s", want, text)
	}
}
