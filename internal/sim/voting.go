package sim

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// part says what a message does in the exchange with voters; a message may do several things.
type part uint8

const (
	asks      part = 1 << iota // it asks: would you vote for me? (PRE_VOTE)
	claims                     // the sender votes for itself and asks for votes (REQUEST_VOTE)
	renews                     // it asks to renew the promises (HEARTBEAT)
	grants                     // it gives a vote or renews a promise
	denies                     // it refuses a request
	announces                  // it says that the sender leads the term, and for how long
)

// saying is what a message says to voters, whatever its kind.
type saying struct {
	part
	incarnation proto.Incarnation // the process that sent the request
	nonce       uint64            // the nonce of the request
}

// does reports whether the message does one of these things.
func (s saying) does(parts part) bool { return s.part&parts != 0 }

// sayingOf returns what a message says to voters; the zero saying if that is nothing.
func sayingOf(b proto.Body) saying {
	switch b := b.(type) {
	case proto.PreVote:
		return saying{asks, b.Incarnation, b.Nonce}
	case proto.PreVoteReply:
		return saying{answered(b.Answer, 0), b.Incarnation, b.Nonce}
	case proto.RequestVote:
		return saying{claims, b.Incarnation, b.Nonce}
	case proto.Heartbeat:
		return saying{renews | announces, b.Leader.Incarnation, b.Nonce}
	case proto.Vote:
		return saying{answered(b.Answer, grants), b.Incarnation, b.Nonce}
	case proto.HeartbeatReply:
		return saying{answered(b.Answer, grants), b.Incarnation, b.Nonce}
	}
	return saying{}
}

// answered returns the part of an answer: the part yes if the answer grants the request, otherwise
// denies.
func answered(a proto.Answer, yes part) part {
	if a.Granted() {
		return yes
	}
	return denies
}

// listen sets what the Step's event and messages say to voters.
func (s *step) listen() {
	if ev, ok := s.ev.(algorithms.Receive); ok {
		s.heard = sayingOf(ev.Body)
	}
	for i := range s.out.Send {
		s.said = append(s.said, sayingOf(s.out.Send[i].Body))
	}
}

// grantOf returns the answer that grants a request. ok is false if the body is no request that can
// be granted.
func grantOf(b proto.Body) (grant proto.Body, ok bool) {
	q := sayingOf(b)
	switch b.(type) {
	case proto.RequestVote:
		return proto.Vote{Incarnation: q.incarnation, Nonce: q.nonce}, true
	case proto.Heartbeat:
		return proto.HeartbeatReply{Incarnation: q.incarnation, Nonce: q.nonce}, true
	}
	return nil, false
}

// says reports whether a message is of the kind with this name.
func says(b proto.Body, word string) bool { return b.Kind().String() == word }
