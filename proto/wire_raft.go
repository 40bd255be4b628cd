package proto

// One wire struct a kind.
type (
	wirePreVote      struct{ wireRound }
	wireRequestVote  struct{ wireRound }
	wireVote         struct{ wireRound }
	wireHeartbeatAck struct{ wireRound }
	wireHeartbeat    struct {
		envelope
		process
		wireVoters
		Nonce     uint64 `msgpack:"r"`
		Remaining uint64 `msgpack:"e"` // microseconds
		Lent      bool   `msgpack:"d,omitempty"`
	}
)

func (w *wirePreVote) message() Message { return w.with(PreVote{w.Session, w.Nonce, w.voters()}) }
func (w *wireRequestVote) message() Message {
	return w.with(RequestVote{w.Session, w.Nonce, w.voters()})
}
func (w *wireVote) message() Message { return w.with(Vote{w.Session, w.Nonce, w.voters()}) }
func (w *wireHeartbeatAck) message() Message {
	return w.with(HeartbeatAck{w.Session, w.Nonce, w.voters()})
}

func (w *wireHeartbeat) message() Message {
	return w.with(Heartbeat{w.peer(), w.Nonce, ofMicros(w.Remaining), w.voters(), w.Lent})
}

func newRaftWire(k Kind) wire {
	switch k {
	case KindPreVote:
		return new(wirePreVote)
	case KindRequestVote:
		return new(wireRequestVote)
	case KindVote:
		return new(wireVote)
	case KindHeartbeat:
		return new(wireHeartbeat)
	case KindHeartbeatAck:
		return new(wireHeartbeatAck)
	}
	return nil
}

func raftWireOf(e envelope, body Body) wire {
	switch b := body.(type) {
	case PreVote:
		return &wirePreVote{wireRound{e, wireVoters(b.Voters), b.Session, b.Nonce}}
	case RequestVote:
		return &wireRequestVote{wireRound{e, wireVoters(b.Voters), b.Session, b.Nonce}}
	case Vote:
		return &wireVote{wireRound{e, wireVoters(b.Voters), b.Session, b.Nonce}}
	case Heartbeat:
		return &wireHeartbeat{
			e, process(b.Leader), wireVoters(b.Voters), b.Nonce, uint64(b.Remaining.Microseconds()), b.Lent,
		}
	case HeartbeatAck:
		return &wireHeartbeatAck{wireRound{e, wireVoters(b.Voters), b.Session, b.Nonce}}
	}
	return nil
}
