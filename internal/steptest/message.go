package steptest

import (
	"errors"
	"testing"

	"github.com/ringleader-dev/ringleader/proto"
)

// Bodies tests message bodies. The keys of forPeople are what String must return. Each body must
// also be unchanged after Marshal and Unmarshal.
func Bodies(t *testing.T, forPeople map[string]proto.Payload) {
	t.Helper()
	for want, b := range forPeople {
		if got := b.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		m := proto.Message{From: 4, To: 5, Term: 7, Seq: 12, Body: b}
		kind, payload, err := proto.Marshal(m)
		if err != nil {
			t.Errorf("marshal %+v: %v", b, err)
			continue
		}
		if back, err := kind.Unmarshal(payload); err != nil || back != m {
			t.Errorf("%v: came back as %+v, %v; want %+v", kind, back, err, m)
		}
	}
}

// Refused tests that Marshal refuses these bodies, which no correct node sends.
func Refused(t *testing.T, bodies map[string]proto.Payload) {
	t.Helper()
	for name, b := range bodies {
		if _, _, err := proto.Marshal(proto.Message{From: 1, To: 2, Body: b}); !errors.Is(err, proto.ErrValue) {
			t.Errorf("%s: %v, want %v", name, err, proto.ErrValue)
		}
	}
}
