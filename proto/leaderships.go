package proto

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Leaderships is a list of Leaderships packed into a string, so that it can be compared and shared
// like any other value.
type Leaderships string

// MaxLeaderships bounds how many Leaderships a message carries: one for each possible voter. They
// fill half of the largest payload.
const MaxLeaderships = 1000

// leadershipSize is a packed Leadership: term, leader, incarnation.
const leadershipSize = 8 + 8 + len(Incarnation{})

// PackLeaderships packs a list of Leaderships in its order.
func PackLeaderships(all []Leadership) Leaderships {
	packed := make([]byte, 0, len(all)*leadershipSize)
	for _, e := range all {
		packed = binary.BigEndian.AppendUint64(packed, uint64(e.Term))
		packed = binary.BigEndian.AppendUint64(packed, uint64(e.Leader))
		packed = append(packed, e.Incarnation[:]...)
	}
	return Leaderships(packed)
}

// All returns the Leaderships in the order in which they were packed. It ignores bytes after the
// last complete one.
func (p Leaderships) All() []Leadership {
	var all []Leadership
	for b := range slices.Chunk([]byte(p), leadershipSize) {
		if len(b) == leadershipSize {
			e := Leadership{
				Term:   Term(binary.BigEndian.Uint64(b)),
				Leader: NodeID(binary.BigEndian.Uint64(b[8:])),
			}
			copy(e.Incarnation[:], b[16:])
			all = append(all, e)
		}
	}
	return all
}

// Validate refuses a string that PackLeaderships does not return, and Leaderships that no process
// can have had.
func (p Leaderships) Validate() error {
	if len(p)%leadershipSize != 0 || len(p) > MaxLeaderships*leadershipSize {
		return fmt.Errorf("leaderships of %d bytes: want up to %d of %d", len(p), MaxLeaderships, leadershipSize)
	}
	for _, e := range p.All() {
		if e.Term == 0 || e.Term > MaxTerm {
			return fmt.Errorf("leadership of term %d", e.Term)
		}
		if err := e.Leader.Validate(); err != nil {
			return err
		}
		if e.Incarnation.IsZero() {
			return errors.New("leadership without an incarnation")
		}
	}
	return nil
}
