package sim

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// part is what a message does among voters. The office has a message for each part;
// Raft's play the same ones, so that one set of invariants holds for both.
type part uint8

const (
	asks      part = 1 << iota // would you vote for me?
	claims                     // the sender's vote for itself, and a request for others'
	renews                     // a request for the promises anew
	grants                     // a vote and a promise
	denies                     // a question with no
	announces                  // that the sender holds a term, for so long
)

// saying is a message as voters take it.
type saying struct {
	part
	session proto.Session // of the one that asked
	nonce   uint64        // of its question
}

// does reports whether the message plays one of the parts.
func (s saying) does(parts part) bool { return s.part&parts != 0 }

// sayingOf takes a message apart; the zero saying is no word to voters.
func sayingOf(b proto.Body) saying {
	switch b := b.(type) {
	case proto.Ask:
		return saying{asks, b.Session, b.Nonce}
	case proto.PreVote:
		return saying{asks, b.Session, b.Nonce}
	case proto.Claim:
		return saying{claims, b.Session, b.Nonce}
	case proto.RequestVote:
		return saying{claims, b.Session, b.Nonce}
	case proto.Renew:
		return saying{renews, b.Session, b.Nonce}
	case proto.Heartbeat:
		return saying{renews | announces, b.Leader.Session, b.Nonce}
	case proto.Lease:
		return saying{announces, b.Leader.Session, 0}
	case proto.Grant:
		return saying{grants, b.Session, b.Nonce}
	case proto.Vote:
		return saying{grants, b.Session, b.Nonce}
	case proto.HeartbeatAck:
		return saying{grants, b.Session, b.Nonce}
	case proto.Deny:
		return saying{denies, b.Session, b.Nonce}
	}
	return saying{}
}

// listen takes apart what the Step's messages say to voters.
func (s *step) listen() {
	if ev, ok := s.ev.(algorithms.Receive); ok {
		s.heard = sayingOf(ev.Body)
	}
	for i := range s.out.Send {
		s.said = append(s.said, sayingOf(s.out.Send[i].Body))
	}
}

// grantOf is the grant that a question is answered with; ok is false for what is none.
func grantOf(b proto.Body) (grant proto.Body, ok bool) {
	q := sayingOf(b)
	switch b.(type) {
	case proto.Claim, proto.Renew:
		return proto.Grant{Session: q.session, Nonce: q.nonce}, true
	case proto.RequestVote:
		return proto.Vote{Session: q.session, Nonce: q.nonce}, true
	case proto.Heartbeat:
		return proto.HeartbeatAck{Session: q.session, Nonce: q.nonce}, true
	}
	return nil, false
}

// played is the office's word for the parts of each of Raft's messages.
var played = map[proto.Kind][]proto.Kind{
	proto.KindPreVote:      {proto.KindAsk},
	proto.KindRequestVote:  {proto.KindClaim},
	proto.KindVote:         {proto.KindGrant},
	proto.KindHeartbeat:    {proto.KindRenew, proto.KindLease},
	proto.KindHeartbeatAck: {proto.KindGrant},
}

// says reports whether a message is of the kind that the word names, or plays its
// part.
func says(b proto.Body, word string) bool {
	if b.Kind().String() == word {
		return true
	}
	for _, k := range played[b.Kind()] {
		if k.String() == word {
			return true
		}
	}
	return false
}
