package sim

import (
	"fmt"

	"github.com/ringleader-dev/ringleader/algorithms/paxos"
	"github.com/ringleader-dev/ringleader/proto"
)

// The invariants of the consensus.

// keepsBallots records the highest ballot that each node prepared or promised in a term, in any of
// its processes.
type keepsBallots struct{ promised map[mandate]paxos.Ballot }

func (k *keepsBallots) check(s *step) string {
	was := k.promised[mandate{s.node.id, s.out.Leader.Term}]
	for _, m := range s.out.Send {
		body, ok := m.Body.(balloted)
		if !ok {
			continue
		}
		of, act := mandate{s.node.id, m.Term}, body.Act()
		switch {
		case act.Opens && act.Ballot.Compare(was) <= 0:
			return fmt.Sprintf("prepares ballot %v after %v", act.Ballot, was)
		case act.Ballot.Compare(k.promised[of]) < 0:
			return fmt.Sprintf("%s of ballot %v, and it promised %v", m.Body.Kind(), act.Ballot, k.promised[of])
		}
		k.promised[of] = act.Ballot
	}
	return ""
}

// decree is what the consensus on one term has decided so far.
type decree struct {
	values   map[paxos.Ballot]proto.Incarnation
	accepted map[paxos.Ballot]map[proto.NodeID]bool
	chosen   map[proto.Incarnation]bool
}

type oneChosen struct{ terms map[proto.Term]*decree }

func (k *oneChosen) check(s *step) string {
	for _, m := range s.out.Send {
		d := k.terms[m.Term]
		if d == nil {
			d = &decree{
				values: map[paxos.Ballot]proto.Incarnation{}, chosen: map[proto.Incarnation]bool{},
				accepted: map[paxos.Ballot]map[proto.NodeID]bool{},
			}
			k.terms[m.Term] = d
		}
		if b, ok := m.Body.(balloted); ok && b.Act().Accepts {
			act := b.Act()
			if was, ok := d.values[act.Ballot]; ok && !act.Value.IsZero() && was != act.Value {
				return fmt.Sprintf("ballot %v of term %d has two values", act.Ballot, m.Term)
			}
			if !act.Value.IsZero() {
				d.values[act.Ballot] = act.Value
			}
			d.accept(act.Ballot, s)
		}
		if len(d.chosen) > 1 {
			return fmt.Sprintf("term %d has %d values that a majority accepted", m.Term, len(d.chosen))
		}
	}
	d := k.terms[s.out.Leader.Term]
	if s.claims() && d != nil && len(d.values) > 0 && !d.chosen[s.node.life.incarnation] {
		return fmt.Sprintf("leads term %d, and was not chosen", s.out.Leader.Term)
	}
	return ""
}

func (d *decree) accept(b paxos.Ballot, s *step) {
	if d.accepted[b] == nil {
		d.accepted[b] = map[proto.NodeID]bool{}
	}
	d.accepted[b][s.node.id] = true
	if 2*len(d.accepted[b]) > len(s.cluster.nodes) {
		d.chosen[d.values[b]] = true
	}
}
