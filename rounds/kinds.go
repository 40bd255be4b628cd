package rounds

import (
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/proto"
)

// oldWords are the words for messages of leases in the records of version 0.1: what they
// said, and which kind the books count now in their place.
var oldWords = map[string]struct {
	kind proto.Kind
	said string
}{
	"ASK":           {proto.KindPreVote, "would you grant me the term?"},
	"ANSWER":        {proto.KindPreVoteReply, "yes, or what binds me"},
	"CLAIM":         {proto.KindRequestVote, "grant me the term"},
	"GRANT":         {proto.KindVote, "granted: nobody else gets my vote while my promise runs"},
	"DENY":          {proto.KindVote, "not granted: something binds me"},
	"HEARTBEAT_ACK": {proto.KindHeartbeatReply, "I follow, and promise again"},
	"RETURN":        {proto.KindRecover, "I lost what I voted: what do you know?"},
	"STANDING":      {proto.KindVoterState, "this is the last vote that I know of"},
}

// Says is what a message of that kind says, in the words of the one who sends
// it; "" of a kind that this version does not know. Several algorithms share
// names.
func Says(algorithm, kind string) string {
	k, ok := catalog.KindOf(algorithm, kind)
	if !ok {
		return oldWords[kind].said
	}
	return k.Says()
}
