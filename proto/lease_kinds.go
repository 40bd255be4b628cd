package proto

// The kinds of the messages by which voters give leases and leaders hand over.
var (
	KindRenew   = leaseKind(35, "RENEW", "I lead: promise again")
	KindRelease = leaseKind(38, "RELEASE", "I lead no more: your promise to me is over")
	KindLease   = leaseKind(39, "LEASE", "I lead, so long")

	KindOffer    = leaseKind(48, "OFFER", "would you lead after me?")
	KindReply    = leaseKind(49, "REPLY", "yes, or why not")
	KindTakeOver = leaseKind(50, "TIMEOUT_NOW", "I lead no more: take the next term", HandsOver)

	// How a voter that lost its disk comes back, or finds out that it lost nothing.
	KindRecover    = leaseKind(56, "RECOVER", "I lost what I voted: what do you know?")
	KindVoterState = leaseKind(57, "VOTER_STATE", "this is the last vote that I know of")
	KindUnvoted    = leaseKind(58, "UNVOTED", "I never voted, and these said so too")

	KindPreVote        = leaseKind(84, "PRE_VOTE", "would you vote for me in the term?")
	KindRequestVote    = leaseKind(85, "REQUEST_VOTE", "vote for me in the term")
	KindVote           = leaseKind(86, "VOTE", "you have my vote and my promise, nobody else gets them; or what binds me")
	KindHeartbeat      = leaseKind(87, "HEARTBEAT", "I lead, so long: promise again")
	KindHeartbeatReply = leaseKind(88, "HEARTBEAT_REPLY", "I follow, and promise again; or what binds me")
	KindPreVoteReply   = leaseKind(89, "PRE_VOTE_REPLY", "yes, or what binds me")
)

// LeaseKinds are all of them.
func LeaseKinds() []Kind {
	return []Kind{
		KindRenew, KindRelease, KindLease, KindOffer, KindReply, KindTakeOver, KindRecover, KindVoterState, KindUnvoted,
		KindPreVote, KindRequestVote, KindVote, KindHeartbeat, KindHeartbeatReply, KindPreVoteReply,
	}
}

// leaseKind declares a kind of this package, whose wire structs stand apart from its bodies.
func leaseKind(number uint8, name, says string, traits ...Trait) Kind {
	return newRow(number, name, says, traits)
}

func describe(b Body, pairs ...any) string { return Describe(b, pairs...) }
