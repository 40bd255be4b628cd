package sim

import (
	"fmt"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/paxos"
	"github.com/ringleader-dev/ringleader/proto"
)

// What a run of an algorithm that counts a quorum itself has beyond others. All nodes
// are voters: a majority of them must live for anybody to lead.

// minority returns how many of n voters may be dead.
func minority(n int) int { return (n - 1) / 2 }

// quorumCheckers returns the checkers for an algorithm that counts a quorum itself. If the
// algorithm does not have the messages that an invariant is about, the invariant always holds.
func quorumCheckers() []checker {
	return []checker{
		{
			Invariant{"one-leader-a-term", "no term is ever led by two processes"},
			(&oneATerm{"leads", map[proto.Term]proto.Incarnation{}}).check,
		},
		{
			Invariant{"one-ack", "\"each process ACKs to at most one\" that stands: a node sends ACK to one " +
				"process a term, its own included, whether or not it restarts"},
			(&oneAck{acks: map[mandate]proto.Incarnation{}}).check,
		},
		{Invariant{"committed-by-quorum", "a process leads a term only after ACK of a majority of distinct " +
			"voters, its own included"}, (&committedByQuorum{}).check},
		{Invariant{"keeps-ballots", "\"a promise not to accept any more proposals numbered less than n\": " +
			"a node that promised a ballot answers in no lower one, and uses none of its own twice, " +
			"whether or not it restarts"}, (&keepsBallots{promised: map[mandate]paxos.Ballot{}}).check},
		{
			Invariant{"one-chosen", "a term has one value at most that a majority accepted in one ballot, a " +
				"ballot has one value, and nobody leads who was not chosen"},
			(&oneChosen{terms: map[proto.Term]*decree{}}).check,
		},
	}
}

// What these invariants need to know of the bodies of messages.
type (
	// endorsement is a body with which a node follows one process in a term: the sender itself, if
	// it is a candidate, or another candidate.
	endorsement interface{ Endorses() proto.Incarnation }
	// balloted is a body that does something in a ballot.
	balloted interface{ Act() paxos.Act }
)

// oneAck records whom each node, in any of its processes, endorsed in a term. A candidate endorses
// itself.
type oneAck struct{ acks map[mandate]proto.Incarnation }

func (k *oneAck) check(s *step) string {
	for _, m := range s.out.Send {
		b, ok := m.Body.(endorsement)
		if !ok {
			continue
		}
		of, to := mandate{s.node.id, m.Term}, b.Endorses()
		if was, ok := k.acks[of]; ok && was != to {
			return fmt.Sprintf("ACK in term %d for %s, and before for %s", m.Term, to.Short(), was.Short())
		}
		k.acks[of] = to
	}
	return ""
}

// tallied records the voters whose ACK reached a process in its latest term.
type tallied struct {
	term proto.Term
	from map[proto.NodeID]bool
}

type committedByQuorum struct {
	acks     table[tallied]
	endorsed bool // some node sent an ACK; if none ever does, the algorithm has none and nothing is checked
}

func (k *committedByQuorum) check(s *step) string {
	t, self := k.acks.at(s.node.life.number), s.node.life.incarnation
	if ev, ok := s.ev.(algorithms.Receive); ok {
		if b, ok := ev.Body.(endorsement); ok && b.Endorses() == self && ev.Term == t.term {
			t.from[ev.From] = true
		}
	}
	for _, m := range s.out.Send {
		b, ok := m.Body.(endorsement)
		k.endorsed = k.endorsed || ok
		if ok && b.Endorses() == self && m.Term != t.term { // it stands
			*t = tallied{term: m.Term, from: map[proto.NodeID]bool{s.node.id: true}}
		}
	}
	// One that leads alone has sent nobody anything.
	_, commits := s.announces()
	if !k.endorsed || !commits || !s.claims() || s.prev().Leadership() == s.out.Leader.Leadership() {
		return ""
	}
	if n := len(t.from); t.term != s.out.Leader.Term || 2*n <= len(s.cluster.nodes) {
		return fmt.Sprintf("leads term %d after ACK of %d of %d", s.out.Leader.Term, n, len(s.cluster.nodes))
	}
	return ""
}
