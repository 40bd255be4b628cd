package fence

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ringleader-dev/ringleader/proto"
)

// Token is what a leader shows to a storage: the term that it was granted and
// the process that it was granted to. The zero Token is none.
//
// Invariants of one that is valid:
//
//  1. Term is in 1 … proto.MaxTerm.
//  2. Leader is a node's id.
//  3. Session is not zero.
type Token proto.Epoch

// ErrMalformedToken says that something is no token.
var ErrMalformedToken = errors.New("not a fencing token: " +
	"one looks like 7;node=3;session=0123456789abcdef0123456789abcdef")

// IsZero reports whether t is none.
func (t Token) IsZero() bool { return t == Token{} }

// Validate returns ErrMalformedToken, wrapped, unless t is valid.
func (t Token) Validate() error {
	switch {
	case t.Term == 0 || t.Term > proto.MaxTerm:
		return fmt.Errorf("term %d: %w", t.Term, ErrMalformedToken)
	case t.Leader.Validate() != nil:
		return fmt.Errorf("node %d: %w", t.Leader, ErrMalformedToken)
	case t.Session.IsZero():
		return fmt.Errorf("session zero: %w", ErrMalformedToken)
	}
	return nil
}

const (
	nodeMark    = ";node="
	sessionMark = ";session="
)

// String is the token's only spelling: two tokens are equal when their
// spellings are. So a storage may keep and compare the text. The zero Token is
// "none", which is not read back.
func (t Token) String() string {
	if t.IsZero() {
		return "none"
	}
	return strconv.FormatUint(uint64(t.Term), 10) + nodeMark + t.Leader.String() +
		sessionMark + t.Session.String()
}

// Parse reads what String writes, and nothing else. Errors wrap
// ErrMalformedToken.
func Parse(text string) (Token, error) {
	term, rest, _ := strings.Cut(text, nodeMark)
	node, session, _ := strings.Cut(rest, sessionMark)
	var t Token
	n, termErr := strconv.ParseUint(term, 10, 64)
	t.Term = proto.Term(n)
	id, idErr := proto.ParseNodeID(node)
	t.Leader = id
	var hexErr error
	if len(session) == hex.EncodedLen(len(t.Session)) {
		_, hexErr = hex.Decode(t.Session[:], []byte(session))
	}
	// Another spelling of the same values, as with a leading zero, is none.
	if errors.Join(termErr, idErr, hexErr) != nil || t.String() != text {
		return Token{}, fmt.Errorf("%.100q: %w", text, ErrMalformedToken)
	}
	if err := t.Validate(); err != nil {
		return Token{}, err
	}
	return t, nil
}

// MarshalText is String. The zero Token is the empty text.
func (t Token) MarshalText() ([]byte, error) {
	if t.IsZero() {
		return nil, nil
	}
	return []byte(t.String()), nil
}

// UnmarshalText is Parse. The empty text is the zero Token.
func (t *Token) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*t = Token{}
		return nil
	}
	*t, err = Parse(string(text))
	return err
}
