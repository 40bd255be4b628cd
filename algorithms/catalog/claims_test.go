package catalog

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/splitbrain"
	"github.com/ringleader-dev/ringleader/internal/highest"
	"github.com/ringleader-dev/ringleader/proto"
)

type body struct{}

func (body) Kind() proto.Kind { return proto.Kind{} }
func (body) String() string   { return "" }
func (body) Validate() error  { return nil }

// "Two algorithms that claim one kind or one reason code" are told of, with the kind or the code.
// One number for two kinds ends the program at its start.
func TestTwoOfOne(t *testing.T) {
	kind := func(number uint8, name string) proto.Kind { return proto.NewKind[body](number, name, name+"!") }
	with := func(change func(*algorithms.About)) algorithms.About {
		about := highest.About()
		change(&about)
		return about
	}
	claims := func(kinds ...proto.Kind) algorithms.About {
		return with(func(a *algorithms.About) { a.Kinds = kinds })
	}
	taken := entries[0]
	reason := []*algorithms.ReasonKind{{Code: taken.Reasons[0].Code}}
	for what, tt := range map[string]struct {
		about algorithms.About
		want  string
	}{
		"nothing":      {highest.About(), ""},
		"its number":   {claims(kind(taken.Kinds[0].Number(), "MINE")), "MINE"},
		"a link's":     {claims(kind(3, "MINE")), "number 3"},
		"two names":    {claims(kind(197, "MINE"), kind(198, "MINE")), "MINE"},
		"a lease's":    {claims(kind(197, "PRE_VOTE")), "PRE_VOTE"},
		"its reason":   {with(func(a *algorithms.About) { a.Reasons = reason }), taken.Reasons[0].Code},
		"its own name": {with(func(a *algorithms.About) { a.Name = taken.Name }), taken.Name},
	} {
		said := func() (said string) {
			defer func() {
				if err, ok := recover().(error); ok {
					said = err.Error()
				}
			}()
			entries := entriesOf(append(abouts(), tt.about)...)
			tableOf(entries)
			if err := errors.Join(mixedUp(entries), claimedTwice(entries)); err != nil {
				return err.Error()
			}
			return ""
		}()
		if (said == "") != (tt.want == "") || !strings.Contains(said, tt.want) {
			t.Errorf("claiming %s: %q, want %q in it", what, said, tt.want)
		}
	}
}

// mixedUp returns an error for kinds that a reader of records could confuse: they have the same
// name, and one algorithm, or the parts around it, may send both.
func mixedUp(entries []Entry) error {
	around := slices.Concat([]proto.Kind{nomination.KindTimeoutNow}, proto.LeaseKinds(), splitbrain.Kinds())
	var problems []error
	for _, e := range entries {
		byName := map[string]proto.Kind{}
		for _, k := range slices.Concat(around, e.Kinds) {
			if was, ok := byName[k.String()]; ok && was != k {
				problems = append(problems, fmt.Errorf(
					"%s has two kinds with the name %v (%q and %q): give one of them another",
					e.Name, k, was.Says(), k.Says()))
			}
			byName[k.String()] = k
		}
	}
	return errors.Join(problems...)
}

// claimedTwice returns an error if two reasons have the same code, or two algorithms the same name.
func claimedTwice(entries []Entry) error {
	names, codes := map[string]bool{}, map[string]*algorithms.ReasonKind{}
	var problems []error
	for _, e := range entries {
		if names[e.Name] {
			problems = append(problems, fmt.Errorf("two algorithms have the name %s", e.Name))
		}
		names[e.Name] = true
	}
	for _, k := range reasonsOf(entries) {
		if was := codes[k.Code]; was != nil && was != k {
			problems = append(problems, fmt.Errorf("two reasons have the code %s (%q and %q): give one of them another",
				k.Code, was.Sentence, k.Sentence))
		}
		codes[k.Code] = k
	}
	return errors.Join(problems...)
}

// A message of an algorithm that this program does not have is refused, with words.
func TestAnothersMessageIsRefused(t *testing.T) {
	question := highest.Ask{Self: proto.Peer{ID: 1, Incarnation: proto.Incarnation{1}}}
	kind, payload, err := proto.Marshal(proto.Message{From: 1, To: 2, Term: 1, Body: question})
	if err != nil {
		t.Fatal(err)
	}
	m, err := tableOf(entriesOf(highest.About())).Unmarshal(kind.Number(), payload)
	if err != nil || m.Body != question {
		t.Errorf("a program with the algorithm reads %+v, %v", m, err)
	}
	_, err = Kinds().Unmarshal(kind.Number(), payload)
	want := "no algorithm of this program has number 199; run the same release on all nodes"
	if !errors.Is(err, proto.ErrKind) || !strings.Contains(err.Error(), want) {
		t.Errorf("a program without it says %v", err)
	}
}

// Each kind and each reason that a package of algorithms declares is in the catalogue: nothing
// is sent that nobody can read, and nothing said that nobody knows.
func TestAllThatIsDeclaredIsListed(t *testing.T) {
	files, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			fun := call.Fun
			if generic, ok := fun.(*ast.IndexExpr); ok {
				fun = generic.X
			}
			of, ok := fun.(*ast.SelectorExpr)
			first, isText := call.Args[0].(*ast.BasicLit)
			if !ok || !isText {
				return true
			}
			switch of.Sel.Name {
			case "NewKind":
				declared++
				number, _ := strconv.Atoi(first.Value)
				name, _ := strconv.Unquote(call.Args[1].(*ast.BasicLit).Value)
				if k, err := kinds.Of(uint8(number)); err != nil || k.String() != name {
					t.Errorf("%s: %s, number %d, is not in the catalogue: %v", path, name, number, err)
				}
			case "ReasonsOf":
				declared++
				name, _ := strconv.Unquote(first.Value)
				isIts := func(k *algorithms.ReasonKind) bool { return strings.HasPrefix(k.Code, name+".") }
				if !slices.ContainsFunc(reasons, isIts) {
					t.Errorf("%s: the reasons of %s are not in the catalogue", path, name)
				}
			}
			return true
		})
	}
	if declared < 50 {
		t.Errorf("only %d declarations were found", declared)
	}
}
