//go:build realtruth

// Package truth_test compares what the inspector tells about real clusters with what was done to them.
package truth_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

var (
	flagSeed   = flag.Uint64("seed", 0, "the first `seed`; 0 is the test's own")
	flagSeeds  = flag.Uint64("seeds", 0, "how many `runs`; 0 is as many as the test has")
	flagKeep   = flag.String("keep", "", "keep the logs and the truth of runs that show faults in this `directory`")
	flagAll    = flag.Bool("all", false, "with -keep: of all runs")
	flagAgain  = flag.String("again", "", "run nothing; read what was kept in this `directory`")
	flagReport = flag.String("report", "", "write the faults, by kind, into this `file` after each run")
	flagBinary = flag.String("binary", "", "the `program` to run; the default is to build it")
	flagKinds  = flag.String("algorithms", "bully,ring,raft", "the `algorithms` to run in turn, between commas")
)

// program is the executable that all clusters run.
var program string

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "ringleader-truth-")
	if err != nil {
		panic(err)
	}
	if program = *flagBinary; program == "" && *flagAgain == "" {
		program = filepath.Join(dir, "ringleader")
		if out, err := exec.Command("go", "build", "-o", program, "../../cmd/node").CombinedOutput(); err != nil {
			panic(fmt.Sprintf("%v: %s", err, out))
		}
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// "No false statement, no finding on a healthy run, no missed finding on a broken one": what the inspector
// says about the logs of real processes is compared with what signals and operators did to these.
func TestTruth(t *testing.T) {
	all := &faults{kinds: map[string]*fault{}}
	if *flagAgain != "" {
		readAgain(t, all, *flagAgain)
		return
	}
	const acts = manyActs
	first, runs := uint64(1), uint64(3)
	if *flagSeed > 0 {
		first, runs = *flagSeed, 1
	}
	if *flagSeeds > 0 {
		runs = *flagSeeds
	}
	for seed := first; seed < first+runs; seed++ {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			dir := t.TempDir()
			s := perform(t, drawPlan(t, seed, acts), dir)
			found := judge(t, s, dir)
			if *flagKeep != "" && (len(found) > 0 || *flagAll) {
				kept := filepath.Join(*flagKeep, strconv.FormatUint(seed, 10))
				keep(t, dir, kept)
				dir = kept
			}
			all.add(t, s, found, dir)
		})
	}
	t.Log(all.counted())
}

// readAgain judges the runs that were kept.
func readAgain(t *testing.T, all *faults, kept string) {
	dirs, err := filepath.Glob(filepath.Join(kept, "*", storyFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range dirs {
		dir := filepath.Dir(file)
		s := loadStory(t, file)
		if *flagSeed > 0 && s.Plan.Seed != *flagSeed {
			continue
		}
		t.Run(filepath.Base(dir), func(t *testing.T) { all.add(t, s, judge(t, s, dir), dir) })
	}
	t.Log(all.counted())
}

// keep copies the files of a run.
func keep(t *testing.T, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// judge reads the logs of a run in several ways, and returns all that is told falsely or not told.
func judge(t *testing.T, s *story, dir string) (found []statement) {
	t.Helper()
	s.readGreetings(t, dir)
	draws := rand.New(rand.NewPCG(s.Plan.Seed, 2))
	for _, v := range variants {
		r := read(t, s, dir, v, draws)
		r.compare()
		found = append(found, r.found...)
	}
	return found
}

// statement is one that is false, or that is missing.
type statement struct {
	kind, variant, text string
}

// fault is one kind of false or missing statement.
type fault struct {
	count    int
	runs     []uint64
	variants map[string]int
	examples []string
}

// faults counts what is false, by its kind.
type faults struct {
	runs, healthy, quorums int
	kinds                  map[string]*fault
}

// add reports what was found in a run.
func (f *faults) add(t *testing.T, s *story, found []statement, dir string) {
	t.Helper()
	f.runs++
	if s.healthy() {
		f.healthy++
	}
	f.quorums += len(s.lostQuorums())
	for _, one := range found {
		k := f.kinds[one.kind]
		if k == nil {
			k = &fault{variants: map[string]int{}}
			f.kinds[one.kind] = k
		}
		k.count++
		k.variants[one.variant]++
		if !slices.Contains(k.runs, s.Plan.Seed) {
			k.runs = append(k.runs, s.Plan.Seed)
			if len(k.examples) < 3 {
				k.examples = append(k.examples,
					fmt.Sprintf("%v, %s: %s\n\n  logs: %s\n%s", s.Plan, one.variant, one.text, dir, s.acts("    ")))
			}
		}
		t.Errorf("%s: %s: %s", one.variant, one.kind, one.text)
	}
	if len(found) > 0 {
		t.Logf("%v\n%s", s.Plan, s.acts("  "))
	}
	if *flagReport != "" {
		if err := os.WriteFile(*flagReport, []byte(f.table()), 0o600); err != nil {
			t.Error(err)
		}
	}
}
