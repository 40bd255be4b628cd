package rounds_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/rounds"
)

// Every message that a record can name is explained, also one that is added to
// the protocol later; and each in the words of its algorithm.
func TestEveryKindIsExplained(t *testing.T) {
	for _, kind := range catalog.Kinds().All() {
		if rounds.Says("", kind.String()) == "" {
			t.Errorf("nothing says what %v, kind %d, means", kind, kind.Number())
		}
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
