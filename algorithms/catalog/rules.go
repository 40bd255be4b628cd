package catalog

import (
	"slices"
	"strings"
	"sync"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/splitbrain"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
)

// reasons are all kinds of reasons, those that algorithms share first.
var reasons = reasonsOf(entries)

func reasonsOf(entries []Entry) []*algorithms.ReasonKind {
	all := slices.Concat(nomination.Reasons(), topology.Reasons(), splitbrain.Reasons(), lease.Reasons())
	for _, e := range entries {
		all = append(all, e.Reasons...)
	}
	return all
}

// Reasons returns all kinds of reasons, those that algorithms share first. Callers must not write to the
// list.
func Reasons() []*algorithms.ReasonKind { return reasons }

// Reason returns the kind with that code, or nil if this version knows no such kind.
func Reason(code string) *algorithms.ReasonKind { return byCode()[code].kind }

// ReasonOf returns the kind with that code whose sentence takes args arguments. It returns nil if this
// version knows no such kind: another version may give more arguments or fewer.
func ReasonOf(code string, args int) *algorithms.ReasonKind {
	if known := byCode()[code]; known.args == args {
		return known.kind
	}
	return nil
}

// known is a kind of reasons, and how many arguments its sentence takes.
type known struct {
	kind *algorithms.ReasonKind
	args int
}

// byCode returns all kinds by their codes. It fills the map at the first reason that is read: a node reads none.
var byCode = sync.OnceValue(func() map[string]known {
	all := make(map[string]known, len(reasons))
	for _, kind := range reasons {
		all[kind.Code] = known{kind, strings.Count(kind.Sentence, "%")}
	}
	return all
})

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
