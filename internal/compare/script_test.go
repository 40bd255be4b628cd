package compare

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/proto"
)

func TestParseScript(t *testing.T) {
	got, err := ParseScript(" kill,CUT, kill")
	if want := []Step{Kill, Cut, Kill}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	usual, err := ParseScript(JoinSteps(Steps()))
	if err != nil || !slices.Equal(usual, Steps()) {
		t.Errorf("the usual script comes back as %v, %v", usual, err)
	}
	for _, s := range Steps() {
		if s.Does() == "unknown" {
			t.Errorf("%s has no words", s)
		}
	}
}

// Promise: "a fault script with an unknown step" gets an error that names it, and the
// steps there are.
func TestParseScriptRefuses(t *testing.T) {
	for text, named := range map[string]string{
		"": `""`, "kill,": `""`, "kill;cut": `"kill;cut"`, "kill,poison,cut": `"poison"`, "killtwo": `"killtwo"`,
	} {
		_, err := ParseScript(text)
		if err == nil || !strings.Contains(err.Error(), "unknown step "+named+":") ||
			!strings.Contains(err.Error(), "kill,kill-two,pause,cut,restart,stop") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// "The same seeded fault script": equal seeds draw equal faults, others do not, and
// who is left on the other side of a cut has a majority.
func TestDraw(t *testing.T) {
	differ := false
	for nodes := 1; nodes <= 9; nodes++ {
		for seed := range uint64(200) {
			f := draw(seed, 3, nodes)
			if !reflect.DeepEqual(f, draw(seed, 3, nodes)) {
				t.Fatalf("seed %d draws %+v, then another", seed, f)
			}
			differ = differ || f.wait != draw(seed+1, 3, nodes).wait
			var all []proto.NodeID
			for i := range nodes {
				all = append(all, proto.NodeID(i+1))
			}
			leader := all[int(seed)%nodes]
			ids := f.apart(leader, all)
			once := slices.Compact(slices.Sorted(slices.Values(ids)))
			if len(once) != len(ids) || ids[0] != leader {
				t.Fatalf("seed %d cuts off %v", seed, ids)
			}
			if rest := nodes - len(ids); nodes > 2 && rest < majority(nodes) {
				t.Fatalf("seed %d leaves %d of %d nodes", seed, rest, nodes)
			}
		}
	}
	if !differ {
		t.Error("all seeds draw the same")
	}
}
