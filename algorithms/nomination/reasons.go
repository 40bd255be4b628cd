package nomination

import "github.com/ringleader-dev/ringleader/algorithms"

var reasons = algorithms.ReasonsOf("nomination")

// timeoutNow is the sentence of the lecture notes that a hand-over follows.
const timeoutNow = "L1 sends TimeoutNow to L2 (start election immediately)"

// Reasons returns the kinds of reasons that the shared rules give.
func Reasons() []*algorithms.ReasonKind { return reasons.All() }
