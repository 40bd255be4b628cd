package sim

import "slices"

// raftMutants are the rules of Raft, one removed at a time. What no run can tell is
// that of the office: see officeMutants. Besides, a node that hears of a leader while it
// is a candidate, and the order of rank in which nodes stand, save only time; and that
// the boot wait comes last shows in the office's runs: whoever of Raft has promised waits
// longer than that, unless an operator calls it, as the tests of Raft do.
func raftMutants() []mutant {
	return slices.Concat(leaseMutants("raft"), raftLeaderMutants())
}

func raftLeaderMutants() []mutant {
	const leader = "raft/leader.go"
	return []mutant{
		{
			"If RPC request or response contains term T > currentTerm: set currentTerm = T, convert to follower",
			"lease/voter.go",
			`p.Why("%d wants term %d -> deny it: %s", msg.From, msg.Term, no)`,
			// It says nothing of it, or refused-nothing would see that first.
			"p.State.Vote, p.Dirty = algorithms.Vote{Term: msg.Term}, true; p.Voter.Over = true; return Denied",
			"one-holder",
		},
		{
			"After two rounds without a majority it asks no more", "raft/timing.go",
			"const mostRounds = 2", "const mostRounds = 9", "asks-no-more",
		},
		{
			"of those that followed the latest that was answered", "raft/candidate.go",
			"m.beats = int(m.Stand.Nonce - r.Nonce)", "m.beats = 0", "asks-no-more",
		},
		{
			"It keeps to its lease", "raft/raft.go",
			"if m.Belief.ID == 0 || m.Now.Before(m.Belief.Until) {",
			"if m.Belief.ID == 0 || m.leads() || m.Now.Before(m.Belief.Until) {", "one-holder",
		},
		{
			"a higher term stands: a late HEARTBEAT undoes nothing", leader,
			"case epoch.Compare(m.Seen) < 0, m.Stand.Phase >= candidate && msg.Term < m.Stand.Term:", "case false:",
			"newer-stands",
		},
	}
}
