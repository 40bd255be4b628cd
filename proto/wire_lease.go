package proto

import (
	"math"
	"time"
)

// A question or an answer of a lease names a session and a round of it.
type (
	// wireVoters is a VoterSet, absent where the sender has none to say.
	wireVoters struct {
		Version   uint64 `msgpack:"vv,omitempty"`
		Hash      uint64 `msgpack:"vh,omitempty"`
		Committed bool   `msgpack:"vc,omitempty"`
		Changed   NodeID `msgpack:"vd,omitempty"`
	}
	wireRound struct {
		envelope
		wireVoters
		Session Session `msgpack:"s"`
		Nonce   uint64  `msgpack:"r"`
	}
	wireReply struct {
		wireRound
		Bar    uint64 `msgpack:"b,omitempty"` // wider than its value, so that nothing wraps
		Holder NodeID `msgpack:"i,omitempty"`
	}
)

// One wire struct a kind.
type (
	wirePreVote        struct{ wireRound }
	wirePreVoteReply   struct{ wireReply }
	wireRequestVote    struct{ wireRound }
	wireHeartbeatReply struct{ wireReply }
	wireVote           struct {
		wireReply
		Former []byte `msgpack:"g,omitempty"` // Epochs
	}
	wireRenew struct {
		wireRound
		Lent bool `msgpack:"d,omitempty"`
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
		Session Session `msgpack:"s"`
		// Since it was added later, it is absent when zero.
		Heir NodeID `msgpack:"i,omitempty"`
	}
	wireRecover    struct{ wireRound }
	wireVoterState struct {
		wireRound
		Round   Term   `msgpack:"o"`
		Promise uint64 `msgpack:"p"`           // microseconds
		Former  []byte `msgpack:"g,omitempty"` // Epochs
		Lost    bool   `msgpack:"y,omitempty"`
	}
	wireUnvoted struct {
		envelope
		Session Session `msgpack:"s"`
		Heard   []byte  `msgpack:"g"` // Roll
		First   Term    `msgpack:"o"`
		Asks    bool    `msgpack:"y"`
		Known   bool    `msgpack:"k"`
	}
	wireLease struct {
		envelope
		process
		wireVoters
		Remaining uint64 `msgpack:"e"` // microseconds
	}
)

func (w *wirePreVote) message() Message { return w.with(PreVote{w.Session, w.Nonce, w.voters()}) }
func (w *wireRenew) message() Message   { return w.with(Renew{w.Session, w.Nonce, w.voters(), w.Lent}) }

func (w *wireRequestVote) message() Message {
	return w.with(RequestVote{w.Session, w.Nonce, w.voters()})
}

func (w *wirePreVoteReply) message() Message {
	return w.with(PreVoteReply{w.Session, w.Nonce, w.answer(), w.voters()})
}

func (w *wireVote) message() Message {
	return w.with(Vote{w.Session, w.Nonce, w.answer(), w.voters(), Epochs(w.Former)})
}

func (w *wireHeartbeat) message() Message {
	return w.with(Heartbeat{w.peer(), w.Nonce, ofMicros(w.Remaining), w.voters(), w.Lent})
}

func (w *wireHeartbeatReply) message() Message {
	return w.with(HeartbeatReply{w.Session, w.Nonce, w.answer(), w.voters()})
}

func (w *wireRelease) message() Message { return w.with(Release{w.Session, w.Heir}) }

func (w *wireRecover) message() Message { return w.with(Recover{w.Session, w.Nonce}) }

func (w *wireVoterState) message() Message {
	return w.with(VoterState{
		w.Session, w.Nonce, w.Round, ofMicros(w.Promise), w.voters(), Epochs(w.Former), w.Lost,
	})
}

func (w *wireUnvoted) message() Message {
	return w.with(Unvoted{w.Session, Roll(w.Heard), w.First, w.Asks, w.Known})
}

func (w *wireLease) message() Message {
	return w.with(Lease{w.peer(), ofMicros(w.Remaining), w.voters()})
}

func (w *wireVoters) voters() VoterSet { return VoterSet(*w) }

// ofMicros keeps what is too long from wrapping.
func ofMicros(n uint64) time.Duration {
	return time.Duration(min(n, uint64(math.MaxInt64/int64(time.Microsecond)))) * time.Microsecond
}

// answer keeps what is no bar out of range.
func (w *wireReply) answer() Answer { return Answer{Bar(min(w.Bar, uint64(numBars))), w.Holder} }

func roundOf(e envelope, s Session, nonce uint64, v VoterSet) wireRound {
	return wireRound{e, wireVoters(v), s, nonce}
}

func replyOf(e envelope, s Session, nonce uint64, r Answer, v VoterSet) wireReply {
	return wireReply{roundOf(e, s, nonce, v), uint64(r.Bar), r.Holder}
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
	case KindRenew:
		return new(wireRenew)
	case KindHeartbeat:
		return new(wireHeartbeat)
	case KindHeartbeatReply:
		return new(wireHeartbeatReply)
	case KindRelease:
		return new(wireRelease)
	case KindLease:
		return new(wireLease)
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
		return &wirePreVote{roundOf(e, b.Session, b.Nonce, b.Voters)}
	case PreVoteReply:
		return &wirePreVoteReply{replyOf(e, b.Session, b.Nonce, b.Answer, b.Voters)}
	case RequestVote:
		return &wireRequestVote{roundOf(e, b.Session, b.Nonce, b.Voters)}
	case Vote:
		return &wireVote{replyOf(e, b.Session, b.Nonce, b.Answer, b.Voters), []byte(b.Former)}
	case Renew:
		return &wireRenew{roundOf(e, b.Session, b.Nonce, b.Voters), b.Lent}
	case Heartbeat:
		return &wireHeartbeat{
			e, process(b.Leader), wireVoters(b.Voters), b.Nonce, uint64(b.Remaining.Microseconds()), b.Lent,
		}
	case HeartbeatReply:
		return &wireHeartbeatReply{replyOf(e, b.Session, b.Nonce, b.Answer, b.Voters)}
	case Release:
		return &wireRelease{e, b.Session, b.Heir}
	case Recover:
		return &wireRecover{roundOf(e, b.Session, b.Nonce, VoterSet{})}
	case VoterState:
		return &wireVoterState{
			roundOf(e, b.Session, b.Nonce, b.Voters),
			b.Round, uint64(b.Promise.Microseconds()), []byte(b.Former), b.Lost,
		}
	case Unvoted:
		return &wireUnvoted{e, b.Session, []byte(b.Heard), b.First, b.Asks, b.Known}
	case Lease:
		return &wireLease{e, process(b.Leader), wireVoters(b.Voters), uint64(b.Remaining.Microseconds())}
	}
	return transferWireOf(e, body)
}
