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
