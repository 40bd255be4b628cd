package rounds

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
)

// Unsaved says that nothing was saved, when a process began, of what one before it of its node had saved: the node may
// have lost its disk.
type Unsaved struct {
	What   Saved `json:"what"`
	Ref    Ref   `json:"ref"`    // the record of the process by which nothing is saved
	Before Ref   `json:"before"` // the last record before by which something was
}

// Saved is what a node saves, so that it outlasts its process.
type Saved string

// What a node saves, as far as records tell it: with a lease what it voted, without one its term.
const (
	Votes Saved = "votes"
	Terms Saved = "terms"
)

// saving is what the records of a process tell of what is saved, by their numbers; 0 for none.
type saving struct {
	none uint64 // nothing was when it began
	some uint64 // the last record by which something is
}

// savings are those of a process: of its votes, and of its term.
type savings struct{ votes, terms saving }

// note takes what a record tells.
func (s *savings) note(rec *trace.Record, reasons []reason) {
	if leased(rec.Guarantee) {
		for i := range reasons {
			s.votes.note(rec.Seq, savesNoVote(&reasons[i]), savesVote(&reasons[i]))
		}
		return
	}
	s.terms.note(rec.Seq, rec.Term == 0, rec.Term > 0) // which is saved before the record is written
	for i := range reasons {
		s.terms.note(rec.Seq, leavesTermZero(&reasons[i]), false)
	}
}

func (s *saving) note(seq uint64, none, some bool) {
	if none && (s.none == 0 || seq < s.none) {
		s.none = seq
	}
	if some {
		s.some = max(s.some, seq)
	}
}

func savesNoVote(why *reason) bool {
	v, ok := decided[algorithms.Voteless](why)
	return ok && !v.Over
}

// savesVote reports whether only a voter gives the reason that saves, in that step, what it votes or may have voted.
func savesVote(why *reason) bool {
	v, over := decided[algorithms.Voteless](why)
	_, readmits := decided[algorithms.Readmits](why)
	_, votes := decided[algorithms.Votes](why)
	stands, claims := decided[algorithms.Stands](why)
	return over && v.Over || readmits || votes || claims && stands.Cause == algorithms.Self
}

// leavesTermZero reports whether the node had not been in any term before the step.
func leavesTermZero(why *reason) bool {
	enters, learns := decided[algorithms.Enters](why)
	opens, calls := decided[algorithms.Opens](why)
	return learns && why.isNumber(enters.Above) && why.number(enters.Above) == 0 ||
		calls && why.number(opens.Term) == 1
}

// kept is what the processes of a node had saved so far, as far as their records tell.
type kept struct {
	votes, terms Ref       // the last records that tell it, zero if nothing is known to have been saved
	until        time.Time // of the last of all records, by the clock of the node
}

// then returns what was saved after the next process.
func (k kept) then(l *life) kept {
	k.votes, k.terms = l.saves.votes.then(l, k.votes), l.saves.terms.then(l, k.terms)
	k.until = latest(k.until, l.until)
	return k
}

func (s saving) then(l *life, before Ref) Ref {
	if s.some > 0 {
		return l.ref(s.some)
	}
	return before
}

// unsaved returns what the process has lost of what its node had kept. It returns nil if no record tells that, or if
// another process of the node ran on, which may have a disk of its own.
func (l *life) unsaved(k kept) *Unsaved {
	none := l.saves
	switch {
	case l.text || l.incarnation == "" || !k.until.Before(l.from):
	case none.votes.none > 0 && !k.votes.IsZero():
		return &Unsaved{Votes, l.ref(none.votes.none), k.votes}
	case none.terms.none > 0 && !k.terms.IsZero():
		return &Unsaved{Terms, l.ref(none.terms.none), k.terms}
	}
	return nil
}
