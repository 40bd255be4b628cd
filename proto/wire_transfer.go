package proto

// One wire struct a kind.
type (
	wireOffer struct {
		wireRound
		Target Session `msgpack:"p"`
	}
	wireOfferReply struct {
		wireRound
		No uint64 `msgpack:"b"` // wider than its value, so that nothing wraps
	}
	wireTakeOver struct {
		envelope
		Session Session `msgpack:"s"`
		Target  Session `msgpack:"p"`
		Chosen  bool    `msgpack:"y"`
	}
)

func (w *wireOffer) message() Message    { return w.with(Offer{w.Session, w.Nonce, w.Target}) }
func (w *wireTakeOver) message() Message { return w.with(TakeOver{w.Session, w.Target, w.Chosen}) }

func (w *wireOfferReply) message() Message {
	return w.with(Reply{w.Session, w.Nonce, Decline(min(w.No, uint64(numDeclines)))})
}

func newTransferWire(k Kind) wire {
	switch k {
	case KindOffer:
		return new(wireOffer)
	case KindReply:
		return new(wireOfferReply)
	case KindTakeOver:
		return new(wireTakeOver)
	}
	return nil
}

func transferWireOf(e envelope, body Body) wire {
	switch b := body.(type) {
	case Offer:
		return &wireOffer{wireRound{e, wireVoters{}, b.Session, b.Nonce}, b.To}
	case Reply:
		return &wireOfferReply{wireRound{e, wireVoters{}, b.Session, b.Nonce}, uint64(b.No)}
	case TakeOver:
		return &wireTakeOver{e, b.Session, b.To, b.Chosen}
	}
	return nil
}
