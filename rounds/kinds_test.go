package rounds_test

import (
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/rounds"
)

// Every message that a record can name is explained, also one that is added to
// the protocol later; and each in the words of its algorithm.
func TestEveryKindIsExplained(t *testing.T) {
	const fromMachines = 16 // those below belong to the link between two processes
	explained := 0
	for k := range 256 {
		kind := proto.Kind(k)
		if k < fromMachines || strings.HasPrefix(kind.String(), "KIND(") {
			continue
		}
		explained++
		if rounds.Says("", kind.String()) == "" {
			t.Errorf("nothing says what %v, kind %d, means", kind, k)
		}
	}
	if explained < 27 {
		t.Errorf("%d kinds: the names of the others are not known", explained)
	}
	said := map[string]bool{}
	for _, name := range []string{"bully", "ring", "tokenring"} {
		said[rounds.Says(name, "ELECTION")] = true
	}
	if len(said) != 3 || said[""] {
		t.Errorf("ELECTION says %v", said)
	}
	for _, entry := range catalog.All() {
		for _, kind := range entry.Theory.Kinds {
			if rounds.Says(entry.Name, kind.String()) == "" {
				t.Errorf("%s: nothing says what %v means", entry.Name, kind)
			}
		}
	}
	if words := rounds.Says("bully", "GOSSIP"); words != "" {
		t.Errorf("a kind that there is not says %q", words)
	}
}
