package trace_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

var zero = time.Date(2026, 11, 20, 15, 4, 3, 19456789, time.UTC)

func newRecorder(level zerolog.Level) *trace.Recorder {
	return trace.NewRecorder(trace.RecorderConfig{
		Cluster: "demo", Node: 4, Incarnation: proto.Incarnation{0xab, 0xcd}, Algorithm: "bully",
		Guarantee: algorithms.BestEffort, Level: level,
		Size: func(m proto.Message) int { return 50 + int(m.To) },
	})
}

// call and gone are two kinds of reasons.
var (
	reasons = algorithms.ReasonsOf("test")
	call    = reasons.Kind("call", "%s -> call an election")
	gone    = reasons.Kind("gone", "leader %d is gone")
)

// takeover is node 4 of four taking over from 5 in term 2.
func takeover() (algorithms.Event, algorithms.Output) {
	leader := proto.Peer{ID: 4, Incarnation: proto.Incarnation{0xab, 0xcd}}
	ev := algorithms.PeersChanged{
		Alive: []proto.Peer{{ID: 1}, {ID: 2}, {ID: 3}, leader}, Evidence: "link-closed 5",
	}
	out := algorithms.Output{
		Leader: algorithms.Leader{ID: 4, Incarnation: leader.Incarnation, Term: 2},
		Why: []algorithms.Reason{
			call.Of(gone.Of(proto.NodeID(5))), algorithms.Said("no higher node is alive -> lead term 2"),
		},
	}
	for _, to := range []proto.NodeID{1, 2, 3} {
		out.Send = append(out.Send, proto.Message{
			From: 4, To: to, Term: 2, Body: nomination.Coordinator{Leader: leader},
		})
	}
	return ev, out
}

func record(t *testing.T, r *trace.Recorder, at time.Time, ev algorithms.Event, out algorithms.Output) trace.Record {
	t.Helper()
	r.Stamp(at, ev, &out)
	rec, ok := r.Record(at, ev, out)
	if !ok {
		t.Fatal("the record was filtered")
	}
	return rec
}

// "Every Step of a Machine is one record. A node writes it as one JSON line":
// the line has every field, and reads back as the same record.
func TestJSON(t *testing.T) {
	zerolog.TimeFieldFormat = time.RFC3339Nano
	r := newRecorder(zerolog.InfoLevel)
	follow := algorithms.Receive{Message: proto.Message{
		From: 5, To: 4, Term: 1, Seq: 9, HLC: proto.HLC{Micros: zero.UnixMicro() + 7},
		Body: nomination.Coordinator{Leader: proto.Peer{ID: 5}},
	}}
	record(t, r, zero, follow, algorithms.Output{Leader: algorithms.Leader{ID: 5, Term: 1}})
	ev, out := takeover()
	rec := record(t, r, zero.Add(2104*time.Millisecond), ev, out)

	var line bytes.Buffer
	trace.Write(zerolog.New(&line), rec)
	want := `{"level":"info","time":"2026-11-20T15:04:05.123456789Z","cluster":"demo","node":4,` +
		`"incarnation":"abcd0000","algo":"bully","seq":2,"hlc":"1795187045123456.0","term":2,` +
		`"event":"peers","alive":[1,2,3,4],"evidence":"link-closed 5",` +
		`"why":["leader 5 is gone -> call an election","no higher node is alive -> lead term 2"],` +
		`"reasons":[{"code":"test.call","args":[{"code":"test.gone","args":[5]}]},{"code":""}],` +
		`"sent":["COORDINATOR>1#4:1","COORDINATOR>2#4:2","COORDINATOR>3#4:3"],"sent_bytes":156,` +
		`"role":"leader","leader":4,"guarantee":"best-effort","prev_leader":5,` +
		`"leader_change":"elected"}` + "\n"
	if line.String() != want {
		t.Fatalf("got\n%swant\n%s", line.String(), want)
	}
	back, err := trace.Parse(line.Bytes())
	if err != nil || !reflect.DeepEqual(back, rec) {
		t.Fatalf("read back %+v (%v), want %+v", back, err, rec)
	}
}

// "A new value is in the first Step after the clock was set", at level info, too: though the Step decided nothing. Its
// times are by the clock as it is now.
func TestClockWasSet(t *testing.T) {
	r := newRecorder(zerolog.InfoLevel)
	until := zero.Add(time.Second)
	step := func() (trace.Record, bool) {
		return r.Record(zero, algorithms.Timeout{}, algorithms.Output{Leader: algorithms.Leader{Until: until}})
	}
	if rec, ok := step(); ok {
		t.Errorf("of a Step that decided nothing: %+v", rec)
	}
	const back = -3200 * time.Millisecond
	if by := r.SetClock(back); by != back {
		t.Errorf("set by %v", by)
	}
	rec, ok := step()
	if !ok || rec.Level != "info" || rec.ClockSet != back || !rec.ValidUntil.Equal(until.Add(back)) {
		t.Errorf("%v: %+v", ok, rec)
	}
	var line bytes.Buffer
	trace.Write(zerolog.New(&line), rec)
	if again, err := trace.Parse(line.Bytes()); err != nil || again.ClockSet != back {
		t.Errorf("%+v (%v) of %s", again, err, line.Bytes())
	}
	if by := r.SetClock(back); by != 0 {
		t.Errorf("set by %v again", by)
	}
	if rec, ok := step(); ok {
		t.Errorf("it is no news any more: %+v", rec)
	}
}

// The same record as text.
func TestText(t *testing.T) {
	ev, out := takeover()
	rec := record(t, newRecorder(zerolog.InfoLevel), zero.Add(2104*time.Millisecond), ev, out)
	var b strings.Builder
	if err := trace.Text(&b, zero, rec); err != nil {
		t.Fatal(err)
	}
	want := `[  2.104] 4 > peers 1 2 3 4 (link-closed 5)
            leader 5 is gone -> call an election  [test.call(test.gone(5))]
            no higher node is alive -> lead term 2
            COORDINATOR > 1 2 3
            = leads term 2 (elected)
`
	if b.String() != want {
		t.Fatalf("got\n%swant\n%s", b.String(), want)
	}
}

// A line of text gives back its sentence and its reason, whatever stands in either.
func TestLine(t *testing.T) {
	cause := trace.Reason{Code: "test.gone", Args: []trace.Arg{{Number: 5}}}
	hostile := `x  [test.gone(5)]", "  [a.b("` + "\n"
	for _, told := range []trace.Reason{
		{Code: "test.start"},
		{Code: "test.call", Args: []trace.Arg{{Is: trace.Cause, Reason: &cause}, {Number: 2}}},
		{Code: "test.words", Args: []trace.Arg{
			{Is: trace.Words, Words: "ELECTION"},
			{Is: trace.Words, Words: "12"},
			{Is: trace.Words, Words: "1.5s"},
			{Is: trace.Words, Words: "1.5.2"},
			{Is: trace.Words},
			{Is: trace.Words, Words: hostile},
			{Is: trace.Words, Words: "test.gone"},
		}},
	} {
		for _, sentence := range []string{"5 is gone -> call", "", "5 is fenced, x  [test.gone(5)] -> it has stopped"} {
			line := trace.Line(sentence, told)
			if got, back, ok := trace.CutLine(line); !ok || got != sentence || !reflect.DeepEqual(back, told) {
				t.Errorf("%s: %q, %+v, %v", line, got, back, ok)
			}
		}
		if _, back, ok := trace.CutLine(told.String()); !ok || !reflect.DeepEqual(back, told) {
			t.Errorf("%s alone: %+v, %v", told, back, ok)
		}
	}
	for _, none := range []string{
		"", "a [b]", "a  [b]", "a  [b.c(]", "a  [b.c(d.e]", `a  [b.c("]`, "a  [b.c(1,2)]", "a  [b.c(-1)]",
	} {
		if sentence, told, ok := trace.CutLine(none); ok || sentence != none {
			t.Errorf("%q: %q, %+v", none, sentence, told)
		}
	}
}

// "seq: no gap means nothing is missing": a record below the level takes no
// number.
func TestNumbersHaveNoGap(t *testing.T) {
	r := newRecorder(zerolog.InfoLevel)
	_, out := takeover()
	first := record(t, r, zero, algorithms.Timeout{}, out)
	chatter := algorithms.Output{Leader: out.Leader}
	if _, ok := r.Record(zero, algorithms.Timeout{}, chatter); ok {
		t.Fatal("chatter is below info")
	}
	out.Leader.Term++
	second := record(t, r, zero, algorithms.Timeout{}, out)
	if first.Seq != 1 || second.Seq != 2 {
		t.Fatalf("numbers %d and %d", first.Seq, second.Seq)
	}
}

// Each change of belief has its name; "nobody" is said as promptly as a name.
func TestLeaderChange(t *testing.T) {
	leads := func(id proto.NodeID, term proto.Term) algorithms.Leader {
		return algorithms.Leader{ID: id, Term: term}
	}
	handed := algorithms.Receive{Message: proto.Message{From: 5, To: 4, Body: nomination.TimeoutNow{}}}
	tests := []struct {
		name       string
		prev, next algorithms.Leader
		ev         algorithms.Event
		want       trace.Change
	}{
		{"the first leader", leads(0, 0), leads(5, 1), algorithms.Timeout{}, trace.Elected},
		{"another leader", leads(5, 1), leads(3, 2), algorithms.Timeout{}, trace.Elected},
		{"the same for a new term", leads(5, 1), leads(5, 2), algorithms.Timeout{}, trace.ReElected},
		{"nobody any more", leads(5, 1), leads(0, 2), algorithms.Timeout{}, trace.Lost},
		{"this node no more", leads(4, 1), leads(5, 2), algorithms.Timeout{}, trace.Deposed},
		{"this node resigned", leads(4, 1), leads(0, 1), algorithms.Resign{}, trace.Resigned},
		{"handed to this node", leads(5, 1), leads(4, 2), handed, trace.Transferred},
		{"nobody still", leads(0, 1), leads(0, 2), algorithms.Timeout{}, ""},
		{"no change", leads(5, 2), leads(5, 2), algorithms.Timeout{}, ""},
	}
	for _, tt := range tests {
		r := newRecorder(zerolog.DebugLevel)
		r.Record(zero, algorithms.Timeout{}, algorithms.Output{Leader: tt.prev})
		rec, _ := r.Record(zero, tt.ev, algorithms.Output{Leader: tt.next})
		if rec.LeaderChange != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, rec.LeaderChange, tt.want)
		}
		if tt.want != "" && (rec.PrevLeader == nil || *rec.PrevLeader != uint64(tt.prev.ID)) {
			t.Errorf("%s: prev_leader %v", tt.name, rec.PrevLeader)
		}
	}
}

// "Records of different nodes sort causally": a receipt is after its send,
// however wrong the receiver's clock.
func TestHybridClockOrdersCauseAndEffect(t *testing.T) {
	sender, receiver := newRecorder(zerolog.DebugLevel), newRecorder(zerolog.DebugLevel)
	ev, out := takeover()
	sender.Stamp(zero, ev, &out)
	slow := zero.Add(-10 * time.Minute)
	rec := record(t, receiver, slow, algorithms.Receive{Message: out.Send[0]}, algorithms.Output{})
	got, err := proto.ParseHLC(rec.HLC)
	if err != nil || got.Compare(out.Send[0].HLC) <= 0 {
		t.Fatalf("receipt at %v, send at %v (%v)", got, out.Send[0].HLC, err)
	}
}

// A refusal stands out.
func TestWarn(t *testing.T) {
	out := algorithms.Output{Warn: true, Why: []algorithms.Reason{algorithms.Said("term 9 is absurd -> drop it")}}
	rec := record(t, newRecorder(zerolog.WarnLevel), zero, algorithms.Timeout{}, out)
	if rec.Level != "warn" {
		t.Fatalf("level %q", rec.Level)
	}
}

func TestParseRefusesOtherLines(t *testing.T) {
	for _, line := range []string{"", "hello", "{}", `{"level":"info","message":"x"}`, `[1]`, "null"} {
		if _, err := trace.Parse([]byte(line)); !errors.Is(err, trace.ErrNotRecord) {
			t.Errorf("%q: %v", line, err)
		}
	}
	known := `{"node":1,"event":"start","seq":1,"a_newer_field":{"x":[1]}}`
	if _, err := trace.Parse([]byte(known)); err != nil {
		t.Errorf("a newer version's record: %v", err)
	}
}

func TestSentID(t *testing.T) {
	kind, to, id, err := trace.SentID("COORDINATOR>3#4:33")
	if kind != "COORDINATOR" || to != 3 || id != "4:33" || err != nil {
		t.Fatalf("%q %d %q %v", kind, to, id, err)
	}
	for _, bad := range []string{"", "COORDINATOR", "COORDINATOR>3", "COORDINATOR>x#4:3", ">0#1"} {
		if _, _, _, err := trace.SentID(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// An operator's wish and a node's standing are in the record, with who asked and why.
func TestControlIsRecorded(t *testing.T) {
	leads := algorithms.Output{Leader: algorithms.Leader{ID: 4, Term: 2}}
	nobody := algorithms.Leader{Term: 2}
	const why = "paused by 10.0.0.9 because an upgrade"
	cases := []struct {
		ev                    algorithms.Event
		out                   algorithms.Output
		event, detail, barred string
		change                trace.Change
	}{
		{
			algorithms.Transfer{To: 3, Why: "asked by 10.0.0.9"},
			leads,
			"transfer", "to 3: asked by 10.0.0.9", "", "",
		},
		{algorithms.Transfer{}, leads, "transfer", "to the best node", "", ""},
		{
			algorithms.Receive{Message: proto.Message{From: 3, To: 4, Term: 2, Seq: 1, Body: proto.Reply{}}},
			algorithms.Output{Leader: nobody, Transfer: &algorithms.TransferEnd{To: 3}},
			"receive", "OFFER_REPLY yes", "", trace.Resigned,
		},
		{
			algorithms.Eligible{Why: why},
			algorithms.Output{Leader: nobody, Ineligible: why},
			"eligible", "no, " + why, why, trace.Resigned,
		},
		{
			algorithms.Eligible{Keep: true, Why: why},
			algorithms.Output{Leader: leads.Leader, Ineligible: why},
			"eligible", "no, " + why, why, "",
		},
		{algorithms.Eligible{OK: true}, leads, "eligible", "yes", "", ""},
	}
	for _, c := range cases {
		r := newRecorder(zerolog.DebugLevel)
		record(t, r, zero, algorithms.Timeout{}, leads)
		rec := record(t, r, zero, c.ev, c.out)
		if rec.Event != c.event || rec.Detail != c.detail || rec.Ineligible != c.barred ||
			rec.LeaderChange != c.change {
			t.Errorf("%+v: %s %q, ineligible %q, change %q", c.ev, rec.Event, rec.Detail,
				rec.Ineligible, rec.LeaderChange)
		}
		var line bytes.Buffer
		trace.Write(zerolog.New(&line), rec)
		if got, err := trace.Parse(line.Bytes()); err != nil || got.Ineligible != c.barred {
			t.Errorf("%s came back as %+v, %v", line.String(), got, err)
		}
	}
}

// At level info the records tell of each process that left the view, and that it was back, though nothing was decided:
// without them, nobody could say later that it had ended. What joins for the first time is told at level debug only.
func TestInfoTellsWhoIsLost(t *testing.T) {
	r := newRecorder(zerolog.InfoLevel)
	view := func(evidence string, ids ...proto.NodeID) algorithms.PeersChanged {
		ev := algorithms.PeersChanged{Evidence: evidence}
		for _, id := range ids {
			ev.Alive = append(ev.Alive, proto.Peer{ID: id})
		}
		return ev
	}
	told := []string{}
	for _, ev := range []algorithms.PeersChanged{
		view("joined 2", 2, 4), view("joined 5", 2, 4, 5), view("heartbeat-missed 5", 2, 4), view("attr 2", 2, 4),
		view("heartbeat-back 5", 2, 4, 5), view("attr 5", 2, 4, 5), view("left 2", 4, 5),
	} {
		out := algorithms.Output{}
		r.Stamp(zero, ev, &out)
		if rec, ok := r.Record(zero, ev, out); ok {
			told = append(told, rec.Evidence)
		}
	}
	if want := []string{"heartbeat-missed 5", "heartbeat-back 5", "left 2"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}
