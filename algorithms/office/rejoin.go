package office

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// stood lets a voter that lost its disk back in, once enough others have told it what
// it may have voted in. It takes over the account of former holders. Its nomination
// begins only now.
func (m *Machine) stood(msg proto.Message, b proto.Standing) {
	if !m.Stood(msg, b) {
		return
	}
	told := m.Readmit()
	m.State.Former = m.inherited(told.Former)
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
