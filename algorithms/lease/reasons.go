package lease

import "github.com/ringleader-dev/ringleader/algorithms"

// reasons are those of leases. The Machines give them as sentences still; records are
// read as if they had given these.
var reasons = algorithms.ReasonsOf("lease")

// Reasons are those of leases, whichever Machine gives them.
func Reasons() []*algorithms.ReasonKind { return reasons.All() }

// The rules that several reasons follow, as our own documentation has them.
const (
	onceAMajority = "The office makes a nominee a leader: a majority of voters, each at most once a term, durably, " +
		"and for as long as its promise."
	asksFirst = "It asks first, and claims only when a majority would grant."
	votesOnce = "It votes once a term, durably before it answers, for one process: an id and a session."
	whenOver  = "A higher term it grants when its promise is over: run out, released by the very process it " +
		"voted for, or that process is proven dead."
	afterAStart = "After a start it grants no new term for as long as any promise of its former life may run."
)

// What voters and candidates say to each other.
var (
	WhyYes = reasons.Kind("yes", "%d asks for term %d -> yes",
		algorithms.Answers{Voter: algorithms.Self, Candidate: 0, Term: 1, Yes: true, To: algorithms.Nobody})
	WhyNoPromised = reasons.Kind("no-promised", "%d asks for term %d -> no, promised %d",
		algorithms.Answers{Voter: algorithms.Self, Candidate: 0, Term: 1, Bar: algorithms.BarPromised, To: 2},
		algorithms.Refuses(0, 2)).
		Follows(whenOver)
	WhyNoVoted = reasons.Kind("no-voted", "%d asks for term %d -> no, voted %d",
		algorithms.Answers{Voter: algorithms.Self, Candidate: 0, Term: 1, Bar: algorithms.BarVoted, To: 2},
		algorithms.Refuses(0, 2)).
		Follows(votesOnce)
	WhyNoStands = reasons.Kind("no-stands", "%d asks for term %d -> no, stands itself %d",
		algorithms.Answers{Voter: algorithms.Self, Candidate: 0, Term: 1, Bar: algorithms.BarStands, To: 2},
		algorithms.Refuses(0, 2))
	WhyNoStarted = reasons.Kind("no-started", "%d asks for term %d -> no, just started",
		algorithms.Answers{Voter: algorithms.Self, Candidate: 0, Term: 1, Bar: algorithms.BarStarted, To: algorithms.Nobody},
		algorithms.Refuses(0, algorithms.Nobody)).
		Follows(afterAStart)
	WhyNoOther = reasons.Kind("no-other", "%d asks for term %d -> no, %s",
		algorithms.Answers{Voter: algorithms.Self, Candidate: 0, Term: 1, Bar: algorithms.BarOther, To: 2})
	WhyNowYes = reasons.Kind("now-yes", "%d asked for term %d -> yes",
		algorithms.Answers{Voter: algorithms.Self, Candidate: 0, Term: 1, Yes: true, To: algorithms.Nobody})
	WhyStillNoPromised = reasons.Kind("still-no-promised", "%d asked for term %d -> no, promised %d",
		algorithms.Answers{Voter: algorithms.Self, Candidate: 0, Term: 1, Bar: algorithms.BarPromised, To: 2})
	WhyStillNoVoted = reasons.Kind("still-no-voted", "%d asked for term %d -> no, voted %d",
		algorithms.Answers{Voter: algorithms.Self, Candidate: 0, Term: 1, Bar: algorithms.BarVoted, To: 2})
	WhyStillNoStands = reasons.Kind("still-no-stands", "%d asked for term %d -> no, stands itself %d",
		algorithms.Answers{Voter: algorithms.Self, Candidate: 0, Term: 1, Bar: algorithms.BarStands, To: 2})
	WhyStillNoStarted = reasons.Kind("still-no-started", "%d asked for term %d -> no, just started",
		algorithms.Answers{Voter: algorithms.Self, Candidate: 0, Term: 1, Bar: algorithms.BarStarted, To: algorithms.Nobody})
	WhyStillNoOther = reasons.Kind("still-no-other", "%d asked for term %d -> no, %s",
		algorithms.Answers{Voter: algorithms.Self, Candidate: 0, Term: 1, Bar: algorithms.BarOther, To: 2})
	WhyDenyPromised = reasons.Kind("deny-promised", "%d wants term %d -> deny it: no, promised %d",
		algorithms.Answers{Voter: algorithms.Self, Candidate: 0, Term: algorithms.Nobody, Bar: algorithms.BarPromised, To: 2},
		algorithms.Refuses(0, 2)).
		Follows(whenOver)
	WhyDenyVoted = reasons.Kind("deny-voted", "%d wants term %d -> deny it: no, voted %d",
		algorithms.Answers{Voter: algorithms.Self, Candidate: 0, Term: algorithms.Nobody, Bar: algorithms.BarVoted, To: 2},
		algorithms.Refuses(0, 2)).
		Follows(votesOnce)
	WhyDenyStands = reasons.Kind("deny-stands", "%d wants term %d -> deny it: no, stands itself %d",
		algorithms.Answers{Voter: algorithms.Self, Candidate: 0, Term: algorithms.Nobody, Bar: algorithms.BarStands, To: 2},
		algorithms.Refuses(0, 2))
	WhyDenyStarted = reasons.Kind("deny-started", "%d wants term %d -> deny it: no, just started",
		algorithms.Answers{Voter: algorithms.Self, Candidate: 0, Term: algorithms.Nobody, Bar: algorithms.BarStarted, To: algorithms.Nobody},
		algorithms.Refuses(0, algorithms.Nobody)).
		Follows(afterAStart)
	WhyDenyOther = reasons.Kind("deny-other", "%d wants term %d -> deny it: no, %s",
		algorithms.Answers{Voter: algorithms.Self, Candidate: 0, Term: algorithms.Nobody, Bar: algorithms.BarOther, To: 2})
	WhyDenyReleased = reasons.Kind("deny-released", "%d released term %d -> deny it",
		algorithms.Refuses(0, algorithms.Nobody))
	WhySaysPromised = reasons.Kind("says-promised", "%d says no, promised %d",
		algorithms.Answers{Voter: 0, Candidate: algorithms.Self, Term: algorithms.Nobody, Bar: algorithms.BarPromised, To: 1},
		algorithms.RefusedBy(0, 1)).
		Follows(whenOver)
	WhySaysVoted = reasons.Kind("says-voted", "%d says no, voted %d",
		algorithms.Answers{Voter: 0, Candidate: algorithms.Self, Term: algorithms.Nobody, Bar: algorithms.BarVoted, To: 1},
		algorithms.RefusedBy(0, 1)).
		Follows(votesOnce)
	WhySaysStands = reasons.Kind("says-stands", "%d says no, stands itself %d",
		algorithms.Answers{Voter: 0, Candidate: algorithms.Self, Term: algorithms.Nobody, Bar: algorithms.BarStands, To: 1},
		algorithms.RefusedBy(0, 1))
	WhySaysStarted = reasons.Kind("says-started", "%d says no, just started",
		algorithms.Answers{Voter: 0, Candidate: algorithms.Self, Term: algorithms.Nobody, Bar: algorithms.BarStarted, To: algorithms.Nobody},
		algorithms.RefusedBy(0, algorithms.Nobody)).
		Follows(afterAStart)
	WhySaysOther = reasons.Kind("says-other", "%d says no, %s",
		algorithms.Answers{Voter: 0, Candidate: algorithms.Self, Term: algorithms.Nobody, Bar: algorithms.BarOther, To: 1})
	WhyDeniesPromised = reasons.Kind("denies-promised", "%d denies term %d: no, promised %d",
		algorithms.Answers{Voter: 0, Candidate: algorithms.Self, Term: algorithms.Nobody, Bar: algorithms.BarPromised, To: 2},
		algorithms.RefusedBy(0, 2)).
		Follows(whenOver)
	WhyDeniesVoted = reasons.Kind("denies-voted", "%d denies term %d: no, voted %d",
		algorithms.Answers{Voter: 0, Candidate: algorithms.Self, Term: algorithms.Nobody, Bar: algorithms.BarVoted, To: 2},
		algorithms.RefusedBy(0, 2)).
		Follows(votesOnce)
	WhyDeniesStands = reasons.Kind("denies-stands", "%d denies term %d: no, stands itself %d",
		algorithms.Answers{Voter: 0, Candidate: algorithms.Self, Term: algorithms.Nobody, Bar: algorithms.BarStands, To: 2},
		algorithms.RefusedBy(0, 2))
	WhyDeniesStarted = reasons.Kind("denies-started", "%d denies term %d: no, just started",
		algorithms.Answers{Voter: 0, Candidate: algorithms.Self, Term: algorithms.Nobody, Bar: algorithms.BarStarted, To: algorithms.Nobody},
		algorithms.RefusedBy(0, algorithms.Nobody)).
		Follows(afterAStart)
	WhyDeniesOther = reasons.Kind("denies-other", "%d denies term %d: no, %s",
		algorithms.Answers{Voter: 0, Candidate: algorithms.Self, Term: algorithms.Nobody, Bar: algorithms.BarOther, To: 2})
)

// How a node comes to lead, and ceases to.
var (
	WhyVacant = reasons.Kind("vacant", "no office was heard of for long",
		algorithms.Caused(algorithms.Vacant))
	WhyNominated = reasons.Kind("nominated", "this node is nominated and nobody holds the office",
		algorithms.Caused(algorithms.Vacant))
	WhyMayBeNominated = reasons.Kind("may-be-nominated", "this node may be nominated and nobody holds the office",
		algorithms.Caused(algorithms.Vacant))
	WhyChosen = reasons.Kind("chosen", "this node was chosen and nobody holds the office",
		algorithms.Caused(algorithms.Vacant))
	WhyAsk = reasons.Kind("ask", "%s -> ask the voters for term %d",
		algorithms.Stands{Cause: 0, Term: 1})
	WhyClaim = reasons.Kind("claim", "a majority would grant term %d -> claim it",
		algorithms.Stands{Cause: algorithms.Self, Term: 0},
		algorithms.Caused(algorithms.Vacant)).
		Follows(asksFirst)
	WhyBecomeCandidate = reasons.Kind("become-candidate", "a majority would grant term %d -> become candidate").
				Follows(asksFirst)
	WhyWouldGrant = reasons.Kind("would-grant", "a majority would grant term %d",
		algorithms.Caused(algorithms.Vacant)).
		Follows(asksFirst)
	WhyHold = reasons.Kind("hold", "a majority granted term %d -> hold the office",
		algorithms.Wins{Cause: algorithms.Self, Term: 0},
		algorithms.Leads{Term: 0}).
		Follows(onceAMajority)
	WhyLead = reasons.Kind("lead", "a majority granted term %d -> lead term %d",
		algorithms.Wins{Cause: algorithms.Self, Term: 0},
		algorithms.Leads{Term: 0}).
		Follows(onceAMajority)
	WhyGranted = reasons.Kind("granted", "a majority granted term %d").
			Follows(onceAMajority)
	WhyFenceFirst = reasons.Kind("fence-first", "a majority granted term %d, but %s not seen to stop -> see to that first",
		algorithms.Unstopped{Former: 1})
	WhyFormerStopped = reasons.Kind("former-stopped", "whoever held the office before has stopped -> hold the office",
		algorithms.Wins{Cause: algorithms.Self, Term: algorithms.Nobody})
	WhyFollow = reasons.Kind("follow", "%d holds the office, term %d -> follow it",
		algorithms.Follows{Term: 1})
	WhyGrant = reasons.Kind("grant", "nothing binds this voter -> grant %d term %d",
		algorithms.Votes{Term: 1})
	WhyVote = reasons.Kind("vote", "nothing binds this voter -> vote for %d in term %d",
		algorithms.Votes{Term: 1})
	WhyNotRenewed = reasons.Kind("not-renewed", "leader %d has not renewed -> nobody holds the office")
	WhyReadmit    = reasons.Kind("readmit", "%d other voters know of no term above %d -> vote again, above that",
		algorithms.Readmits{})
	WhyRanOut = reasons.Kind("ran-out", "the lease ran out",
		algorithms.LeaseEnds{})
	WhyRanOutUnseen = reasons.Kind("ran-out-unseen", "the lease ran out before it was renewed",
		algorithms.LeaseEnds{})
	WhyFenced = reasons.Kind("fenced", "%d is fenced, %s -> it has stopped",
		algorithms.Fences{Result: algorithms.FenceDone, ID: 0, How: 1})
	WhyNotFenced = reasons.Kind("not-fenced", "%d is not fenced, %s -> leave the office to others",
		algorithms.Fences{Result: algorithms.FenceFailed, ID: 0, How: 1})
	WhyFenceAgain = reasons.Kind("fence-again", "%d is not fenced, %s -> do not take the office, try again in %v",
		algorithms.Fences{Result: algorithms.FenceFailed, ID: 0, How: 1})
	WhyCallBack = reasons.Kind("call-back", "%d was seen to stop -> call the fence agent back",
		algorithms.Fences{Result: algorithms.FenceNoNeed, ID: 0, How: algorithms.Nobody})
)
