package proto

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
)

// VoterList is the list of voters that a process was started with, short enough for gossip
// and for the first message of a link: the ids as "1-3,7", or, where that takes too many
// bytes, "#count:sum:sum", how many there are and two sums of their ids, each stirred in
// its own way. Either form tells whether two lists are equal, and which id it is where they
// differ by one; two lists that differ otherwise look so but for one case in 2^64. Empty is a
// process that has no voters.
type VoterList string

const (
	// MaxVoterList bounds a VoterList, in bytes.
	MaxVoterList = 64
	// MaxVoters bounds how many ids a list has: an answer has to come from most of them.
	MaxVoters = 1000
)

// ListVoters is the VoterList of these ids, each of which is there once.
func ListVoters(ids []NodeID) VoterList {
	if text := IDRanges(ids); len(text) <= MaxVoterList {
		return VoterList(text)
	}
	s := sumOf(ids)
	return VoterList(fmt.Sprintf("#%d:%016x:%016x", s.count, s.one, s.two))
}

// IDRanges writes ids as briefly as an operator would: "1-3,7".
func IDRanges(ids []NodeID) string {
	ids = slices.Sorted(slices.Values(ids))
	var words []string
	for i := 0; i < len(ids); {
		j := i
		for j+1 < len(ids) && ids[j+1] == ids[j]+1 {
			j++
		}
		word := ids[i].String()
		if j > i {
			word += "-" + ids[j].String()
		}
		words = append(words, word)
		i = j + 1
	}
	return strings.Join(words, ",")
}

// String is the list for people: "voters 1-3", "70 voters", "no voters".
func (l VoterList) String() string {
	count, isSum := strings.CutPrefix(string(l), "#")
	switch {
	case l == "":
		return "no voters"
	case isSum:
		n, _, _ := strings.Cut(count, ":")
		return n + " voters"
	}
	return "voters " + string(l)
}

// Hash tells lists apart, but for one pair in 2^63. It is never zero, and fits an int64, as
// all integers on the wire do.
func (l VoterList) Hash() uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(l))
	return max(h.Sum64()>>1, 1)
}

// Validate refuses what ListVoters never returns.
func (l VoterList) Validate() error {
	if len(l) > MaxVoterList {
		return fmt.Errorf("a list of voters of %d bytes: at most %d", len(l), MaxVoterList)
	}
	_, err := l.sum()
	return err
}

// Distance is how far two lists are apart.
type Distance int

// The distances.
const (
	SameVoters   Distance = iota
	OneVoter              // one id is in one of the lists and not in the other
	OtherVoters           // more than that
	OnlyOneVotes          // one of them has voters, and the other has none
)

// Distance tells how far the lists are apart, and at OneVoter which id it is. "Lists that
// differ by one voter have majorities that meet"; others need not. Both are valid.
func (l VoterList) Distance(other VoterList) (d Distance, id NodeID) {
	if l == other {
		return SameVoters, 0
	}
	if l == "" || other == "" {
		return OnlyOneVotes, 0
	}
	few, err1 := l.sum()
	many, err2 := other.sum()
	if few.count > many.count {
		few, many = many, few
	}
	if err1 != nil || err2 != nil || few.count+1 != many.count {
		return OtherVoters, 0
	}
	id = NodeID(unstir(many.one - few.one))
	if id.Validate() != nil || stir(uint64(id)^other2) != many.two-few.two {
		return OtherVoters, 0
	}
	return OneVoter, id
}

// sums are what is left of a list that is too long to write.
type sums struct {
	count    int
	one, two uint64
}

// other2 makes the second sum one of other numbers than the first.
const other2 = 0x5bf0_3635_1c2d_4e7a

func sumOf(ids []NodeID) (s sums) {
	for _, id := range ids {
		s.count++
		s.one += stir(uint64(id))
		s.two += stir(uint64(id) ^ other2)
	}
	return s
}

// stir maps numbers to numbers, one to one: the finalizer of SplitMix64 (Steele, Lea and
// Flood, "Fast splittable pseudorandom number generators", 2014).
func stir(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// unstir is what stir makes x of.
func unstir(x uint64) uint64 {
	x = (x ^ x>>31 ^ x>>62) * 0x319642b2d24d8ec3
	x = (x ^ x>>27 ^ x>>54) * 0x96de1b173f119089
	return x ^ x>>30 ^ x>>60
}

var errVoterList = errors.New("no list of voters")

func (l VoterList) sum() (s sums, err error) {
	if l == "" {
		return s, nil
	}
	if text, isSum := strings.CutPrefix(string(l), "#"); isSum {
		_, err := fmt.Sscanf(text, "%d:%16x:%16x", &s.count, &s.one, &s.two)
		if err != nil || s.count < 1 || s.count > MaxVoters || string(l) != s.String() {
			return sums{}, fmt.Errorf("%w: %.70q", errVoterList, string(l))
		}
		return s, nil
	}
	ids, err := ParseIDRanges(strings.Split(string(l), ","))
	if err == nil && IDRanges(ids) != string(l) {
		err = errors.New("not written as briefly as can be")
	}
	if err != nil {
		return sums{}, fmt.Errorf("%w: %.70q: %w", errVoterList, string(l), err)
	}
	return sumOf(ids), nil
}

func (s sums) String() string { return fmt.Sprintf("#%d:%016x:%016x", s.count, s.one, s.two) }

// ParseIDRanges reads ids and ranges of ids, each id once, at most MaxVoters, and returns
// them in order.
func ParseIDRanges(values []string) ([]NodeID, error) {
	var ids []NodeID
	for _, value := range values {
		first, last, isRange := strings.Cut(value, "-")
		low, err := ParseNodeID(first)
		if err != nil {
			return nil, err
		}
		high := low
		if isRange {
			if high, err = ParseNodeID(last); err != nil {
				return nil, err
			}
		}
		if high < low || high-low >= MaxVoters || len(ids)+int(high-low) >= MaxVoters {
			return nil, fmt.Errorf("%s: want a range of at most %d ids, the lower one first", value, MaxVoters)
		}
		for id := low; id <= high; id++ {
			if slices.Contains(ids, id) {
				return nil, fmt.Errorf("node %v is named twice: name each voter once", id)
			}
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// VoterSet is which list of voters a process has, as messages that depend on it say.
type VoterSet struct {
	// Version counts the lists that the cluster has had, the first as zero; zero too for a
	// process that knows of no earlier one.
	Version uint64
	// Hash is the VoterList's.
	Hash uint64
	// Committed: a leader under this list heard enough of its voters say that they have it.
	Committed bool
	// Changed is the voter by which the list differs from the one before; zero once it is
	// committed, and for the first.
	Changed NodeID
}

// MaxVoterVersion bounds a version that is taken from the wire or from a disk.
const MaxVoterVersion = 1 << 40

// Is reports whether both are the same list of the same version.
func (s VoterSet) Is(o VoterSet) bool { return s.Version == o.Version && s.Hash == o.Hash }

// Validate refuses what no correct node has.
func (s VoterSet) Validate() error {
	if s.Hash > math.MaxInt64 {
		return fmt.Errorf("hash %d of the voters: at most %d", s.Hash, int64(math.MaxInt64))
	}
	if s.Version > MaxVoterVersion {
		return fmt.Errorf("version %d of the voters: at most %d", s.Version, uint64(MaxVoterVersion))
	}
	if later := s.Version > 0 && !s.Committed; later != (s.Changed != 0) || s.Changed > MaxNodeID {
		return fmt.Errorf("version %d of the voters, committed: %v, differs by node %d from the one before",
			s.Version, s.Committed, s.Changed)
	}
	return nil
}
