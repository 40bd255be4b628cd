package catalog_test

import (
	"slices"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// "Two algorithms that claim one kind" would end the program at its start; and whatever an
// algorithm sends can be read, has a name, and says something in words.
func TestKinds(t *testing.T) {
	table := catalog.Kinds()
	for _, e := range catalog.All() {
		names := map[string]proto.Kind{}
		for _, k := range slices.Concat(e.Kinds, e.Theory.Kinds, e.Round) {
			if of, err := table.Of(k.Number()); err != nil || of != k {
				t.Errorf("%s: number %d is %v in the table, %v; want %v", e.Name, k.Number(), of, err, k)
			}
			if was, ok := names[k.String()]; ok && was != k {
				t.Errorf("%s: two kinds have the name %v", e.Name, k)
			}
			names[k.String()] = k
			if named, ok := catalog.KindOf(e.Name, k.String()); !ok || named != k {
				t.Errorf("%s: its %v is taken for number %d", e.Name, k, named.Number())
			}
		}
	}
	for _, k := range table.All() {
		if k.String() == "" || k.Says() == "" {
			t.Errorf("number %d, %q, says nothing", k.Number(), k)
		}
	}
}

// Several algorithms have a message of one name: each is taken for that of its own.
func TestKindOf(t *testing.T) {
	says := map[string]bool{}
	for _, name := range []string{"bully", "ring", "tokenring"} {
		k, ok := catalog.KindOf(name, "ELECTION")
		if !ok {
			t.Errorf("%s has no ELECTION", name)
			continue
		}
		says[k.Says()] = true
	}
	if len(says) != 3 {
		t.Errorf("ELECTION says %v", says)
	}
	if k, ok := catalog.KindOf("ring", "COORDINATOR"); !ok || k != nomination.KindCoordinator {
		t.Errorf("a shared kind is taken for %v", k)
	}
	if _, ok := catalog.KindOf("an unknown one", "ELECTION"); !ok {
		t.Error("an unknown algorithm's ELECTION is none")
	}
	if k, ok := catalog.KindOf("bully", "GOSSIP"); ok {
		t.Errorf("a kind that there is not is %v", k)
	}
}
