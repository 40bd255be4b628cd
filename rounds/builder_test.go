package rounds_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

func build(records []trace.Record) *rounds.Group {
	b := rounds.NewBuilder()
	for i := range records {
		b.Add(&records[i])
	}
	return b.History().Groups[0]
}

func names(findings []rounds.Finding) (all []rounds.FindingName) {
	for _, f := range findings {
		all = append(all, f.Name)
	}
	return all
}

// "A clean failover must give no finding", be it with the dead leader back or
// every node restarted in turn.
func TestCleanFailoversGiveNoFinding(t *testing.T) {
	for _, name := range []string{
		"bully-kill", "bully-kill-info", "bully-restart", "bully-rolling",
		"ring-kill", "ring-restart", "ring-rolling",
	} {
		if g := build(fixture(t, name)); len(g.Findings) > 0 {
			t.Errorf("%s: %+v", name, g.Findings)
		}
	}
}

// "Refusals after the win, and those of a later life, count as this election's": they decided nothing.
func TestRefusalsAfterTheElectionDecideNothing(t *testing.T) {
	late := 0
	for _, name := range []string{"office-cut", "office-two-lists", "shop-info"} {
		g := build(fixture(t, name))
		for _, r := range g.Rounds {
			for _, s := range r.Steps[r.Aftermath:] {
				late += len(s.Why)
				for _, v := range r.Verdicts {
					if v.Ref == s.Ref && v.Kind == algorithms.Refused {
						t.Errorf("%s, term %d: %+v came after the election", name, r.Term, v)
					}
				}
			}
		}
	}
	if late == 0 {
		t.Error("no step came after an election: the fixtures do not test this")
	}
}

// What is wrong is found, and each finding names records that are there.
func TestFindings(t *testing.T) {
	for name, want := range map[string]rounds.FindingName{
		"bully-cut":   rounds.Overlap,
		"bully-pause": rounds.Overlap,
		"ring-pause":  rounds.Overlap,
	} {
		records := fixture(t, name)
		g := build(records)
		if !slices.Contains(names(g.Findings), want) {
			t.Errorf("%s: found %v, want %s", name, names(g.Findings), want)
		}
		for _, f := range g.Findings {
			for _, ref := range f.Records {
				if !slices.ContainsFunc(records, func(r trace.Record) bool {
					return r.Node == ref.Node && r.Incarnation == ref.Incarnation && r.Seq == ref.Seq
				}) {
					t.Errorf("%s: %s names %v, which is no record", name, f.Name, ref)
				}
			}
		}
	}
}

// Each kind of finding, in records of a clean failover that something was done to.
func TestMadeFindings(t *testing.T) {
	edit := func(name string, change func(r *trace.Record) bool) []trace.Record {
		records := fixture(t, name)
		for i := range records {
			if change(&records[i]) {
				return records
			}
		}
		t.Fatalf("%s: nothing to change", name)
		return nil
	}
	killed := build(fixture(t, "ring-kill")).Rounds[1]
	tests := map[rounds.FindingName][]trace.Record{
		// The lost leader writes on just after the first evidence, which proves no end: messages compare its clock.
		rounds.FalseEvidence: func() []trace.Record {
			all := fixture(t, "ring-kill")
			for i := range all {
				if strings.Contains(all[i].Evidence, "link-") && !strings.Contains(all[i].Evidence, "link-up") {
					all[i].Evidence = "unreachable 5"
				}
			}
			i := slices.IndexFunc(all, func(r trace.Record) bool { return r.Node == 5 && r.Leader == 5 })
			again := all[i]
			again.Seq, again.Sent, again.Why = 100, nil, []string{"x -> y"}
			again.Time = killed.Cause.At.Add(1500 * time.Microsecond)
			return append(all, again)
		}(),
		// A record of a lower term behind those of a higher one.
		rounds.TermWentBack: edit("ring-kill", func(r *trace.Record) bool {
			if r.Node != 1 || r.Term != 1 {
				return false
			}
			r.Seq += 1000
			return true
		}),
		// A message to a node that goes on, but never gets it.
		rounds.MessagesLost: func() []trace.Record {
			records := edit("bully-restart", func(r *trace.Record) bool {
				if r.Node != 4 || r.Term != 2 || r.Leader != 4 {
					return false
				}
				r.Sent = append(r.Sent, "COORDINATOR>1#4:999")
				return true
			})
			var late trace.Record
			for _, r := range records {
				if r.Node == 1 && r.Seq > late.Seq {
					late = r
				}
			}
			late.Seq, late.Time, late.Event, late.MsgID = late.Seq+1, late.Time.Add(5*time.Second), "timeout", ""
			later := late
			later.Seq, later.Time = late.Seq+1, late.Time.Add(2*time.Second)
			return append(records, late, later)
		}(),
		// Two processes of one node at once.
		rounds.SameID: edit("bully-kill", func(r *trace.Record) bool {
			if r.Node != 2 || r.Seq != 3 {
				return false
			}
			r.Incarnation = "other"
			return true
		}),
		// The election's end is cut off, and a node writes on without a leader.
		rounds.NoEnd: func() []trace.Record {
			records := slices.DeleteFunc(fixture(t, "bully-kill"), func(r trace.Record) bool {
				return r.Term == 2 && r.Leader != 0
			})
			i := slices.IndexFunc(records, func(r trace.Record) bool { return r.Node == 2 && r.Term == 2 })
			late := records[i]
			late.Seq, late.Time = 500, late.Time.Add(6*time.Second)
			late.Event, late.Msg, late.MsgID, late.Sent, late.Why = "timeout", "", "", nil, []string{"x -> y"}
			return append(records, late)
		}(),
		// A follower that never hears of the winner, and writes on. None of its records is missing.
		rounds.LeftBehind: func() []trace.Record {
			records := slices.DeleteFunc(fixture(t, "ring-kill"), func(r trace.Record) bool {
				return r.Node == 2 && r.Term == 2 && r.Leader != 0
			})
			i := slices.IndexFunc(records, func(r trace.Record) bool { return r.Node == 2 && r.Term == 2 })
			late := records[i]
			late.Seq, late.Time = 500, late.Time.Add(5*time.Second)
			late.Event, late.Msg, late.MsgID, late.Sent, late.Why = "timeout", "", "", nil, []string{"x -> y"}
			later := late
			later.Seq, later.Time = 501, late.Time.Add(2*time.Second)
			records = append(records, late, later)
			seq := uint64(0)
			for i := range records {
				if records[i].Node == 2 {
					seq++
					records[i].Seq = seq
				}
			}
			return records
		}(),
	}
	for want, records := range tests {
		if got := names(build(records).Findings); !slices.Contains(got, want) {
			t.Errorf("%s: found %v", want, got)
		}
	}
}

// "Flapping: the leader changed many times within a minute, and neither an operator nor the end or the start of a
// process caused it." Kills by hand are none.
func TestFlapping(t *testing.T) {
	for evidence, want := range map[string]bool{"heartbeat-missed": true, "link-closed %d, dial-refused": false} {
		s := newScript()
		lead := func(node, other uint64, ms int, term uint64, proof string) {
			s.add(node, ms, trace.Record{Term: term, Event: "peers", Alive: []uint64{1, 2}, Evidence: "joined 1"})
			s.add(node, ms+1, trace.Record{
				Term: term, Event: "peers", Alive: []uint64{node}, Evidence: fmt.Sprint(proof, " ", other),
				Leader: node, LeaderChange: "elected",
				Why: []string{
					fmt.Sprintf("leader %d is gone -> call an election of term %d", other, term),
					fmt.Sprintf("no higher node is alive -> lead term %d", term),
				},
			})
			s.add(other, ms+50, trace.Record{Term: term, Event: "receive", Leader: node, LeaderChange: "elected"})
		}
		for i := range 8 {
			node, other := uint64(1+i%2), uint64(2-i%2)
			proof := evidence
			if !want {
				proof = fmt.Sprintf(evidence, other)
			}
			lead(node, other, 120_000*min(i, 1)+2000*i, uint64(i+1), proof)
		}
		if got := names(s.b.History().Groups[0].Findings); slices.Contains(got, rounds.Flapping) != want {
			t.Errorf("%s: found %v", evidence, got)
		}
	}
}

// Records may come in any order, and twice.
func TestOrderOfArrivalDoesNotMatter(t *testing.T) {
	for _, name := range []string{"bully-restart", "ring-kill", "bully-cut"} {
		records := fixture(t, name)
		want := lines(t, build(records))
		r := rand.New(rand.NewPCG(1, 1))
		for range 5 {
			mixed := append(slices.Clone(records), records[:len(records)/3]...)
			r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			if got := lines(t, build(mixed)); got != want {
				t.Fatalf("%s: shuffled\n%s\nin order\n%s", name, got, want)
			}
		}
	}
}

func lines(t *testing.T, g *rounds.Group) string {
	t.Helper()
	var b bytes.Buffer
	for _, r := range g.Rounds {
		if err := report.Line(&b, g.Names, r); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// shifted are the records as they would be if one node's wall clock were ahead
// by so much: with its times, and with the hybrid clocks that follow from them.
func shifted(t *testing.T, records []trace.Record, node uint64, by time.Duration) []trace.Record {
	out := slices.Clone(records)
	clocks := map[uint64]proto.HLC{}
	sent := map[string]proto.HLC{}
	for i := range out {
		r := &out[i]
		if r.Node == node {
			r.Time = r.Time.Add(by)
		}
		c := clocks[r.Node]
		if from, ok := sent[r.MsgID]; ok && r.MsgID != "" {
			c = c.Merge(from, r.Time)
		} else {
			c = c.Tick(r.Time)
		}
		clocks[r.Node], r.HLC = c, c.String()
		for _, s := range r.Sent {
			_, _, id, err := trace.SentID(s)
			if err != nil {
				t.Fatal(err)
			}
			sent[id] = c
		}
	}
	return out
}

// "Nodes' clocks may differ by minutes": the same rounds come out, the times
// within the error that is stated, and it is said whose clock it is.
func TestWallClockOffByMinutes(t *testing.T) {
	for _, name := range []string{"bully-kill", "bully-restart", "ring-kill"} {
		records := fixture(t, name)
		want := build(records)
		for _, by := range []time.Duration{7 * time.Minute, -3 * time.Minute} {
			got := build(shifted(t, records, 2, by))
			if len(got.Clocks) != 1 || got.Clocks[0].Node != 2 {
				t.Fatalf("%s: clocks %+v", name, got.Clocks)
			}
			if off := (got.Clocks[0].Offset - by).Abs(); off > got.Clocks[0].Error || off > 5*time.Millisecond {
				t.Errorf("%s: the offset %v is estimated as %+v", name, by, got.Clocks[0])
			}
			if len(got.Rounds) != len(want.Rounds) || len(got.Findings) > 0 {
				t.Fatalf("%s: %d rounds, want %d; findings %v", name, len(got.Rounds), len(want.Rounds), got.Findings)
			}
			for i := range want.Rounds {
				sameRound(t, got.Rounds[i], want.Rounds[i])
			}
		}
	}
}

// sameRound compares all but times and the order of what is independent.
func sameRound(t *testing.T, got, want *rounds.Round) {
	t.Helper()
	sum := func(r *rounds.Round) string {
		var parts []string
		for _, p := range r.Participants {
			parts = append(parts, fmt.Sprint(p.Node, p.Part, p.Sent, p.Received, p.Believed))
		}
		return fmt.Sprint(r.Term, r.State, r.Winner.Node, r.Winner.Ref, r.Winner.Live, r.Counts,
			len(r.Steps), len(r.Messages), r.Cause.Kind, r.Cause.Lost, parts)
	}
	if sum(got) != sum(want) {
		t.Errorf("term %d: got\n%s\nwant\n%s", want.Term, sum(got), sum(want))
	}
	tolerance := 2*got.Split.Error + time.Millisecond
	off := max((got.Split.Elect - want.Split.Elect).Abs(), (got.Split.Announce - want.Split.Announce).Abs())
	if off > tolerance {
		t.Errorf("term %d: split %+v, want %+v", want.Term, got.Split, want.Split)
	}
	if !got.Split.Estimated {
		t.Errorf("term %d: it is not said that times are estimated", want.Term)
	}
}

// Steps are in causal order: no receipt before its send, no process backwards.
func TestCausalOrder(t *testing.T) {
	for _, name := range []string{"bully-kill", "bully-cut", "ring-pause"} {
		records := fixture(t, name)
		for _, recs := range [][]trace.Record{records, shifted(t, records, 4, 5*time.Minute)} {
			for _, r := range build(recs).Rounds {
				for _, m := range r.Messages {
					if m.SendStep >= 0 && m.ReceiveStep >= 0 && m.SendStep >= m.ReceiveStep {
						t.Errorf("%s term %d: %s received before it was sent", name, r.Term, m.ID)
					}
				}
			}
		}
	}
}

// What is missing is said: a node's log, records in a gap, the cause.
func TestUnknown(t *testing.T) {
	records := fixture(t, "bully-kill")
	without := slices.DeleteFunc(slices.Clone(records), func(r trace.Record) bool { return r.Node == 4 })
	g := build(without)
	last := g.Rounds[len(g.Rounds)-1]
	if last.Winner == nil || last.Winner.Node != 4 || !last.Winner.Ref.IsZero() {
		t.Errorf("the winner without a log: %+v", last.Winner)
	}
	if all := strings.Join(append(last.Unknown, g.Unknown...), "\n"); !strings.Contains(all, "How node 4 won") ||
		!strings.Contains(all, "The logs of node 4 are not here") {
		t.Errorf("a missing log is not said:\n%s", all)
	}
	gap := slices.DeleteFunc(slices.Clone(records), func(r trace.Record) bool {
		return r.Node == 1 && r.Term == 2 && r.Event == "peers"
	})
	g = build(gap)
	last = g.Rounds[len(g.Rounds)-1]
	if all := strings.Join(last.Unknown, "\n"); !strings.Contains(all, "missing: 1 of node 1 before 1:10.") {
		t.Errorf("a gap is not said:\n%s", all)
	}
}

// "Two clusters or two algorithms mixed (told apart, said)".
func TestMixed(t *testing.T) {
	b := rounds.NewBuilder()
	bully, ring := fixture(t, "bully-kill"), fixture(t, "ring-kill")
	for i := range bully {
		b.Add(&bully[i])
	}
	for i := range ring {
		b.Add(&ring[i])
		other := ring[i]
		other.Cluster = "prod"
		b.Add(&other)
	}
	h := b.History()
	if len(h.Groups) != 3 || len(h.Notes) != 2 {
		t.Fatalf("%d groups, notes %q", len(h.Groups), h.Notes)
	}
	for _, g := range h.Groups {
		if len(g.Rounds) != 2 || len(g.Findings) != 0 {
			t.Errorf("%s %s: %d rounds, %v", g.Cluster, g.Algorithm, len(g.Rounds), g.Findings)
		}
	}
}

// "Every golden scenario" of the simulator is told, as text.
func TestGoldenScenarios(t *testing.T) {
	files, err := filepath.Glob("../internal/sim/testdata/*/*.txt")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d scenarios, %v", len(files), err)
	}
	for _, file := range files {
		b := rounds.NewBuilder()
		batch := logs.Batch{Paths: []string{file}}
		batch.Read(b, func(err error) { t.Fatal(err) })
		told := 0
		for _, g := range b.History().Groups {
			for _, r := range g.Rounds {
				told++
				if err := report.Show(io.Discard, g, r, true); err != nil {
					t.Fatal(err)
				}
				if r.Cause.Kind == rounds.Unexplained && r.Cause.Text != "" {
					t.Errorf("%s, term %d: the reason %q is not understood", file, r.Term, r.Cause.Text)
				}
			}
		}
		if told == 0 && !strings.Contains(file, "quorum") {
			t.Errorf("%s: no round", file)
		}
	}
}
