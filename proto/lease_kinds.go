package proto

// The kinds of the messages by which voters give leases and leaders hand over.
var (
	KindRelease = leaseKind(38, "RELEASE", "I lead no more: your promise to me is over")

	KindOffer    = leaseKind(48, "OFFER", "would you lead after me?")
	KindReply    = leaseKind(49, "OFFER_REPLY", "yes, or why not")
	KindTakeOver = leaseKind(50, "TIMEOUT_NOW", "I lead no more: take the next term", HandsOver)

	// KindRecover, KindVoterState and KindUnvoted are for a voter that lost its disk, until it
	// votes again.
	KindRecover    = leaseKind(56, "RECOVER", "I lost what I voted: what do you know?")
	KindVoterState = leaseKind(57, "VOTER_STATE", "this is the last vote that I know of")
	KindUnvoted    = leaseKind(58, "UNVOTED", "I never voted, and these said so too")

	KindPreVote     = leaseKind(84, "PRE_VOTE", "would you vote for me in the term?")
	KindRequestVote = leaseKind(85, "REQUEST_VOTE", "vote for me in the term")
	KindVote        = leaseKind(86, "VOTE",
		"you have my vote and my promise, nobody else gets them; or what binds me")
	KindHeartbeat      = leaseKind(87, "HEARTBEAT", "I lead, so long: promise again")
	KindHeartbeatReply = leaseKind(88, "HEARTBEAT_REPLY", "I follow, and promise again; or what binds me")
	KindPreVoteReply   = leaseKind(89, "PRE_VOTE_REPLY", "yes, or what binds me")
)

// LeaseKinds returns all kinds of messages of leases and of handing over.
func LeaseKinds() []Kind {
	return []Kind{
		KindRelease, KindOffer, KindReply, KindTakeOver, KindRecover, KindVoterState, KindUnvoted,
		KindPreVote, KindRequestVote, KindVote, KindHeartbeat, KindHeartbeatReply, KindPreVoteReply,
	}
}

// leaseKind declares a kind of this package. The bodies of such a kind are encoded by a wire struct
// of this package, and not by their own tags.
func leaseKind(number uint8, name, says string, traits ...Trait) Kind {
	return newRow(number, name, says, traits)
}

func describe(b Body, pairs ...any) string { return Describe(b, pairs...) }
