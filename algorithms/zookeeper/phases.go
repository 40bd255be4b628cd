package zookeeper

import "github.com/ringleader-dev/ringleader/proto"

// Receive handles WATCH and EXISTS, NEW_LEADER and ACK.
func (r round) Receive(msg proto.Message) {
	switch b := msg.Body.(type) {
	case proto.Watch:
		r.onWatch(msg)
	case proto.Exists:
		r.onExists(msg)
	case proto.NewLeader:
		r.onNewLeader(msg, b)
	case proto.NewLeaderAck:
		r.onAck(msg, b)
	default:
		r.core.Refuse("%s is no message of ZooKeeper's election -> drop it", b.Kind())
	}
}

// onWatch answers that this process is there, or who leads.
func (r round) onWatch(msg proto.Message) {
	if r.core.Asked(msg.From) {
		return
	}
	if r.phase == idle && r.ack.term != r.core.Term() {
		r.Begin()
	}
	r.core.Send(msg.From, proto.Exists{})
}

// onExists waits for what the watched process sees to.
//
// Lecture notes: "Else: Wait until timeout; Re-check successor."
func (r round) onExists(msg proto.Message) {
	if r.phase != asking || msg.From != r.watched.ID {
		return
	}
	r.phase = waiting
	r.core.SetTimer(CommitTimeout(r.core.Delta(), r.core.Size()))
}

// Stand implements nomination.Stander.
func (r round) Stand(self proto.Peer) {
	if !r.core.MayStand() {
		r.core.Call("this term is spent")
		return
	}
	r.phase, r.self = standing, self
	r.ack = vote{r.core.Term(), self}
	r.acks.Reset()
	r.acks.Add(self.ID)
	r.core.SendAll(proto.NewLeader{Candidate: self})
	r.core.SetTimer(AckTimeout(r.core.Delta()))
	r.count()
}

// Contends implements office.Contender: this process asks for ACK.
func (m *Machine) Contends() bool { return m.phase == standing }

// stand is for a process that nobody is above.
//
// Lecture notes: "Potential Leader broadcasts NEW_LEADER."
func (r round) stand() {
	switch {
	case r.core.Spent("nobody is above this node"):
	case r.ack.term == r.core.Term():
		r.core.Why("nobody is above this node, but its ACK went to %d -> wait for COMMIT", r.ack.to.ID)
		r.phase = acked
		r.core.SetTimer(WatchTimeout(r.core.Delta()))
	default:
		r.core.Why("nobody is above this node -> stand for term %d", r.core.Term())
		r.Stand(r.core.Self())
	}
}

// onNewLeader answers ACK, or not.
//
// Lecture notes: "Each process ACKs to at most one NEW_LEADER."
//
// That one is the highest it has seen: one that nobody is above, itself included,
// stands rather than send ACK to a lower one.
func (r round) onNewLeader(msg proto.Message, b proto.NewLeader) {
	_, above := r.next()
	lower := r.core.Self().Above(b.Candidate)
	free := r.phase == idle || r.phase == watching || r.phase == asking
	switch {
	case r.core.Vouches():
		r.core.Why("%d stands but %d leads term %d -> tell it", msg.From, r.core.Leader().ID, r.core.Term())
		r.core.Tell(msg.From)
	case !r.core.Looking():
		r.core.Why("%d stands, leader %d was not heard of late -> no ACK", msg.From, r.core.Leader().ID)
	case !r.core.MayVote():
		r.core.Why("a former life may have sent ACK in term %d -> none to %d", r.core.Term(), msg.From)
	case r.ack.term == r.core.Term() && !r.ack.to.Is(b.Candidate):
		r.core.Why("ACK went to %d -> none to %d", r.ack.to.ID, msg.From)
	case r.ack.term != r.core.Term() && lower && free && !above && r.core.MayStand():
		r.core.Why("%d is below this node, and nobody above -> stand for term %d", msg.From, r.core.Term())
		r.Stand(r.core.Self())
	default:
		r.sendAck(b.Candidate)
	}
}

func (r round) sendAck(to proto.Peer) {
	r.core.Why("%d stands -> ACK", to.ID)
	r.ack = vote{r.core.Term(), to}
	r.core.Send(to.ID, proto.NewLeaderAck{Candidate: to.Session})
	if r.core.Aside() {
		return
	}
	r.phase = acked
	r.core.SetTimer(WatchTimeout(r.core.Delta()))
}

// onAck counts a voter once.
func (r round) onAck(msg proto.Message, b proto.NewLeaderAck) {
	switch {
	case !r.voters.Has(msg.From):
		r.core.Refuse("%d sends ACK, but it is no voter -> drop it", msg.From)
	case r.phase != standing || b.Candidate != r.self.Session:
		r.core.Why("%d sends ACK, and this node does not stand -> drop it", msg.From)
	default:
		r.acks.Add(msg.From)
		r.count()
	}
}

// count leads once a quorum has sent ACK.
//
// Lecture notes: "Leader who receives quorum of ACKs broadcasts COMMIT."
func (r round) count() {
	if r.acks.Of(r.voters) {
		r.core.WinAs(r.self, "a quorum sent ACK")
	}
}
