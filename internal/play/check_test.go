package play

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/scenario"
)

func parsed(t *testing.T, name, text string) scenario.Script {
	t.Helper()
	script, err := scenario.Parse(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return script
}

// Promise: "What cannot be done to real processes is refused before anything starts, naming line and command and
// saying why".
func TestCheck(t *testing.T) {
	const ring, bully = "new algorithm=ring nodes=4\n", "new algorithm=bully ring=3,5,12,80 attrs=1,2 preempt=true\n"
	for _, c := range []struct{ script, want string }{
		{ring + "campaign 1\ncrash 4 on=ELECTED\npause 3 for=1s\nagree\nexpect leader=3", ""},
		{bully + "partition 3,5|12,80\nheal\ncut 3>5\nmend 3>5\nresign 80\nleave 80", ""},
		{bully + "bar 3\nunbar 3\nwipe 3\nstart 3", ""},
		{"new algorithm=ring ring=32,80,3,5 recovers=1s fails\ntransfer 32 to=80\nrun 1s\nat 3s\nuntil ELECTED", ""},
		{"new algorithm=ring ring=3,32,5", "x, line 1: new algorithm=ring ring=3,32,5: " + ErrUnreal.Error() +
			": real nodes stand on the ring in the order of their ids"},
		{ring + "suspect 1 4", "x, line 2: suspect 1 4: " + ErrUnreal.Error() + ": " + lies},
		{ring + "miss 1 4", lies},
		{ring + "trust 1 4", lies},
		{ring + "notice 1 4", "a real detector looks when it likes"},
		{"new algorithm=ring nodes=4 detector=none", lies},
		{ring + "lose ELECTED", meddles},
		{ring + "hold ELECTED for=1s", meddles},
		{ring + "again ELECTED from=1 to=2", meddles},
		{ring + "attr 1 7", "keeps the attribute"},
		{ring + "crash 4 on=ELECTED after=1", "between two effects"},
		{ring + "resign 4 to=2", "say transfer"},
		{ring + "bar 4 keep=true", "does not lead on"},
		{"new algorithm=bully nodes=3 voters=1,2,3 fence=true", "fence agent"},
		{"new algorithm=bully nodes=3 voters=1,2,3 clocks=0s,5s", "one clock"},
		{"new algorithm=bully nodes=51", "too many"},
		{"new algorithm=bully nodes=3 twice", meddles},
		{"new algorithm=bully nodes=3 voters=1,2,3 term=99", "the first term"},
		{ring + "write 4", "by its own program"},
	} {
		err := Check(parsed(t, "x", c.script))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%q: %v", c.script, err)
		case c.want != "" && (!errors.Is(err, ErrUnreal) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q: %v, want %q", c.script, err, c.want)
		}
	}
}

// Each command of the language is refused, or carried out.
func TestVerbs(t *testing.T) {
	for _, verb := range scenario.Verbs() {
		if (unreal[verb] != "") == (realVerbs[verb] != nil) {
			t.Errorf("%s is neither or both", verb)
		}
	}
}

// Promise: all golden scenarios are in the language, and real processes play most of them, some of each
// algorithm; the others are refused for a reason.
func TestGoldenScenarios(t *testing.T) {
	files, plays := 0, map[string]int{}
	err := filepath.WalkDir(filepath.Join("..", "sim", "testdata"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		dir := filepath.Base(filepath.Dir(path))
		plays[dir] += 0
		if err := Check(parsed(t, path, string(text))); err == nil {
			plays[dir]++
		} else if !errors.Is(err, ErrUnreal) || !strings.HasPrefix(err.Error(), path+", line ") {
			t.Errorf("%s is refused: %v", path, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for dir, n := range plays {
		total += n
		if n == 0 {
			t.Errorf("of the scenarios in %s real processes play none", dir)
		}
	}
	t.Logf("real processes play %d of %d golden scenarios: %v", total, files, plays)
	if 2*total < files {
		t.Errorf("real processes play %d of %d golden scenarios", total, files)
	}
}
