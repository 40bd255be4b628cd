package consensus_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/consensus"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// Messages "contain id:attr", and are shown with it.
func TestBodies(t *testing.T) {
	p := proto.Peer{ID: 5, Incarnation: proto.Incarnation{1}, Attr: 80}
	steptest.Bodies(t, map[string]proto.Payload{
		"PREPARE ballot 2.5": consensus.Prepare{Ballot: ballot(2, 5)},
		"PROMISE ballot 2.5": consensus.Promise{Ballot: ballot(2, 5)},
		"PROMISE ballot 2.5, accepted 1.4 5:80, proposes 5:80": consensus.Promise{
			Ballot: ballot(2, 5), Last: ballot(1, 4), Accepted: p, Proposal: p,
		},
		"ACCEPT ballot 2.5, value 5:80": consensus.Accept{Ballot: ballot(2, 5), Value: p},
		"ACCEPTED ballot 2.5":           consensus.Accepted{Ballot: ballot(2, 5)},
		"ENQUIRY self 5:80":             consensus.Enquiry{Self: p},
		"CHOSEN proposal 5:80":          consensus.Chosen{Leader: p},
		"CHOSEN leader 5:80":            consensus.Chosen{Leader: p, Taken: true},
	})
	steptest.Refused(t, map[string]proto.Payload{
		"a ballot of nobody":    consensus.Prepare{Ballot: ballot(1, 0)},
		"round 0":               consensus.Accepted{Ballot: ballot(0, 1)},
		"a round that wraps":    consensus.Accepted{Ballot: ballot(1<<63, 1)},
		"nobody accepted":       consensus.Promise{Ballot: ballot(2, 1), Last: ballot(1, 1)},
		"accepted in no ballot": consensus.Promise{Ballot: ballot(2, 1), Accepted: p},
		"an absurd proposal":    consensus.Promise{Ballot: ballot(2, 1), Proposal: proto.Peer{ID: proto.MaxNodeID + 1}},
		"nobody to accept":      consensus.Accept{Ballot: ballot(1, 1)},
		"nobody chosen":         consensus.Chosen{},
		"nobody asks":           consensus.Enquiry{},
	})
}
