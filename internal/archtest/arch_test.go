package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/ringleader-dev/ringleader"

// room is what one package, or a tree of them ("algorithms/*"), may import of
// this module and of other modules. The standard library is open to all but
// the pure rooms.
type room struct {
	path   string
	module []string
	others []string
	pure   bool
}

const (
	zerolog = "github.com/rs/zerolog"
	msgpack = "github.com/vmihailenco/msgpack/v5"
)

// house is the plan. The first room that fits a package is its own.
var house = []room{
	{path: "proto", others: []string{msgpack, msgpack + "/*"}},
	{path: "algorithms", module: []string{"proto"}, pure: true},
	{path: "algorithms/paxos", module: []string{"proto"}, pure: true},
	{path: "algorithms/quorum", module: []string{"proto"}, pure: true},
	{
		path:   "algorithms/catalog",
		module: []string{"algorithms", "algorithms/*", "proto"}, pure: true,
	},
	{
		path: "internal/sim",
		module: []string{
			"algorithms", "algorithms/paxos", "algorithms/quorum", "algorithms/splitbrain", "fence",
			"internal/scenario", "proto", "internal/trace",
		},
	},
	{path: "internal/credentials", module: []string{"internal/durable", "proto"}},
	{path: "internal/lecture", module: []string{"internal/scenario", "internal/sim", "proto"}},
	{
		path: "internal/ruleout",
		module: []string{
			"algorithms", "algorithms/bully/without", "algorithms/ring/without", "fence", "internal/mutant",
			"internal/scenario", "internal/sim", "internal/words", "proto",
		},
	},
	{path: "internal/mutant", module: []string{"algorithms", "proto"}, pure: true},
	{path: "algorithms/bully/without", module: []string{"algorithms", "algorithms/bully", "internal/mutant", "proto"}},
	{path: "algorithms/ring/without", module: []string{"algorithms", "algorithms/ring", "internal/mutant", "proto"}},
	{
		path: "internal/play",
		module: []string{
			"algorithms", "algorithms/catalog", "internal/scenario", "internal/sim", "internal/testcluster",
			"internal/trace", "node/httpapi", "proto",
		},
	},
	{path: "internal/scenario", module: []string{"algorithms/catalog", "proto"}},
	{
		path:   "internal/steptest",
		module: []string{"algorithms", "internal/trace", "proto"},
	},
	{path: "algorithms/nomination", module: []string{"algorithms", "proto"}, pure: true},
	{path: "algorithms/topology", module: []string{"algorithms", "algorithms/nomination", "proto"}, pure: true},
	{
		path:   "algorithms/lease",
		module: []string{"algorithms", "algorithms/quorum", "proto"}, pure: true,
	},
	{path: "algorithms/store", module: []string{"algorithms", "algorithms/lease", "proto"}, pure: true},
	{path: "algorithms/raft", module: []string{"algorithms", "algorithms/lease", "proto"}, pure: true},
	{path: "algorithms/chubby", module: []string{"algorithms", "algorithms/lease", "proto"}, pure: true},
	{
		path: "algorithms/*",
		module: []string{
			"algorithms", "algorithms/topology", "algorithms/nomination", "algorithms/paxos",
			"algorithms/quorum", "proto",
		},
		pure: true,
	},
	{path: "store", module: []string{"algorithms", "proto"}},
	{path: "store/storetest", module: []string{"algorithms", "proto", "store"}},
	{
		path:   "store/etcd",
		module: []string{"algorithms", "internal/storeprobe", "internal/storeurl", "proto", "store"},
		others: []string{
			"go.etcd.io/etcd/api/v3/*", "go.etcd.io/etcd/api/v3/v3rpc/rpctypes", "go.etcd.io/etcd/client/v3",
			"go.uber.org/zap", "google.golang.org/grpc", "google.golang.org/grpc/*",
		},
	},
	{path: "internal/trace", module: []string{"algorithms", "proto"}, others: []string{zerolog}},
	{path: "internal/words"},
	{path: "rounds", module: []string{"algorithms", "algorithms/catalog", "proto", "internal/trace", "internal/words"}},
	{
		path:   "rounds/logs",
		module: []string{"algorithms", "algorithms/catalog", "internal/trace", "internal/words", "proto"},
	},
	{
		path:   "rounds/follow",
		module: []string{"internal/trace", "rounds", "rounds/logs", "rounds/report"},
	},
	{path: "rounds/report", module: []string{"algorithms", "algorithms/catalog", "internal/words", "proto", "rounds"}},
	{path: "rounds/render", module: []string{"algorithms/catalog", "proto", "rounds", "rounds/report"}},
	{path: "node", module: []string{"algorithms", "proto", "internal/trace"}, others: []string{zerolog}},
	{
		path: "node/tcp", module: []string{"proto"},
		others: []string{zerolog, "golang.org/x/sys/unix"},
	},
	{
		path:   "node/statefile",
		module: []string{"algorithms", "internal/durable", "proto"},
		others: []string{"golang.org/x/sys/unix"},
	},
	{path: "node/clock", others: []string{"golang.org/x/sys/unix"}},
	{path: "internal/supervise", module: []string{"node/clock"}, others: []string{msgpack, "golang.org/x/sys/unix"}},
	{path: "internal/health", module: []string{"internal/supervise"}, others: []string{"golang.org/x/sys/unix"}},
	{path: "node/rank", others: []string{"golang.org/x/sys/unix"}},
	{path: "node/httpapi", module: []string{"algorithms", "fence", "internal/web", "proto", "internal/trace"}},
	{
		path:   "membership",
		module: []string{"proto"},
		others: []string{zerolog, "github.com/hashicorp/memberlist", msgpack, msgpack + "/*"},
	},
	{path: "membership/memtest", others: []string{"github.com/hashicorp/memberlist"}},
	{
		path: "internal/testcluster",
		module: []string{
			"algorithms", "internal/credentials", "internal/supervise", "internal/trace", "node/httpapi", "proto",
		},
	},
	{
		path: "internal/bench",
		module: []string{
			"algorithms", "algorithms/catalog", "algorithms/nomination", "algorithms/topology",
			"internal/bench/history", "internal/bench/rival", "internal/storeserver", "internal/testcluster", "fence",
			"fence/fencehttp", "fence/kv", "fence/store", "internal/chart", "node/clock", "node/httpapi", "proto",
			"rounds", "internal/trace", "store/all",
		},
		others: []string{"golang.org/x/sys/unix"},
	},
	{
		path:   "internal/bench/rival",
		module: []string{"algorithms", "internal/storeurl", "proto", "store", "store/all"},
		others: []string{
			"github.com/go-zookeeper/zk", "github.com/redis/go-redis/v9", "go.etcd.io/etcd/client/v3",
			"go.etcd.io/etcd/client/v3/concurrency", "go.uber.org/zap",
		},
	},
	{
		path: "internal/compare",
		module: []string{
			"algorithms", "algorithms/catalog", "internal/bench", "internal/bench/history", "internal/storeserver",
			"internal/testcluster", "internal/chart", "proto", "internal/trace", "internal/words", "store/all",
		},
	},
	{
		path:   "internal/cost",
		module: []string{"algorithms", "algorithms/catalog", "internal/compare", "internal/sim", "proto"},
	},
	{
		path: "internal/bench/history", module: []string{"fence", "proto"},
		others: []string{"github.com/anishathalye/porcupine"},
	},
	{path: "fence", module: []string{"proto"}},
	{path: "fence/fencehttp", module: []string{"fence", "internal/web"}},
	{path: "fence/fencetest", module: []string{"fence", "proto"}},
	{
		path: "fence/store", module: []string{"fence", "internal/durable", "proto"},
		others: []string{"go.etcd.io/bbolt", "go.etcd.io/bbolt/errors"},
	},
	{path: "fence/kv", module: []string{"fence", "fence/fencehttp", "fence/store", "internal/web"}},
	{
		path: "internal/fenceagent", module: []string{"algorithms", "proto", "internal/supervise"},
		others: []string{"golang.org/x/sys/unix"},
	},
	{path: "store/all", module: []string{"internal/storeurl", "store", "store/*"}},
	{
		path:   "store/kubernetes",
		module: []string{"algorithms", "internal/storeprobe", "proto", "store"},
		others: []string{"go.yaml.in/yaml/v3"},
	},
	{
		path:   "store/postgres",
		module: []string{"algorithms", "internal/storeprobe", "internal/storeurl", "proto", "store"},
		others: []string{"github.com/jackc/pgx/v5", "github.com/jackc/pgx/v5/*"},
	},
	{
		path:   "store/redis",
		module: []string{"algorithms", "internal/storeprobe", "internal/storeurl", "proto", "store"},
		others: []string{"github.com/redis/go-redis/v9", "github.com/redis/go-redis/v9/*"},
	},
	{
		path:   "store/zookeeper",
		module: []string{"algorithms", "internal/storeprobe", "internal/storeurl", "proto", "store"},
		others: []string{"github.com/go-zookeeper/zk"},
	},
	{
		path:   "test/kubernetes/apiserver",
		others: []string{"k8s.io/component-base/cli", "k8s.io/kubernetes/cmd/kube-apiserver/app"},
	},
	{
		path: "test/kubernetes/rival",
		others: []string{
			"k8s.io/apimachinery/pkg/apis/meta/v1", "k8s.io/client-go/kubernetes", "k8s.io/client-go/rest",
			"k8s.io/client-go/tools/leaderelection", "k8s.io/client-go/tools/leaderelection/resourcelock",
		},
	},
	{path: "internal/storeprobe", module: []string{"store"}},
	{path: "internal/storeurl"},
	{path: "internal/storeserver", module: []string{"internal/supervise", "internal/testcluster"}},
	{path: "internal/durable"},
	{path: "internal/chart"},
	{path: "internal/archtest"},
	{path: "internal/highest", module: []string{"algorithms", "algorithms/nomination", "proto"}, pure: true},
	{path: "internal/long"},
	{path: "internal/needs"},
	{path: "internal/nodesim"},
	{path: "internal/overlay"},
	{path: "internal/smalldisk", module: []string{"internal/needs"}},
	{path: "internal/web"},
	{path: "internal/address", others: []string{"github.com/miekg/dns"}},
	{path: "internal/buildinfo"},
	{
		path: "internal/logging", module: []string{"internal/trace"},
		others: []string{zerolog, zerolog + "/*", "github.com/mattn/go-isatty"},
	},
	{path: "internal/pacing", module: []string{"algorithms/catalog", "membership", "node/tcp"}},
	{
		path: "internal/daemon",
		module: []string{
			"algorithms", "algorithms/catalog", "algorithms/lease", "algorithms/quorum", "fence",
			"internal/address", "internal/buildinfo", "internal/credentials", "internal/durable", "internal/fenceagent",
			"internal/health", "internal/pacing", "internal/storeurl", "internal/supervise", "internal/trace",
			"membership", "node", "node/*", "proto", "store",
		},
		others: []string{zerolog},
	},
	{
		path: ".",
		module: []string{
			"algorithms", "algorithms/catalog", "algorithms/lease", "algorithms/store", "fence",
			"internal/address", "internal/credentials", "internal/daemon",
			"internal/fenceagent", "internal/health", "internal/pacing", "membership", "node", "node/*", "proto",
			"store",
		},
		others: []string{zerolog},
	},
	{
		path: "internal/execution",
		module: []string{
			".", "algorithms/lease", "internal/pacing", "internal/supervise", "node", "node/clock",
		},
		others: []string{zerolog},
	},
	{path: "internal/survey", module: []string{"internal/words", "node/httpapi", "proto", "rounds/report"}},
	{
		path: "internal/demo",
		module: []string{
			"algorithms", "algorithms/catalog", "fence", "fence/kv", "internal/bench", "internal/bench/history",
			"internal/storeserver", "internal/testcluster", "internal/trace", "node/httpapi", "proto",
			"rounds", "rounds/render", "rounds/report", "store", "store/all",
		},
	},
	{path: "examples/internal/cluster", module: []string{".", "fence", "fence/kv", "fence/store"}},
	{
		path:   "examples/*",
		module: []string{".", "examples/internal/cluster", "fence", "fence/kv", "fence/store", "proto"},
	},
	{path: "cmd/node", module: []string{".", "*"}, others: []string{"*"}},
}

// impure are the packages of the standard library that a state machine must
// not see.
var impure = []string{
	"net", "os", "sync", "log", "context", "syscall", "io", "runtime", "crypto/rand", "unsafe",
}

func TestArrows(t *testing.T) {
	for path, files := range packages(t) {
		r, ok := roomOf(path)
		if !ok {
			t.Errorf("package %s has no room in the plan: add it, with what it may import", path)
			continue
		}
		for name, file := range files {
			for _, spec := range file.Imports {
				imported := strings.Trim(spec.Path.Value, `"`)
				if why := r.forbids(imported); why != "" {
					t.Errorf("%s imports %s: %s", name, imported, why)
				}
			}
		}
	}
}

// "A state machine reads no clock and draws no global random number"; it opens
// no socket and starts no goroutine.
func TestStateMachinesArePure(t *testing.T) {
	checked := 0
	for path, files := range packages(t) {
		if r, ok := roomOf(path); !ok || !r.pure {
			continue
		}
		for name, file := range files {
			checked++
			ast.Inspect(file, func(n ast.Node) bool {
				if what := impurity(n); what != "" {
					t.Errorf("%s: %s in a state machine", name, what)
				}
				return true
			})
		}
	}
	if checked == 0 {
		t.Error("no state machine was checked")
	}
}

// "One way for all children": who starts a process by hand may forget that it must
// end with us, and is reaped. Tools of the tests and benchmarks start whole nodes.
func TestChildrenAreSupervised(t *testing.T) {
	for path, files := range packages(t) {
		if matches([]string{
			"internal/supervise", "internal/testcluster", "internal/bench", "internal/storeserver",
		}, path) {
			continue
		}
		for name, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				pkg, ok := call.X.(*ast.Ident)
				if ok && slices.Contains([]string{
					"exec.Command", "exec.CommandContext", "os.StartProcess", "syscall.ForkExec",
				}, pkg.Name+"."+call.Sel.Name) {
					t.Errorf("%s: %s: use package supervise", name, pkg.Name+"."+call.Sel.Name)
				}
				return true
			})
		}
	}
}

// No node leaves a rule out: only these files lead to Machines that lack one.
func TestOnlyTheSimulatorLeavesRulesOut(t *testing.T) {
	may := []string{
		"algorithms/bully/without/without.go", "algorithms/ring/without/without.go", "cmd/node/accuracy.go",
		"cmd/node/without.go", "internal/ruleout/damping.go", "internal/ruleout/rules.go", "internal/ruleout/votes.go",
	}
	for path, files := range packages(t) {
		for name, file := range files {
			for _, spec := range file.Imports {
				imported := strings.TrimPrefix(strings.Trim(spec.Path.Value, `"`), module+"/")
				mutates := strings.HasPrefix(imported, "algorithms/") && filepath.Base(imported) == "without" ||
					matches([]string{"internal/mutant", "internal/ruleout"}, imported)
				if mutates && !slices.Contains(may, path+"/"+filepath.Base(name)) {
					t.Errorf("%s imports %s", name, imported)
				}
			}
		}
	}
}

// "Skip here, fail in CI": whoever skips a test by hand may forget the second.
func TestOnlyNeedsSkips(t *testing.T) {
	for dir, files := range parsed(t, func(string) bool { return true }) {
		if dir == "internal/needs" {
			continue
		}
		for name, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				method, ok := call.Fun.(*ast.SelectorExpr)
				if ok && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, method.Sel.Name) {
					t.Errorf("%s: %s: use package internal/needs", name, method.Sel.Name)
				}
				return true
			})
		}
	}
}

// impurity names what makes n impure, "" for nothing.
func impurity(n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "a goroutine"
	case *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
		return "a channel"
	case *ast.SelectorExpr:
		pkg, ok := n.X.(*ast.Ident)
		if !ok {
			return ""
		}
		call := pkg.Name + "." + n.Sel.Name
		switch {
		case slices.Contains([]string{
			"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc",
			"time.Tick", "time.NewTimer", "time.NewTicker",
		}, call):
			return call
		case pkg.Name == "rand" && !strings.HasPrefix(n.Sel.Name, "New") && n.Sel.Name != "Rand":
			return "the global " + call
		}
	}
	return ""
}

// forbids says why the room must not import a package, "" when it may.
func (r room) forbids(imported string) string {
	local, ours := strings.CutPrefix(imported, module+"/")
	if imported == module {
		local, ours = ".", true
	}
	switch {
	case ours:
		if !matches(r.module, local) {
			return "no arrow leads there"
		}
	case strings.Contains(strings.SplitN(imported, "/", 2)[0], "."):
		if !matches(r.others, imported) {
			return "this room does not know that library"
		}
	case r.pure && slices.ContainsFunc(impure, func(bad string) bool {
		return imported == bad || strings.HasPrefix(imported, bad+"/")
	}):
		return "a state machine is pure"
	}
	return ""
}

func roomOf(path string) (room, bool) {
	for _, r := range house {
		if matches([]string{r.path}, path) {
			return r, true
		}
	}
	return room{}, false
}

// matches reports whether path is one of patterns; "x/*" is anything directly
// below x, "*" anything.
func matches(patterns []string, path string) bool {
	for _, p := range patterns {
		parent, wild := strings.CutSuffix(p, "*")
		if p == path || wild && strings.HasPrefix(path, parent) &&
			(parent == "" || !strings.Contains(path[len(parent):], "/")) {
			return true
		}
	}
	return false
}

// packages parses the files, tests aside, of every package of the module, by
// the package's directory.
func packages(t *testing.T) map[string]map[string]*ast.File {
	t.Helper()
	return parsed(t, func(name string) bool { return !strings.HasSuffix(name, "_test.go") })
}

// parsed are the files whose names are wanted, by their directory.
func parsed(t *testing.T, wanted func(name string) bool) map[string]map[string]*ast.File {
	t.Helper()
	root := filepath.Join("..", "..")
	found := map[string]map[string]*ast.File{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !strings.HasSuffix(path, ".go") || !wanted(path) {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		dir = filepath.ToSlash(dir)
		if found[dir] == nil {
			found[dir] = map[string]*ast.File{}
		}
		found[dir][filepath.ToSlash(path)] = file
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
