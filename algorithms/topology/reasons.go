package topology

import "github.com/ringleader-dev/ringleader/algorithms"

var reasons = algorithms.ReasonsOf("topology")

// Reasons are those that the ring gives.
func Reasons() []*algorithms.ReasonKind { return reasons.All() }
