package fence

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ringleader-dev/ringleader/proto"
)

// Token identifies a leader to a storage: it has the term, and the process that leads the term. The
// zero Token is no token.
//
// Invariants of a valid Token:
//
//  1. Term is in 1 … proto.MaxTerm.
//  2. Leader is a node's id.
//  3. Incarnation is not zero.
type Token proto.Leadership

// ErrMalformedToken says that a text or a value is no token.
var ErrMalformedToken = errors.New("not a fencing token: " +
	"one looks like 7;node=3;incarnation=0123456789abcdef0123456789abcdef")

// IsZero reports whether t is the zero Token.
func (t Token) IsZero() bool { return t == Token{} }

// Validate returns an error that wraps ErrMalformedToken, unless t is valid.
func (t Token) Validate() error {
	switch {
	case t.Term == 0 || t.Term > proto.MaxTerm:
		return fmt.Errorf("term %d: %w", t.Term, ErrMalformedToken)
	case t.Leader.Validate() != nil:
		return fmt.Errorf("node %d: %w", t.Leader, ErrMalformedToken)
	case t.Incarnation.IsZero():
		return fmt.Errorf("incarnation zero: %w", ErrMalformedToken)
	}
	return nil
}

const (
	nodeMark        = ";node="
	incarnationMark = ";incarnation="
	formerMark      = ";session=" // stores may have tokens from before 2026-11
)

// String returns the only text of the token: two tokens are equal exactly when their texts are equal.
// So a storage may store and compare the text. The zero Token has the text "none", which Parse refuses.
func (t Token) String() string {
	if t.IsZero() {
		return "none"
	}
	return strconv.FormatUint(uint64(t.Term), 10) + nodeMark + t.Leader.String() +
		incarnationMark + t.Incarnation.String()
}

// Parse reads the text that String writes. It also reads the text that String wrote before 2026-11,
// when an incarnation was called a session. Errors wrap ErrMalformedToken.
func Parse(text string) (Token, error) {
	text = strings.Replace(text, formerMark, incarnationMark, 1)
	term, rest, _ := strings.Cut(text, nodeMark)
	node, incarnation, _ := strings.Cut(rest, incarnationMark)
	var t Token
	n, termErr := strconv.ParseUint(term, 10, 64)
	t.Term = proto.Term(n)
	id, idErr := proto.ParseNodeID(node)
	t.Leader = id
	var hexErr error
	if len(incarnation) == hex.EncodedLen(len(t.Incarnation)) {
		_, hexErr = hex.Decode(t.Incarnation[:], []byte(incarnation))
	}
	// Another spelling of the same values, as with a leading zero, is no token.
	if errors.Join(termErr, idErr, hexErr) != nil || t.String() != text {
		return Token{}, fmt.Errorf("%.100q: %w", text, ErrMalformedToken)
	}
	if err := t.Validate(); err != nil {
		return Token{}, err
	}
	return t, nil
}

// MarshalText returns the text of String. For the zero Token it returns an empty text.
func (t Token) MarshalText() ([]byte, error) {
	if t.IsZero() {
		return nil, nil
	}
	return []byte(t.String()), nil
}

// UnmarshalText reads a text as Parse does. The empty text gives the zero Token.
func (t *Token) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*t = Token{}
		return nil
	}
	*t, err = Parse(string(text))
	return err
}
