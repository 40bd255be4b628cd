package lease

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

var reasons = algorithms.ReasonsOf("lease")

// Reasons returns the reasons of this package, which all nominating algorithms share.
func Reasons() []*algorithms.ReasonKind { return reasons.All() }

// The rules that several reasons follow, in the words of our own documentation.
const (
	onceAMajority = "The lease makes a nominee a leader: a majority of voters, each at most once a term, durably, " +
		"and for as long as its promise."
	asksFirst = "It asks first, and requests votes only when a majority would give them."
	votesOnce = "It votes once a term, durably before it answers, for one process: an id and an incarnation."
	whenOver  = "In a higher term it votes when its promise is over: run out, released by the very process it " +
		"voted for, or that process is proven dead."
	afterAStart = "After a start it votes in no new term for as long as any promise of its former life may run."
)

// refusals has one kind of reason for each Denial. The reason says why a voter says no.
type refusals map[proto.Denial]*algorithms.ReasonKind

// refusalsOf declares a kind of reason for each Denial. Its code begins with the text word, and its
// sentence with the text begins. next is the place of its last argument: the node to which the voter has
// given its promise or vote.
func refusalsOf(word, begins string, answers algorithms.Answers, next algorithms.Place) refusals {
	family := refusals{}
	declare := func(denial proto.Denial, code string, is algorithms.Denial, ends, rule string, to algorithms.Place) {
		answers.Denial, answers.To = is, to
		verdict := algorithms.Refuses(answers.Candidate, to)
		if answers.Voter != algorithms.Self {
			verdict = algorithms.RefusedBy(answers.Voter, to)
		}
		family[denial] = reasons.Kind(word+"-"+code, begins+"no, "+ends, answers, verdict).Follows(rule)
	}
	declare(proto.DeniedPromised, "promised", algorithms.DeniedPromised, "promised %d", whenOver, next)
	declare(proto.DeniedVoted, "voted", algorithms.DeniedVoted, "voted %d", votesOnce, next)
	declare(proto.DeniedStands, "stands", algorithms.DeniedStands, "stands itself %d", "", next)
	declare(proto.DeniedStarted, "started", algorithms.DeniedStarted, "just started", afterAStart, algorithms.Nobody)
	declare(proto.DeniedVoters, "voters", algorithms.DeniedOther, "has other voters", "", algorithms.Nobody)
	return family
}

// of returns the reason for an answer that is no.
func (r refusals) of(no proto.Answer, args ...any) algorithms.Reason {
	switch no.Denial {
	case proto.DeniedPromised, proto.DeniedVoted, proto.DeniedStands:
		args = append(args, no.To)
	}
	return r[no.Denial].Of(args...)
}

// WhyRefused returns the kinds of reasons for which a voter refuses a candidate because of this denial.
func WhyRefused(denial proto.Denial) []*algorithms.ReasonKind {
	return []*algorithms.ReasonKind{whyNo[denial], whyDeny[denial], whySays[denial]}
}
