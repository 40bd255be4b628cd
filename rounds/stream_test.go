package rounds_test

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// fixture are the records of a real cluster, in the order of their clocks.
func fixture(t testing.TB, name string) []trace.Record {
	t.Helper()
	var c collector
	batch := logs.Batch{Paths: []string{"testdata/" + name + ".log"}}
	batch.Read(&c, func(err error) { t.Fatal(err) })
	slices.SortStableFunc(c.records, func(a, b trace.Record) int { return clockOf(t, a).Compare(clockOf(t, b)) })
	return c.records
}

func clockOf(t testing.TB, rec trace.Record) proto.HLC {
	t.Helper()
	clock, err := proto.ParseHLC(rec.HLC)
	if err != nil {
		t.Fatal(err)
	}
	return clock
}

// collector is a sink that keeps the records.
type collector struct{ records []trace.Record }

func (c *collector) Add(rec *trace.Record)           { c.records = append(c.records, *rec) }
func (c *collector) Death(string, uint64, time.Time) {}
func (c *collector) Left(trace.Farewell)             {}

var termIn = regexp.MustCompile(`term \d+`)

// writeLater writes the records as if the same had happened again, times later:
// in later terms, to other processes.
func writeLater(t testing.TB, w io.Writer, records []trace.Record, times int) {
	writeLaterIn(t, w, records, times, lastTermOf(records))
}

// writeLaterIn does the same for some of the records, if the highest term of all is terms.
func writeLaterIn(t testing.TB, w io.Writer, records []trace.Record, times int, terms uint64) {
	zerolog.TimeFieldFormat = time.RFC3339Nano
	log := zerolog.New(w)
	const apart = 20 * time.Second
	processes := map[uint64]string{} // by node: the last one that wrote
	for _, rec := range records {
		clock := clockOf(t, rec)
		clock.Micros += int64(times) * apart.Microseconds()
		rec.HLC, rec.Time = clock.String(), rec.Time.Add(time.Duration(times)*apart)
		rec.Incarnation = fmt.Sprintf("%06x%s", times, rec.Incarnation[:2])
		processes[rec.Node] = rec.Incarnation
		if rec.MsgID != "" {
			rec.Sender = processes[rec.From] // as nodes write it now
		}
		if rec.Term > 0 || times > 0 {
			rec.Term += uint64(times) * terms
		}
		for _, term := range []*uint64{&rec.Round, &rec.Led, &rec.Token} {
			if *term > 0 {
				*term += uint64(times) * terms
			}
		}
		if !rec.ValidUntil.IsZero() {
			rec.ValidUntil = rec.ValidUntil.Add(time.Duration(times) * apart)
		}
		rec.Why = slices.Clone(rec.Why)
		for i, why := range rec.Why {
			rec.Why[i] = termIn.ReplaceAllStringFunc(why, func(s string) string {
				term, _ := strconv.ParseUint(s[len("term "):], 10, 64)
				return fmt.Sprintf("term %d", term+uint64(times)*terms)
			})
		}
		rec.Reasons = later(rec.Reasons, uint64(times)*terms)
		trace.Write(log, rec)
	}
}

// later returns the reasons with other terms. A term is what a sentence calls so.
func later(reasons []trace.Reason, by uint64) []trace.Reason {
	reasons = slices.Clone(reasons)
	for i, r := range reasons {
		reasons[i].Args = slices.Clone(r.Args)
		words := strings.Split(catalog.Reason(r.Code).Sentence, "%")
		for j := range r.Args {
			switch arg := &reasons[i].Args[j]; {
			case arg.Is == trace.Cause:
				arg.Reason = &later([]trace.Reason{*arg.Reason}, by)[0]
			case strings.HasSuffix(words[j], "term "):
				arg.Number += by
			}
		}
	}
	return reasons
}

// "A million records (about 300 MB) in memory bounded by open rounds when
// sorted input is followed": what is held after the last of many rounds is what
// was held after a quarter of them.
func TestFollowingIsBounded(t *testing.T) {
	const times = 4000
	records := fixture(t, "bully-kill")
	f := &following{b: rounds.NewBriefBuilder()}
	var heaps []uint64
	for i := range times {
		var log bytes.Buffer
		writeLater(t, &log, records, i)
		if _, err := logs.Read(&log, f); err != nil {
			t.Fatal(err)
		}
		if i == times/4 || i == times-1 {
			heaps = append(heaps, heap())
		}
	}
	if f.told < 2*times-10 {
		t.Errorf("%d rounds were told while following, want nearly %d", f.told, 2*times)
	}
	if grown := int64(heaps[1]) - int64(heaps[0]); grown > 2<<20 {
		t.Errorf("the heap grew by %d KB over %d records", grown/1024, times*3/4*len(records))
	}
	if f.b.Late() > 0 {
		t.Errorf("%d records came late in sorted input", f.b.Late())
	}
	runtime.KeepAlive(f)
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// following is a sink that tells rounds as they end.
type following struct {
	b       *rounds.Builder
	n, told int
}

func (f *following) Add(rec *trace.Record) {
	f.b.Add(rec)
	if f.n++; f.n%100 == 0 {
		told, _ := f.b.Ended(false)
		f.told += len(told)
	}
}
func (f *following) Death(string, uint64, time.Time) {}
func (f *following) Left(trace.Farewell)             {}

// A brief Builder says the same of a round in its line, and of what is wrong.
func TestBriefTellsTheSame(t *testing.T) {
	for _, f := range fixtures {
		var want, got bytes.Buffer
		for b, out := range map[*rounds.Builder]*bytes.Buffer{
			rounds.NewBuilder(): &want, rounds.NewBriefBuilder(): &got,
		} {
			batch := logs.Batch{Paths: []string{"testdata/" + f.name + ".log"}}
			batch.Read(b, func(err error) { t.Fatal(err) })
			g := b.History().Groups[0]
			for _, r := range g.Rounds {
				if err := report.Line(out, g.Names, r); err != nil {
					t.Fatal(err)
				}
			}
			if err := report.Remarks(out, g); err != nil {
				t.Fatal(err)
			}
		}
		if got.String() != want.String() {
			t.Errorf("%s: brief\n%s\nin full\n%s", f.name, &got, &want)
		}
	}
}

// Rounds that are told one by one are told as all at once.
func TestFollowingTellsTheSame(t *testing.T) {
	for _, name := range []string{
		"bully-kill", "bully-restart", "ring-kill", "bully-kill-info", "office-kill", "office-ring-kill", "office-cut",
	} {
		records := fixture(t, name)
		whole, parts := rounds.NewBuilder(), rounds.NewBuilder()
		var want, got bytes.Buffer
		say := func(w io.Writer, told []*rounds.Round) {
			for _, r := range told {
				if err := report.Show(w, &rounds.Group{}, r, true); err != nil {
					t.Fatal(err)
				}
			}
		}
		for i := range records {
			whole.Add(&records[i])
			parts.Add(&records[i])
			told, _ := parts.Ended(false)
			say(&got, told)
		}
		say(&want, whole.History().Groups[0].Rounds)
		say(&got, parts.History().Groups[0].Rounds)
		if got.String() != want.String() {
			t.Errorf("%s: followed\n%s\nat once\n%s", name, &got, &want)
		}
	}
}

// Under a lease a lost leader leads on until its lease ends, and nothing is
// written meanwhile: the round is not over then.
func TestFollowingWaitsForTheLease(t *testing.T) {
	b := rounds.NewBuilder()
	told := 0
	for _, rec := range fixture(t, "office-pause") {
		b.Add(&rec)
		for range 2 {
			over, _ := b.Ended(true)
			for _, r := range over {
				told++
				if r.Winner == nil {
					t.Errorf("term %d was told before it had a leader, at record %d:%d", r.Term, rec.Node, rec.Seq)
				}
			}
		}
	}
	if told != 2 {
		t.Errorf("%d rounds", told)
	}
}

// cpuTime is what the process has used so far.
func cpuTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkFollow is the same for records that are followed, with the memory
// that is held at the end.
func BenchmarkFollow(b *testing.B) {
	var log bytes.Buffer
	records := fixture(b, "bully-kill")
	for i := range 3000 {
		writeLater(b, &log, records, i)
	}
	b.SetBytes(int64(log.Len()))
	for b.Loop() {
		f := &following{b: rounds.NewBriefBuilder()}
		if _, err := logs.Read(bytes.NewReader(log.Bytes()), f); err != nil || f.told < 5000 {
			b.Fatal(f.told, err)
		}
	}
}

// "messages-lost: 2 messages of term 3 never arrived": they had arrived, in records of a term whose round was told
// before theirs.
func TestFollowingFindsNoMessageLostThatArrived(t *testing.T) {
	const asked = 5000
	for _, why := range [][]string{nil, {"1 says no, has other voters"}} {
		for _, toldAt := range []int{4000, asked + 400} {
			v := newVoters()
			v.elect(1, 1, 2, 3)
			for ms := 200; ms <= 8000; ms += 200 {
				for node := uint64(1); node <= 3; node++ {
					v.add(node, ms, trace.Record{Event: "timeout"})
				}
				if ms == asked {
					v.ask(2, ms, 2)
					for _, node := range []uint64{1, 3} {
						v.add(node, ms+1, trace.Record{
							Term: 1, Event: "receive", From: 2, Msg: "PRE_VOTE",
							MsgID: fmt.Sprintf("2:%d", 10*ms+int(node)), Why: why,
						})
					}
				}
				if ms == toldAt || ms == toldAt+1000 {
					for range 2 {
						v.b.Ended(true)
					}
				}
			}
			for _, r := range v.b.History().Groups[0].Rounds {
				for _, m := range r.Messages {
					if m.Delivery != rounds.Arrived {
						t.Errorf("why %q, told at %d: %+v", why, toldAt, m)
					}
				}
			}
		}
	}
}
