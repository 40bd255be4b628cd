package fence

import (
	"errors"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/proto"
)

// "A write is accepted iff its term is higher, or equal with the same (id,
// incarnation)."
func TestAdmit(t *testing.T) {
	five := token(5, 1)
	for _, c := range []struct {
		why           string
		highest, next Token
		want          error
	}{
		{"the first one", Token{}, five, nil},
		{"the same", five, five, nil},
		{"higher", five, token(6, 1), nil},
		{"much higher", five, token(proto.MaxTerm, 1), nil},
		{"lower", token(6, 1), five, ErrStaleToken},
		{"lower, the same process", Token{6, 1, five.Incarnation}, five, ErrStaleToken},
		{"equal, another node", five, Token{5, 2, five.Incarnation}, ErrOtherHolder},
		{"equal, the node's next life", five, token(5, 1), ErrOtherHolder},
		{"none", five, Token{}, ErrMalformedToken},
		{"none, the first one", Token{}, Token{}, ErrMalformedToken},
		{"absurd", five, token(proto.MaxTerm+1, 1), ErrMalformedToken},
		{"nobody's", five, token(6, 0), ErrMalformedToken},
		{"without an incarnation", five, Token{6, 1, proto.Incarnation{}}, ErrMalformedToken},
	} {
		err := Admit(c.highest, c.next)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.why, err, c.want)
		}
		stale, is := errors.AsType[*StaleError](err)
		if is != errors.Is(err, ErrStaleToken) || is && stale.Highest != c.highest {
			t.Errorf("%s: %v does not say which token is the highest", c.why, err)
		}
	}
}

// A refused leader learns by whom it was replaced.
func TestStaleErrorTells(t *testing.T) {
	highest := token(6, 2)
	for _, c := range []struct {
		token Token
		want  string
	}{
		{token(5, 1), "node 2 has been here with term 6 since"},
		{token(6, 1), "it is held by node 2, incarnation " + highest.Incarnation.String()},
	} {
		if err := Admit(highest, c.token); !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), c.token.String()) {
			t.Errorf("%v does not say %q", err, c.want)
		}
	}
}

func TestAdmitRead(t *testing.T) {
	five := token(5, 1)
	for _, c := range []struct {
		why  string
		read Token
		want error
	}{
		{"sealed", five, nil},
		{"not sealed", token(6, 2), ErrUnsealed},
		{"stale", token(4, 2), ErrStaleToken},
		{"another holder", token(5, 2), ErrOtherHolder},
		{"none", Token{}, ErrMalformedToken},
	} {
		if err := AdmitRead(five, c.read); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.why, err, c.want)
		}
	}
}
