package rounds_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/sim"
)

// variant is one way in which the logs of a run come to the reader.
type variant struct {
	name    string
	info    bool          // only records of level info and above are there
	off     time.Duration // how far each clock may be off
	missing bool          // the log of one node is not there
	tail    bool          // the end of one log is missing
	head    bool          // the beginning of one log is missing
	gap     bool          // records in the middle of one log are missing
	lossy   bool          // each tenth record is missing, on average
	mid     bool          // all logs end at one time, as they stood then
	since   bool          // all logs begin at one time
	some    bool          // only some of the nodes write no more than level info
	set     time.Duration // by how much clocks were set at most in the run, where the nodes tell it
}

// shifted reports whether the clocks are off.
func (v variant) shifted() bool { return v.off > 0 }

// complete reports whether no record is missing, except those below the level.
func (v variant) complete() bool {
	return !v.missing && !v.tail && !v.rotated() && !v.mid && !v.holes()
}

// rotated reports whether the beginning of a log is missing.
func (v variant) rotated() bool { return v.head || v.since }

// holes reports whether records between others are missing.
func (v variant) holes() bool { return v.gap || v.lossy }

// hours is more than nodes allow: they do not follow hybrid clocks that are so far ahead (see proto.MaxHLCSkew).
const hours = 5 * time.Hour

var variants = []variant{
	{name: "as written"},
	{name: "clocks off", off: hours},
	{name: "clocks off by minutes", off: 20 * time.Minute},
	{name: "a log missing", missing: true},
	{name: "a log cut short", tail: true},
	{name: "a log rotated", head: true},
	{name: "info", info: true},
	{name: "info, clocks off", info: true, off: hours},
	{name: "info, a log missing, clocks off", info: true, missing: true, off: hours},
	{name: "info, a log cut short", info: true, tail: true},
	{name: "clocks off a little", off: 30 * time.Millisecond},
	{name: "a gap in a log", gap: true},
	{name: "info, a gap in a log", info: true, gap: true},
	{name: "records lost", lossy: true},
	{name: "as they stood", mid: true},
	{name: "info, as they stood", info: true, mid: true},
	{name: "info, a log rotated", info: true, head: true},
	{name: "info, records lost", info: true, lossy: true},
	{name: "records lost, clocks off", lossy: true, off: hours},
	{name: "as they stood, clocks off", mid: true, off: hours},
	{name: "a log missing, as they stood", missing: true, mid: true},
	{name: "a log rotated, clocks off", head: true, off: hours},
	{name: "a log cut short, clocks off", tail: true, off: 20 * time.Minute},
	{name: "since", since: true},
	{name: "info, since", info: true, since: true},
	{name: "since, until, clocks off", since: true, mid: true, off: hours},
	{name: "info on some", info: true, some: true},
	{name: "info on some, clocks off", info: true, some: true, off: hours},
	{name: "info on some, since, until", info: true, some: true, since: true, mid: true},
	{name: "clocks set", set: 10 * time.Second},
	{name: "info, clocks set", info: true, set: 10 * time.Second},
	{name: "clocks set and off", set: time.Minute, off: 20 * time.Minute},
}

// truthSeeds is how many runs TestTruth makes of each algorithm.
var truthSeeds = flag.Uint64("truth-seeds", 8, "how many runs `SEEDS` of each algorithm are compared with the truth")

// truthFrom and truthOnly choose among the runs of TestTruth, and truthEach lists what is false in each of them.
var (
	truthFrom = flag.Uint64("truth-from", 0, "the first `SEED` that is compared with the truth")
	truthOnly = flag.String("truth-only", "", "the one `ALGORITHM` whose runs are compared with the truth")
	truthEach = flag.Bool("truth-each", false, "list every false statement, and not one of each kind")
)

// "No false statement, no finding on a healthy run, no missed finding on a broken one": what the inspector
// says about the logs of a simulated run is compared with what happened in the run.
func TestTruth(t *testing.T) {
	wrong := errata{counts: map[string]*erratum{}, noted: map[string]map[string]int{}, judged: map[string]int{}}
	for _, plain := range catalog.All() {
		entries := []catalog.Entry{plain.WithRecovery()}
		if !plain.Leased {
			entries = append(entries, plain.WithLease())
		}
		for _, entry := range entries {
			if *truthOnly != "" && entry.Name != *truthOnly {
				continue
			}
			for seed := *truthFrom; seed < *truthFrom+*truthSeeds; seed++ {
				run := simulateTruly(t, entry, seed)
				for i, v := range variants {
					r := run.read(t, v, rand.New(rand.NewPCG(seed, uint64(i))))
					r.wrong = &wrong
					r.compare()
					if i == 0 {
						run.sent = r.sent()
					}
				}
			}
		}
	}
	t.Log(wrong.notes())
	for _, what := range everJudged {
		if *truthOnly == "" && *truthFrom == 0 && wrong.judged[what] == 0 {
			t.Errorf("no run has %s: this test proves nothing about them", what)
		}
	}
	if len(wrong.counts) > 0 {
		t.Errorf("%d kinds of false or missing statements:\n%s", len(wrong.counts), wrong.table())
	}
}

// compare compares everything that the inspector says with the truth.
func (r *reading) compare() {
	r.compareLeaderships()
	r.compareRounds()
	r.compareSent()
	r.compareOverlaps()
	r.compareFindings()
	r.compareVoices()
	r.compareVerdicts()
	r.compareCauses()
	r.compareMessages()
	r.compareClocks()
	r.compareLives()
	r.compareIncidents()
	r.comparePeriods()
}

// everJudged are the statements and the truths of which there must be some: what never occurs is not tested.
var everJudged = []string{
	"leaderships", "winners", "rivals", "two leaders of a term", "leaders of several terms at once", "healthy runs",
	"votes", "refusals", "verdicts of voters", "detections", "leaders that are back", "lost messages",
	"pairs of clocks", "processes that refused to run", "counts of messages",
	"nodes that had ended when the winner won",
}

// errata counts what is false, by its kind, and notes what nobody can judge, by algorithm.
type errata struct {
	counts map[string]*erratum
	noted  map[string]map[string]int
	judged map[string]int // how much was compared, by what it is
}

// erratum is one kind of false statement, with one example.
type erratum struct {
	count    int
	variants map[string]int
	names    map[string]int // of the algorithms
	example  string
}

// table lists the kinds, the most frequent first.
func (e *errata) table() string {
	kinds := slices.SortedFunc(maps.Keys(e.counts), func(a, b string) int {
		if e.counts[a].count != e.counts[b].count {
			return e.counts[b].count - e.counts[a].count
		}
		return strings.Compare(a, b)
	})
	var out strings.Builder
	for _, kind := range kinds {
		one := e.counts[kind]
		fmt.Fprintf(&out, "%6d  %s\n        by variant: %v\n        by algorithm: %v\n        e.g. %s\n",
			one.count, kind, one.variants, one.names, one.example)
	}
	return out.String()
}

// notes lists what was noted, by kind and algorithm.
func (e *errata) notes() string {
	var out strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(e.noted)) {
		fmt.Fprintf(&out, "\n%s: %v", kind, e.noted[kind])
	}
	fmt.Fprintf(&out, "\njudged: %v", e.judged)
	return out.String()
}

// fail counts a statement that is false, or is missing.
func (r *reading) fail(kind string, term uint64, format string, args ...any) {
	where := fmt.Sprintf("%s, seed %d, %s, term %d", r.run.name, r.run.seed, r.name, term)
	statement := fmt.Sprintf("%s: %s", where, fmt.Sprintf(format, args...))
	one := r.wrong.counts[kind]
	if one == nil {
		one = &erratum{variants: map[string]int{}, names: map[string]int{}, example: statement}
		r.wrong.counts[kind] = one
	}
	if *truthEach {
		fmt.Printf("%s: %s\n", kind, statement)
	}
	one.count++
	one.variants[r.name]++
	one.names[r.run.name]++
}

// judge counts what is compared with the truth.
func (r *reading) judge(what string) { r.wrong.judged[what]++ }

// note counts what may be true or not.
func (r *reading) note(kind string) {
	if r.wrong.noted[kind] == nil {
		r.wrong.noted[kind] = map[string]int{}
	}
	r.wrong.noted[kind][r.run.name]++
}

// healthy reports whether nothing failed in the run.
func (run *trueRun) healthy() bool {
	return slices.ContainsFunc(run.result.Drawn, func(line string) bool {
		return strings.HasPrefix(line, "nodes ") && strings.HasSuffix(line, "accurate true")
	})
}

// lostDisk reports whether the node lost what it had saved, in truth.
func (run *trueRun) lostDisk(node uint64) bool {
	return slices.ContainsFunc(run.truth.LostDisks, func(l sim.LostDisk) bool { return uint64(l.Node) == node })
}
