package rounds

import (
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// Asking says that a candidate had asked for a term, by the record of a voter.
type Asking struct {
	Candidate uint64
	Ref       Ref
	At        time.Time
	// Why are the reasons of the candidate's record By that asked, if that is of another term; empty if it is not here.
	Why string
	By  Ref
}

// question is the record by which a candidate asked for the term of the round, if that is of another term.
type question struct {
	why string
	by  Ref
}

// findQuestion finds the record that sent the question of FirstAsked, if that is of another term: a follower whom the
// leader offers its office asks the voters in the leader's term.
func (r *Round) findQuestion(entries []*entry) {
	asked, ok := r.FirstAsked()
	if i := r.stepOf(asked.Ref); ok && i >= 0 {
		if sent := entries[i].cause; sent != nil && !entries[i].unsure && sent.Ref.Node == asked.Candidate &&
			sent.log != entries[i].log && sent.round < r.Term {
			r.question = question{strings.Join(sent.Why, "; "), sent.Ref}
		}
	}
}

// FirstAsked returns the first record of a voter by which a candidate had asked for the term, before anybody won it. It
// returns false if the round has none.
func (r *Round) FirstAsked() (first Asking, ok bool) {
	steps := r.Steps
	if won := r.decidedAt(); won >= 0 {
		steps = steps[:won]
	}
	for i := range steps {
		st := &steps[i]
		asks := slices.IndexFunc(st.reasons, func(why reason) bool {
			answers, ok := decided[algorithms.Answers](&why)
			return ok && answers.Voter == algorithms.Self && why.term(answers.Term) == r.Term &&
				why.number(answers.Candidate) != 0
		})
		beat := asks >= 0 && st.Received >= 0 && r.Messages[st.Received].Kind == proto.KindHeartbeat.String()
		if asks >= 0 && !beat { // a leader asks with that
			answers, _ := decided[algorithms.Answers](&st.reasons[asks])
			candidate := st.reasons[asks].number(answers.Candidate)
			return Asking{candidate, st.Ref, st.At, r.question.why, r.question.by}, true
		}
	}
	return first, false
}
