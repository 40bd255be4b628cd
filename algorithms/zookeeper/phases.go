package zookeeper

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

var whyForeign = reasons.Kind("foreign", "%s is no message of ZooKeeper's election -> drop it")

// Receive handles WATCH and EXISTS, NEW_LEADER and ACK.
func (r *round) Receive(msg proto.Message) {
	switch b := msg.Body.(type) {
	case Watch:
		r.onWatch(msg)
	case Exists:
		r.onExists(msg)
	case NewLeader:
		r.onNewLeader(msg, b)
	case Ack:
		r.onAck(msg, b)
	default:
		r.core.Refuse(whyForeign, b.Kind())
	}
}

// onWatch answers WATCH: it says that this process is alive, or who leads.
func (r *round) onWatch(msg proto.Message) {
	if r.core.Asked(msg.From) {
		return
	}
	if r.phase == idle && r.ack.term != r.core.Term() {
		r.Begin()
	}
	r.core.Send(msg.From, Exists{})
}

// onExists handles EXISTS: this process waits for the watched process, which goes on with the election.
//
// Lecture notes: "Else: Wait until timeout; Re-check successor."
func (r *round) onExists(msg proto.Message) {
	if r.phase != asking || msg.From != r.watched.ID {
		return
	}
	r.phase = waiting
	r.core.SetTimer(CommitTimeout(r.core.Delta(), r.core.Size()))
}

// Stand implements nomination.Candidacy. The caller has checked that this process may be a
// candidate of the term.
func (r *round) Stand(self proto.Peer) {
	r.phase, r.self = standing, self
	r.ack = vote{r.core.Term(), self}
	r.acks.Reset()
	r.acks.Add(self.ID)
	r.core.SendAll(NewLeader{Candidate: self})
	r.core.SetTimer(AckTimeout(r.core.Delta()))
	r.count()
}

// Contends implements nomination.Candidacy: it reports whether this process asks the others for ACK.
func (r *round) Contends() bool { return r.phase == standing }

var (
	whyHighest = reasons.Kind("highest", "nobody is above this node")
	whyStand   = reasons.Kind("stand", "nobody is above this node -> stand for term %d").
			Follows("If successor was the Leader, you become the leader")
)

// stand makes this process a candidate, since no process is above it.
//
// Lecture notes: "Potential Leader broadcasts NEW_LEADER."
func (r *round) stand() {
	switch {
	case r.core.Spent(whyHighest.Of()):
	case r.ack.term == r.core.Term(): // "at most one", whatever led here
		r.phase = acked
		r.core.SetTimer(WatchTimeout(r.core.Delta()))
	default:
		r.core.Why(whyStand, r.core.Term())
		r.Stand(r.core.Self())
	}
}

var (
	whyLed          = reasons.Kind("led", "%d stands but %d leads term %d -> tell it")
	whyUnheard      = reasons.Kind("unheard", "%d stands, leader %d was not heard of late -> no ACK")
	whyFormerLife   = reasons.Kind("former-life", "a former life may have sent ACK in term %d -> none to %d")
	whyAckElsewhere = reasons.Kind("ack-elsewhere", "ACK went to %d -> none to %d", algorithms.Refuses(1, 0)).
			Follows(once)
	whyStandAbove = reasons.Kind("stand-above", "%d is below this node, and nobody above -> stand for term %d")
)

// onNewLeader answers a candidate with ACK, or does not answer.
//
// Lecture notes: "Each process ACKs to at most one NEW_LEADER."
//
// This process chooses the highest candidate that it has seen. If no process is above this process, and
// it may lead, it becomes a candidate itself and sends no ACK to a lower candidate.
func (r *round) onNewLeader(msg proto.Message, b NewLeader) {
	_, above := r.next()
	lower := r.core.Self().Above(b.Candidate)
	free := r.phase == idle || r.phase == watching || r.phase == asking
	switch {
	case r.core.Vouches():
		r.core.Why(whyLed, msg.From, r.core.Leader().ID, r.core.Term())
		r.core.Tell(msg.From)
	case !r.core.Looking():
		r.core.Why(whyUnheard, msg.From, r.core.Leader().ID)
	case !r.core.MayVote():
		r.core.Why(whyFormerLife, r.core.Term(), msg.From)
	case r.ack.term == r.core.Term() && !r.ack.to.Is(b.Candidate):
		r.core.Why(whyAckElsewhere, r.ack.to.ID, msg.From)
	case r.ack.term != r.core.Term() && lower && free && !above && r.core.MayStand():
		r.core.Why(whyStandAbove, msg.From, r.core.Term())
		r.Stand(r.core.Self())
	default:
		r.sendAck(b.Candidate)
	}
}

var whyAck = reasons.Kind("ack", "%d stands -> ACK", algorithms.Outranks(algorithms.Self, 0)).
	Follows(once)

func (r *round) sendAck(to proto.Peer) {
	r.core.Why(whyAck, to.ID)
	r.ack = vote{r.core.Term(), to}
	r.core.Send(to.ID, Ack{Candidate: to.Incarnation})
	if r.core.Aside() {
		return
	}
	r.phase = acked
	r.core.SetTimer(WatchTimeout(r.core.Delta()))
}

var (
	whyNoVoter = reasons.Kind("no-voter", "%d sends ACK, but it is no voter -> drop it")
	whyAckLate = reasons.Kind("ack-late", "%d sends ACK, and this node does not stand -> drop it")
)

// onAck counts the ACK of a voter, once.
func (r *round) onAck(msg proto.Message, b Ack) {
	switch {
	case !r.voters.Has(msg.From):
		r.core.Refuse(whyNoVoter, msg.From)
	case r.phase != standing || b.Candidate != r.self.Incarnation:
		r.core.Why(whyAckLate, msg.From)
	default:
		r.acks.Add(msg.From)
		r.count()
	}
}

var whyQuorum = reasons.Kind("quorum", "a quorum sent ACK").
	Follows("Leader who receives quorum of ACKs broadcasts COMMIT")

// count makes this process lead once a quorum has sent ACK.
//
// Lecture notes: "Leader who receives quorum of ACKs broadcasts COMMIT."
func (r *round) count() {
	if r.acks.Of(r.voters) {
		r.core.WinAs(r.self, whyQuorum.Of())
	}
}
