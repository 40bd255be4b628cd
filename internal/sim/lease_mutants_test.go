package sim

import "slices"

// leaseMutants are the rules that the office and Raft share, one removed at a time; those
// whose last step is in the package of each are removed there. An invariant must see that
// in the runs of both.
func leaseMutants(of string) []mutant {
	return slices.Concat(leaseVoterMutants(of), leaseCandidateMutants(of), leaseLendMutants(of), leaseRejoinMutants(of))
}

func leaseVoterMutants(of string) []mutant {
	const voter, party = "lease/voter.go", "lease/party.go"
	return []mutant{
		{
			"It votes once a term", voter,
			"if term <= p.State.Vote.Term {", "if term < p.State.Vote.Term {", "one-holder-a-term",
		},
		{
			"durably before it answers", voter,
			"p.Known, p.Dirty = max(p.Known, term), true", "p.Known = max(p.Known, term)", "vote-first",
		},
		{
			"for one process: an id and a session", voter,
			"return v.ID == id && v.Session == s", "return v.ID == id", "promise-kept",
		},
		{
			"It votes in a higher term when its promise is over", voter,
			"case !p.Voter.Over && p.Now.Before(p.Voter.Promise):", "case false:", "one-holder",
		},
		{
			"when its promise is over: the term is a fencing token", voter,
			"case !p.Voter.Over && p.Now.Before(p.Voter.Promise):", "case false:", "tokens-rise",
		},
		{
			"run out: a promise that is asked for again runs anew", of + "/voter.go",
			"\t\tm.Renewed(lent)\n", "", "one-holder",
		},
		{
			"released by the very process it voted for", voter,
			"if msg.Term != p.State.Vote.Term || !p.Bound(msg.From, b.Session) {", "if false {", "one-holder",
		},
		{
			"released: the very term", voter,
			"if msg.Term != p.State.Vote.Term || !p.Bound(", "if !p.Bound(", "promise-kept",
		},
		{
			"the vote stays", voter, "\tp.Voter.Over = true\n\treturn true\n",
			"\tp.Voter.Over, p.State.Vote, p.Dirty = true, algorithms.Vote{}, true\n\treturn true\n", "vote-first",
		},
		{
			"or that process is proven dead", voter,
			"freed = p.Bound(dead.ID, dead.Session)", "freed = p.State.Vote.ID == dead.ID", "promise-kept",
		},
		{
			"proven dead: the vote stays", voter, "dead.ID)\n\t\tp.Voter.Over = true\n",
			"dead.ID)\n\t\tp.Voter.Over, p.State.Vote, p.Dirty = true, algorithms.Vote{}, true\n", "vote-first",
		},
		{
			"KeepPromises turns it off", voter, "if p.Cfg.KeepPromises {", "if false {", "promise-kept",
		},
		{
			"A request that is refused changes nothing: no promise dropped", voter,
			`p.Why("%d wants term %d -> deny it: %s", msg.From, msg.Term, no)`, "p.Voter.Over = true", "one-holder",
		},
		{
			"A request that is refused changes nothing: no term is adopted", voter,
			`p.Why("%d wants term %d -> deny it: %s", msg.From, msg.Term, no)`,
			"p.Known = max(p.Known, msg.Term)", "refused-nothing",
		},
		{
			"After a start it votes in no new term", voter,
			"case p.Now.Before(p.Voter.boot):", "case false:", "one-holder",
		},
		{
			"for as long as any promise of its former life may run", voter,
			"p.State.Promise = max(p.State.Promise, p.Cfg.Promise)", "", "one-holder",
		},
		{
			"of its former life, which may have had longer ones", party,
			"if promise := p.State.Promise; promise > 0 {",
			"if promise := p.Cfg.Promise; p.State.Promise > 0 {", "boot-wait",
		},
		{
			"Until then it may stand, but does not count its own vote", "lease/stand.go",
			"if !p.Now.Before(p.Voter.boot) {", "if true {", "inside-promises",
		},
		{
			"Neither release ends that", voter, "\tp.Voter.Over = true\n\treturn true\n",
			"\tp.Voter.Over, p.Voter.boot = true, time.Time{}\n\treturn true\n", "boot-wait",
		},
		{
			"nor proof ends that", voter, "dead.ID)\n\t\tp.Voter.Over = true\n",
			"dead.ID)\n\t\tp.Voter.Over, p.Voter.boot = true, time.Time{}\n", "boot-wait",
		},
	}
}

func leaseCandidateMutants(of string) []mutant {
	const stand, handing = "lease/stand.go", "lease/transfer.go"
	return []mutant{
		{
			"No term is taken before a majority would vote in it", stand,
			"return p.Enough(&s.Yes) && (own.", "return (own.", "asked-first",
		},
		{
			"asks first: answers to an older round do not count", stand,
			"if s.Phase != Asking || b.Session != p.Cfg.Session || b.Nonce != s.Nonce {",
			"if s.Phase != Asking || b.Session != p.Cfg.Session {", "asked-first",
		},
		{
			"It then votes for itself", of + "/candidate.go",
			"\tm.vote(m.Stand.Term, m.Cfg.Self, m.Cfg.Session)\n", "", "vote-first",
		},
		{
			"The lease runs from before the first claim left", stand,
			"end := noted.Add(", "end := p.Now.Add(", "one-holder",
		},
		{
			"and is shorter than the promise by all that clocks may differ", "lease/timing.go",
			"return p/(million+Drift)*(million-Drift) - margin", "return p", "inside-promises",
		},
		{
			"A promise counts for its own round of questions", stand,
			"r.Nonce != s.Nonce || msg.Term != s.Term ||", "msg.Term != s.Term ||", "inside-promises",
		},
		{
			"and one that comes late for a lease from when that began", stand,
			"return ok && p.extend(r.Nonce, noted)", "_ = noted\n\treturn ok && p.extend(r.Nonce, s.Noted)",
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
			"and only before the lease would end", stand, "!p.Now.Before(end) ||", "", "lease-ahead",
		},
		{
			"three in a row failed: others may try", "lease/eligible.go",
			"p.Recess = p.Now.Add(RecessOf(p.Cfg.Promise))", "", "recess",
		},
		{
			"A node that may not lead does not stand", "lease/eligible.go",
			`return !p.Resigned && p.Ineligible() == ""`, "return !p.Resigned", "ineligible-never-stands",
		},
		{
			"If it leads, it leaves", of + "/eligible.go",
			`m.leave("not eligible: " + m.Barred)`, "", "ineligible-never-stands",
		},
		{
			"its work stops; only then TIMEOUT_NOW", handing,
			"h.Heir, h.told = heir, told\n", "h.Heir, h.told = heir, told\n\tp.tellHeir(msg.Term)\n", "released-last",
		},
		{
			"it leads no more; then its work stops; only then RELEASE", handing,
			"\ts.Leaving = s.Term\n", "\tp.Release(s.Term)\n", "one-holder",
		},
		{
			"only then RELEASE", handing, "\ts.Leaving = s.Term\n", "\tp.Release(s.Term)\n", "released-last",
		},
		{
			"A successor says yes only if a majority would vote for it", handing,
			"\tcase !p.Enough(&s.yes):\n\t\tno = proto.DeclineMajority\n", "", "could-win",
		},
		{
			"but for the promise to the leader that offers", handing,
			"return r.Holder == leader", "return true", "could-win",
		},
		{
			"at most once in a while, ever more rarely", handing,
			"f.until = p.Now.Add(preferPenalty(p.Cfg.Promise, f.times))", "", "calm-preference",
		},
	}
}

func leaseLendMutants(of string) []mutant {
	const lend = "lease/lend.go"
	return []mutant{
		{
			"keeps that promise whatever is proven", "lease/voter.go",
			"\tcase p.Now.Before(p.Voter.Kept):\n" +
				"\t\treturn proto.Answer{Bar: proto.BarPromise, Holder: p.State.Vote.ID}, p.Voter.Kept\n",
			"", "one-borrower",
		},
		{
			"asks for the promises anew in a round of questions that says so", of + "/voter.go",
			"m.Renewed(lent)", "m.Renewed(false)", "one-borrower",
		},
		{
			"and lends what a majority promised in that very round", lend,
			"l.from == 0 || nonce < l.from", "!l.wanted", "one-borrower",
		},
		{
			"until end and no later", lend,
			"For: byAnyClock(end.Sub(p.Now)), Until: end}",
			"For: byAnyClock(p.Cfg.Promise), Until: end}", "one-borrower",
		},
		{
			"Whoever borrows it counts by a clock of its own", lend,
			"byAnyClock(end.Sub(p.Now))", "end.Sub(p.Now)", "one-borrower",
		},
		{
			"a wish of a host whose node leads no more ends", of + "/" + map[string]string{
				"office": "office", "raft": "output",
			}[of] + ".go", "\t\tm.LoseLend()\n", "", "lend-ends",
		},
	}
}

func leaseRejoinMutants(of string) []mutant {
	const back, collect = "lease/rejoin.go", "lease/collect.go"
	highest := mutant{
		"It takes the highest term", back, "Vote: algorithms.Vote{Term: floor},", "", "readmission",
	}
	if of == "raft" { // whose only terms are those that are voted in: it takes them once more
		highest.file, highest.old = of+"/rejoin.go", "floor := max(m.State.Term, m.State.Vote.Term)"
		highest.new = "floor := proto.Term(0)"
	}
	return []mutant{
		highest,
		{
			"A voter without a vote may have lost one, whatever else its disk holds", "lease/party.go",
			"if !p.unvoted || p.State.Promise > 0 {", "if p.State != (algorithms.State{}) {", "readmission",
		},
		{
			"It rejoins at all", "lease/party.go",
			"if !p.unvoted || p.State.Promise > 0 {", "if true {", "readmission",
		},
		{
			"A voter that lost its disk waits first", back, "due: p.Now.Add(wait),", "due: p.Now,", "readmission",
		},
		{
			"A longer promise means waiting on", back,
			"r.promise, r.due = b.Promise, r.began.Add(BootWait(b.Promise))", "r.promise = b.Promise", "readmission",
		},
		{
			"and asking again", back,
			"\t\tr.nonce++\n\t\tclear(r.told)\n\t\tr.lost.Reset()\n\t\tclear(r.Former)\n\t\treturn false\n",
			"", "readmission",
		},
		{
			"others", back, "r.told[msg.From] = b.Voters",
			"r.told[msg.From], r.told[p.Cfg.Self] = b.Voters, p.VoterSet()", "readmission",
		},
		{
			"It votes for nobody until then", "lease/voter.go",
			"\tcase p.Rejoin.Active:\n\t\treturn proto.Answer{Bar: proto.BarBoot}, time.Time{}\n", "", "readmission",
		},
		{
			"nor in the highest term that it was told of", "lease/voter.go",
			"case proto.Renew, proto.Heartbeat:",
			"case proto.Renew, proto.Heartbeat, proto.RequestVote:", "vote-first",
		},
		{
			"It promises in that to who leads it, if it has no vote in it", "lease/voter.go",
			"return p.State.Vote.ID == 0 && msg.Term ==", "return msg.Term ==", "vote-first",
		},
		{
			"One that lost its own tells no term", back,
			"Nonce: b.Nonce, Lost: true})", "Nonce: b.Nonce})", "readmission",
		},
		{
			"and does not count", back,
			"\t\t\tr.lost.Add(msg.From)\n", "\t\t\tr.told[msg.From] = p.VoterSet()\n", "readmission",
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
			"unvoted: it voted for nobody since", "lease/voter.go", "\tp.unvoted = false\n", "", "readmission",
		},
	}
}
