package fencetest

import (
	"context"
	"errors"
	"testing"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/proto"
)

// Storage is one key of a fenced storage. Its methods may be called from any
// goroutine. A refusal is fence.ErrStaleToken.
type Storage interface {
	Write(ctx context.Context, t fence.Token, value string) error
	Seal(ctx context.Context, t fence.Token) error
	// Read reads without a token. It returns "" if nothing was written yet.
	Read(ctx context.Context) (string, error)
}

// Token returns a token of this term for a new process of the node.
func Token(term proto.Term, node proto.NodeID) fence.Token {
	return fence.Token{Term: term, Leader: node, Incarnation: proto.NewIncarnation()}
}

// Rules tests each rule on s, a storage to which nothing has been written.
func Rules(t *testing.T, s Storage) {
	t.Helper()
	var (
		five, six = Token(5, 1), Token(6, 2)
		big       = Token(proto.MaxTerm-1, 4)
		biggest   = Token(proto.MaxTerm, 3)
	)
	for _, step := range []struct {
		rule  string
		token fence.Token
		write string // "" to seal
		ok    bool
		reads string // afterwards
	}{
		{"the first token is taken", five, "a", true, "a"},
		{"a lower one is not", Token(4, 2), "b", false, "a"},
		{"nor can it seal", Token(4, 2), "", false, "a"},
		{"the same leader goes on", five, "c", true, "c"},
		{"a new leader seals", six, "", true, "c"},
		{"a delayed old write after its first read is refused", five, "d", false, "c"},
		{"an equal term of another node is refused", Token(6, 3), "e", false, "c"},
		{"of another process of the node too", Token(6, 2), "f", false, "c"},
		{"and it cannot seal", Token(6, 2), "", false, "c"},
		{"the new leader writes", six, "g", true, "g"},
		{"it may seal again", six, "", true, "g"},
		{"the largest terms are told apart", big, "h", true, "h"},
		{"by one", biggest, "i", true, "i"},
		{"in both directions", big, "j", false, "i"},
	} {
		call := func() error { return s.Write(t.Context(), step.token, step.write) }
		if step.write == "" {
			call = func() error { return s.Seal(t.Context(), step.token) }
		}
		err := call()
		if step.ok && err != nil || !step.ok && !errors.Is(err, fence.ErrStaleToken) {
			t.Errorf("%s: %v: %v", step.rule, step.token, err)
		}
		if got, err := s.Read(t.Context()); err != nil || got != step.reads {
			t.Errorf("%s: then %q is read (%v), want %q", step.rule, got, err, step.reads)
		}
	}
}
