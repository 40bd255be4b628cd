package rounds_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// again returns the records of a cluster and those of another one under the same label, in which the same happens
// later.
func again(t *testing.T, name string, later time.Duration) (both []trace.Record) {
	t.Helper()
	for _, rec := range fixture(t, name) {
		other := rec
		other.Incarnation += "b"
		other.Time, other.HLC = rec.Time.Add(later), ""
		if !rec.ValidUntil.IsZero() {
			other.ValidUntil = rec.ValidUntil.Add(later)
		}
		both = append(both, rec, other)
	}
	return both
}

func added(b *rounds.Builder, records []trace.Record) *rounds.Builder {
	for i := range records {
		b.Add(&records[i])
	}
	return b
}

// "A cluster made anew under the same label with wiped data: terms begin again at 1": each is told as if the other were
// not there.
func TestEras(t *testing.T) {
	for _, name := range []string{"bully-restart", "office-kill", "bully-kill-info", "ring-restart"} {
		records := again(t, name, time.Hour)
		for _, bounded := range []bool{false, true} {
			empty := func() *rounds.Builder {
				if bounded {
					return rounds.NewBoundedBuilder(rounds.Bounds{Records: 1 << 20})
				}
				return rounds.NewBriefBuilder()
			}
			eras := added(empty(), records).Eras()
			if eras == nil {
				t.Fatalf("%s: no eras", name)
			}
			b := empty()
			b.Separate(eras)
			h := added(b, records).History()
			alone := added(empty(), fixture(t, name)).History().Groups[0]
			if len(h.Groups) != 2 || len(h.Notes) != 1 ||
				h.Groups[0].Replaced.IsZero() || !h.Groups[1].Replaced.IsZero() {
				t.Fatalf("%s: %d groups, %q", name, len(h.Groups), h.Notes)
			}
			for i, g := range h.Groups {
				if g.Era != i+1 || len(g.Rounds) != len(alone.Rounds) || len(g.Findings) != len(alone.Findings) {
					t.Errorf("%s: era %d has %d rounds and the findings %v; alone it has %d and %v",
						name, g.Era, len(g.Rounds), g.Findings, len(alone.Rounds), alone.Findings)
				}
			}
		}
	}
}

// "Nothing that is known of one era is true of another": a farewell belongs to the era in which it was said. There it
// ends a process, and the log goes on until then.
func TestFarewellsOfEras(t *testing.T) {
	const later = time.Hour
	var next time.Time // when the third node leads
	for _, rec := range fixture(t, "bully-kill-info") {
		if rec.Leader == 3 && (next.IsZero() || rec.Time.Before(next)) {
			next = rec.Time
		}
	}
	records := slices.DeleteFunc(again(t, "bully-kill-info", later), func(rec trace.Record) bool {
		since := rec.Time.Sub(next)
		return since >= 0 && since < later/2 || since >= later
	})
	eras := added(rounds.NewBuilder(), records).Eras()
	for said := range 2 {
		b := rounds.NewBuilder()
		b.Separate(eras)
		bye := next.Add(time.Duration(said)*later + 3*time.Second)
		b.Left(trace.Farewell{Time: bye, Cluster: "demo", Node: 1})
		for i, g := range added(b, records).History().Groups {
			in := g.Incidents[len(g.Incidents)-1]
			if in.Leader != 0 || in.Until.Equal(bye) != (i == said) {
				t.Errorf("said at %v, in era %d: era %d ends with %+v", bye, said+1, i+1, in)
			}
			events := g.Nodes[0].Lives[0].Events
			if left := len(events) > 0 && events[len(events)-1].Kind == rounds.Ended; left != (i == said) {
				t.Errorf("said in era %d: in era %d node 1 had %+v", said+1, i+1, events)
			}
		}
	}
}

// What restarts with its data is the same cluster, and one lost disk makes no other.
func TestNoEras(t *testing.T) {
	saved := again(t, "office-kill", time.Hour)
	for i := range saved {
		if rec := &saved[i]; strings.HasSuffix(rec.Incarnation, "b") {
			rec.Term += 2
		}
	}
	lost := fixture(t, "office-kill")
	for _, rec := range again(t, "office-kill", time.Hour) {
		if rec.Node == 5 && strings.HasSuffix(rec.Incarnation, "b") {
			lost = append(lost, rec)
		}
	}
	once := fixture(t, "office-kill")
	for name, records := range map[string][]trace.Record{"saved": saved, "lost": lost, "once": once} {
		if eras := added(rounds.NewBuilder(), records).Eras(); eras != nil {
			t.Errorf("%s: %v", name, eras)
		}
	}
}

// "Where two clusters of one label run at once, say so clearly, never merge silently into false findings."
func TestTwoClustersAtOnce(t *testing.T) {
	h := added(rounds.NewBuilder(), again(t, "office-kill", 90*time.Millisecond)).History()
	if len(h.Notes) != 1 || !strings.Contains(h.Notes[0], `Two clusters ran under the label "demo" at once`) {
		t.Errorf("notes: %q", h.Notes)
	}
	for _, f := range h.Groups[0].Findings {
		if f.Name != rounds.SameID {
			t.Errorf("%s: %s", f.Name, f.Text)
		}
	}
	if list := listed(t, h); len(h.Groups[0].Mixed) != 5 || !strings.Contains(list, "These are two clusters") ||
		strings.Count(list, "same-id-twice") < 5 {
		t.Errorf("mixed %v:\n%s", h.Groups[0].Mixed, list)
	}
}

// Two clusters of different nodes under one label: it is said that they never met.
func TestClustersThatNeverMet(t *testing.T) {
	records := fixture(t, "bully-kill")
	for _, rec := range fixture(t, "bully-kill") {
		records = append(records, renamed(rec))
	}
	h := added(rounds.NewBuilder(), records).History()
	const want = `No record of cluster "demo" shows that nodes 1, 2, 3, 4 and 5 and nodes 11, 12, 13, 14 and 15 `
	if len(h.Notes) != 1 || !strings.HasPrefix(h.Notes[0], want) {
		t.Errorf("%q", h.Notes)
	}
}

// renamed returns the record with 10 more in each id.
func renamed(rec trace.Record) trace.Record {
	up := func(id uint64) uint64 {
		if id == 0 {
			return 0
		}
		return id + 10
	}
	rec.Node, rec.From, rec.Leader, rec.About = up(rec.Node), up(rec.From), up(rec.Leader), up(rec.About)
	alive := rec.Alive
	rec.Alive, rec.Evidence = nil, ""
	for _, id := range alive {
		rec.Alive = append(rec.Alive, up(id))
	}
	if rec.PrevLeader != nil {
		was := up(*rec.PrevLeader)
		rec.PrevLeader = &was
	}
	if rec.MsgID != "" {
		rec.MsgID = "1" + rec.MsgID
	}
	why := rec.Why
	rec.Why = nil
	for _, s := range why {
		rec.Why = append(rec.Why, strings.Replace(s, "leader 5 is gone", "leader 15 is gone", 1))
	}
	if rec.Event == "gone" {
		rec.Detail = "1" + rec.Detail
	}
	sent := rec.Sent
	rec.Sent = nil
	for _, s := range sent {
		rec.Sent = append(rec.Sent, strings.Replace(strings.Replace(s, "#", "#1", 1), ">", ">1", 1))
	}
	return rec
}
