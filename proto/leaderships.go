package proto

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Leaderships is a list of values of type Leadership, packed into a string. So the list can be
// compared with == and copied like any other value.
type Leaderships string

// MaxLeaderships is the largest number of values of type Leadership in a message: one for each
// possible voter. They fill half of the largest payload.
const MaxLeaderships = 1000

// leadershipSize is the size of a packed Leadership in bytes: term, leader, incarnation.
const leadershipSize = 8 + 8 + len(Incarnation{})

// PackLeaderships packs the leaderships in all, in the same order.
func PackLeaderships(all []Leadership) Leaderships {
	packed := make([]byte, 0, len(all)*leadershipSize)
	for _, e := range all {
		packed = binary.BigEndian.AppendUint64(packed, uint64(e.Term))
		packed = binary.BigEndian.AppendUint64(packed, uint64(e.Leader))
		packed = append(packed, e.Incarnation[:]...)
	}
	return Leaderships(packed)
}

// All returns the leaderships in the order in which they were packed. It ignores bytes after the
// last complete leadership.
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

// Validate refuses a string that PackLeaderships does not return, and a leadership that no process
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
