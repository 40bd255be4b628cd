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
	Token        fence.Token // the caller's token; for a read, the token of the value that was read
	Seq          int         // the write's number among its leader's writes; for a read, of the write read
	Began, Ended time.Time   // when the call began and ended; all calls use the same clock
	// Accepted says that the storage accepted the call. A call without an answer is not part of a
	// history.
	Accepted bool
}

// Kind says what a call does.
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

// before reports whether c ended before d began. Then d must see the effect of c.
func (c Call) before(d Call) bool { return c.Ended.Before(d.Began) }

// Violations says which of these rules the history of one key of a storage breaks. It returns "" if
// the history breaks none:
//
//  1. The accepted tokens never go down.
//  2. A term has one holder.
//  3. A read never sees an older value than an earlier read: not one with a lower token, nor an
//     earlier write of the same leader, which writes one value after the other.
//  4. A read sees the last write that had ended before it began, or a later write.
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

// clash says which rule two accepted calls break. It returns "" if they break none.
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
