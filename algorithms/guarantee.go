package algorithms

// InWords describes the guarantee; it says first what is not guaranteed.
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
