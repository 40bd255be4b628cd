package sim

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// part is what a message does among voters.
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
	case proto.PreVote:
		return saying{asks, b.Session, b.Nonce}
	case proto.PreVoteReply:
		return saying{answered(b.Answer, 0), b.Session, b.Nonce}
	case proto.RequestVote:
		return saying{claims, b.Session, b.Nonce}
	case proto.Renew:
		return saying{renews, b.Session, b.Nonce}
	case proto.Heartbeat:
		return saying{renews | announces, b.Leader.Session, b.Nonce}
	case proto.Lease:
		return saying{announces, b.Leader.Session, 0}
	case proto.Vote:
		return saying{answered(b.Answer, grants), b.Session, b.Nonce}
	case proto.HeartbeatReply:
		return saying{answered(b.Answer, grants), b.Session, b.Nonce}
	}
	return saying{}
}

// answered is what an answer does that does so much as a yes.
func answered(a proto.Answer, yes part) part {
	if a.Granted() {
		return yes
	}
	return denies
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
	case proto.RequestVote:
		return proto.Vote{Session: q.session, Nonce: q.nonce}, true
	case proto.Renew, proto.Heartbeat:
		return proto.HeartbeatReply{Session: q.session, Nonce: q.nonce}, true
	}
	return nil, false
}

// says reports whether a message is of the kind that the word names.
func says(b proto.Body, word string) bool { return b.Kind().String() == word }
