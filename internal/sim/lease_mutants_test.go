package sim

import "slices"

// leaseMutants are the rules that the lease around a nomination and Raft share, one removed at a time; those
// whose last step is in the package of each are removed there. An invariant must see that
// in the runs of both.
func leaseMutants() []mutant {
	return slices.Concat(leaseVoterMutants(), leaseCandidateMutants(), leaseLendMutants(), leaseRejoinMutants())
}

func leaseVoterMutants() []mutant {
	const rule, voter, party = "lease/rule.go", "lease/voter.go", "lease/step.go"
	return []mutant{
		{
			"It votes once a term", rule,
			"b.term == vote.Term && !m.leadsFloor(b):", "false:", "one-holder-a-term",
		},
		{
			"Whoever has won the term of its vote gets its promise", rule,
			"return b.kind == proto.KindHeartbeat && b.term == m.state.Vote.Term && m.state",
			"return b.kind != proto.KindPreVote && b.term == m.state.Vote.Term && m.state", "vote-first",
		},
		{
			"its promise: and never its vote", rule, "case again && !has &&", "case false && !has &&", "vote-first",
		},
		{
			"durably before it answers", voter,
			"m.known, m.dirty = max(m.known, term), true", "m.known = max(m.known, term)", "vote-first",
		},
		{
			"for one process: an id and an incarnation", voter,
			"return to.ID == id && to.Incarnation == s", "return to.ID == id", "promise-kept",
		},
		{
			"It votes in a higher term when its promise is over", rule,
			"case !v.over && m.now.Before(v.promise) &&", "case false &&", "one-holder",
		},
		{
			"when its promise is over: the term is a fencing token", rule,
			"case !v.over && m.now.Before(v.promise) &&", "case false &&", "tokens-rise",
		},
		{
			"run out: a promise that is asked for again runs anew", voter,
			"\t\tm.renewed(lent)\n", "", "one-holder",
		},
		{
			"released by the very process it voted for", voter,
			"if msg.Term != m.state.Vote.Term || !m.bound(msg.From, b.Incarnation) {", "if false {", "one-holder",
		},
		{
			"released: the very term", voter,
			"if msg.Term != m.state.Vote.Term || !m.bound(", "if !m.bound(", "promise-kept",
		},
		{
			"the vote stays", voter, "\tm.voter.over = true\n\treturn true\n",
			"\tm.voter.over, m.state.Vote, m.dirty = true, algorithms.Vote{}, true\n\treturn true\n", "vote-first",
		},
		{
			"or that process is proven dead", voter,
			"freed = m.bound(dead.ID, dead.Incarnation)", "freed = m.state.Vote.ID == dead.ID", "promise-kept",
		},
		{
			"proven dead: the vote stays", voter, "dead.ID)\n\t\tm.voter.over = true\n",
			"dead.ID)\n\t\tm.voter.over, m.state.Vote, m.dirty = true, algorithms.Vote{}, true\n", "vote-first",
		},
		{
			"AwaitLeases turns it off", voter, "if m.cfg.AwaitLeases {", "if false {", "promise-kept",
		},
		{
			"A request that is refused changes nothing: no promise dropped", voter,
			"m.say(whyDeny.of(no, msg.From, msg.Term))", "m.voter.over = true", "one-holder",
		},
		{
			"A request that is refused changes nothing: no term is adopted", voter,
			"m.say(whyDeny.of(no, msg.From, msg.Term))",
			"m.known = max(m.known, msg.Term)", "refused-nothing",
		},
		{
			"After a start it votes in no new term", rule,
			"case boots:", "case false:", "one-holder",
		},
		{
			"for as long as any promise of its former life may run", voter,
			"m.state.Promise, m.dirty = m.cfg.Promise, true", "", "one-holder",
		},
		{
			"of its former life, which may have had longer ones", party,
			"if promise := m.state.Promise; promise > 0 {",
			"if promise := m.cfg.Promise; m.state.Promise > 0 {", "boot-wait",
		},
		{
			"Until then it may stand, but does not count its own vote", "lease/candidacy.go",
			"if !m.now.Before(m.voter.boot) {", "if true {", "inside-promises",
		},
		{
			"Neither release ends that", voter, "\tm.voter.over = true\n\treturn true\n",
			"\tm.voter.over, m.voter.boot = true, time.Time{}\n\treturn true\n", "boot-wait",
		},
		{
			"nor proof ends that", voter, "dead.ID)\n\t\tm.voter.over = true\n",
			"dead.ID)\n\t\tm.voter.over, m.voter.boot = true, time.Time{}\n", "boot-wait",
		},
	}
}

func leaseCandidateMutants() []mutant {
	const stand, handing = "lease/candidacy.go", "lease/transfer.go"
	return []mutant{
		{
			"No term is taken before a majority would vote in it", stand,
			"return m.enough(&s.yes) && (own.", "return (own.", "asked-first",
		},
		{
			"asks first: answers to an older round do not count", "lease/candidate.go",
			"s.phase != asking || b.Incarnation != m.cfg.Incarnation || b.Nonce != s.nonce {",
			"s.phase != asking || b.Incarnation != m.cfg.Incarnation {", "asked-first",
		},
		{
			"It then votes for itself", "lease/candidate.go",
			"\tm.vote(s.term, m.cfg.Self, m.cfg.Incarnation)\n", "", "vote-first",
		},
		{
			"The lease runs from before the first claim left", stand,
			"end := noted.Add(", "end := m.now.Add(", "one-holder",
		},
		{
			"and is shorter than the promise by all that clocks may differ", "lease/timing.go",
			"return p/(million+Drift)*(million-Drift) - margin", "return p", "inside-promises",
		},
		{
			"A promise counts for its own round of questions", stand,
			"r.Nonce != s.nonce || msg.Term != s.term ||", "msg.Term != s.term ||", "inside-promises",
		},
		{
			"and one that comes late for a lease from when that began", stand,
			"return ok && m.extend(r.Nonce, noted)", "_ = noted\n\treturn ok && m.extend(r.Nonce, s.noted)",
			"inside-promises",
		},
		{
			"once a voter", "quorum/quorum.go", "if !slices.Contains(c.yes, id) {", "if true {", "one-holder",
		},
		{
			"a voter: of the configured ones", "quorum/quorum.go",
			"\t\tif v.Has(id) {\n", "\t\tif v.Has(id) || true {\n", "one-holder",
		},
		{
			"a majority: more than half", "quorum/quorum.go", "len(v)/2 + 1", "(len(v)+1)/2", "one-holder",
		},
		{
			"and only before the lease would end", stand, "!m.now.Before(end) ||", "", "lease-ahead",
		},
		{
			"After two rounds without a majority it asks no more", "lease/timing.go",
			"const mostRounds = 2", "const mostRounds = 9", "asks-no-more",
		},
		{
			"of those that followed the latest that was answered", stand,
			"s.won = max(s.won, r.Nonce)", "s.won = s.nonce", "asks-no-more",
		},
		{
			"a higher term stands: a late HEARTBEAT undoes nothing", "lease/leader.go",
			"is.Compare(m.seen) < 0 && !m.leadsOn(is), m.candidacy.phase >= claiming && msg.Term < m.candidacy.term:",
			"is.Term == 0:",
			"newer-stands",
		},
		{
			"three in a row failed: others may try", "lease/eligible.go",
			"m.backOffEnd = m.now.Add(BackOffFor(m.cfg.Promise))", "", "backs-off",
		},
		{
			"A node that may not lead does not stand", "lease/eligible.go",
			`return !m.resigned && m.ineligible() == ""`, "return !m.resigned", "ineligible-never-stands",
		},
		{
			"If it leads, it leaves", "lease/eligible.go",
			"m.leave(whyIneligible.Of(m.ineligibility))", "", "ineligible-never-stands",
		},
		{
			"its work stops; only then TIMEOUT_NOW", handing,
			"h.successor, h.told = successor, told\n",
			"h.successor, h.told = successor, told\n\tm.tellSuccessor(msg.Term)\n", "released-last",
		},
		{
			"it leads no more; then its work stops; only then RELEASE", "lease/leader.go",
			"\t\ts.leaving = s.term\n", "\tm.release(s.term)\n", "one-holder",
		},
		{
			"only then RELEASE", "lease/leader.go",
			"\t\ts.leaving = s.term\n", "\tm.release(s.term)\n", "released-last",
		},
		{
			"A successor says yes only if a majority would vote for it", handing,
			"\tcase !m.enough(&s.yes):\n\t\tno = proto.DeclineMajority\n", "", "could-win",
		},
		{
			"but for the promise to the leader that offers", handing,
			"return r.To == leader", "return true", "could-win",
		},
		{
			"at most once in a while, ever more rarely", handing,
			"f.until = m.now.Add(preferPenalty(m.cfg.Promise, f.times))", "", "calm-preference",
		},
	}
}

func leaseLendMutants() []mutant {
	const lend, voter = "lease/lend.go", "lease/voter.go"
	return []mutant{
		{
			"keeps that promise whatever is proven", "lease/rule.go",
			"case m.now.Before(v.kept) &&", "case false &&", "one-borrower",
		},
		{
			"asks for the promises anew in a round of questions that says so", voter,
			"m.renewed(lent)", "m.renewed(false)", "one-borrower",
		},
		{
			"and lends what a majority promised in that very round", lend,
			"l.from == 0 || nonce < l.from", "!l.wanted", "one-borrower",
		},
		{
			"until end and no later", lend,
			"For: ByAnyClock(end.Sub(m.now)), Until: end}",
			"For: ByAnyClock(m.cfg.Promise), Until: end}", "one-borrower",
		},
		{
			"Whoever borrows it counts by a clock of its own", lend,
			"ByAnyClock(end.Sub(m.now))", "end.Sub(m.now)", "one-borrower",
		},
		{
			"a wish of a host whose node leads no more ends", "lease/machine.go", "\t\tm.loseLend()\n", "", "lend-ends",
		},
	}
}

func leaseRejoinMutants() []mutant {
	const back, collect = "lease/rejoin.go", "lease/collect.go"
	return []mutant{
		{
			"It takes the highest term", back, "Vote: algorithms.Vote{Term: floor},", "", "readmission",
		},
		{
			"A voter without a vote may have lost one, whatever else its disk holds", "lease/step.go",
			"if !m.unvoted || m.state.Promise > 0 {", "if m.state != (algorithms.State{}) {", "readmission",
		},
		{
			"It rejoins at all", "lease/step.go",
			"if !m.unvoted || m.state.Promise > 0 {", "if true {", "readmission",
		},
		{
			"A voter that lost its disk waits first", back, "due: m.now.Add(wait),", "due: m.now,", "readmission",
		},
		{
			"A longer promise means waiting on", back,
			"r.promise, r.due = b.Promise, r.began.Add(BootWait(b.Promise))", "r.promise = b.Promise", "readmission",
		},
		{
			"and asking again", back,
			"\t\tr.nonce++\n\t\tclear(r.told)\n\t\tr.lost.Reset()\n\t\tclear(r.former)\n\t\treturn false\n",
			"", "readmission",
		},
		{
			"others", back, "r.told[msg.From] = b.Voters",
			"r.told[msg.From], r.told[m.cfg.Self] = b.Voters, m.voterSet()", "readmission",
		},
		{
			"It votes for nobody until then", "lease/rule.go",
			"case m.rejoin.active:", "case false:", "readmission",
		},
		{
			"nor in the highest term that it was told of", "lease/rule.go",
			"return b.kind == proto.KindHeartbeat && m.state.Vote.ID == 0",
			"return b.kind != proto.KindPreVote && m.state.Vote.ID == 0", "vote-first",
		},
		{
			"One that lost its own tells no term", back,
			"Nonce: b.Nonce, Lost: true})", "Nonce: b.Nonce})", "readmission",
		},
		{
			"and does not count", back,
			"\t\t\tr.lost.Add(msg.From)\n", "\t\t\tr.told[msg.From] = m.voterSet()\n", "readmission",
		},
		{
			"the very same list from each", collect,
			"said.Heard != list ||", "said.Heard != list && false ||", "readmission",
		},
		{
			"A process of the list may vote, and no other of its node", collect,
			"!b.Heard.Lists(self) ||", "!b.Heard.Has(self.ID) ||", "readmission",
		},
		{
			"unvoted: it voted for nobody since", "lease/voter.go", "\tm.unvoted = false\n", "", "readmission",
		},
	}
}
