package proto

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
)

// VoterList is the list of voters that a process was started with, in a form that is short enough
// for gossip and for the first frame of a link. It has the ids as "1-3,7" or, if that is too long,
// "#count:sum:sum": the number of ids and two different sums of their hashes. Both forms show
// whether two lists are equal and, if the lists differ by one id, which id that is. In one case in
// 2^64, lists that differ by more than one id seem to be equal or to differ by one. The empty
// VoterList belongs to a process without voters.
type VoterList string

const (
	// MaxVoterList is the longest VoterList, in bytes.
	MaxVoterList = 64
	// MaxVoters is the largest number of ids in a list: a leader needs answers from most voters.
	MaxVoters = 1000
)

// ListVoters returns the VoterList of these ids. No id may occur twice.
func ListVoters(ids []NodeID) VoterList {
	if text := IDRanges(ids); len(text) <= MaxVoterList {
		return VoterList(text)
	}
	s := sumOf(ids)
	return VoterList(fmt.Sprintf("#%d:%016x:%016x", s.count, s.one, s.two))
}

// IDRanges formats ids briefly, as an operator would write them: "1-3,7".
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

// String describes the list for people: "voters 1-3", "voter 1", "70 voters", or "no voters".
func (l VoterList) String() string {
	count, isSum := strings.CutPrefix(string(l), "#")
	switch {
	case l == "":
		return "no voters"
	case isSum:
		n, _, _ := strings.Cut(count, ":")
		return n + " voters"
	case !strings.ContainsAny(string(l), "-,"):
		return "voter " + string(l)
	}
	return "voters " + string(l)
}

// Count returns how many voters the list has. The list must be valid.
func (l VoterList) Count() int {
	s, _ := l.sum()
	return s.count
}

// Hash returns a hash of the list. The hash is never zero, and fits an int64, as all integers on the
// wire do.
func (l VoterList) Hash() uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(l))
	return max(h.Sum64()>>1, 1)
}

// Validate refuses a string that ListVoters does not return.
func (l VoterList) Validate() error {
	if len(l) > MaxVoterList {
		return fmt.Errorf("a list of voters of %d bytes: at most %d", len(l), MaxVoterList)
	}
	_, err := l.sum()
	return err
}

// Distance says how much two lists of voters differ.
type Distance int

// The distances.
const (
	SameVoters   Distance = iota
	OneVoter              // one id is in one of the lists and not in the other
	OtherVoters           // the lists differ by more than one id
	OnlyOneVotes          // one list has voters, and the other is empty
)

// Distance returns how much the two lists differ and, for OneVoter, by which id. "Lists that
// differ by one voter have majorities that meet"; other lists need not. Both lists must be valid.
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

// sums is the form of a list of ids that is too long to be written out.
type sums struct {
	count    int
	one, two uint64
}

// other2 changes each id before its hash is added to the second sum.
const other2 = 0x5bf0_3635_1c2d_4e7a

func sumOf(ids []NodeID) (s sums) {
	for _, id := range ids {
		s.count++
		s.one += stir(uint64(id))
		s.two += stir(uint64(id) ^ other2)
	}
	return s
}

// stir hashes x with a one-to-one function of 64-bit numbers: the finalizer of SplitMix64 (Steele, Lea
// and Flood, "Fast splittable pseudorandom number generators", 2014).
func stir(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// unstir reverses stir: it returns the number for which stir returns x.
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

// ParseIDRanges reads ids and ranges of ids, and returns the ids in order. It refuses an id that
// occurs twice, and more than MaxVoters ids.
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
		if high < low || high-low >= MaxVoters {
			return nil, fmt.Errorf("%s: want a range of at most %d ids, the lower one first", value, MaxVoters)
		}
		if len(ids)+int(high-low) >= MaxVoters {
			return nil, fmt.Errorf("want at most %d voters in all", MaxVoters)
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

// VoterSet says in messages which list of voters the sender has.
type VoterSet struct {
	// Version is the number of the list among the lists of voters that the cluster has had; the first
	// list has number zero. It is also zero for a process that knows no earlier list.
	Version uint64
	// Hash is the hash of the list, from VoterList.Hash.
	Hash uint64
	// Committed says that enough voters of this list told a leader with this list that they have
	// the list.
	Committed bool
	// Changed is the voter by which the list differs from the list before. It is zero for the first
	// list, and for a committed list.
	Changed NodeID
}

// MaxVoterVersion bounds a version that is read from the wire or from a disk.
const MaxVoterVersion = 1 << 40

// Is reports whether s and o have the same list and the same version.
func (s VoterSet) Is(o VoterSet) bool { return s.Version == o.Version && s.Hash == o.Hash }

// Validate refuses a VoterSet that no correct node has.
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
