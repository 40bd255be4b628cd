package sim

// recoveryMutants are the rules of the recovery from split brains, one removed at a time.
//
// Not in the list, for no run can tell, is what only saves time and messages, or makes
// reports better:
//
//   - With pre-emption the nominee waits for the node that will take over: without, a
//     split might be reconciled twice.
//   - A STOP of an older term is dropped: it would only keep followers waiting.
//   - A node that was out of reach hears of the split that was recovered from. That, and that
//     the overlap is told without the way of the reports, the scenarios show.
//   - A split is of two nodes: nobody gives two reports of one time.
//   - A late report settles nothing, one that came sooner is the better one, and a
//     STOP that is not said again ends: it takes more bad luck than runs have. The
//     tests of recovery show these.
func recoveryMutants() []mutant {
	const (
		machine, recovery = "splitbrain/machine.go", "splitbrain/recovery.go"
		receive, ledger   = "splitbrain/receive.go", "splitbrain/ledger.go"
	)
	return []mutant{
		{
			"A process that led gives a report of its leadership", machine,
			"return !r.settled && !its",
			"return r.settled && !its", "recovered-in-the-end",
		},
		{
			"again and again", machine,
			"r.sayAt = m.now.Add(SayEvery(m.cfg.Delta))\n\t\t\tm.send(",
			"r.sayAt = m.now.Add(time.Hour)\n\t\t\tm.send(", "recovered-in-the-end",
		},
		{
			"and to the next nominee too", machine,
			"r.settled = r.settled && own > ownLeaderships",
			"", "recovered-in-the-end",
		},
		{
			"Two leaderships that overlapped are a split", ledger,
			"return apart > relief",
			"return false", "recovered-in-the-end",
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
			"It recovers once the work of each of them has stopped", recovery,
			"if !r.stopped && m.inReach(r) {",
			"if !r.stopped && false {", "stopped-first",
		},
		{
			"its own too", machine,
			"if e.Incarnation == m.cfg.Incarnation {\n\t\treturn true",
			"if e.Incarnation == m.cfg.Incarnation {\n\t\treturn false", "stopped-first",
		},
		{
			"stopped: as its process says", receive,
			"r.stopped || b.Stopped, cmp.Or(r.after, b.After)\n\tif msg.From",
			"true, cmp.Or(r.after, b.After)\n\tif msg.From", "stopped-first",
		},
		{
			"The nominee stops itself", machine,
			"if m.recovery != nil || m.stop.of == m.nominee.Leadership() {",
			"if m.stop.of == m.nominee.Leadership() {", "stop-said",
		},
		{
			"and those who hear STOP follow nobody", receive,
			"m.stop = stop{of, m.now.Add(StopLasts(m.cfg.Delta))}",
			"", "stop-kept",
		},
		{
			"it repeats STOP", recovery,
			"c.sayAt = m.now.Add(SayEvery(m.cfg.Delta))",
			"c.sayAt = m.now.Add(2*SayEvery(m.cfg.Delta))", "stop-said",
		},
		{
			"and says it to all", recovery,
			"m.tellAll(Stop{Incarnation: m.cfg.Incarnation})",
			"", "stop-said",
		},
		{
			"and tells the rivals of each other", recovery,
			"m.send(to.leadership.Leader, m.report(r))",
			"_ = r", "recovered-in-the-end",
		},
		{
			"What came of another split counts for nothing", recovery,
			"if c == nil || c.asked == nil || ev.Number != c.number {",
			"if c == nil || c.asked == nil {", "reconciled-first",
		},
		{
			"Reconciling that failed: a leader is elected all the same", recovery,
			"m.out.Warn = true\n\t}\n",
			"m.out.Warn = true\n\t\treturn\n\t}\n", "agreement",
		},
		{
			"The recovery ends with an election of a new term", recovery,
			"m.nominate(algorithms.Campaign{Reason: \"recovered from a split\", Anew: true})",
			"", "reconciled-first",
		},
		{
			"which the nominee leads while the cluster is not to elect", recovery,
			", Anew: true",
			"", "reconciled-first",
		},
		{
			"A nominee that is none any more leaves the recovery to the next", recovery,
			"\tm.tellOf(*m.split(algorithms.Left))\n\tm.recovery = nil\n",
			"", "agreement",
		},
		{
			"A process that is gone is not waited for", machine,
			"if p.ID == e.Leader {\n\t\t\treturn p.Incarnation == e.Incarnation",
			"if p.ID == e.Leader {\n\t\t\treturn true", "agreement",
		},
	}
}
