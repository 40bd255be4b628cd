package office

import (
	"slices"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// A voter's account of whom it granted a term and has not seen to stop. A
// majority granted every office that was ever held, and a majority grants the
// next: a voter of both knows the former holder. The account is kept only where
// the cluster fences.

// remember keeps the vote that one for next is about to replace, unless its
// process was seen to stop. One vote an id is enough: a process starts only
// once the one before it with that id has ended.
func (m *Machine) remember(next proto.NodeID) {
	was := m.State.Vote
	if m.Cfg.Fence {
		former := slices.DeleteFunc(m.State.Former.All(), func(e proto.Epoch) bool {
			return e.Leader == next || e.Leader == was.ID
		})
		// A voter grants another only when its own work has stopped.
		if was.ID != 0 && was.ID != next && was.ID != m.Cfg.Self && !m.State.Stopped {
			former = append(former, epochOf(was))
		}
		m.State.Former = proto.PackEpochs(former)
	}
	m.State.Stopped = false
}

// strike takes off the account what was seen to stop, and reports whether there
// was any of it.
func (m *Machine) strike(stopped func(proto.Epoch) bool) bool {
	if !m.Cfg.Fence {
		return false
	}
	was := m.State
	if was.Vote.ID != 0 && stopped(epochOf(was.Vote)) {
		m.State.Stopped = true
	}
	m.State.Former = proto.PackEpochs(slices.DeleteFunc(was.Former.All(), stopped))
	return m.State != was
}

// settle takes off the account who held office before a term that is held now:
// its holder had them all stopped.
func (m *Machine) settle(held proto.Term) {
	m.Dirty = m.strike(func(e proto.Epoch) bool { return e.Term < held }) || m.Dirty
}

// upTo matches what a process held up to a term.
func upTo(last proto.Epoch) func(proto.Epoch) bool {
	return func(e proto.Epoch) bool {
		return e.Leader == last.Leader && e.Session == last.Session && e.Term <= last.Term
	}
}

func epochOf(v algorithms.Vote) proto.Epoch {
	return proto.Epoch{Term: v.Term, Leader: v.ID, Session: v.Session}
}

// account is what a VOTE tells, empty where the cluster does not fence.
func (m *Machine) account() proto.Epochs {
	if !m.Cfg.Fence {
		return ""
	}
	return m.State.Former
}

// unseen is what a voter that lost its own account is told: whom this voter
// granted a term, the last one too, and has not seen to stop. It holds that against
// itself as well, until it has released its term.
func (m *Machine) unseen() proto.Epochs {
	v := m.State.Vote
	stopped := m.State.Stopped || v.ID == m.Cfg.Self && (v.Session != m.Cfg.Session || m.Voter.Over)
	if !m.Cfg.Fence || v.ID == 0 || stopped {
		return m.account()
	}
	return proto.PackEpochs(append(m.State.Former.All(), epochOf(v)))
}

// inherited is the account of a voter that lost its own: what the others told, but
// for whom it saw to stop itself meanwhile, and for its own former lives.
func (m *Machine) inherited(told map[proto.NodeID]proto.Epoch) proto.Epochs {
	var former []proto.Epoch
	for id, e := range told {
		if m.Cfg.Fence && id != m.Cfg.Self && m.Voter.Dead[id] != e.Session && !upTo(m.releases[id])(e) {
			former = append(former, e)
		}
	}
	slices.SortFunc(former, proto.Epoch.Compare)
	return proto.PackEpochs(former)
}
