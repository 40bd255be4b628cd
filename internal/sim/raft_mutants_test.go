package sim

import "slices"

// raftMutants are the rules of Raft, one removed at a time. What no run can tell is
// that of the lease around a nomination: see votesMutants. Besides, a node that hears of a leader while it
// is a candidate, and the order of rank in which nodes stand, save only time; and that
// the boot wait comes last shows in the runs of nominations: whoever of Raft has promised waits
// longer than that, unless an operator calls it, as the tests of Raft do.
func raftMutants() []mutant {
	return slices.Concat(leaseMutants(), raftLeaderMutants())
}

func raftLeaderMutants() []mutant {
	return []mutant{
		{
			"If RPC request or response contains term T > currentTerm: set currentTerm = T, convert to follower",
			"lease/voter.go",
			"m.say(whyDeny.of(no, msg.From, msg.Term))",
			// It says nothing of it, or refused-nothing would see that first.
			"m.state.Vote, m.dirty = algorithms.Vote{Term: msg.Term}, true; m.voter.over = true; return denied",
			"one-holder",
		},
		{
			"It keeps to its lease", "lease/machine.go",
			"if m.belief.ID == 0 || m.now.Before(m.belief.Until) {",
			"if m.belief.ID == 0 || m.leads() || m.now.Before(m.belief.Until) {", "one-holder",
		},
	}
}
