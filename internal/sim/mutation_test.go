package sim

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/ringleader-dev/ringleader/internal/overlay"
)

// mutant is a package without one of its rules.
type mutant struct {
	rule   string // as the package's documentation, or its code, states it
	file   string // in one of the species' packages
	old    string // must be in the file, once
	new    string
	breaks string // the invariant that a run then violates
}

// fences reports whether the mutant shows only in runs with fence agents.
func (m mutant) fences() bool {
	return slices.ContainsFunc(fenceCheckers(true), func(k checker) bool {
		return k.Name == m.breaks
	})
}

// species is what mutants are of: a Machine whose package is the first; the others
// are those that it counts with.
type species struct {
	packages []string
	names    []string // of the algorithms that run; more would only take longer
	setUp    string   // in the program, what makes an Entry e one of it
	around   bool     // it is a Machine around one that nominates
	fenced   bool     // some of its invariants are only checked in runs with fence agents
	runs     int      // how many fault schedules of each algorithm a mutant may survive
	mutants  []mutant
}

// nominators are what a lease, or a recovery, is put around.
var nominators = []string{"bully", "ring"}

// Each rule of the lease is needed: without it, a random fault schedule breaks
// an invariant. The mutants are copies of the package that exist only for the
// compiler; one program runs all of them.
func TestLongEachRuleOfLeasesIsNeeded(t *testing.T) {
	species{
		[]string{"lease", "quorum"},
		nominators, "e.WithLease()", true, true, 12000,
		votesMutants(),
	}.areCaught(t)
}

// Likewise each rule of the recovery from split brains.
func TestLongEachRuleOfRecoveryIsNeeded(t *testing.T) {
	species{
		[]string{"splitbrain"},
		nominators, "e.WithRecovery()", true, false, 6000,
		recoveryMutants(),
	}.areCaught(t)
}

// Likewise each rule of leadership by an entry in a store.
func TestLongEachRuleOfStoresIsNeeded(t *testing.T) {
	species{
		[]string{"store"},
		nominators, "e.WithStore(algorithms.Lease)", true, false, 12000,
		storeMutants(),
	}.areCaught(t)
}

// And each rule of Raft, whose invariants are those of the lease: they see its
// messages.
func TestLongEachRuleOfRaftIsNeeded(t *testing.T) {
	species{
		[]string{"raft", "lease", "quorum"},
		[]string{"raft"},
		"e", false, true, 4000,
		raftMutants(),
	}.areCaught(t)
}

func (sp species) areCaught(t *testing.T) {
	program := sp.build(t)
	var asked bytes.Buffer
	for i, m := range sp.mutants {
		fmt.Fprintf(&asked, "m%d %s %d %v\n", i, m.breaks, sp.runs, sp.fenced && m.fences())
	}
	wantCaught(t, program, &asked, sp.mutants)
}

// wantCaught asks the program, in a line a mutant, for a run that the mutant breaks.
func wantCaught(t *testing.T, program string, asked io.Reader, mutants []mutant) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Stdin, cmd.Stderr = asked, os.Stderr
	answers, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(answers)) {
		name, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		found[name] = what
	}
	for i, m := range mutants {
		what := found[fmt.Sprintf("m%d", i)]
		t.Logf("%q -> %q: %s", m.rule, m.breaks, what)
		if !strings.HasPrefix(what, "ringleader simulate") {
			t.Errorf("without %q no run broke %s: %s", m.rule, m.breaks, what)
		}
	}
}

// An invariant that nothing was ever seen to break proves nothing.
func TestEachInvariantOfLeasesIsBroken(t *testing.T) {
	wantBroken(t, votesMutants(), append(leaseCheckers(), fenceCheckers(true)...))
}

func TestEachInvariantOfRaftIsBroken(t *testing.T) {
	wantBroken(t, raftMutants(), leaseCheckers())
}

func TestEachInvariantOfStoresIsBroken(t *testing.T) {
	wantBroken(t, storeMutants(), storeCheckers())
}

func TestEachInvariantOfRecoveryIsBroken(t *testing.T) {
	wantBroken(t, recoveryMutants(), recoveryCheckers(&cluster{leaderships: &trueOverlap{}}), recoveredInTheEnd)
}

func wantBroken(t *testing.T, mutants []mutant, checkers []checker, more ...Invariant) {
	t.Helper()
	for _, k := range checkers {
		more = append(more, k.Invariant)
	}
	for _, i := range more {
		if !slices.ContainsFunc(mutants, func(m mutant) bool { return m.breaks == i.Name }) {
			t.Errorf("no mutant breaks %s", i.Name)
		}
	}
}

// module is the import path of this module, and where it is.
const (
	module = "github.com/ringleader-dev/ringleader"
	root   = "../.."
)

// build builds the program that runs the mutants, and returns its path.
func (sp species) build(t *testing.T) string {
	t.Helper()
	return copies{sp.packages, sp.mutants}.build(t, mutantsMain, map[string]any{
		"Mutants": sp.mutants, "Package": sp.packages[0], "SetUp": sp.setUp,
		"Names": fmt.Sprintf("%#v", sp.names), "Around": sp.around,
	})
}

// copies are copies of packages, which import each other, one for each mutant.
type copies struct {
	packages []string
	mutants  []mutant
}

// build builds the program that main makes of data, and returns its path.
func (c copies) build(t *testing.T, main *template.Template, data any) string {
	t.Helper()
	sources := overlay.New(t)
	for i, m := range c.mutants {
		c.add(t, fmt.Sprintf("algorithms/mutants/m%d", i), m, sources)
	}
	var program strings.Builder
	if err := main.Execute(&program, data); err != nil {
		t.Fatal(err)
	}
	sources.Add(filepath.Join(root, "algorithms/mutants/main.go"), program.String())
	binary, args := sources.Build("build", "./algorithms/mutants")
	build := exec.CommandContext(t.Context(), "go", args...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// add copies the packages, one of them without the rule, to path.
func (c copies) add(t *testing.T, path string, m mutant, to *overlay.Sources) {
	t.Helper()
	done := m.old == ""
	for _, pkg := range c.packages {
		files, err := filepath.Glob(filepath.Join(root, "algorithms", pkg, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal("no sources", err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			content := string(text)
			if strings.HasSuffix(file, "/"+m.file) {
				content, done = overlay.ReplaceOnce(t, m.rule, file, content, m.old, m.new), true
			}
			for _, own := range c.packages {
				content = strings.ReplaceAll(content,
					`"`+module+`/algorithms/`+own+`"`, `"`+module+"/"+path+`/`+own+`"`)
			}
			to.Add(filepath.Join(root, path, pkg, filepath.Base(file)), content)
		}
	}
	if !done {
		t.Fatalf("%q: there is no %s", m.rule, m.file)
	}
}

// mutantsMain reads lines of a mutant's name, an invariant, a number of runs, and
// whether they have fence agents, and writes what run broke the invariant.
var mutantsMain = template.Must(template.New("").Parse(`package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"sync"

	"` + module + `/algorithms"
	"` + module + `/algorithms/catalog"
	"` + module + `/internal/sim"
	{{range $i, $m := .Mutants}}
	m{{$i}} "` + module + `/algorithms/mutants/m{{$i}}/{{$.Package}}"
	{{- end}}
)

type nominator = func(algorithms.Config) algorithms.Machine

var mutants = map[string]func(algorithms.Config, nominator) algorithms.Machine{
	{{- range $i, $m := .Mutants}}
	"m{{$i}}": func(c algorithms.Config, n nominator) algorithms.Machine {
		return m{{$i}}.New(c{{if $.Around}}, n{{end}})
	},
	{{- end}}
}

func main() {
	var workers sync.WaitGroup
	slots := make(chan bool, runtime.GOMAXPROCS(0))
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var name, invariant string
		var runs uint64
		var fence bool
		fmt.Sscan(lines.Text(), &name, &invariant, &runs, &fence)
		slots <- true
		workers.Go(func() {
			fmt.Println(name, hunt(mutants[name], invariant, runs, fence))
			<-slots
		})
	}
	workers.Wait()
}

func hunt(
	build func(algorithms.Config, nominator) algorithms.Machine, invariant string, runs uint64,
	fence bool,
) string {
	others := map[string]int{}
	for seed := range runs {
		for _, name := range {{.Names}} {
			e, _ := catalog.Lookup(name)
			nominate := e.New
			e = {{.SetUp}}
			if fence {
				e = e.WithFence()
			}
			r, err := sim.Run(sim.Options{Seed: seed, Fence: fence, Algorithm: sim.Algorithm{
				Name: e.Name, Guarantee: e.Guarantee, Agreement: e.Agreement,
				Leased: e.Leased, OwnLease: e.OwnLease, Recovers: e.Recovers, Promise: e.Promise,
				Store: e.Stored,
				New: func(c algorithms.Config) algorithms.Machine { return build(c, nominate) },
			}})
			if err != nil {
				return err.Error()
			}
			for _, v := range r.Violations {
				if v.Name == invariant {
					return fmt.Sprint(r.Repro, ": ", v.Detail)
				}
				others[v.Name]++
			}
		}
	}
	return fmt.Sprint("other violations: ", others)
}
`))
