package nodesim

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/internal/long"
)

var (
	flagSeed  = flag.Uint64("seed", 0, "the first `seed`")
	flagSeeds = flag.Uint64("seeds", 0, "how many `schedules` to run; 0 is as many as the test has")
	flagOnly  = flag.String("algorithm", "", "only this `algorithm`; the default is what a seed draws")
	flagKinds = flag.String("faults", "",
		"only these `kinds`, between commas: see faults, and shape, grow, roll and long-promise")
	flagLog   = flag.Bool("log", false, "print what happened in each schedule")
	flagFirst = flag.String("first", "", "look for the first schedule that breaks this `promise`")
	flagAll   = flag.Bool("all", false, "go on after a violation, and count")
)

// TestSchedules runs whole nodes under random faults, a schedule a seed. At no instant two
// processes act as leaders, who leads works, and when all has healed somebody does.
func TestSchedules(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // see membership/memtest
	if *flagFirst != "" {
		hunt(t, *flagFirst)
		return
	}
	began, counts := time.Now(), map[string]int{}
	seeds := *flagSeeds
	if seeds == 0 {
		seeds = uint64(long.Runs(t, 10, 30))
	}
	for seed := *flagSeed; seed < *flagSeed+seeds; seed++ {
		w := runSeed(t, seed)
		for _, v := range w.violations {
			counts[v.name]++
			t.Errorf("%s: %s, with %v\n\tagain: %s", v.name, v.detail, w.hints, again(w.options))
		}
		if *flagLog || len(w.violations) > 0 && !*flagAll {
			fmt.Fprintln(os.Stderr, w.text())
		}
		if len(w.violations) > 0 && !*flagAll {
			return
		}
	}
	t.Logf("%d schedules in %v, violations: %v", seeds, time.Since(began).Round(time.Millisecond), counts)
}

func TestLongSchedules(t *testing.T) { TestSchedules(t) }

// foundMark begins the line that tells of what was looked for.
const foundMark = "FOUND "

// hunt looks for a schedule that breaks a promise.
func hunt(t *testing.T, promise string) {
	for seed := *flagSeed; seed < *flagSeed+*flagSeeds; seed++ {
		w := runSeed(t, seed)
		for _, v := range w.violations {
			if v.name == promise {
				fmt.Printf("%sschedule %d: %s: %s; %s\n", foundMark,
					seed-*flagSeed+1, v.name, v.detail, again(w.options))
				return
			}
		}
	}
}

// again is the command that repeats a schedule.
func again(o options) string {
	only := ""
	if *flagOnly != "" {
		only = " -algorithm " + *flagOnly
	}
	if *flagKinds != "" {
		only += " -faults " + *flagKinds
	}
	return fmt.Sprintf("go test ./internal/nodesim -run TestSchedules -seed %d -seeds 1%s -log # %s, %d nodes, P %v",
		o.seed, only, o.entry.Name, o.nodes, o.promise)
}

func kinds() []string {
	return strings.FieldsFunc(*flagKinds, func(r rune) bool { return r == ',' })
}

func runSeed(t *testing.T, seed uint64) *world {
	var w *world
	synctest.Test(t, func(t *testing.T) {
		w = newWorld(draw(seed, *flagOnly, kinds()))
		w.verbose = *flagLog
		w.run()
	})
	return w
}
