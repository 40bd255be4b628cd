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
//   - The term, or the session, of a GRANT: a nonce is of one round of one process,
//     and a process that starts claims a term above the one it voted in before.
//   - A lease that is not made longer is not announced again.
//   - A LEASE of the dead, or of a term that was released, is dropped: it would
//     only keep followers waiting.
//   - What the fence agent says to a question that is not asked any more is dropped:
//     hosts call it back, and it then says nothing.
//   - A RELEASE is on the disk at once where the cluster fences: it only saves a
//     healthy process from being shot after its voters restarted.
//   - Standing without a nomination, asking again ever more rarely, handing over
//     to a better node, refusing absurd terms: the tests of the office show them.
func officeMutants() []mutant {
	return slices.Concat(voterMutants(), claimantMutants(), transferMutants(), fenceMutants(), rejoinMutants())
}

func voterMutants() []mutant {
	const voter = "office/voter.go"
	return []mutant{
		{
			"It votes once a term", voter,
			"if term <= m.state.Vote.Term {",
			"if term < m.state.Vote.Term {", "one-holder-a-term",
		},
		{
			"durably before it answers", voter,
			"m.known, m.dirty = max(m.known, term), true",
			"m.known = max(m.known, term)", "one-holder",
		},
		{
			"for one process: an id and a session", voter,
			"return v.ID == id && v.Session == s",
			"return v.ID == id", "promise-kept",
		},
		{
			"A higher term it grants when its promise is over", voter,
			"case !m.voter.over && m.now.Before(m.voter.promise):",
			"case false:", "one-holder",
		},
		{
			"when its promise is over: the term is a fencing token", voter,
			"case !m.voter.over && m.now.Before(m.voter.promise):",
			"case false:", "tokens-rise",
		},
		{
			"run out: a renewed promise runs anew", voter,
			"m.voter.promise, m.heard = m.now.Add(m.cfg.Promise), m.now",
			"m.heard = m.now", "one-holder",
		},
		{
			"released by the very process it voted for", voter,
			"if msg.Term != m.state.Vote.Term || !m.bound(msg.From, b.Session) {",
			"if false {", "one-holder",
		},
		{
			"released: the very term", voter,
			"if msg.Term != m.state.Vote.Term || !m.bound(",
			"if !m.bound(", "promise-kept",
		},
		{
			"the vote stays", voter,
			"\tm.voter.over = true\n\tm.forget(",
			"\tm.voter.over, m.state.Vote, m.dirty = true, algorithms.Vote{}, true\n\tm.forget(", "vote-first",
		},
		{
			"or that process is proven dead", "office/office.go",
			"if m.bound(p.ID, p.Session) {",
			"if m.state.Vote.ID == p.ID {", "promise-kept",
		},
		{
			"proven dead: the vote stays", "office/office.go",
			"\t\tm.voter.over = true\n",
			"\t\tm.voter.over, m.state.Vote, m.dirty = true, algorithms.Vote{}, true\n", "vote-first",
		},
		{
			"KeepPromises turns it off", "office/office.go",
			"if m.cfg.KeepPromises {",
			"if false {", "promise-kept",
		},
		{
			"A request that is refused changes nothing: no promise dropped", voter,
			`m.why("%d wants term %d -> deny it: %s", msg.From, msg.Term, no)`,
			"m.voter.over = true", "one-holder",
		},
		{
			"A request that is refused changes nothing: no term is adopted", voter,
			`m.why("%d wants term %d -> deny it: %s", msg.From, msg.Term, no)`,
			"m.known = max(m.known, msg.Term)", "refused-nothing",
		},
		{
			"After a start it grants no new term", voter,
			"case m.now.Before(m.voter.boot):",
			"case false:", "one-holder",
		},
		{
			"for as long as any promise of its former life may run", voter,
			"m.state.Promise = max(m.state.Promise, m.cfg.Promise)",
			"", "one-holder",
		},
		{
			"of its former life, which may have had longer ones", "office/office.go",
			"if p := m.state.Promise; p > 0 {",
			"if p := m.cfg.Promise; m.state.Promise > 0 {", "boot-wait",
		},
		{
			"Neither release ends that", voter,
			"\tm.voter.over = true\n\tm.forget(",
			"\tm.voter.over, m.voter.boot = true, time.Time{}\n\tm.forget(", "boot-wait",
		},
		{
			"nor proof ends that", "office/office.go",
			"\t\tm.voter.over = true\n",
			"\t\tm.voter.over, m.voter.boot = true, time.Time{}\n", "boot-wait",
		},
	}
}

func rejoinMutants() []mutant {
	const back = "office/rejoin.go"
	return []mutant{
		{
			"A voter that lost its disk waits first", back,
			"m.rejoin.due = m.now.Add(BootWait(m.cfg.Promise))",
			"m.rejoin.due = m.now", "readmission",
		},
		{
			"A longer promise means waiting on", back,
			"r.promise, r.due = b.Promise, r.began.Add(BootWait(b.Promise))",
			"r.promise = b.Promise", "readmission",
		},
		{
			"and asking again", back,
			"\t\tr.nonce++\n\t\tr.told.Reset()\n\t\tclear(r.former)\n\t\treturn\n",
			"", "readmission",
		},
		{
			"N - majority + 1 others", "quorum/quorum.go",
			"return len(v) - v.Majority() + 1",
			"return len(v) - v.Majority()", "readmission",
		},
		{
			"each once", back,
			"r.told.Add(msg.From)",
			"r.told.Add(msg.From); r.told.Add(m.cfg.Self)", "readmission",
		},
		{
			"It takes the highest term", back,
			"Vote: algorithms.Vote{Term: r.voted},",
			"", "readmission",
		},
		{
			"It votes for nobody until then", "office/voter.go",
			"\tcase m.rejoin.active:\n\t\treturn refusal{bar: proto.BarBoot}, time.Time{}\n",
			"", "readmission",
		},
		{
			"One that lost its own tells nothing", back,
			"\tif m.rejoin.active {\n\t\treturn\n\t}\n\tif b.Nonce",
			"\tif b.Nonce", "readmission",
		},
		{
			"A vote above all that it made itself is one of a former life", "office/newcomer.go",
			"if m.new && msg.Term > m.state.Vote.Term {",
			"if m.new {", "readmission",
		},
		{
			"It takes over the account of former holders", back,
			"Former: m.inherited(r.former),",
			"", "fenced-first",
		},
		{
			"of which the last one is the vote itself", "office/former.go",
			"if !m.cfg.Fence || v.ID == 0 || stopped {",
			"if true || stopped {", "fenced-first",
		},
		{
			"It rejoins at all", "office/office.go",
			"\t\tm.beginRejoin()\n\t\treturn\n",
			"", "readmission",
		},
	}
}

func claimantMutants() []mutant {
	const candidate, holder = "office/candidate.go", "office/holder.go"
	return []mutant{
		{
			"It asks first, and claims only when a majority would grant", candidate,
			"if s.yes.Of(m.voters) && s.yes.Has(m.cfg.Self) {",
			"if s.yes.Has(m.cfg.Self) {", "asked-first",
		},
		{
			"asks first: answers to an older round do not count", candidate,
			"if s.phase != asking || b.Session != m.cfg.Session || b.Nonce != s.nonce {",
			"if s.phase != asking || b.Session != m.cfg.Session {", "asked-first",
		},
		{
			"It votes for itself before it claims", candidate,
			"\tm.vote(s.term, m.cfg.Self, m.cfg.Session)\n",
			"", "vote-first",
		},
		{
			"The lease runs from before the first CLAIM left", candidate,
			"end := s.noted.Add(",
			"end := m.now.Add(", "one-holder",
		},
		{
			"and is shorter than the promise by all that clocks may differ", "office/timing.go",
			"return p/(million+Drift)*(million-Drift) - margin",
			"return p", "inside-promises",
		},
		{
			"Only grants of this very round of questions count", candidate,
			"b.Nonce != s.nonce || msg.Term != s.term ||",
			"msg.Term != s.term ||", "inside-promises",
		},
		{
			"once a voter", "quorum/quorum.go",
			"if !slices.Contains(c.yes, id) {",
			"if true {", "one-holder",
		},
		{
			"a voter: of the configured ones", "office/office.go",
			"if !m.voters.Has(msg.From) || msg.From == m.cfg.Self ||",
			"if msg.From == m.cfg.Self ||", "one-holder",
		},
		{
			"a majority: more than half", "quorum/quorum.go",
			"len(v)/2 + 1",
			"(len(v)+1)/2", "one-holder",
		},
		{
			"and only before the lease would end", candidate,
			"|| !m.now.Before(end) ||",
			"||", "lease-ahead",
		},
		{
			"After two rounds without a majority it asks no more", "office/timing.go",
			"{ return p / 3 }",
			"{ return p / 5 }", "asks-no-more",
		},
		{
			"It keeps to its lease", "office/office.go",
			"if m.belief.ID == 0 || m.now.Before(m.belief.Until) {",
			"if m.belief.ID == 0 || m.holds() || m.now.Before(m.belief.Until) {", "one-holder",
		},
		{
			"it leads no more; then its work stops; only then RELEASE", holder,
			"s.leaving, s.leaseEnd, s.renewAt = s.term, time.Time{}, time.Time{}\n",
			"s.leaseEnd, s.renewAt = time.Time{}, time.Time{}\n\t\tm.release(s.term)\n", "one-holder",
		},
		{
			"only then RELEASE", holder,
			"s.leaving, s.leaseEnd, s.renewAt = s.term, time.Time{}, time.Time{}\n",
			"s.leaseEnd, s.renewAt = time.Time{}, time.Time{}\n\t\tm.release(s.term)\n", "released-last",
		},
		{
			"a higher office stands: a late LEASE undoes nothing", "office/office.go",
			"case epoch.Compare(m.seen) < 0:",
			"case false:", "newer-stands",
		},
	}
}

func fenceMutants() []mutant {
	const former, fencing = "office/former.go", "office/fencing.go"
	return []mutant{
		{
			"Each that was not seen to stop is fenced before the office is taken", fencing,
			"if len(left) == 0 {\n\t\tm.why(\"a majority",
			"if true {\n\t\tm.why(\"a majority", "fenced-first",
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
			"former := slices.DeleteFunc([]proto.Epoch(nil), func(", "fenced-first",
		},
		{
			"durably", "office/office.go",
			"save := m.state\n",
			"save := m.state\n\t\tsave.Former = \"\"\n", "fenced-first",
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
			"case s.phase == fence && !m.now.Before(s.leaseEnd):",
			"case false:", "fences-by-majority",
		},
	}
}

func transferMutants() []mutant {
	const transfer, eligible = "office/transfer.go", "office/eligible.go"
	return []mutant{
		{
			"guarded work stopped and drained; only then TIMEOUT_NOW", transfer,
			"h.heir, h.told = heir, told\n",
			"h.heir, h.told = heir, told\n\tm.tellHeir(msg.Term)\n", "released-last",
		},
		{
			"A node that may not lead does not stand", eligible,
			`return !m.resigned && m.ineligible() == ""`,
			"return !m.resigned", "ineligible-never-stands",
		},
		{
			"If it leads, it resigns", eligible,
			`m.leave("not eligible: " + m.barred)`,
			"", "ineligible-never-stands",
		},
		{
			"after three, mark oneself ineligible for a while", eligible,
			"m.recess = m.now.Add(recessOf(m.cfg.Promise))",
			"", "recess",
		},
		{
			"at most once in a while, with a growing penalty for flapping", "office/holder.go",
			"p.until = m.now.Add(preferPenalty(m.cfg.Promise, p.times))",
			"", "calm-preference",
		},
	}
}
