package sim

import "slices"

// votesMutants are the rules of the lease around a nomination, one removed at a time.
//
// Not in the list, for no run can tell, is what guards against more than runs
// have, or only saves time and messages:
//
//   - A voter that claims, holds or works refuses all others (DeniedStands). Its own
//     promise, made anew in each round, runs longer than its lease: this is a
//     second lock on the same door.
//   - The margin of a lease, and the drift in a boot wait: simulated clocks round
//     nothing away, and a voter's clock is the same before and after its start.
//   - The term, or the incarnation, of a VOTE: a nonce is of one round of one process,
//     and a process that starts claims a term above the one it voted in before.
//   - A HEARTBEAT of the dead, or of a term that was released, is dropped: it would
//     only keep followers waiting.
//   - What the fence agent says to a question that is not asked any more is dropped:
//     hosts call it back, and it then says nothing.
//   - A RELEASE is on the disk at once where the cluster fences: it only saves a
//     healthy process from being shot after its voters restarted.
//   - Standing without a nomination, asking again ever more rarely, waiting ever longer
//     for grants, giving up what cannot win, handing over to a better node, refusing
//     absurd terms: the tests of package lease show them.
//   - A process that is told of the instant, and is not in the list: only those are told
//     that are. That one which knows it tells only those, is the second lock.
func votesMutants() []mutant {
	return slices.Concat(leaseMutants(), holderMutants(), fenceMutants(), accountMutants())
}

func accountMutants() []mutant {
	return []mutant{
		{
			"N - majority + 1 others", "quorum/quorum.go",
			"return len(v) - v.Majority() + 1",
			"return len(v) - v.Majority()", "readmission",
		},
		{
			"It takes over the account of former holders", "lease/rejoin.go",
			"m.state.Former = m.inherited(m.told.former)",
			"", "fenced-first",
		},
		{
			"of which the last one is the vote itself", "lease/former.go",
			"if !m.cfg.Fence || v.ID == 0 || stopped {",
			"if true || stopped {", "fenced-first",
		},
	}
}

func holderMutants() []mutant {
	return []mutant{
		{
			"its promise: and nobody else ends it", "lease/voter.go",
			"\t\tm.voter.winner = proto.Peer{ID: msg.From, Incarnation: r.Incarnation}\n", "", "promise-kept",
		},
		{
			"the boot wait comes last: one that promised since it started may not stand in it", "lease/rule.go",
			"&& !bootFirst:\n\t\treturn promised, v.promise, again",
			"&& !boots:\n\t\treturn promised, v.promise, again", "promise-kept",
		},
		{
			"It keeps to its lease", "lease/machine.go",
			"if m.belief.ID == 0 || m.now.Before(m.belief.Until) {",
			"if m.belief.ID == 0 || m.leads() || m.now.Before(m.belief.Until) {", "one-holder",
		},
	}
}

func fenceMutants() []mutant {
	const former, fencing = "lease/former.go", "lease/fencing.go"
	return []mutant{
		{
			"Each that was not seen to stop is fenced before the nominee leads", fencing,
			"if len(left) == 0 {\n\t\tm.why(WhyLead",
			"if true {\n\t\tm.why(WhyLead", "fenced-first",
		},
		{
			"confirmed: a failed attempt is none", fencing,
			"if ev.OK {",
			"if true {", "fenced-first",
		},
		{
			"A voter remembers whom it granted before", former,
			"if was.ID != 0 && was.ID != next",
			"if false && was.ID != next", "fenced-first",
		},
		{
			"and those before that, who may still run", former,
			"former := slices.DeleteFunc(m.state.Former.All(), func(",
			"former := slices.DeleteFunc([]proto.Leadership(nil), func(", "fenced-first",
		},
		{
			"durably", "lease/step.go",
			"save := m.state\n",
			"save := m.state\n\t\tsave.Former = \"\"\n", "fenced-first",
		},
		{
			"seen to stop: by releasing this very term, or a later one", former,
			"e.Incarnation == last.Incarnation && e.Term <= last.Term",
			"e.Incarnation == last.Incarnation", "fenced-first",
		},
		{
			"who leads had all before it stopped, not those after", former,
			"return e.Term < led",
			"return true", "fenced-first",
		},
		{
			"It shoots with the promises of a majority", "lease/candidate.go",
			"case s.phase == securing && !m.now.Before(s.leaseEnd):",
			"case false:", "fences-by-majority",
		},
	}
}
