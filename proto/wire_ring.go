package proto

// The wire structs of the algorithms on a ring, but for the first.
type (
	wireTokenElection struct {
		envelope
		Initiator NodeID `msgpack:"o"`
		Roll      []byte `msgpack:"m"`
		Hops      uint64 `msgpack:"h"`
	}
	wireTokenCoordinator struct {
		envelope
		process
		Taken bool   `msgpack:"k"`
		Hops  uint64 `msgpack:"h"`
	}
	wireProbe struct {
		envelope
		process
		Phase     uint64 `msgpack:"p"`
		Clockwise bool   `msgpack:"w"`
		Hops      uint64 `msgpack:"h"`
	}
	wireProbeReply struct {
		envelope
		Candidate NodeID `msgpack:"i"`
		Phase     uint64 `msgpack:"p"`
		Clockwise bool   `msgpack:"w"`
		Hops      uint64 `msgpack:"h"`
	}
	wireCandidate struct {
		envelope
		process
		Round     uint64 `msgpack:"p"`
		Clockwise bool   `msgpack:"w"`
		Hops      uint64 `msgpack:"h"`
	}
)

func (w *wireTokenElection) message() Message {
	return w.with(TokenElection{Initiator: w.Initiator, Roll: Roll(w.Roll), Hops: w.Hops})
}

func (w *wireTokenCoordinator) message() Message {
	return w.with(TokenCoordinator{Leader: w.peer(), Taken: w.Taken, Hops: w.Hops})
}

func (w *wireProbe) message() Message {
	return w.with(Probe{w.peer(), w.Phase, w.Clockwise, w.Hops})
}

func (w *wireProbeReply) message() Message {
	return w.with(ProbeReply{w.Candidate, w.Phase, w.Clockwise, w.Hops})
}

func (w *wireCandidate) message() Message {
	return w.with(Candidate{w.peer(), w.Round, w.Clockwise, w.Hops})
}

// newRingWire returns an empty wire struct for kind k, nil for one that is none of
// these.
func newRingWire(k Kind) wire {
	switch k {
	case KindTokenElection:
		return new(wireTokenElection)
	case KindTokenCoordinator:
		return new(wireTokenCoordinator)
	case KindProbe:
		return new(wireProbe)
	case KindProbeReply:
		return new(wireProbeReply)
	case KindCandidate:
		return new(wireCandidate)
	}
	return nil
}

// ringWireOf returns the body in its envelope as it travels, nil for one that is
// none of these.
func ringWireOf(e envelope, body Body) wire {
	switch b := body.(type) {
	case TokenElection:
		return &wireTokenElection{e, b.Initiator, []byte(b.Roll), b.Hops}
	case TokenCoordinator:
		return &wireTokenCoordinator{e, process(b.Leader), b.Taken, b.Hops}
	case Probe:
		return &wireProbe{e, process(b.Candidate), b.Phase, b.Clockwise, b.Hops}
	case ProbeReply:
		return &wireProbeReply{e, b.Candidate, b.Phase, b.Clockwise, b.Hops}
	case Candidate:
		return &wireCandidate{e, process(b.Candidate), b.Round, b.Clockwise, b.Hops}
	}
	return nil
}
