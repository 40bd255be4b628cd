package history

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/proto"
)

// Verdict is the result of checking a history.
type Verdict struct {
	Calls int `json:"calls"`
	// Linearizable is "yes", "no", or "undecided" when the search took too long.
	Linearizable string `json:"linearizable"`
	// Stale counts the writes that were accepted although a higher token had been accepted before
	// they began. First describes one of them.
	Stale int    `json:"stale_accepted"`
	First string `json:"first_stale,omitempty"`
	// Shared counts the terms in which writes of two token holders were accepted.
	Shared int `json:"terms_of_two_holders"`
}

// OK reports whether nothing is wrong.
func (v Verdict) OK() bool { return v.Linearizable == "yes" && v.Stale == 0 && v.Shared == 0 }

var answers = map[porcupine.CheckResult]string{
	porcupine.Ok: "yes", porcupine.Illegal: "no", porcupine.Unknown: "undecided",
}

// Check judges the calls, which may be in any order. It searches for one order that fits all calls;
// after limit it gives up, and Linearizable is "undecided".
func Check(calls []Call, limit time.Duration) Verdict {
	v := Verdict{Calls: len(calls)}
	operations := make([]porcupine.Operation, 0, len(calls))
	for _, c := range calls {
		operations = append(operations, porcupine.Operation{
			ClientId: c.Client, Input: c, Call: c.Began, Return: c.Ended,
		})
	}
	v.Linearizable = answers[porcupine.CheckOperationsTimeout(model, operations, limit)]
	v.countStale(calls)
	v.countShared(calls)
	return v
}

// countStale counts the writes that stale finds, and describes the first.
func (v *Verdict) countStale(calls []Call) {
	for c, highest := range stale(calls) {
		if v.Stale++; v.Stale == 1 {
			v.First = fmt.Sprintf("%s of %q with token %v, after %v", c.Kind, c.Value, c.Token, highest)
		}
	}
}

// stale yields each accepted write that began after a write with a higher token had ended, together
// with the highest such token. The writes come in the order in which they began.
func stale(calls []Call) iter.Seq2[Call, fence.Token] {
	return func(yield func(Call, fence.Token) bool) {
		var accepted []Call
		for _, c := range calls {
			if c.writes() && c.Outcome == Done {
				accepted = append(accepted, c)
			}
		}
		ended := slices.SortedFunc(slices.Values(accepted), func(a, b Call) int {
			return cmp.Compare(a.Ended, b.Ended)
		})
		slices.SortFunc(accepted, func(a, b Call) int { return cmp.Compare(a.Began, b.Began) })
		var highest fence.Token
		for _, c := range accepted {
			for len(ended) > 0 && ended[0].Ended < c.Began {
				if ended[0].Token.Term > highest.Term {
					highest = ended[0].Token
				}
				ended = ended[1:]
			}
			if c.Token.Term < highest.Term && !yield(c, highest) {
				return
			}
		}
	}
}

// countShared counts the terms in which two processes wrote.
func (v *Verdict) countShared(calls []Call) {
	holders := map[proto.Term]fence.Token{}
	shared := map[proto.Term]bool{}
	for _, c := range calls {
		if !c.writes() || c.Outcome != Done {
			continue
		}
		if first, ok := holders[c.Token.Term]; ok && first != c.Token {
			shared[c.Token.Term] = true
		}
		holders[c.Token.Term] = c.Token
	}
	v.Shared = len(shared)
}

// CheckUnfenced judges the calls as if the storage had looked at no token, and so had accepted the
// writes that it refused. It searches for an order only up to the first write that is stale then,
// since the search through all calls would take too long.
func CheckUnfenced(calls []Call, limit time.Duration) Verdict {
	calls = slices.Clone(calls)
	for i := range calls {
		if c := &calls[i]; c.Kind == Put && c.Outcome == Stale {
			c.Outcome, c.Current = Done, fence.Token{}
		}
	}
	begun := calls
	for first := range stale(calls) {
		begun = slices.DeleteFunc(slices.Clone(calls), func(c Call) bool { return c.Began > first.Ended })
		break
	}
	v := Check(begun, limit)
	v.Stale, v.Shared, v.First = 0, 0, ""
	v.countStale(calls)
	v.countShared(calls)
	return v
}
