package splitbrain

import "github.com/ringleader-dev/ringleader/algorithms"

var reasons = algorithms.ReasonsOf("splitbrain")

// Reasons returns the kinds of reasons that the recovery gives.
func Reasons() []*algorithms.ReasonKind { return reasons.All() }
