package highest_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/overlay"
)

// "One package, and one line in the catalogue": a program that differs from ours in nothing
// else elects by the example's messages, and `rounds` explains the elections. Ours refuses the
// algorithm with words, and shows of its records what they say.
func TestOneLineIsEnough(t *testing.T) {
	const folder, module = "../../algorithms/", "github.com/ringleader-dev/ringleader/algorithms/"
	code, err := os.ReadFile("highest.go")
	if err != nil {
		t.Fatal(err)
	}
	sources := overlay.New(t)
	sources.Add(folder+"highest/highest.go", string(code))
	const catalogue = folder + "catalog/catalog.go"
	sources.Replace("its line", catalogue, "\t\ths.About(),\n", "\t\thighest.About(),\n\t\ths.About(),\n")
	sources.Replace("its import", catalogue, "\t\""+module+"hs\"\n", "\t\""+module+"highest\"\n\t\""+module+"hs\"\n")
	theirs := build(t, sources)
	ours := build(t, overlay.New(t))

	for _, format := range []string{"json", "text"} {
		log := filepath.Join(t.TempDir(), "highest.log")
		trace, said, err := run(theirs, "simulate", "--algorithm", "highest", "--nodes", "5", "--initiator", "1",
			"--seed", "1", "--trace", "-o", format)
		if err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		if err := os.WriteFile(log, []byte(trace), 0o600); err != nil {
			t.Fatal(err)
		}
		explained, said, err := run(theirs, "explain", "--theory", "last", log)
		shown, saidToo, errToo := run(theirs, "rounds", "show", "--theory", "last", log)
		for _, want := range []string{
			"highest", "ASK_TO_LEAD", "I see nobody above you: lead", "is the highest", "nobody is above this node",
		} {
			if err != nil || errToo != nil || !strings.Contains(explained+shown, want) {
				t.Errorf("%s: no %q in what is told (%v, %v): %s%s%s%s",
					format, want, err, errToo, explained, shown, said, saidToo)
			}
		}
		told, said, err := run(ours, "rounds", "show", "last", log)
		for _, want := range []string{"highest", "ASK_TO_LEAD", "ask it to lead (highest.ask)", "node 5 leads"} {
			if text := strings.Join(strings.Fields(told), " "); err != nil || !strings.Contains(text, want) {
				t.Errorf("%s: ours has no %q in what it tells (%v): %s%s", format, want, err, told, said)
			}
		}
	}
	_, said, err := run(ours, "simulate", "--algorithm", "highest")
	if err == nil || !strings.Contains(said, `unknown algorithm "highest"`) {
		t.Errorf("ours says %v: %s", err, said)
	}
}

func build(t *testing.T, sources *overlay.Sources) string {
	t.Helper()
	program, arguments := sources.Build("build", "../../cmd/node")
	if out, err := exec.Command("go", arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

func run(program string, args ...string) (stdout, stderr string, err error) {
	var out, said bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = &out, &said
	err = cmd.Run()
	return out.String(), said.String(), err
}
