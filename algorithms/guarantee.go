package algorithms

// InWords says what a guarantee is worth, and first what it is not.
func (g Guarantee) InWords() string {
	switch g {
	case BestEffort:
		return "best-effort: in a partition each side has a leader of its own"
	case Quorum:
		return "quorum: a term has one leader, but an old leader may not know that it was replaced"
	case Lease:
		return "lease: at most one leader at a time, while clocks drift less than planned"
	}
	return string(g)
}
