package render

import (
	"slices"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/rounds"
)

// isRing reports whether the nodes of an algorithm stand on a ring.
func isRing(algorithm string) bool { return len(goRound(algorithm)) > 0 }

// goRound returns the names of the kinds of messages that go clockwise round the ring. It returns
// none for an algorithm without a ring.
func goRound(algorithm string) (words []string) {
	entry, err := catalog.Lookup(algorithm)
	if err != nil {
		return nil
	}
	for _, kind := range entry.Round {
		words = append(words, kind.String())
	}
	return words
}

// inPlace returns the ids in the order in which messages go round the ring. That order is by id as
// a rule, but simulated rings may be shuffled. inPlace begins with the lowest id and follows the
// messages from node to node. A node that it does not meet stands behind the next lower id.
func inPlace(algorithm string, all []*rounds.Round, ids []uint64) []uint64 {
	if !isRing(algorithm) || len(ids) == 0 {
		return ids
	}
	words, next := goRound(algorithm), map[uint64]uint64{}
	for _, r := range all {
		for _, m := range r.Messages {
			goesRound := slices.Contains(words, m.Kind)
			if _, ok := next[m.From]; goesRound && !ok && m.From != m.To {
				next[m.From] = m.To
			}
		}
	}
	var order []uint64
	for id := ids[0]; id != 0 && slices.Contains(ids, id) && !slices.Contains(order, id); {
		order = append(order, id)
		id = next[id]
	}
	for i, id := range ids {
		if !slices.Contains(order, id) {
			order = slices.Insert(order, slices.Index(order, ids[i-1])+1, id)
		}
	}
	return order
}
