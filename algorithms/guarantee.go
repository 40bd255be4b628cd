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
	case LeaseUntilFailover:
		return "lease, until the store fails over to a replica that has not heard of it: then two may lead at a time"
	case LeaseByClocks:
		return "lease, while no server of the store forgets and none of their clocks steps: else two may lead at a time"
	}
	return string(g)
}
