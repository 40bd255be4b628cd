package rounds

import "github.com/ringleader-dev/ringleader/algorithms/catalog"

// self stands for the node that wrote the reason.
const self = -1

// none stands for nobody.
const none = -2

type verdictPhrase struct {
	pattern     string
	kind        VerdictKind
	loser, over int
}

// verdictPhrases are the reasons that decide between two candidates. loser and
// over are places among the numbers of the phrase, or self.
var verdictPhrases = []verdictPhrase{
	{"# ranks below this node -> say OK", Outranked, 0, self},
	{"# asks the leader of term # -> say OK and who leads", Outranked, 0, self},
	{"# is higher and alive -> wait for COORDINATOR", Outranked, self, 0},
	{"# ranks above this node -> do not answer", Outranked, self, 0},
	{"# ranks above this node -> pass it on", Outranked, self, 0},
	{"# ranks below this node -> put itself in its place", Outranked, 0, self},
	{"# ranks below what this node passed on -> drop it", Outranked, 0, self},
	{"# ranks above this node -> pass its probe on", Outranked, self, 0},
	{"# ranks above this node, its probe came # links far -> send a reply back", Outranked, self, 0},
	{"# ranks below this node -> drop its probe", Outranked, 0, self},
	{"# ranks below this node -> drop its probe and stand", Outranked, 0, self},
	{"all ids are here, # is the largest -> wait for COORDINATOR", Outranked, self, 0},
	{"no more ids came in time, # is the largest -> wait for COORDINATOR", Outranked, self, 0},
	{"one that sent its id is gone, # is the largest -> wait for COORDINATOR", Outranked, self, 0},
	{"ELECTION is back -> choose #, the highest on it", Outranked, self, 0},
	{"ELECTION has been all round and nobody stopped it -> choose #, the highest on it", Outranked, self, 0},
	{"# ranks above this node -> stand no more", Outranked, self, 0},
	{"# ranks below this node -> it falls", Outranked, 0, self},
	{"# wants to lead -> stop, and wait for it", Outranked, self, 0},
	{"# ranks below this node -> reject, and stand", Outranked, 0, self},
	{"this node waits for #, which ranks above # -> reject", Outranked, 1, 0},
	{"# waits for #, which ranks above this node -> wait for it too", Outranked, self, 1},
	{"# rejects, and ranks above this node -> wait for it", Outranked, self, 0},
	{"# is the highest -> ask it to stand", Outranked, self, 0},
	{"# invites -> accept", Outranked, self, 0},
	{"# invites, and # ranks above it -> stay in its group", Outranked, 0, 1},
	{"# invites, and ranks below this node -> do not accept", Outranked, 0, self},
	{"# is the next above -> watch it, it sees to the election", Outranked, self, 0},
	{"# is the next above -> ask whether it is there", Outranked, self, 0},
	{"# is the next above now -> watch it", Outranked, self, 0},
	{"# stands -> ACK", Outranked, self, 0},
	{"ACK went to # -> none to #", Refused, 1, 0},
	{"a majority promised -> ask all to accept #", Outranked, self, 0},
	{"# proposes # -> accept", Outranked, self, 1},
	{"initiator # is below # -> suppress its ELECTION", Suppressed, 0, 1},
	{"# asks for term # -> no, promised #", Refused, 0, 2},
	{"# asks for term # -> no, voted #", Refused, 0, 2},
	{"# asks for term # -> no, stands itself #", Refused, 0, 2},
	{"# asks for term # -> no, just started", Refused, 0, none},
	{"# wants term # -> deny it: no, promised #", Refused, 0, 2},
	{"# wants term # -> deny it: no, voted #", Refused, 0, 2},
	{"# wants term # -> deny it: no, stands itself #", Refused, 0, 2},
	{"# wants term # -> deny it: no, just started", Refused, 0, none},
	{"# released term # -> deny it", Refused, 0, none},
	{"two leaders of term # meet, # stands over # -> step down", Deposed, 2, 1},
	{"# leads term #, which stands over # -> tell #", Deposed, 2, 0},
	{"# led term #, which stood over # -> it must take the next", Deposed, 2, 0},
	{"# led term #, which stood over # -> do not follow", Deposed, 2, 0},
}

type denial struct {
	pattern string
	over    int
	bar     string
}

// denials are how a candidate writes down what a voter refused it: the voter is
// the first number, over is as above. bar is the voter's own word for it.
var denials = []denial{
	{"# says no, promised #", 1, "promised 0"},
	{"# says no, voted #", 1, "voted 0"},
	{"# says no, stands itself #", 1, "stands itself 0"},
	{"# says no, just started", none, "just started"},
	{"# denies term #: no, promised #", 2, "promised 0"},
	{"# denies term #: no, voted #", 2, "voted 0"},
	{"# denies term #: no, stands itself #", 2, "stands itself 0"},
	{"# denies term #: no, just started", none, "just started"},
}

var (
	verdictBook = newBook(verdictPhrases, func(p verdictPhrase) string { return p.pattern })
	denialBook  = newBook(denials, func(p denial) string { return p.pattern })
)

// addVerdicts adds what the step decided between candidates; of the same verdict
// on the same pair, the first.
func (r *Round) addVerdicts(s *Step, known map[Verdict]bool) {
	for _, why := range s.Why {
		v, rule, ok := verdictIn(why, s.Ref.Node)
		if !ok || known[v] {
			continue
		}
		known[v] = true
		if v.Kind != Refused {
			v.By = s.Ref.Node
		}
		v.Why, v.Ref, v.At = why, s.Ref, s.At
		v.Rule = catalog.Sentence(r.Algorithm, rule)
		r.Verdicts = append(r.Verdicts, v)
	}
}

// verdictIn reads a reason that the node wrote: what makes the verdict the same
// as another, and the reason whose rule it follows.
func verdictIn(why string, node uint64) (v Verdict, rule string, ok bool) {
	for _, i := range verdictBook.like(why) {
		p := verdictPhrases[i]
		n, fits := phrase(p.pattern, why)
		if !fits {
			continue
		}
		v = Verdict{Kind: p.kind, Loser: named(p.loser, n, node), Over: named(p.over, n, node)}
		if v.Kind == Refused {
			v.By = node // each voter answers for itself
		}
		return v, why, true
	}
	for _, i := range denialBook.like(why) {
		p := denials[i]
		if n, fits := phrase(p.pattern, why); fits {
			v = Verdict{Kind: Refused, Loser: node, Over: named(p.over, n, node), By: n[0]}
			return v, "0 asks for term 0 -> no, " + p.bar, true
		}
	}
	return Verdict{}, "", false
}

// named is whom a place in a phrase stands for, 0 for nobody.
func named(place int, n numbers, node uint64) uint64 {
	switch place {
	case self:
		return node
	case none:
		return 0
	}
	return n[place]
}
