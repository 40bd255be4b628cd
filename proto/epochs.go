package proto

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Epochs are a few Epochs, in the order in which they were packed. They are a
// string so that they can be compared and shared like any other value.
type Epochs string

// MaxEpochs bounds how many Epochs a message carries: one for each voter that
// there can be, and half of the largest payload.
const MaxEpochs = 1000

// epochSize is a packed Epoch: term, leader, session.
const epochSize = 8 + 8 + len(Session{})

// PackEpochs packs all of them.
func PackEpochs(all []Epoch) Epochs {
	packed := make([]byte, 0, len(all)*epochSize)
	for _, e := range all {
		packed = binary.BigEndian.AppendUint64(packed, uint64(e.Term))
		packed = binary.BigEndian.AppendUint64(packed, uint64(e.Leader))
		packed = append(packed, e.Session[:]...)
	}
	return Epochs(packed)
}

// All are the Epochs; what follows the last whole one is passed over.
func (p Epochs) All() []Epoch {
	var all []Epoch
	for b := range slices.Chunk([]byte(p), epochSize) {
		if len(b) == epochSize {
			e := Epoch{
				Term:   Term(binary.BigEndian.Uint64(b)),
				Leader: NodeID(binary.BigEndian.Uint64(b[8:])),
			}
			copy(e.Session[:], b[16:])
			all = append(all, e)
		}
	}
	return all
}

// Validate refuses what no correct node packs.
func (p Epochs) Validate() error {
	if len(p)%epochSize != 0 || len(p) > MaxEpochs*epochSize {
		return fmt.Errorf("epochs of %d bytes: want up to %d of %d", len(p), MaxEpochs, epochSize)
	}
	for _, e := range p.All() {
		if e.Term == 0 || e.Term > MaxTerm {
			return fmt.Errorf("epoch of term %d", e.Term)
		}
		if err := e.Leader.Validate(); err != nil {
			return err
		}
		if e.Session.IsZero() {
			return errors.New("epoch without a session")
		}
	}
	return nil
}
