package rounds

import (
	"fmt"
	"slices"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/words"
)

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

// unfenced is an attempt to fence a node that failed.
type unfenced struct {
	node uint64
	how  string // in the fence agent's words
	ref  Ref
}

// noteUnfenced keeps the attempts of a step that failed.
func (r *Round) noteUnfenced(s *Step) {
	for _, f := range s.Fenced() {
		if f.Result == algorithms.FenceFailed {
			r.unfenced = append(r.unfenced, unfenced{f.Node, f.How, s.Ref})
		}
	}
}

// fenceFailed says how often former leaders could not be fenced, so that nobody else led. It returns "" if none
// failed.
func (in *Incident) fenceFailed() string {
	var all []unfenced
	for _, r := range in.rounds {
		all = append(all, r.unfenced...)
	}
	if len(all) == 0 {
		return ""
	}
	var ids []uint64
	for _, f := range all {
		if !slices.Contains(ids, f.node) {
			ids = append(ids, f.node)
		}
	}
	slices.Sort(ids)
	last := all[len(all)-1]
	in.prove(all[0].ref)
	in.prove(last.ref)
	in.unfenced = true
	return fmt.Sprintf("by the records %s to fence %s failed (%s)", words.Plural(len(all), "attempt"),
		words.Nodes(ids), last.how)
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
