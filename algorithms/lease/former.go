package lease

import (
	"slices"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// A voter keeps an account of former leaders: the processes that it voted for and has not seen to stop.
// Each leader had the votes of a majority, and so has the next one: a voter of both majorities knows
// the former leader. Voters keep the account only if the cluster fences.

// remember adds the present vote to the account before this voter votes for the node next, unless the
// process of the present vote was seen to stop. The account has at most one entry for each id: a process
// starts only after the last process with that id has ended.
func (m *Machine) remember(next proto.NodeID) {
	was := m.state.Vote
	if m.cfg.Fence {
		former := slices.DeleteFunc(m.state.Former.All(), func(e proto.Leadership) bool {
			return e.Leader == next || e.Leader == was.ID
		})
		// A voter votes for another only when its own work has stopped.
		if was.ID != 0 && was.ID != next && was.ID != m.cfg.Self && !m.state.Stopped {
			former = append(former, leadershipOf(was))
		}
		m.state.Former = proto.PackLeaderships(former)
	}
	m.state.Stopped = false
}

// strike removes from the account the leaderships that have stopped, and reports whether the state
// changed.
func (m *Machine) strike(stopped func(proto.Leadership) bool) bool {
	if !m.cfg.Fence {
		return false
	}
	was := m.state
	if was.Vote.ID != 0 && stopped(leadershipOf(was.Vote)) {
		m.state.Stopped = true
	}
	m.state.Former = proto.PackLeaderships(slices.DeleteFunc(was.Former.All(), stopped))
	return m.state != was
}

// settle removes from the account the leaderships of terms below the term led: the leader of that term
// has made sure that all of them have stopped. The next vote saves the change; until then, extra entries
// do no harm.
func (m *Machine) settle(led proto.Term) {
	m.strike(func(e proto.Leadership) bool { return e.Term < led })
}

// upTo returns a function that reports whether a leadership is one of the same process as last, in the
// same term or an earlier one.
func upTo(last proto.Leadership) func(proto.Leadership) bool {
	return func(e proto.Leadership) bool {
		return e.Leader == last.Leader && e.Incarnation == last.Incarnation && e.Term <= last.Term
	}
}

func leadershipOf(v algorithms.Vote) proto.Leadership {
	return proto.Leadership{Term: v.Term, Leader: v.ID, Incarnation: v.Incarnation}
}

// account returns the account that a VOTE contains; it is empty if the cluster does not fence.
func (m *Machine) account() proto.Leaderships {
	if !m.cfg.Fence {
		return ""
	}
	return m.state.Former
}

// unseen returns the account for a voter that lost its own account. It contains this voter's last vote,
// too, unless the process of that vote was seen to stop. A vote of this voter for its own node is in the
// account until this node has released the term.
func (m *Machine) unseen() proto.Leaderships {
	v := m.state.Vote
	lost := m.voter.over || m.voter.winner.ID != 0
	stopped := m.state.Stopped || v.ID == m.cfg.Self && (v.Incarnation != m.cfg.Incarnation || lost)
	if !m.cfg.Fence || v.ID == 0 || stopped {
		return m.account()
	}
	return proto.PackLeaderships(append(m.state.Former.All(), leadershipOf(v)))
}

// inherited returns the new account of this voter if it lost its own: the entries that the others named,
// without the processes that this voter has seen to stop since, and without its own former lives.
func (m *Machine) inherited(told map[proto.NodeID]proto.Leadership) proto.Leaderships {
	var former []proto.Leadership
	for id, e := range told {
		if m.cfg.Fence && id != m.cfg.Self && m.voter.dead[id] != e.Incarnation && !upTo(m.releases[id])(e) {
			former = append(former, e)
		}
	}
	slices.SortFunc(former, proto.Leadership.Compare)
	return proto.PackLeaderships(former)
}
