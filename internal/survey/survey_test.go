package survey

import (
	"errors"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/proto"
)

// Why there is no answer may be a question itself, and is no sentence's end.
func TestWhyNotOfTheSilent(t *testing.T) {
	s := survey{silent: map[proto.NodeID]error{3: errors.New("403: does another program listen there?")}}
	const want = "Node 3 itself does not answer (403: does another program listen there?). " +
		"If it cannot be asked from here"
	if got := s.ownWord(3); !strings.HasPrefix(got.Silent, want) {
		t.Errorf("%+v", got)
	}
}
