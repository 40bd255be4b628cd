package splitbrain

import "github.com/ringleader-dev/ringleader/algorithms"

var reasons = algorithms.ReasonsOf("splitbrain")

// Reasons are those that the mending gives.
func Reasons() []*algorithms.ReasonKind { return reasons.All() }
