package nomination

import (
	"cmp"
	"slices"

	"github.com/ringleader-dev/ringleader/proto"
)

// member is one other process in the view.
type member struct {
	proto.Peer       // with the attribute frozen for the term
	live       int64 // the attribute as it is now
}

// death is a process that left the view.
type death struct {
	session proto.Session
	term    proto.Term // this node's term when it saw the process go
}

// roster is the detector's opinion, with ranks frozen for the term.
//
// Invariants:
//  1. members are in the order of their ids, this node not among them.
//  2. A process is never both a member and among the dead.
type roster struct {
	self    proto.NodeID
	own     int64 // this node's attribute as it is now
	members []member
	dead    map[proto.NodeID]death

	// Room for the members of the next view, and for who came and went with the last:
	// a view of many that changes a little allocates nothing.
	spare      []member
	came, went []proto.Peer
}

// update takes a new view and returns the processes that came and went. A node
// that restarted is in both: its old process went, its new one came. Both lists are
// good until the next view.
func (r *roster) update(alive []proto.Peer, term proto.Term) (came, went []proto.Peer) {
	alive = sorted(alive)
	old, next := r.members, slices.Grow(r.spare[:0], len(alive))
	came = slices.Grow(r.came[:0], max(0, len(alive)-len(old)))
	went = r.went[:0]
	for _, p := range alive {
		if p.ID == r.self {
			r.own = p.Attr
			continue
		}
		for len(old) > 0 && old[0].ID < p.ID {
			went, old = append(went, old[0].Peer), old[1:]
		}
		m := member{Peer: p, live: p.Attr}
		if len(old) > 0 && old[0].ID == p.ID {
			if old[0].Session == p.Session {
				m.Attr = old[0].Attr // frozen, unlike being eligible
			} else {
				came, went = append(came, p), append(went, old[0].Peer)
			}
			old = old[1:]
		} else {
			came = append(came, p)
		}
		next = append(next, m)
	}
	for _, m := range old {
		went = append(went, m.Peer)
	}
	r.members, r.spare = next, r.members
	r.came, r.went = came, went
	r.bury(came, went, term)
	return came, went
}

// sorted is the view in the order of ids, as it should come.
func sorted(alive []proto.Peer) []proto.Peer {
	for i := 1; i < len(alive); i++ {
		if alive[i].ID < alive[i-1].ID {
			return slices.SortedFunc(slices.Values(alive), func(a, b proto.Peer) int {
				return cmp.Compare(a.ID, b.ID)
			})
		}
	}
	return alive
}

// bury keeps the dead in step with the members.
func (r *roster) bury(came, went []proto.Peer, term proto.Term) {
	for _, p := range went {
		r.dead[p.ID] = death{session: p.Session, term: term}
	}
	if len(r.dead) == 0 {
		return
	}
	for i := range came {
		if r.dead[came[i].ID].session == came[i].Session {
			delete(r.dead, came[i].ID)
		}
	}
}

// freeze takes every attribute as it is now for the term that begins.
func (r *roster) freeze() {
	for i := range r.members {
		r.members[i].Attr = r.members[i].live
	}
}

// diedIn reports whether process p left the view in term t or a later one and
// did not come back.
func (r *roster) diedIn(p proto.Peer, t proto.Term) bool {
	d, ok := r.dead[p.ID]
	return ok && d.session == p.Session && d.term >= t
}

// find returns the member with this id.
func (r *roster) find(id proto.NodeID) (proto.Peer, bool) {
	i, ok := slices.BinarySearchFunc(r.members, id, func(m member, id proto.NodeID) int {
		return cmp.Compare(m.ID, id)
	})
	if !ok {
		return proto.Peer{}, false
	}
	return r.members[i].Peer, true
}

// peers goes over the members.
func (r *roster) peers(yield func(proto.Peer) bool) {
	for i := range r.members {
		if !yield(r.members[i].Peer) {
			return
		}
	}
}

// best returns the highest-ranked other member that is eligible, leaving one
// out.
func (r *roster) best(but proto.NodeID) (best proto.Peer, ok bool) {
	at := -1
	for i := range r.members {
		m := &r.members[i]
		if m.ID == but || m.Ineligible {
			continue
		}
		if at < 0 || m.Rank().Compare(r.members[at].Rank()) > 0 {
			at = i
		}
	}
	if at < 0 {
		return best, false
	}
	return r.members[at].Peer, true
}
