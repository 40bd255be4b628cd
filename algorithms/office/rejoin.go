package office

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// stood hears what another voter voted in: for a voter that may have lost its disk, or
// for a term that was absurdly far above all that this node knows.
func (m *Machine) stood(msg proto.Message, b proto.VoterState) {
	m.ToldTerm(msg, b)
	if m.believer != nil {
		m.believer.Believe(m.ToldRound())
	}
	if m.Stood(msg, b) {
		m.readmitted()
	}
}

// heardUnvoted hears of a voter that it never voted.
func (m *Machine) heardUnvoted(msg proto.Message, b proto.Unvoted) {
	if m.HeardUnvoted(msg, b) {
		m.readmitted()
	}
}

// readmitted begins to vote, after what this voter was told. It takes over the account of
// former holders. Its nomination begins only now.
func (m *Machine) readmitted() {
	m.State.Former = m.inherited(m.Told.Former)
	m.heard = m.Now
	m.nominate(algorithms.Start{Saved: m.State})
	m.Dirty = true
	if m.Resigned {
		m.nominate(algorithms.Resign{})
	}
	if m.Ineligible() != "" {
		m.tellNomination(false)
	}
	if len(m.Alive) > 0 {
		m.nominateAmong(m.Alive, "readmitted")
	}
}
