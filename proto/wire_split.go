package proto

// One wire struct a kind. Times are in microseconds.
type (
	wireAccount struct {
		envelope
		Of      Term    `msgpack:"o"`
		Leader  NodeID  `msgpack:"i"`
		Session Session `msgpack:"s"`
		Led     uint64  `msgpack:"e"`
		Ago     uint64  `msgpack:"a"`
		Stopped bool    `msgpack:"y"`

		AfterOf      Term    `msgpack:"ro"`
		After        NodeID  `msgpack:"ri"`
		AfterSession Session `msgpack:"rs"`
	}
	wireTruce struct {
		envelope
		Session Session `msgpack:"s"`
	}
	wireSettled struct {
		envelope
		Of           Term    `msgpack:"o"`
		Leader       NodeID  `msgpack:"i"`
		Session      Session `msgpack:"s"`
		Led          uint64  `msgpack:"d"`
		Ago          uint64  `msgpack:"a"`
		Stopped      bool    `msgpack:"y"`
		RivalOf      Term    `msgpack:"ro"`
		Rival        NodeID  `msgpack:"ri"`
		RivalSession Session `msgpack:"rs"`
		Overlap      uint64  `msgpack:"e"`
		Tries        uint64  `msgpack:"c"`
		Exit         int64   `msgpack:"x"`
		Problem      string  `msgpack:"w"`
		AfterOf      Term    `msgpack:"po"`
		After        NodeID  `msgpack:"pi"`
		AfterSession Session `msgpack:"ps"`
	}
)

func (w *wireAccount) message() Message {
	return w.with(Account{
		Reign: Epoch{Term: w.Of, Leader: w.Leader, Session: w.Session},
		Led:   ofMicros(w.Led), Ago: ofMicros(w.Ago), Stopped: w.Stopped,
		After: Epoch{Term: w.AfterOf, Leader: w.After, Session: w.AfterSession},
	})
}

func (w *wireTruce) message() Message { return w.with(Truce{w.Session}) }

func (w *wireSettled) message() Message {
	return w.with(Settled{
		Reign: Epoch{Term: w.Of, Leader: w.Leader, Session: w.Session},
		Led:   ofMicros(w.Led), Ago: ofMicros(w.Ago), Stopped: w.Stopped,
		Rival:   Epoch{Term: w.RivalOf, Leader: w.Rival, Session: w.RivalSession},
		Overlap: ofMicros(w.Overlap), Tries: w.Tries, Exit: w.Exit, Problem: w.Problem,
		After: Epoch{Term: w.AfterOf, Leader: w.After, Session: w.AfterSession},
	})
}

func newSplitWire(k Kind) wire {
	switch k {
	case KindAccount:
		return new(wireAccount)
	case KindTruce:
		return new(wireTruce)
	case KindSettled:
		return new(wireSettled)
	}
	return newRaftWire(k)
}

func splitWireOf(e envelope, body Body) wire {
	switch b := body.(type) {
	case Account:
		return &wireAccount{
			e, b.Reign.Term, b.Reign.Leader, b.Reign.Session,
			uint64(b.Led.Microseconds()), uint64(b.Ago.Microseconds()), b.Stopped,
			b.After.Term, b.After.Leader, b.After.Session,
		}
	case Truce:
		return &wireTruce{e, b.Session}
	case Settled:
		return &wireSettled{
			e, b.Reign.Term, b.Reign.Leader, b.Reign.Session,
			uint64(b.Led.Microseconds()), uint64(b.Ago.Microseconds()), b.Stopped,
			b.Rival.Term, b.Rival.Leader, b.Rival.Session,
			uint64(b.Overlap.Microseconds()), b.Tries, b.Exit, b.Problem,
			b.After.Term, b.After.Leader, b.After.Session,
		}
	}
	return raftWireOf(e, body)
}
