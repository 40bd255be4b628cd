package sim

import "github.com/ringleader-dev/ringleader/proto"

// depth is the length of the chain of messages and timeouts that led to a message
// or a timeout, as the lecture notes count "message transmission times":
//
//   - A message's depth is one more than the depth of its cause: the message or
//     timeout that its Step handled, or the burst before it in the same Step.
//   - A burst is consecutive messages of one kind in one Step: they leave at
//     once, to any number of nodes.
//   - A timeout's depth is one more than the depth of the burst after which its
//     deadline was set. A Step that does not change the deadline does not set it.
//   - A timeout of a node that knows its leader belongs to no round: an
//     announcement is repeated, or a hold-down ends. Its depth begins anew.
type depth int

// apart is the depth of an event that does not follow from the measured cause.
const apart depth = -1

// next returns the depth of an event that an event of depth d causes.
func (d depth) next() depth {
	if d == apart {
		return apart
	}
	return d + 1
}

// sameBurst reports whether two consecutive messages of one Step belong to one burst.
func sameBurst(a, b proto.Message) bool {
	return a.Term == b.Term && a.Body.Kind() == b.Body.Kind()
}

// tally counts the messages that were sent, those to dead nodes included.
type tally struct {
	total   int
	byKind  [256]int // by the number of their kind
	kinds   [256]proto.Kind
	deepest depth
}

func (t *tally) sent(m proto.Message, d depth) {
	if d == apart {
		return
	}
	t.total++
	kind := m.Body.Kind()
	t.byKind[kind.Number()]++
	t.kinds[kind.Number()] = kind
	t.deepest = max(t.deepest, d)
}

// Counts are the numbers of messages of each kind, and their sum under "total". Kinds have the
// names of the lecture notes.
type Counts map[string]int

func (t *tally) counts() Counts {
	counts := Counts{"total": t.total}
	for kind, n := range t.byKind {
		if n > 0 {
			counts[t.kinds[kind].String()] += n
		}
	}
	return counts
}
