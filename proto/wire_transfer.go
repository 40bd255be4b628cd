package proto

// There is one wire struct for each kind.
type (
	wireOffer struct {
		wireRound
		Target Incarnation `msgpack:"p"`
	}
	wireOfferReply struct {
		wireRound
		No uint64 `msgpack:"b"` // wider than valid values, so that larger ones do not wrap
	}
	wireTakeOver struct {
		envelope
		Incarnation Incarnation `msgpack:"s"`
		Target      Incarnation `msgpack:"p"`
		Chosen      bool        `msgpack:"y"`
	}
)

func (w *wireOffer) message() Message    { return w.with(Offer{w.Incarnation, w.Nonce, w.Target}) }
func (w *wireTakeOver) message() Message { return w.with(TakeOver{w.Incarnation, w.Target, w.Chosen}) }

func (w *wireOfferReply) message() Message {
	return w.with(Reply{w.Incarnation, w.Nonce, Decline(min(w.No, uint64(numDeclines)))})
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
		return &wireOffer{wireRound{e, wireVoters{}, b.Incarnation, b.Nonce}, b.To}
	case Reply:
		return &wireOfferReply{wireRound{e, wireVoters{}, b.Incarnation, b.Nonce}, uint64(b.No)}
	case TakeOver:
		return &wireTakeOver{e, b.Incarnation, b.To, b.Chosen}
	}
	return nil
}
