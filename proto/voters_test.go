package proto

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// "Lists that differ by one voter have majorities that meet": so what is told of a list,
// short as it is, tells whether it is equal, and which voter it is that differs.
func TestDistance(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	ids := func(n int, most uint64) (ids []NodeID) {
		for len(ids) < n {
			if id := NodeID(1 + dice.Uint64N(most)); !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		return ids
	}
	for _, most := range []uint64{20, uint64(MaxNodeID)} {
		for n := 1; n < 15; n++ {
			more := ids(n+1, most)
			lists := [][]NodeID{more, more[:n], append(slices.Clone(more[:n-1]), more[n]), ids(n, most)}
			for _, one := range lists {
				for _, other := range lists {
					var differ []NodeID
					for _, id := range slices.Concat(one, other) {
						if slices.Contains(one, id) != slices.Contains(other, id) {
							differ = append(differ, id)
						}
					}
					a, b := ListVoters(one), ListVoters(other)
					if err := a.Validate(); err != nil || len(a) > MaxVoterList {
						t.Fatalf("%s: %v", a, err)
					}
					d, id := a.Distance(b)
					want := min(Distance(len(differ)), OtherVoters)
					if len(one) == 0 != (len(other) == 0) {
						want = OnlyOneVotes
					}
					if d != want || d == OneVoter && id != differ[0] {
						t.Errorf("%v and %v: distance %d, node %v", one, other, d, id)
					}
				}
			}
		}
	}
	if d, _ := VoterList("").Distance("1-3"); d != OnlyOneVotes {
		t.Errorf("voters beside none: distance %d", d)
	}
}

// What comes from the network or a disk is one of the forms that are written, or nothing. A list has words of its own
// in a sentence: "node 1 has voters 1" was none.
func TestVoterListForms(t *testing.T) {
	long := ListVoters([]NodeID{1, 1 << 20, 1 << 30, 1 << 40, 1 << 45, 1 << 50, 1 << 51, 1 << 52, 1 << 53})
	for l, words := range map[VoterList]string{
		"": "no voters", "17": "voter 17", "1-3": "voters 1-3", "1-3,7": "voters 1-3,7", "1,7": "voters 1,7",
		long: "9 voters",
	} {
		if err := l.Validate(); err != nil || l.String() != words {
			t.Errorf("%q: %v, %q", string(l), err, l)
		}
	}
	for _, bad := range []VoterList{
		"1-3,3", "3-1", "1,2,3", "0", "1-2000", "#", "#5", "#0:0000000000000000:0000000000000000",
		"#5:0:0", long + " ", "1-3 ", VoterList(strings.Repeat("1", 65)),
	} {
		if bad.Validate() == nil {
			t.Errorf("%q is taken for a list", string(bad))
		}
	}
}
