package fencetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/fence"
)

// Call is one call of a storage, as its caller saw it.
type Call struct {
	Kind         Kind
	Token        fence.Token // for a read, the token of the value that was read
	Seq          int         // the number of the write among its leader's, for a read too
	Began, Ended time.Time   // when the call began and ended, by one clock
	// Accepted says that the storage accepted the call. A call without an answer is not part of a
	// history.
	Accepted bool
}

// Kind is what a call does.
type Kind int

// The kinds of calls.
const (
	Write Kind = iota
	Seal
	Read
)

func (c Call) String() string {
	what := []string{"write", "seal", "read"}[c.Kind]
	return fmt.Sprintf("%s %d of %v (%v … %v)", what, c.Seq, c.Token,
		c.Began.Format("05.000000"), c.Ended.Format("05.000000"))
}

// before reports whether c ended before d began. Then d must see what c did.
func (c Call) before(d Call) bool { return c.Ended.Before(d.Began) }

// Violations says what is wrong in a history of one key of a storage; "" if nothing is:
//
//  1. Tokens accepted at a storage never go down.
//  2. A term has one holder.
//  3. What is read never goes back: not to a lower token, nor to an earlier write of the same
//     leader, which writes one value after the other.
//  4. A read sees the last write that had ended, or a later one.
func Violations(history []Call) string {
	var found []string
	done := slices.DeleteFunc(slices.Clone(history), func(c Call) bool { return !c.Accepted })
	for _, a := range done {
		for _, b := range done {
			if why := clash(a, b); why != "" {
				found = append(found, fmt.Sprintf("%s:\n  %v\n  %v", why, a, b))
			}
		}
	}
	const enough = 5
	return strings.Join(found[:min(enough, len(found))], "\n")
}

// clash says what is wrong with two accepted calls; "" if nothing is.
func clash(a, b Call) string {
	switch {
	case a.Kind != Read && b.Kind != Read:
		if a.Token.Term == b.Token.Term && a.Token != b.Token {
			return "one term, two holders"
		}
		if a.before(b) && b.Token.Term < a.Token.Term {
			return "a stale token was accepted"
		}
	case a.before(b) && a.Kind != Seal && b.Kind == Read:
		if b.Token.Term < a.Token.Term || b.Token == a.Token && b.Seq < a.Seq {
			return "what was read went back"
		}
	}
	return ""
}
