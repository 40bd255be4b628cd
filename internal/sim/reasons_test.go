package sim

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/long"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// Each reason that is declared is given: in a golden scenario, in what a test of its Machine
// expects, or under faults. And each that is given is declared, with as many arguments.
func TestEveryReasonIsGiven(t *testing.T) {
	t.Parallel()
	h := heardReasons{codes: map[string]bool{}, kinds: map[*algorithms.ReasonKind]bool{}}
	h.inGoldens(t)
	h.inTests(t)
	h.foreign(t)
	runs := long.Runs(t, 160, 600)
	for _, plain := range catalog.All() {
		entries := []catalog.Entry{plain.WithRecovery(), plain.WithLease()}
		if plain.Guarantee == algorithms.BestEffort {
			entries = append(entries, plain.WithStore(algorithms.Lease))
		}
		for _, e := range entries {
			a := entered(e)
			a.Recovers = e.Recovers
			create := a.New
			a.New = func(c algorithms.Config) algorithms.Machine { return listening{create(c), &h} }
			mustBatch(t, Options{Algorithm: a, Fence: e.Leased && !e.OwnLease && !e.Stored, Seed: 1000}, runs)
		}
	}
	for name, create := range changed {
		if name == "nominated" { // by no algorithm of the catalogue
			continue
		}
		for seed := range uint64(runs / 10) {
			newChanging(seed, 2+int(seed%4), func(c algorithms.Config) algorithms.Machine {
				return listening{create(c), &h}
			}).run(false)
		}
	}
	for kind := range h.kinds {
		if catalog.Reason(kind.Code) != kind {
			t.Errorf("%s is given, and the catalogue does not know it", kind.Code)
		}
		h.codes[kind.Code] = true
	}
	for _, wrong := range h.wrong {
		t.Error(wrong)
	}
	for _, kind := range catalog.Reasons() {
		if !h.codes[kind.Code] {
			t.Errorf("%s is never given: %q", kind.Code, kind.Sentence)
		}
	}
}

func TestLongEveryReasonIsGiven(t *testing.T) { TestEveryReasonIsGiven(t) }

// heardReasons are those that were given.
type heardReasons struct {
	mu    sync.Mutex
	codes map[string]bool
	kinds map[*algorithms.ReasonKind]bool
	wrong []string
}

// listening is a Machine whose reasons are heard.
type listening struct {
	algorithms.Machine
	*heardReasons
}

func (l listening) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	out := l.Machine.Step(now, ev)
	for _, r := range out.Why {
		l.hear(r)
	}
	return out
}

func (h *heardReasons) hear(r algorithms.Reason) {
	h.mu.Lock()
	known := h.kinds[r.Kind]
	if !known {
		h.kinds[r.Kind] = true
		if said := r.String(); strings.Contains(said, "%!") || strings.Count(r.Kind.Sentence, "%") != len(r.Args) {
			h.wrong = append(h.wrong, r.Kind.Code+" has other arguments than its sentence has places: "+said)
		}
	}
	h.mu.Unlock()
	for _, arg := range r.Args {
		if cause, ok := arg.(algorithms.Reason); ok {
			h.hear(cause)
		}
	}
}

// code is one in a golden file, or in what a test expects.
var code = regexp.MustCompile(`\b[a-z]+\.[a-z][a-z0-9-]*`)

func (h *heardReasons) inGoldens(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir("testdata", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "            ") {
				h.note(line)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (h *heardReasons) note(text string) {
	for _, c := range code.FindAllString(text, -1) {
		h.codes[c] = true
	}
}

// foreign tells each nominating algorithm what is no message of its own: it says so.
func (h *heardReasons) foreign(t *testing.T) {
	t.Helper()
	for _, e := range catalog.All() {
		if e.OwnLease {
			continue
		}
		r := steptest.New(t, 1, false, func(c algorithms.Config) algorithms.Machine {
			c.Voters = []proto.NodeID{1, 2, 3}
			return e.New(c)
		})
		r.Start(0, 1, 2, 3)
		out := r.Step(0, r.From(2, 1, steptest.Foreign{}))
		said := e.Name + ".foreign(FOREIGN)"
		if !out.Warn || len(out.Send) > 0 || !slices.Contains(steptest.Texts(out.Why), said) {
			t.Errorf("%s answers a foreign message by %+v", e.Name, out)
		}
		h.note(said)
	}
}

// inTests notes what tests of Machines expect.
func (h *heardReasons) inTests(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob("../../algorithms/*/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, _ := strconv.Unquote(lit.Value)
				h.note(text)
			}
			return true
		})
	}
}
