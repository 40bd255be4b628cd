package sim

import "testing"

// aheadMutants are the rules of asking the voters ahead, one removed at a time. That it
// asks no more when another is nominated only saves messages; that nothing is claimed
// before this node is nominated, the tests of package lease show.
func aheadMutants() []mutant {
	const ahead = "lease/candidate.go"
	return []mutant{
		{
			"for the term that it asked for", ahead,
			"case s.term != m.nextTerm(), !m.now.Before(s.due):\n\t\tm.ask()\n",
			"case s.term != m.nextTerm():\n\t\ts.term = m.nextTerm()\n\t\tm.countAnswers()\n" +
				"\tcase !m.now.Before(s.due):\n\t\tm.ask()\n", "asked-first",
		},
		{
			"answers to an older round do not count", ahead,
			"s.phase != asking || b.Incarnation != m.cfg.Incarnation || b.Nonce != s.nonce {",
			"s.phase != asking || b.Incarnation != m.cfg.Incarnation {", "asked-first",
		},
	}
}

// And each rule of asking ahead, where a majority nominates.
func TestLongEachRuleOfAskingAheadIsNeeded(t *testing.T) {
	species{
		[]string{"lease", "quorum"},
		[]string{"consensus", "zookeeper"},
		"e.WithLease()", true, true, 2000,
		aheadMutants(),
	}.areCaught(t)
}
