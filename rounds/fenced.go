package rounds

import "github.com/ringleader-dev/ringleader/algorithms"

// Fenced is one thing that a step learned about a former leader. That leader must stop before another leads.
type Fenced struct {
	Result algorithms.FenceResult
	Node   uint64
	How    string // in the fence agent's words
}

// Fenced returns what the step learned about former leaders.
func (s *Step) Fenced() (list []Fenced) {
	for i := range s.reasons {
		why := &s.reasons[i]
		if f, ok := decided[algorithms.Fences](why); ok {
			list = append(list, Fenced{f.Result, why.number(f.ID), why.words(f.How)})
		}
	}
	return list
}

// Unstopped names the former leaders that the node waits for, although a majority voted for it. It
// returns "" if there are none.
func (s *Step) Unstopped() string {
	for i := range s.reasons {
		if u, ok := decided[algorithms.Unstopped](&s.reasons[i]); ok {
			return s.reasons[i].words(u.Former)
		}
	}
	return ""
}

// Causes returns the causes of the step's reasons, in words. It leaves out reasons that only adopt
// the term of a message.
func (s *Step) Causes() (causes []string) {
	for i := range s.reasons {
		if _, enters := decided[algorithms.Enters](&s.reasons[i]); !enters {
			cause := s.reasons[i].before()
			causes = append(causes, cause)
		}
	}
	return causes
}
