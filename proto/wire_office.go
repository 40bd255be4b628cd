package proto

import (
	"math"
	"time"
)

// A question or an answer of the office names a session and a round of it.
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
	wireRefusal struct {
		wireRound
		Bar    uint64 `msgpack:"b"` // wider than its value, so that nothing wraps
		Holder NodeID `msgpack:"i"`
	}
)

// One wire struct a kind.
type (
	wireAsk   struct{ wireRound }
	wireClaim struct{ wireRound }
	wireRenew struct {
		wireRound
		Lent bool `msgpack:"d,omitempty"`
	}
	wireDeny  struct{ wireRefusal }
	wireGrant struct {
		wireRound
		Former []byte `msgpack:"g,omitempty"` // Epochs
	}
	wireAnswer struct {
		wireRefusal
		Yes bool `msgpack:"y"`
	}
	wireRelease struct {
		envelope
		Session Session `msgpack:"s"`
		// Since it was added later, it is absent when zero.
		Heir NodeID `msgpack:"i,omitempty"`
	}
	wireReturn   struct{ wireRound }
	wireStanding struct {
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

func (w *wireAsk) message() Message   { return w.with(Ask{w.Session, w.Nonce, w.voters()}) }
func (w *wireClaim) message() Message { return w.with(Claim{w.Session, w.Nonce, w.voters()}) }
func (w *wireRenew) message() Message { return w.with(Renew{w.Session, w.Nonce, w.voters(), w.Lent}) }

func (w *wireGrant) message() Message {
	return w.with(Grant{w.Session, w.Nonce, w.voters(), Epochs(w.Former)})
}

func (w *wireDeny) message() Message {
	return w.with(Deny{w.Session, w.Nonce, barOf(w.Bar), w.Holder})
}

func (w *wireAnswer) message() Message {
	return w.with(Answer{w.Session, w.Nonce, w.Yes, barOf(w.Bar), w.Holder, w.voters()})
}
func (w *wireRelease) message() Message { return w.with(Release{w.Session, w.Heir}) }

func (w *wireReturn) message() Message { return w.with(Return{w.Session, w.Nonce}) }

func (w *wireStanding) message() Message {
	return w.with(Standing{
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

// barOf keeps what is no bar out of range.
func barOf(n uint64) Bar { return Bar(min(n, uint64(numBars))) }

func newOfficeWire(k Kind) wire {
	switch k {
	case KindAsk:
		return new(wireAsk)
	case KindAnswer:
		return new(wireAnswer)
	case KindClaim:
		return new(wireClaim)
	case KindRenew:
		return new(wireRenew)
	case KindGrant:
		return new(wireGrant)
	case KindDeny:
		return new(wireDeny)
	case KindRelease:
		return new(wireRelease)
	case KindLease:
		return new(wireLease)
	case KindReturn:
		return new(wireReturn)
	case KindStanding:
		return new(wireStanding)
	case KindUnvoted:
		return new(wireUnvoted)
	}
	return newTransferWire(k)
}

func officeWireOf(e envelope, body Body) wire {
	switch b := body.(type) {
	case Ask:
		return &wireAsk{wireRound{e, wireVoters(b.Voters), b.Session, b.Nonce}}
	case Answer:
		return &wireAnswer{
			wireRefusal{wireRound{e, wireVoters(b.Voters), b.Session, b.Nonce}, uint64(b.Bar), b.Holder}, b.Yes,
		}
	case Claim:
		return &wireClaim{wireRound{e, wireVoters(b.Voters), b.Session, b.Nonce}}
	case Renew:
		return &wireRenew{wireRound{e, wireVoters(b.Voters), b.Session, b.Nonce}, b.Lent}
	case Grant:
		return &wireGrant{wireRound{e, wireVoters(b.Voters), b.Session, b.Nonce}, []byte(b.Former)}
	case Deny:
		return &wireDeny{wireRefusal{wireRound{e, wireVoters{}, b.Session, b.Nonce}, uint64(b.Bar), b.Holder}}
	case Release:
		return &wireRelease{e, b.Session, b.Heir}
	case Return:
		return &wireReturn{wireRound{e, wireVoters{}, b.Session, b.Nonce}}
	case Standing:
		return &wireStanding{
			wireRound{e, wireVoters(b.Voters), b.Session, b.Nonce},
			b.Round, uint64(b.Promise.Microseconds()), []byte(b.Former), b.Lost,
		}
	case Unvoted:
		return &wireUnvoted{e, b.Session, []byte(b.Heard), b.First, b.Asks, b.Known}
	case Lease:
		return &wireLease{e, process(b.Leader), wireVoters(b.Voters), uint64(b.Remaining.Microseconds())}
	}
	return transferWireOf(e, body)
}
