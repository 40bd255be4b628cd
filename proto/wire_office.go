package proto

import (
	"math"
	"time"
)

// A question or an answer of the office names a session and a round of it.
type (
	wireRound struct {
		envelope
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
	wireAsk    struct{ wireRound }
	wireClaim  struct{ wireRound }
	wireRenew  struct{ wireRound }
	wireGrant  struct{ wireRound }
	wireDeny   struct{ wireRefusal }
	wireAnswer struct {
		wireRefusal
		Yes bool `msgpack:"y"`
	}
	wireRelease struct {
		envelope
		Session Session `msgpack:"s"`
	}
	wireLease struct {
		envelope
		process
		Remaining uint64 `msgpack:"e"` // microseconds
	}
)

func (w *wireAsk) message() Message   { return w.with(Ask{w.Session, w.Nonce}) }
func (w *wireClaim) message() Message { return w.with(Claim{w.Session, w.Nonce}) }
func (w *wireRenew) message() Message { return w.with(Renew{w.Session, w.Nonce}) }
func (w *wireGrant) message() Message { return w.with(Grant{w.Session, w.Nonce}) }
func (w *wireDeny) message() Message {
	return w.with(Deny{w.Session, w.Nonce, barOf(w.Bar), w.Holder})
}

func (w *wireAnswer) message() Message {
	return w.with(Answer{w.Session, w.Nonce, w.Yes, barOf(w.Bar), w.Holder})
}
func (w *wireRelease) message() Message { return w.with(Release{w.Session}) }

func (w *wireLease) message() Message {
	micros := min(w.Remaining, uint64(math.MaxInt64/int64(time.Microsecond)))
	return w.with(Lease{w.peer(), time.Duration(micros) * time.Microsecond})
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
	}
	return nil
}

func officeWireOf(e envelope, body Body) wire {
	switch b := body.(type) {
	case Ask:
		return &wireAsk{wireRound{e, b.Session, b.Nonce}}
	case Answer:
		return &wireAnswer{wireRefusal{wireRound{e, b.Session, b.Nonce}, uint64(b.Bar), b.Holder}, b.Yes}
	case Claim:
		return &wireClaim{wireRound{e, b.Session, b.Nonce}}
	case Renew:
		return &wireRenew{wireRound{e, b.Session, b.Nonce}}
	case Grant:
		return &wireGrant{wireRound{e, b.Session, b.Nonce}}
	case Deny:
		return &wireDeny{wireRefusal{wireRound{e, b.Session, b.Nonce}, uint64(b.Bar), b.Holder}}
	case Release:
		return &wireRelease{e, b.Session}
	case Lease:
		return &wireLease{e, process(b.Leader), uint64(b.Remaining.Microseconds())}
	}
	return nil
}
