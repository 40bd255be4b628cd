package proto

// The wire structs of the algorithms that count a quorum themselves.
type (
	ballot struct {
		Round uint64 `msgpack:"b"`
		By    NodeID `msgpack:"y"`
	}
	wireWatch struct {
		envelope
		process
	}
	wireExists    struct{ envelope }
	wireNewLeader struct {
		envelope
		process
	}
	wireNewLeaderAck struct {
		envelope
		Candidate Session `msgpack:"s"`
	}
	wireCommit struct {
		envelope
		process
	}
	wirePrepare struct {
		envelope
		ballot
	}
	wirePromise struct {
		envelope
		ballot
		process                 // proposed
		LastRound       uint64  `msgpack:"ab"`
		LastBy          NodeID  `msgpack:"ay"`
		AcceptedID      NodeID  `msgpack:"ai"`
		AcceptedSession Session `msgpack:"as"`
		AcceptedAttr    int64   `msgpack:"aa"`
	}
	wireAccept struct {
		envelope
		ballot
		process
	}
	wireAccepted struct {
		envelope
		ballot
	}
	wireEnquiry struct {
		envelope
		process
	}
	wireChosen struct {
		envelope
		process
		Taken bool `msgpack:"k"`
	}
)

func (w *wireWatch) message() Message        { return w.with(Watch{w.peer()}) }
func (w *wireExists) message() Message       { return w.with(Exists{}) }
func (w *wireNewLeader) message() Message    { return w.with(NewLeader{w.peer()}) }
func (w *wireNewLeaderAck) message() Message { return w.with(NewLeaderAck{w.Candidate}) }
func (w *wireCommit) message() Message       { return w.with(Commit{w.peer()}) }
func (w *wirePrepare) message() Message      { return w.with(Prepare{Ballot(w.ballot)}) }
func (w *wireAccept) message() Message       { return w.with(Accept{Ballot(w.ballot), w.peer()}) }
func (w *wireAccepted) message() Message     { return w.with(Accepted{Ballot(w.ballot)}) }
func (w *wireEnquiry) message() Message      { return w.with(Enquiry{w.peer()}) }
func (w *wireChosen) message() Message       { return w.with(Chosen{w.peer(), w.Taken}) }

func (w *wirePromise) message() Message {
	return w.with(Promise{
		Ballot: Ballot(w.ballot), Last: Ballot{w.LastRound, w.LastBy},
		Accepted: Peer{ID: w.AcceptedID, Session: w.AcceptedSession, Attr: w.AcceptedAttr},
		Proposal: w.peer(),
	})
}

// newQuorumWire returns an empty wire struct for kind k, nil for one that is none of
// these.
func newQuorumWire(k Kind) wire {
	switch k {
	case KindWatch:
		return new(wireWatch)
	case KindExists:
		return new(wireExists)
	case KindNewLeader:
		return new(wireNewLeader)
	case KindNewLeaderAck:
		return new(wireNewLeaderAck)
	case KindCommit:
		return new(wireCommit)
	case KindPrepare:
		return new(wirePrepare)
	case KindPromise:
		return new(wirePromise)
	case KindAccept:
		return new(wireAccept)
	case KindAccepted:
		return new(wireAccepted)
	case KindChosen:
		return new(wireChosen)
	case KindEnquiry:
		return new(wireEnquiry)
	}
	return nil
}

// quorumWireOf returns the body in its envelope as it travels, nil for one that is
// none of these.
func quorumWireOf(e envelope, body Body) wire {
	switch b := body.(type) {
	case Watch:
		return &wireWatch{e, process(b.Self)}
	case Exists:
		return &wireExists{e}
	case NewLeader:
		return &wireNewLeader{e, process(b.Candidate)}
	case NewLeaderAck:
		return &wireNewLeaderAck{e, b.Candidate}
	case Commit:
		return &wireCommit{e, process(b.Leader)}
	case Prepare:
		return &wirePrepare{e, ballot(b.Ballot)}
	case Promise:
		return &wirePromise{
			e, ballot(b.Ballot), process(b.Proposal), b.Last.Round, b.Last.By,
			b.Accepted.ID, b.Accepted.Session, b.Accepted.Attr,
		}
	case Accept:
		return &wireAccept{e, ballot(b.Ballot), process(b.Value)}
	case Accepted:
		return &wireAccepted{e, ballot(b.Ballot)}
	case Enquiry:
		return &wireEnquiry{e, process(b.Self)}
	case Chosen:
		return &wireChosen{e, process(b.Leader), b.Taken}
	}
	return nil
}
