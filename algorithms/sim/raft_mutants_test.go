package sim

import "slices"

// raftMutants are the rules of Raft, one removed at a time. What no run can tell is
// that of the office: see officeMutants. Besides, a node that hears of a leader while it
// is a candidate, and the order of rank in which nodes stand, save only time.
func raftMutants() []mutant {
	return slices.Concat(raftVoterMutants(), raftCandidateMutants(), raftLeaderMutants(), raftRejoinMutants())
}

func raftVoterMutants() []mutant {
	const voter, machine = "raft/voter.go", "raft/raft.go"
	return []mutant{
		{
			"It votes once a term", voter,
			"if term <= m.state.Vote.Term {", "if term < m.state.Vote.Term {", "one-holder-a-term",
		},
		{
			"durably before it answers", voter,
			"m.known, m.dirty = max(m.known, term), true", "m.known = max(m.known, term)", "vote-first",
		},
		{
			"for one process: an id and a session", voter,
			"return v.ID == id && v.Session == s", "return v.ID == id", "promise-kept",
		},
		{
			"It votes in a higher term when its promise is over", voter,
			"case !m.voter.over && m.now.Before(m.voter.promise):", "case false:", "one-holder",
		},
		{
			"when its promise is over: the term is a fencing token", voter,
			"case !m.voter.over && m.now.Before(m.voter.promise):", "case false:", "tokens-rise",
		},
		{
			"A heartbeat that is acknowledged makes the promise anew", voter,
			"m.voter.promise = m.now.Add(m.cfg.Promise)\n\tm.reset()", "m.reset()", "one-holder",
		},
		{
			"released by the very process it voted for", voter,
			"if msg.Term != m.state.Vote.Term || !m.bound(msg.From, b.Session) {", "if false {", "one-holder",
		},
		{
			"released: the very term", voter,
			"if msg.Term != m.state.Vote.Term || !m.bound(", "if !m.bound(", "promise-kept",
		},
		{
			"the vote stays", voter,
			"\tm.voter.over = true\n\tm.standBy(",
			"\tm.voter.over, m.state.Vote, m.dirty = true, algorithms.Vote{}, true\n\tm.standBy(", "vote-first",
		},
		{
			"or that process is proven dead", machine,
			"if m.bound(p.ID, p.Session) {", "if m.state.Vote.ID == p.ID {", "promise-kept",
		},
		{
			"proven dead: the vote stays", machine,
			"\t\tm.voter.over = true\n",
			"\t\tm.voter.over, m.state.Vote, m.dirty = true, algorithms.Vote{}, true\n", "vote-first",
		},
		{
			"KeepPromises turns it off", machine, "if m.cfg.KeepPromises {", "if false {", "promise-kept",
		},
		{
			"A request that is refused changes nothing: no promise dropped", voter,
			`m.why("%d wants term %d -> deny it: %s", msg.From, msg.Term, no)`, "m.voter.over = true", "one-holder",
		},
		{
			"A request that is refused changes nothing: no term is adopted", voter,
			`m.why("%d wants term %d -> deny it: %s", msg.From, msg.Term, no)`,
			"m.known = max(m.known, msg.Term)", "refused-nothing",
		},
		{
			"If RPC request or response contains term T > currentTerm: set currentTerm = T, convert to follower", voter,
			`m.why("%d wants term %d -> deny it: %s", msg.From, msg.Term, no)`,
			"m.state.Vote, m.dirty = algorithms.Vote{Term: msg.Term}, true; m.voter.over = true", "one-holder",
		},
		{
			"After a start it votes in no new term", voter,
			"case m.now.Before(m.voter.boot):", "case false:", "one-holder",
		},
		{
			"for as long as any promise of its former life may run", voter,
			"m.state.Promise = max(m.state.Promise, m.cfg.Promise)", "", "one-holder",
		},
		{
			"of its former life, which may have had longer ones", machine,
			"if p := m.state.Promise; p > 0 {", "if p := m.cfg.Promise; m.state.Promise > 0 {", "boot-wait",
		},
		{
			"Neither release ends that", voter,
			"\tm.voter.over = true\n\tm.standBy(",
			"\tm.voter.over, m.voter.boot = true, time.Time{}\n\tm.standBy(", "boot-wait",
		},
		{
			"nor proof ends that", machine,
			"\t\tm.voter.over = true\n", "\t\tm.voter.over, m.voter.boot = true, time.Time{}\n", "boot-wait",
		},
	}
}

func raftCandidateMutants() []mutant {
	const candidate = "raft/candidate.go"
	return []mutant{
		{
			"No term is taken before a majority would vote in it", candidate,
			"if s.yes.Of(m.voters) && s.yes.Has(m.cfg.Self) {", "if s.yes.Has(m.cfg.Self) {", "asked-first",
		},
		{
			"PRE_VOTE: answers to an older round do not count", candidate,
			"b.Session != m.cfg.Session || b.Nonce != s.nonce {\n\t\treturn\n\t}\n\tswitch",
			"b.Session != m.cfg.Session {\n\t\treturn\n\t}\n\tswitch", "asked-first",
		},
		{
			"It then votes for itself", candidate,
			"\tm.vote(s.term, m.cfg.Self, m.cfg.Session)\n", "", "vote-first",
		},
		{
			"The lease runs from before the first REQUEST_VOTE left", candidate,
			"end := s.noted.Add(", "end := m.now.Add(", "one-holder",
		},
		{
			"and is shorter than the promise by all that clocks may differ", "office/timing.go",
			"return p/(million+Drift)*(million-Drift) - margin", "return p", "inside-promises",
		},
		{
			"Only votes of this very round of questions count", candidate,
			"r.Nonce != s.nonce || msg.Term != s.term ||", "msg.Term != s.term ||", "inside-promises",
		},
		{
			"once a voter", "quorum/quorum.go", "if !slices.Contains(c.yes, id) {", "if true {", "one-holder",
		},
		{
			"a voter: of the configured ones", "raft/raft.go",
			"if !m.voters.Has(msg.From) || msg.From == m.cfg.Self ||", "if msg.From == m.cfg.Self ||", "one-holder",
		},
		{
			"a majority: more than half", "quorum/quorum.go", "len(v)/2 + 1", "(len(v)+1)/2", "one-holder",
		},
		{
			"and only before the lease would end", candidate, "|| !m.now.Before(end) ||", "||", "lease-ahead",
		},
		{
			"three candidacies in a row failed: others may try", "raft/eligible.go",
			"m.recess = m.now.Add(recessOf(m.cfg.Promise))", "", "recess",
		},
		{
			"A node that may not lead does not stand", "raft/eligible.go",
			`return !m.resigned && m.ineligible() == ""`, "return !m.resigned", "ineligible-never-stands",
		},
	}
}

func raftLeaderMutants() []mutant {
	const leader = "raft/leader.go"
	return []mutant{
		{
			"After two rounds without a majority it asks no more", "raft/timing.go",
			"const mostRounds = 2", "const mostRounds = 9", "asks-no-more",
		},
		{
			"It keeps to its lease", "raft/raft.go",
			"if m.belief.ID == 0 || m.now.Before(m.belief.Until) {",
			"if m.belief.ID == 0 || m.leads() || m.now.Before(m.belief.Until) {", "one-holder",
		},
		{
			"it leads no more; then its work stops; only then RELEASE", leader,
			"\t\ts.leaving = s.term\n", "\t\tm.release(s.term)\n", "one-holder",
		},
		{
			"only then RELEASE", leader, "\t\ts.leaving = s.term\n", "\t\tm.release(s.term)\n", "released-last",
		},
		{
			"its work stops; only then TIMEOUT_NOW", "raft/transfer.go",
			"h.heir, h.told = heir, told\n", "h.heir, h.told = heir, told\n\tm.tellHeir(msg.Term)\n", "released-last",
		},
		{
			"a higher term stands: a late HEARTBEAT undoes nothing", leader,
			"case epoch.Compare(m.seen) < 0, m.stand.role >= candidate && msg.Term < m.stand.term:", "case false:",
			"newer-stands",
		},
		{
			"If it leads, it leaves", "raft/eligible.go",
			`m.leave("not eligible: " + m.barred)`, "", "ineligible-never-stands",
		},
		{
			"at most once in a while, ever more rarely", "raft/prefer.go",
			"p.until = m.now.Add(preferPenalty(m.cfg.Promise, p.times))", "", "calm-preference",
		},
	}
}

func raftRejoinMutants() []mutant {
	const back = "raft/rejoin.go"
	return []mutant{
		{
			"A voter that lost its disk waits first", back, "due: m.now.Add(wait)}", "due: m.now}", "readmission",
		},
		{
			"A longer promise means waiting on", back,
			"r.promise, r.due = b.Promise, r.began.Add(office.BootWait(b.Promise))",
			"r.promise = b.Promise", "readmission",
		},
		{
			"and asking again", back, "\t\tr.nonce++\n\t\tr.told.Reset()\n\t\treturn\n", "", "readmission",
		},
		{
			"each once", back, "r.told.Add(msg.From)", "r.told.Add(msg.From); r.told.Add(m.cfg.Self)", "readmission",
		},
		{
			"It takes the highest term", back, "Vote: algorithms.Vote{Term: r.voted},", "", "readmission",
		},
		{
			"It votes for nobody until then", "raft/voter.go",
			"\tcase m.rejoin.active:\n\t\treturn refusal{bar: proto.BarBoot}, time.Time{}\n", "", "readmission",
		},
		{
			"One that lost its own tells nothing", back, "\tcase m.rejoin.active:\n", "", "readmission",
		},
		{
			"A vote above all that it made itself is one of a former life", back,
			"if m.new && msg.Term > m.state.Vote.Term {", "if m.new {", "readmission",
		},
		{
			"It rejoins at all", "raft/raft.go", "\t\tm.beginRejoin()\n\t\treturn\n", "", "readmission",
		},
	}
}
