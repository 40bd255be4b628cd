package rounds

import "github.com/ringleader-dev/ringleader/algorithms/catalog"

// self stands for the node that wrote the reason.
const self = -1

// none stands for nobody.
const none = -2

// verdictPhrases are the reasons that decide between two candidates. loser and
// over are places among the numbers of the phrase, or self.
var verdictPhrases = []struct {
	pattern     string
	kind        VerdictKind
	loser, over int
}{
	{"# ranks below this node -> say OK", Outranked, 0, self},
	{"# asks the leader of term # -> say OK and who leads", Outranked, 0, self},
	{"# is higher and alive -> wait for COORDINATOR", Outranked, self, 0},
	{"# ranks above this node -> do not answer", Outranked, self, 0},
	{"# ranks above this node -> pass it on", Outranked, self, 0},
	{"# ranks below this node -> put itself in its place", Outranked, 0, self},
	{"# ranks below what this node passed on -> drop it", Outranked, 0, self},
	{"initiator # is below # -> suppress its ELECTION", Suppressed, 0, 1},
	{"# asks for term # -> no, promised #", Refused, 0, 2},
	{"# asks for term # -> no, voted #", Refused, 0, 2},
	{"# asks for term # -> no, stands itself #", Refused, 0, 2},
	{"# asks for term # -> no, just started", Refused, 0, none},
	{"# wants term # -> deny it: no, promised #", Refused, 0, 2},
	{"# wants term # -> deny it: no, voted #", Refused, 0, 2},
	{"# wants term # -> deny it: no, stands itself #", Refused, 0, 2},
	{"# wants term # -> deny it: no, just started", Refused, 0, none},
	{"two leaders of term # meet, # stands over # -> step down", Deposed, 2, 1},
	{"# leads term #, which stands over # -> tell #", Deposed, 2, 0},
}

// verdicts adds what the step decided between candidates; of the same verdict
// on the same pair, the first.
func (r *Round) addVerdicts(s *Step, known map[Verdict]bool) {
	for _, why := range s.Why {
		for _, p := range verdictPhrases {
			n, ok := phrase(p.pattern, why)
			if !ok {
				continue
			}
			who := func(place int) uint64 {
				switch place {
				case self:
					return s.Ref.Node
				case none:
					return 0
				}
				return n[place]
			}
			v := Verdict{Kind: p.kind, Loser: who(p.loser), Over: who(p.over)}
			if v.Kind == Refused {
				v.By = s.Ref.Node // each voter answers for itself
			}
			if !known[v] {
				known[v] = true
				v.By, v.Why, v.Ref, v.At = s.Ref.Node, why, s.Ref, s.At
				v.Rule = catalog.Sentence(r.Algorithm, why)
				r.Verdicts = append(r.Verdicts, v)
			}
			break
		}
	}
}
