package archtest

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/proto"
)

// sharedRooms are the folders of algorithms that are no algorithm.
var sharedRooms = []string{
	"catalog", "lease", "nomination", "paxos", "quorum", "splitbrain", "store", "topology",
}

// frozen are the files that read what the former release wrote, where nothing is added.
var frozen = []string{
	"rounds/former.go", "rounds/logs/former.go",
}

// english are names of kinds that mean something else, too: in a heading, to a firewall, in SQL.
var english = []string{"OK", "ID", "LEADER", "READY", "REJECT", "EXISTS"}

// "An algorithm is one folder": no Go file outside it names its package, a kind of message
// that it has to itself, or a reason of its own. The catalogue may, and tests in the folder
// do. A name that kinds of several algorithms have, as ELECTION, names none of them. The name
// of an algorithm is data that users type, and may stand anywhere: what it leads to is looked
// up in the catalogue.
func TestAnAlgorithmIsOneFolder(t *testing.T) {
	named := map[string]map[string]bool{} // who has kinds of a name
	note := func(k proto.Kind, who string) {
		if named[k.String()] == nil {
			named[k.String()] = map[string]bool{}
		}
		named[k.String()][who] = true
	}
	for _, k := range catalog.Shared() {
		note(k, "")
	}
	dirs := map[string]bool{}
	files := parsed(t, func(string) bool { return true })
	for dir := range files {
		name, ok := strings.CutPrefix(dir, "algorithms/")
		if name = strings.TrimSuffix(name, "/without"); ok && !slices.Contains(sharedRooms, name) {
			dirs[name] = true
		}
	}
	for _, e := range catalog.All() {
		if !dirs[e.Name] {
			t.Errorf("%s has no folder of its name", e.Name)
		}
		delete(dirs, e.Name)
		for _, k := range e.Kinds {
			note(k, e.Name)
		}
	}
	for name := range dirs {
		t.Errorf("algorithms/%s is neither in the catalogue nor a room that algorithms share", name)
	}
	checked := 0
	for _, e := range catalog.All() {
		own := map[string]bool{}
		for _, k := range e.Kinds {
			own[k.String()] = len(named[k.String()]) == 1 && !slices.Contains(english, k.String())
		}
		for _, r := range e.Reasons {
			own[r.Code] = true
		}
		for dir, files := range files {
			if strings.TrimSuffix(dir, "/without") == "algorithms/"+e.Name || dir == "algorithms/catalog" {
				continue
			}
			for name, file := range files {
				if slices.Contains(frozen, path.Join(dir, path.Base(name))) {
					continue
				}
				checked++
				for _, found := range namesIn(file, own) {
					t.Errorf("%s names %s of %s", name, found, e.Name)
				}
				if imports(file, module+"/algorithms/"+e.Name) {
					t.Errorf("%s imports the package of %s: take it from the catalogue, by its name", name, e.Name)
				}
			}
		}
	}
	if checked < 1000 {
		t.Errorf("only %d files were read", checked)
	}
}

func imports(file *ast.File, pkg string) bool {
	return slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool {
		imported, _ := strconv.Unquote(spec.Path.Value)
		return imported == pkg
	})
}

// word is what may be a kind's name or a reason's code in a string.
var word = regexp.MustCompile(`[A-Za-z][A-Za-z0-9_-]*(?:\.[a-z][a-z0-9-]*)?`)

// namesIn are the words in the file's strings that an algorithm has to itself.
func namesIn(file *ast.File, own map[string]bool) (found []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			if n.Kind != token.STRING || err != nil {
				return true
			}
			for _, w := range word.FindAllString(text, -1) {
				if own[w] {
					found = append(found, w)
				}
			}
		}
		return true
	})
	return found
}
