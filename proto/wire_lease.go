package proto

import (
	"math"
	"time"
)

// The parts that requests and answers of a lease have in common: an incarnation, the nonce of a round
// of questions, and the sender's list of voters.
type (
	// wireVoters is a VoterSet in the form in which it is encoded. Zero fields are absent.
	wireVoters struct {
		Version   uint64 `msgpack:"vv,omitempty"`
		Hash      uint64 `msgpack:"vh,omitempty"`
		Committed bool   `msgpack:"vc,omitempty"`
		Changed   NodeID `msgpack:"vd,omitempty"`
	}
	wireRound struct {
		envelope
		wireVoters
		Incarnation Incarnation `msgpack:"s"`
		Nonce       uint64      `msgpack:"r"`
	}
	wireReply struct {
		wireRound
		Denial uint64 `msgpack:"b,omitempty"` // wider than valid values, so that larger ones do not wrap
		To     NodeID `msgpack:"i,omitempty"`
	}
)

// There is one wire struct for each kind.
type (
	wirePreVote        struct{ wireRound }
	wirePreVoteReply   struct{ wireReply }
	wireRequestVote    struct{ wireRound }
	wireHeartbeatReply struct {
		wireReply
		Wait uint64 `msgpack:"w,omitempty"` // microseconds
	}
	wireVote struct {
		wireReply
		Former []byte `msgpack:"g,omitempty"` // encoded Leaderships
	}
	wireHeartbeat struct {
		envelope
		process
		wireVoters
		Nonce     uint64 `msgpack:"r"`
		Remaining uint64 `msgpack:"e"` // microseconds
		Lent      bool   `msgpack:"d,omitempty"`
	}
	wireRelease struct {
		envelope
		Incarnation Incarnation `msgpack:"s"`
		// Since it was added later, it is absent when zero.
		Successor NodeID `msgpack:"i,omitempty"`
	}
	wireRecover struct {
		wireRound
		Number uint64 `msgpack:"j,omitempty"`
	}
	wireVoterState struct {
		wireRound
		Round   Term   `msgpack:"o"`
		Promise uint64 `msgpack:"p"`           // microseconds
		Former  []byte `msgpack:"g,omitempty"` // encoded Leaderships
		Lost    bool   `msgpack:"y,omitempty"`
		Number  uint64 `msgpack:"j,omitempty"`
		// It is absent when zero.
		Follows *Leadership `msgpack:"w,omitempty"`
	}
	wireUnvoted struct {
		envelope
		Incarnation Incarnation `msgpack:"s"`
		Heard       []byte      `msgpack:"g"` // encoded Roll
		First       Term        `msgpack:"o"`
		Asks        bool        `msgpack:"y"`
		Known       bool        `msgpack:"k"`
	}
)

func (w *wirePreVote) message() Message { return w.with(PreVote{w.Incarnation, w.Nonce, w.voters()}) }

func (w *wireRequestVote) message() Message {
	return w.with(RequestVote{w.Incarnation, w.Nonce, w.voters()})
}

func (w *wirePreVoteReply) message() Message {
	return w.with(PreVoteReply{w.Incarnation, w.Nonce, w.answer(), w.voters()})
}

func (w *wireVote) message() Message {
	return w.with(Vote{w.Incarnation, w.Nonce, w.answer(), w.voters(), Leaderships(w.Former)})
}

func (w *wireHeartbeat) message() Message {
	return w.with(Heartbeat{w.peer(), w.Nonce, ofMicros(w.Remaining), w.voters(), w.Lent})
}

func (w *wireHeartbeatReply) message() Message {
	return w.with(HeartbeatReply{w.Incarnation, w.Nonce, w.answer(), w.voters(), ofMicros(w.Wait)})
}

func (w *wireRelease) message() Message { return w.with(Release{w.Incarnation, w.Successor}) }

func (w *wireRecover) message() Message { return w.with(Recover{w.Incarnation, w.Nonce, w.Number}) }

func (w *wireVoterState) message() Message {
	var follows Leadership
	if w.Follows != nil {
		follows = *w.Follows
	}
	return w.with(VoterState{
		w.Incarnation, w.Nonce, w.Round, ofMicros(w.Promise), w.voters(), Leaderships(w.Former), w.Lost,
		follows, w.Number,
	})
}

func (w *wireUnvoted) message() Message {
	return w.with(Unvoted{w.Incarnation, Roll(w.Heard), w.First, w.Asks, w.Known})
}

func (w *wireVoters) voters() VoterSet { return VoterSet(*w) }

// ofMicros converts microseconds into a Duration. A number that is too large becomes the longest
// Duration of whole microseconds.
func ofMicros(n uint64) time.Duration {
	return time.Duration(min(n, uint64(math.MaxInt64/int64(time.Microsecond)))) * time.Microsecond
}

// answer returns the Answer in w. A Denial that is out of range becomes the lowest invalid Denial.
func (w *wireReply) answer() Answer { return Answer{Denial(min(w.Denial, uint64(numDenials))), w.To} }

func roundOf(e envelope, s Incarnation, nonce uint64, v VoterSet) wireRound {
	return wireRound{e, wireVoters(v), s, nonce}
}

func replyOf(e envelope, s Incarnation, nonce uint64, r Answer, v VoterSet) wireReply {
	return wireReply{roundOf(e, s, nonce, v), uint64(r.Denial), r.To}
}

func newLeaseWire(k Kind) wire {
	switch k {
	case KindPreVote:
		return new(wirePreVote)
	case KindPreVoteReply:
		return new(wirePreVoteReply)
	case KindRequestVote:
		return new(wireRequestVote)
	case KindVote:
		return new(wireVote)
	case KindHeartbeat:
		return new(wireHeartbeat)
	case KindHeartbeatReply:
		return new(wireHeartbeatReply)
	case KindRelease:
		return new(wireRelease)
	case KindRecover:
		return new(wireRecover)
	case KindVoterState:
		return new(wireVoterState)
	case KindUnvoted:
		return new(wireUnvoted)
	}
	return newTransferWire(k)
}

func leaseWireOf(e envelope, body Body) wire {
	switch b := body.(type) {
	case PreVote:
		return &wirePreVote{roundOf(e, b.Incarnation, b.Nonce, b.Voters)}
	case PreVoteReply:
		return &wirePreVoteReply{replyOf(e, b.Incarnation, b.Nonce, b.Answer, b.Voters)}
	case RequestVote:
		return &wireRequestVote{roundOf(e, b.Incarnation, b.Nonce, b.Voters)}
	case Vote:
		return &wireVote{replyOf(e, b.Incarnation, b.Nonce, b.Answer, b.Voters), []byte(b.Former)}
	case Heartbeat:
		return &wireHeartbeat{
			e, process(b.Leader), wireVoters(b.Voters), b.Nonce, uint64(b.Remaining.Microseconds()), b.Lent,
		}
	case HeartbeatReply:
		return &wireHeartbeatReply{
			replyOf(e, b.Incarnation, b.Nonce, b.Answer, b.Voters), uint64(b.Wait.Microseconds()),
		}
	case Release:
		return &wireRelease{e, b.Incarnation, b.Successor}
	case Recover:
		return &wireRecover{roundOf(e, b.Incarnation, b.Nonce, VoterSet{}), b.Number}
	case VoterState:
		w := &wireVoterState{
			roundOf(e, b.Incarnation, b.Nonce, b.Voters),
			b.Round, uint64(b.Promise.Microseconds()), []byte(b.Former), b.Lost, b.Number, nil,
		}
		if b.Follows != (Leadership{}) {
			w.Follows = &b.Follows
		}
		return w
	case Unvoted:
		return &wireUnvoted{e, b.Incarnation, []byte(b.Heard), b.First, b.Asks, b.Known}
	}
	return transferWireOf(e, body)
}
