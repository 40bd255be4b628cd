package catalog

import (
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/splitbrain"
	"github.com/ringleader-dev/ringleader/algorithms/store"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
)

// reasons are all kinds of reasons, those that algorithms share first.
var reasons = reasonsOf(entries)

func reasonsOf(entries []Entry) []*algorithms.ReasonKind {
	all := slices.Concat(nomination.Reasons(), topology.Reasons(), splitbrain.Reasons(), lease.Reasons(),
		store.Reasons())
	for _, e := range entries {
		all = append(all, e.Reasons...)
	}
	return all
}

// Reasons returns all kinds of reasons, those that algorithms share first. Callers must not write to the
// list.
func Reasons() []*algorithms.ReasonKind { return reasons }

// byCode lists all kinds of reasons, sorted by code, for a binary search. A map would use more memory in
// each node.
var byCode = sorted(reasons)

func sorted(kinds []*algorithms.ReasonKind) []*algorithms.ReasonKind {
	kinds = slices.Clone(kinds)
	slices.SortFunc(kinds, func(a, b *algorithms.ReasonKind) int { return strings.Compare(a.Code, b.Code) })
	return kinds
}

// Reason returns the kind with that code, or nil if this version knows no such kind.
func Reason(code string) *algorithms.ReasonKind {
	i, found := slices.BinarySearchFunc(byCode, code, func(k *algorithms.ReasonKind, code string) int {
		return strings.Compare(k.Code, code)
	})
	if !found {
		return nil
	}
	return byCode[i]
}

// ReasonOf returns the kind with that code whose sentence takes args arguments. It returns nil if this
// version knows no such kind: another version may give more arguments or fewer.
func ReasonOf(code string, args int) *algorithms.ReasonKind {
	if kind := Reason(code); kind != nil && strings.Count(kind.Sentence, "%") == args {
		return kind
	}
	return nil
}

// Sentence returns the sentence of the algorithm's source that a reason of that kind follows; "" if no
// source is quoted.
func Sentence(algorithm string, kind *algorithms.ReasonKind) string {
	entry, _ := Lookup(algorithm) // an unknown one has only what all share
	for _, r := range entry.Rules {
		if r.Kind == kind {
			return r.Sentence
		}
	}
	return kind.Rule
}

// Ranked reports whether rank decides who wins: some reason of the algorithm says that one node outranks another.
// Otherwise who stands first may win, and that a node ranks below the leader is no reason why it does not lead.
func (e Entry) Ranked() bool {
	return slices.ContainsFunc(e.Reasons, func(k *algorithms.ReasonKind) bool {
		return slices.ContainsFunc(k.Decides, func(d algorithms.Decision) bool {
			v, ok := d.(algorithms.Verdict)
			return ok && v.Kind == algorithms.Outranked
		})
	})
}
