package sim

// mendMutants are the rules of the mending of split brains, one removed at a time.
//
// Not in the list, for no run can tell, is what only saves time and messages, or makes
// reports better:
//
//   - With pre-emption the nominee waits for the node that will take over: without, a
//     split might be reconciled twice.
//   - A TRUCE of an older term is dropped: it would only keep followers waiting.
//   - A node that was out of reach hears of the split that was mended. That, and that
//     the overlap is told without the way of the accounts, the scenarios show.
//   - A split is of two nodes: nobody gives two accounts of one time.
//   - A late account settles nothing, one that came sooner is the better one, and a
//     TRUCE that is not said again ends: it takes more bad luck than runs have. The
//     tests of mending show these.
func mendMutants() []mutant {
	const machine, mending, receive, ledger = "splitbrain/mend.go", "splitbrain/mending.go", "splitbrain/receive.go", "splitbrain/ledger.go"
	return []mutant{
		{
			"A process that led gives an account of its reign", machine,
			"return !r.settled && !its",
			"return r.settled && !its", "mended-in-the-end",
		},
		{
			"again and again", machine,
			"r.sayAt = m.now.Add(SayEvery(m.cfg.Delta))\n\t\t\tm.send(",
			"r.sayAt = m.now.Add(time.Hour)\n\t\t\tm.send(", "mended-in-the-end",
		},
		{
			"and to the next nominee too", machine,
			"r.settled = r.settled && own > ownReigns",
			"", "mended-in-the-end",
		},
		{
			"Two reigns that overlapped are a split", ledger,
			"return apart > relief",
			"return false", "mended-in-the-end",
		},
		{
			"Who hands over leads no more when it says so", ledger,
			", l.follows(a, b), l.follows(b, a):",
			":", "handed-over",
		},
		{
			"that both led: by elapsed times", ledger,
			"until := r.since.Add(-way), r.end(now).Add(-way)",
			"until := r.since.Add(-way), now", "true-overlap",
		},
		{
			"It mends once the work of each of them has stopped", mending,
			"if !r.stopped && m.inReach(r) {",
			"if !r.stopped && false {", "stopped-first",
		},
		{
			"its own too", machine,
			"if e.Session == m.cfg.Session {\n\t\treturn true",
			"if e.Session == m.cfg.Session {\n\t\treturn false", "stopped-first",
		},
		{
			"stopped: as its process says", receive,
			"r.stopped || b.Stopped, cmp.Or(r.after, b.After)\n\tif msg.From",
			"true, cmp.Or(r.after, b.After)\n\tif msg.From", "stopped-first",
		},
		{
			"The nominee stops itself", machine,
			"if m.mending != nil || m.truce.of == m.nominee.Epoch() {",
			"if m.truce.of == m.nominee.Epoch() {", "truce-said",
		},
		{
			"and those who hear TRUCE follow nobody", receive,
			"m.truce = truce{m.nominee.Epoch(), m.now.Add(TruceLasts(m.cfg.Delta))}",
			"", "truce-kept",
		},
		{
			"it repeats TRUCE", mending,
			"c.sayAt = m.now.Add(SayEvery(m.cfg.Delta))",
			"c.sayAt = m.now.Add(2*SayEvery(m.cfg.Delta))", "truce-said",
		},
		{
			"and says it to all", mending,
			"m.tellAll(Truce{Session: m.cfg.Session})",
			"", "truce-said",
		},
		{
			"and tells the rivals of each other", mending,
			"m.send(to.epoch.Leader, m.account(r))",
			"_ = r", "mended-in-the-end",
		},
		{
			"What came of another split counts for nothing", mending,
			"if c == nil || c.asked == nil || ev.Number != c.number {",
			"if c == nil || c.asked == nil {", "reconciled-first",
		},
		{
			"Reconciling that failed: a leader is elected all the same", mending,
			"m.out.Warn = true\n\t}\n",
			"m.out.Warn = true\n\t\treturn\n\t}\n", "agreement",
		},
		{
			"The mending ends with an election of a new term", mending,
			"m.nominate(algorithms.Campaign{Reason: \"a split is mended\", Anew: true})",
			"", "reconciled-first",
		},
		{
			"which the nominee leads while the cluster is not to elect", mending,
			", Anew: true",
			"", "reconciled-first",
		},
		{
			"A nominee that is none any more leaves the mending to the next", mending,
			"\tm.tellOf(*m.split(algorithms.Left))\n\tm.mending = nil\n",
			"", "agreement",
		},
		{
			"A process that is gone is not waited for", machine,
			"if p.ID == e.Leader {\n\t\t\treturn p.Session == e.Session",
			"if p.ID == e.Leader {\n\t\t\treturn true", "agreement",
		},
	}
}
