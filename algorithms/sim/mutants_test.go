package sim

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
//   - Standing without a nomination, asking again ever more rarely, handing over
//     to a better node, refusing absurd terms: the tests of the office show them.
func officeMutants() []mutant {
	return append(voterMutants(), claimantMutants()...)
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
