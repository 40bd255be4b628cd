package proto

// The kinds of the messages by which voters give leases and leaders hand over.
var (
	KindAsk     = leaseKind(32, "ASK", "would you grant me the term?")
	KindAnswer  = leaseKind(33, "ANSWER", "yes, or what binds me")
	KindClaim   = leaseKind(34, "CLAIM", "grant me the term")
	KindRenew   = leaseKind(35, "RENEW", "I hold the office: promise again")
	KindGrant   = leaseKind(36, "GRANT", "granted: nobody else gets my vote while my promise runs")
	KindDeny    = leaseKind(37, "DENY", "not granted: something binds me")
	KindRelease = leaseKind(38, "RELEASE", "I gave the office up: your promise to me is over")
	KindLease   = leaseKind(39, "LEASE", "I hold the office, so long")

	KindOffer    = leaseKind(48, "OFFER", "would you lead after me?")
	KindReply    = leaseKind(49, "REPLY", "yes, or why not")
	KindTakeOver = leaseKind(50, "TIMEOUT_NOW", "I lead no more: take the next term", HandsOver)

	// How a voter that lost its disk comes back, or finds out that it lost nothing.
	KindReturn   = leaseKind(56, "RETURN", "I lost what I voted: what do you know?")
	KindStanding = leaseKind(57, "STANDING", "this is the last vote that I know of")
	KindUnvoted  = leaseKind(58, "UNVOTED", "I never voted, and these said so too")

	KindPreVote      = leaseKind(84, "PRE_VOTE", "would you vote for me in the term?")
	KindRequestVote  = leaseKind(85, "REQUEST_VOTE", "vote for me in the term")
	KindVote         = leaseKind(86, "VOTE", "you have my vote, nobody else gets it in this term")
	KindHeartbeat    = leaseKind(87, "HEARTBEAT", "I lead, so long")
	KindHeartbeatAck = leaseKind(88, "HEARTBEAT_ACK", "I follow, and promise again")
)

// LeaseKinds are all of them.
func LeaseKinds() []Kind {
	return []Kind{
		KindAsk, KindAnswer, KindClaim, KindRenew, KindGrant, KindDeny, KindRelease, KindLease,
		KindOffer, KindReply, KindTakeOver, KindReturn, KindStanding, KindUnvoted,
		KindPreVote, KindRequestVote, KindVote, KindHeartbeat, KindHeartbeatAck,
	}
}

// leaseKind declares a kind of this package, whose wire structs stand apart from its bodies.
func leaseKind(number uint8, name, says string, traits ...Trait) Kind {
	return newRow(number, name, says, traits)
}

func describe(b Body, pairs ...any) string { return Describe(b, pairs...) }
