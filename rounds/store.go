package rounds

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/words"
)

// storeSaid is what a node knew from some time on of the store on which leadership stands.
type storeSaid struct {
	at    time.Time
	node  uint64
	kind  algorithms.StoreWord
	about string
	ref   Ref
}

// noteStore keeps what a step tells of the store.
func (r *Round) noteStore(s *Step) {
	for i := range s.reasons {
		why := &s.reasons[i]
		if says, ok := decided[algorithms.StoreSays](why); ok {
			r.store = append(r.store, storeSaid{s.At, s.Ref.Node, says.Kind, why.words(says.About), s.Ref})
		}
	}
}

// storeKept says what in the store kept the nodes from a leader: that it did not answer them, that a stranger led
// there, or that the lease of the dead leader was lent. It returns "" if nothing did. What a node was told last
// before nobody led counts, too.
func (in *Incident) storeKept() string {
	last := map[uint64]storeSaid{}
	said := map[algorithms.StoreWord]map[uint64]storeSaid{}
	rounds := in.rounds
	if in.before != nil {
		rounds = append([]*Round{in.before}, rounds...)
	}
	for _, r := range rounds {
		for _, is := range r.store {
			switch {
			case is.at.After(in.Until):
			case is.at.Before(in.From):
				if is.at.After(last[is.node].at) {
					last[is.node] = is
				}
			default:
				note(said, is)
			}
		}
	}
	for _, is := range last {
		note(said, is)
	}
	silent, foreign, lent := said[algorithms.StoreSilent], said[algorithms.StoreForeign], said[algorithms.StoreLent]
	switch {
	case len(silent) > 0:
		ids := slices.Sorted(maps.Keys(silent))
		first := silent[ids[0]]
		in.proveAll(ids, silent)
		return fmt.Sprintf("the store did not answer %s (%s)", words.Nodes(ids), first.about)
	case len(foreign) > 0:
		ids := slices.Sorted(maps.Keys(foreign))
		in.proveAll(ids, foreign)
		return fmt.Sprintf("in the store, %s led", foreign[ids[0]].about)
	case len(lent) > 0:
		ids := slices.Sorted(maps.Keys(lent))
		in.proveAll(ids, lent)
		return "its lease was lent, and ran on"
	}
	return ""
}

func note(said map[algorithms.StoreWord]map[uint64]storeSaid, is storeSaid) {
	if said[is.kind] == nil {
		said[is.kind] = map[uint64]storeSaid{}
	}
	said[is.kind][is.node] = is
}

func (in *Incident) proveAll(ids []uint64, said map[uint64]storeSaid) {
	for _, id := range ids {
		in.prove(said[id].ref)
	}
}
