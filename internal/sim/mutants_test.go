package sim

import "slices"

// officeMutants are the rules of the office, one removed at a time.
//
// Not in the list, for no run can tell, is what guards against more than runs
// have, or only saves time and messages:
//
//   - A voter that claims, holds or works refuses all others (BarSelf). Its own
//     promise, made anew in each round, runs longer than its lease: this is a
//     second lock on the same door.
//   - The margin of a lease, and the drift in a boot wait: simulated clocks round
//     nothing away, and a voter's clock is the same before and after its start.
//   - The term, or the session, of a VOTE: a nonce is of one round of one process,
//     and a process that starts claims a term above the one it voted in before.
//   - A lease that is not made longer is not announced again.
//   - A LEASE of the dead, or of a term that was released, is dropped: it would
//     only keep followers waiting.
//   - What the fence agent says to a question that is not asked any more is dropped:
//     hosts call it back, and it then says nothing.
//   - A RELEASE is on the disk at once where the cluster fences: it only saves a
//     healthy process from being shot after its voters restarted.
//   - Standing without a nomination, asking again ever more rarely, waiting ever longer
//     for grants, giving up what cannot win, handing over to a better node, refusing
//     absurd terms: the tests of the office show them.
//   - A process that is told of the instant, and is not in the list: only those are told
//     that are. That one which knows it tells only those, is the second lock.
func officeMutants() []mutant {
	return slices.Concat(leaseMutants("office"), holderMutants(), fenceMutants(), officeRejoinMutants())
}

func officeRejoinMutants() []mutant {
	return []mutant{
		{
			"N - majority + 1 others", "quorum/quorum.go",
			"return len(v) - v.Majority() + 1",
			"return len(v) - v.Majority()", "readmission",
		},
		{
			"It takes over the account of former holders", "office/rejoin.go",
			"m.State.Former = m.inherited(m.Told.Former)",
			"", "fenced-first",
		},
		{
			"of which the last one is the vote itself", "office/former.go",
			"if !m.Cfg.Fence || v.ID == 0 || stopped {",
			"if true || stopped {", "fenced-first",
		},
	}
}

func holderMutants() []mutant {
	return []mutant{
		{
			"the boot wait comes last: one that promised since it started may not stand in it", "lease/voter.go",
			"\tcase !p.Voter.Over && p.Now.Before(p.Voter.Promise):\n",
			"\tcase p.Now.Before(p.Voter.boot):\n\t\treturn proto.Answer{Bar: proto.BarBoot}, p.Voter.boot\n" +
				"\tcase !p.Voter.Over && p.Now.Before(p.Voter.Promise):\n", "promise-kept",
		},
		{
			"After two rounds without a majority it asks no more", "office/timing.go",
			"const mostRounds = 2", "const mostRounds = 9", "asks-no-more",
		},
		{
			"It keeps to its lease", "office/office.go",
			"if m.Belief.ID == 0 || m.Now.Before(m.Belief.Until) {",
			"if m.Belief.ID == 0 || m.holds() || m.Now.Before(m.Belief.Until) {", "one-holder",
		},
		{
			"a higher office stands: a late LEASE undoes nothing", "office/office.go",
			"case epoch.Compare(m.Seen) < 0:",
			"case false:", "newer-stands",
		},
	}
}

func fenceMutants() []mutant {
	const former, fencing = "office/former.go", "office/fencing.go"
	return []mutant{
		{
			"Each that was not seen to stop is fenced before the office is taken", fencing,
			"if len(left) == 0 {\n\t\tm.Why(\"a majority",
			"if true {\n\t\tm.Why(\"a majority", "fenced-first",
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
			"former := slices.DeleteFunc(m.State.Former.All(), func(",
			"former := slices.DeleteFunc([]proto.Epoch(nil), func(", "fenced-first",
		},
		{
			"durably", "lease/party.go",
			"save := p.State\n",
			"save := p.State\n\t\tsave.Former = \"\"\n", "fenced-first",
		},
		{
			"seen to stop: by releasing this very term, or a later one", former,
			"e.Session == last.Session && e.Term <= last.Term",
			"e.Session == last.Session", "fenced-first",
		},
		{
			"who holds office had all before it stopped, not those after", former,
			"return e.Term < held",
			"return true", "fenced-first",
		},
		{
			"It shoots with the promises of a majority", "office/candidate.go",
			"case s.Phase == fence && !m.Now.Before(s.LeaseEnd):",
			"case false:", "fences-by-majority",
		},
	}
}
