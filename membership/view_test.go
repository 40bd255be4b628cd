package membership

import "testing"

// docs/VOTERS.md: of two lists that differ by more than one voter, "the one gives way of which the last list that a
// leader has confirmed is the earlier one": a node moves on only from a confirmed list. Else it is "the one that has
// fewer voters", as that of a node that was started with its own id alone; "where neither is to be preferred, both"
// give way, so that at most one leads.
func TestWhoGivesWay(t *testing.T) {
	for _, c := range []struct {
		name         string
		one, other   Voters
		gives, takes bool // whether one gives way to other, and other to one
	}{
		{"nothing confirmed beside a confirmed list", Voters{"1-5", 0, false}, Voters{"1-3", 0, true}, true, false},
		{"a next list beside the one before the last", Voters{"1,3-4", 2, false}, Voters{"1-3", 0, true}, false, true},
		{"confirmed beside an earlier one", Voters{"1,3-4", 2, true}, Voters{"1-3", 0, true}, false, true},
		{"the next list of another cluster", Voters{"5-8", 1, false}, Voters{"1-3", 0, true}, true, false},
		{"two clusters", Voters{"5-7", 0, true}, Voters{"1-3", 0, true}, true, true},
		{"a node by itself", Voters{"9", 0, true}, Voters{"1-3", 0, true}, true, false},
		{"a node by itself, which moved on", Voters{"9", 1, true}, Voters{"1-3", 0, true}, false, true},
		{"new ones of four and of three", Voters{"4-7", 0, false}, Voters{"1-3", 0, false}, false, true},
		{"two that are new", Voters{"5-7", 0, false}, Voters{"1-3", 0, false}, true, true},
		{"one by one", Voters{"1-4", 1, false}, Voters{"1-3", 0, true}, false, false},
		{"without voters", Voters{}, Voters{"1-3", 0, false}, true, false},
	} {
		if got := c.one.GivesWay(c.other); got != c.gives {
			t.Errorf("%s: gives way: %v", c.name, got)
		}
		if got := c.other.GivesWay(c.one); got != c.takes {
			t.Errorf("%s: the other gives way: %v", c.name, got)
		}
	}
}
