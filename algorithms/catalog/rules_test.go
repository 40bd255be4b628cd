package catalog_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
)

// A reason leads to the sentence of the source that it follows, be it the cause
// alone or the whole.
func TestSentence(t *testing.T) {
	const nobody = "If no one responds within timeout: Assume Leadership (broadcast COORDINATOR)"
	for _, tt := range []struct{ algorithm, why, want string }{
		{"bully", "no higher node said OK in time", nobody},
		{"bully", "no higher node said OK in time -> lead term 12", nobody},
		{"ring", "17 ranks above this node -> pass it on", "If the arrived attr is greater, pi forwards the message."},
		{"ring", "asked to lead -> lead term 3", "L1 sends TimeoutNow to L2 (start election immediately)"},
		{"unknown", "asked to lead", "L1 sends TimeoutNow to L2 (start election immediately)"},
		{"bully", "17 ranks above this node -> pass it on", ""},
		{"ring", "", ""},
	} {
		if got := catalog.Sentence(tt.algorithm, tt.why); got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.algorithm, tt.why, got, tt.want)
		}
	}
}
