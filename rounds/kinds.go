package rounds

import (
	"slices"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/proto"
)

// meanings are what messages say. Those between the links of two processes are in
// no record.
var meanings = map[proto.Kind]string{
	proto.KindElection:         "I call an election: does anybody above me live?",
	proto.KindOK:               "I rank above you and live: wait",
	proto.KindCoordinator:      "this node leads",
	proto.KindRingElection:     "who is the best on the ring?",
	proto.KindElected:          "this node was elected",
	proto.KindTokenElection:    "who is on the ring?",
	proto.KindTokenCoordinator: "this one was chosen, or leads",
	proto.KindIdentity:         "this is my id: send me yours",
	proto.KindProbe:            "does anybody so far from me rank above me?",
	proto.KindProbeReply:       "nobody between us does",
	proto.KindTimeoutNow:       "I lead no more: take the next term",

	proto.KindCandidate: "I stand: do you, at the other end, rank above me?",

	proto.KindHalt:    "stop, and wait for me",
	proto.KindHalted:  "I have stopped, and wait for you",
	proto.KindReject:  "I do not stop for you: I wait for one above you",
	proto.KindLeads:   "I lead",
	proto.KindNotNorm: "no leader of mine: you are higher, see to it",

	proto.KindAreYouCoordinator: "do you coordinate a group?",
	proto.KindGroup:             "yes, this one",
	proto.KindInvitation:        "join the group of this one",
	proto.KindAcceptInvitation:  "I join it",
	proto.KindReady:             "the group is complete: this one coordinates it",

	proto.KindWatch:        "are you there? you are the next above me",
	proto.KindExists:       "I am here, and see to the election",
	proto.KindNewLeader:    "I stand",
	proto.KindNewLeaderAck: "you have my ACK, nobody else gets it in this term",
	proto.KindCommit:       "a quorum sent me ACK: I lead",
	proto.KindPrepare:      "promise to accept nothing of a lower ballot",
	proto.KindPromise:      "promised; this I accepted last, and this I propose",
	proto.KindAccept:       "accept this proposal",
	proto.KindAccepted:     "accepted",
	proto.KindChosen:       "a majority accepted this: it is chosen",
	proto.KindEnquiry:      "was anybody chosen?",

	proto.KindPreVote:      "would you vote for me in the term?",
	proto.KindRequestVote:  "vote for me in the term",
	proto.KindVote:         "you have my vote, nobody else gets it in this term",
	proto.KindHeartbeat:    "I lead, so long",
	proto.KindHeartbeatAck: "I follow, and promise again",

	proto.KindAsk:     "would you grant me the term?",
	proto.KindAnswer:  "yes, or what binds me",
	proto.KindClaim:   "grant me the term",
	proto.KindGrant:   "granted: nobody else gets my vote while my promise runs",
	proto.KindDeny:    "not granted: something binds me",
	proto.KindRenew:   "I hold the office: promise again",
	proto.KindRelease: "I gave the office up: your promise to me is over",
	proto.KindLease:   "I hold the office, so long",

	proto.KindOffer:    "would you lead after me?",
	proto.KindReply:    "yes, or why not",
	proto.KindTakeOver: "I lead no more: take the next term",

	proto.KindReturn:   "I lost what I voted: what do you know?",
	proto.KindStanding: "this is the last vote that I know of",
	proto.KindUnvoted:  "I never voted, and these said so too",

	proto.KindAccount: "I led, from then until then",
	proto.KindTruce:   "I mend the split: stop leading",
	proto.KindSettled: "the split is mended: your reign is settled",
}

// Says is what a message of that kind says, in the words of the one who sends
// it; "" of a kind that this version does not know. Several algorithms share
// names.
func Says(algorithm, kind string) string {
	entry, _ := catalog.Lookup(algorithm) // an unknown one has no kinds of its own
	for _, k := range entry.Theory.Kinds {
		if k.String() == kind {
			return meanings[k]
		}
	}
	for _, k := range known {
		if k.String() == kind {
			return meanings[k]
		}
	}
	return ""
}

// known are the kinds with a meaning, in their order.
var known = func() (kinds []proto.Kind) {
	for k := range meanings {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	return kinds
}()
