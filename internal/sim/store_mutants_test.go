package sim

import "slices"

// storeMutants are the rules of leadership by an entry in a store, one removed at a time.
//
// Not in the list, for no run can tell, is what the store sees to as well: that the very entry is removed,
// and no other, and that one which is lent by now is not; what only saves time: that the nominee stands
// first, that the entry of the dead is removed, that a successor stands alone; and that a node does not end
// because of a token that was given before a leader of whom it heard since, which is too rare.
func storeMutants() []mutant {
	return slices.Concat(storeLeadMutants(), storeAskMutants(), storeLendMutants())
}

func storeLeadMutants() []mutant {
	const lead, machine = "store/lead.go", "store/machine.go"
	return []mutant{
		{
			"The lease runs from before the ask left", lead,
			"until := began.Add(", "until := m.now.Add(", "first-entry",
		},
		{
			"and is shorter than the TTL by all that clocks may differ", lead,
			"lease.Of(min(ev.Keeps, m.cfg.Promise))", "min(ev.Keeps, m.cfg.Promise)", "first-entry",
		},
		{
			"An answer that comes after the lease would have ended makes nobody a leader", lead,
			"case !m.now.Before(until):", "case false:", "lease-ahead",
		},
		{
			"The term of a leadership is the token that the store gave", lead,
			"Term: own.Token, Until: until}", "Term: m.nominee.Term, Until: until}", "one-holder-a-term",
		},
		{
			"A token that is not above the highest leadership that this node has saved", lead,
			"\tcase m.forgot(ev.Own):\n\tcase ev.Own.Token <= m.state.Vote.Term:\n",
			"\tcase false:\n", "tokens-rise",
		},
		{
			"has saved", lead, "\t\tm.dirty = true\n", "", "tokens-rise",
		},
		{
			"If the store says that the entry is gone, it leads no more from that Step on", lead,
			"m.leave(whyTaken.Of(words(ev.Holder)))\n\t\t} else if", "m.heartbeatAll()\n\t\t} else if",
			"only-the-store",
		},
		{
			"it leads by that very entry", lead,
			"case m.leads() && ev.Own.Key != l.entry.Key:", "case false:", "only-the-store",
		},
		{
			"it leads no more; then its work stops; only then RELEASE", lead,
			"\tl.left, l.stopped = m.belief.Term, false\n",
			"\tl.left, l.stopped = m.belief.Term, false\n" +
				"\tm.tell(l.left, proto.Release{Incarnation: m.cfg.Incarnation})\n", "released-last",
		},
		{
			"A leader whose lease ran out leaves, too: it leads again only with a new entry", lead,
			"\tl.left, l.stopped = m.belief.Term, false\n", "\tl.left = 0\n", "never-ends",
		},
		{
			"No node leads by an entry that it has asked to remove", "store/ask.go",
			"\t\td.given = ask.Remove.Key\n", "", "leaves-last",
		},
		{
			"A node that may not lead does not stand", lead, "\tcase !m.stands():\n", "", "ineligible-never-stands",
		},
		{
			"it leads until its lease ends", machine,
			"m.belief.ID == 0 || m.now.Before(until):", "m.belief.ID == 0 || m.leads() || m.now.Before(until):",
			"lease-ahead",
		},
		{
			"Whoever would take over asks the store first", "store/transfer.go",
			"\tm.handing.open = &msg\n", "\tm.replyTo(msg, b, proto.NoDecline)\n", "could-lead",
		},
		{
			"at most once in a while, ever more rarely", "store/transfer.go",
			"\th.calm = m.now.Add(wait)\n", "", "calm-preference",
		},
	}
}

func storeAskMutants() []mutant {
	const ask = "store/ask.go"
	return []mutant{
		{
			"only then it removes its entry", ask,
			"case l.left != 0 && l.stopped:", "case l.left != 0:", "leaves-last",
		},
		{
			"The entry of a process that is proven dead is removed: a view is no proof", ask,
			"if dead, ok := m.dead[h.ID]; !ok || dead != h.Incarnation {",
			"if algorithms.Lists(m.alive, proto.Peer{ID: h.ID, Incarnation: h.Incarnation}) {", "removes-the-dead",
		},
		{
			"proven dead: and else two work at a time", ask,
			"if dead, ok := m.dead[h.ID]; !ok || dead != h.Incarnation {",
			"if algorithms.Lists(m.alive, proto.Peer{ID: h.ID, Incarnation: h.Incarnation}) {", "one-holder",
		},
		{
			"nor one that is lent", ask, "h.ID == 0 || h.Lent ||", "h.ID == 0 ||", "removes-the-dead",
		},
		{
			"AwaitLeases turns it off", ask, "if m.cfg.AwaitLeases ||", "if", "removes-the-dead",
		},
		{
			"Only an answer of the store makes a leader: to a request for the lead", ask,
			"\tcase ask.Verb == algorithms.AskStand || ask.Verb == algorithms.AskRenew:\n",
			"\tdefault:\n\t\tev.Keeps = m.cfg.Promise\n", "only-the-store",
		},
		{
			"The pause before the next ask grows with each failure", ask,
			"d.retry = m.now.Add(pause)", "d.retry = m.now", "asks-calmly",
		},
		{
			"and the host is not woken before", ask, "if at.Before(d.retry) {", "if false {", "deadline-ahead",
		},
		{
			"whatever it was: the reason to ask for that may be gone", ask,
			"\td.look = d.retry //", "\t//", "agreement",
		},
	}
}

func storeLendMutants() []mutant {
	const lend = "store/lend.go"
	return []mutant{
		{
			"the entry in the store is marked as lent before anything is lent", lend,
			"if !l.wanted || !ask.Lent {", "if !l.wanted {", "one-borrower",
		},
		{
			"Whoever borrows it counts by a clock of its own", lend,
			"lease.ByAnyClock(until.Sub(m.now))", "until.Sub(m.now)+0*lease.ByAnyClock(0)", "one-borrower",
		},
		{
			"a wish of a host whose node leads no more ends", "store/machine.go", "\t\tm.loseLend()\n", "", "lend-ends",
		},
	}
}
