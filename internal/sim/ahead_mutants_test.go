package sim

import "testing"

// aheadMutants are the rules of asking the voters ahead, one removed at a time. That it
// asks no more when another is nominated only saves messages; that nothing is claimed
// before this node is nominated, the tests of the office show.
func aheadMutants() []mutant {
	const ahead = "office/ahead.go"
	return []mutant{
		{
			"for the term that it asked for", ahead,
			"case s.Term != m.nextTerm(), !m.Now.Before(s.Due):\n\t\tm.ask()\n",
			"case s.Term != m.nextTerm():\n\t\ts.Term = m.nextTerm()\n\t\tm.countAnswers()\n" +
				"\tcase !m.Now.Before(s.Due):\n\t\tm.ask()\n", "asked-first",
		},
		{
			"answers to an older round do not count", "lease/stand.go",
			"if s.Phase != Asking || b.Session != p.Cfg.Session || b.Nonce != s.Nonce {",
			"if s.Phase != Asking || b.Session != p.Cfg.Session {", "asked-first",
		},
	}
}

// And each rule of asking ahead, where a majority nominates.
func TestEachRuleOfAskingAheadIsNeeded(t *testing.T) {
	species{
		[]string{"office", "lease", "quorum"},
		[]string{"consensus", "zookeeper"},
		"e.WithOffice()", true, true, 2000,
		aheadMutants(),
	}.areCaught(t)
}

func TestLongEachRuleOfAskingAheadIsNeeded(t *testing.T) { TestEachRuleOfAskingAheadIsNeeded(t) }
