package topology

import "github.com/ringleader-dev/ringleader/algorithms"

var reasons = algorithms.ReasonsOf("topology")

// Reasons returns the kinds of reasons that this package declares.
func Reasons() []*algorithms.ReasonKind { return reasons.All() }
