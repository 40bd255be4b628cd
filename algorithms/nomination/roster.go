package nomination

import (
	"cmp"
	"iter"
	"slices"

	"github.com/ringleader-dev/ringleader/proto"
)

// death records that a process left the view.
type death struct {
	incarnation proto.Incarnation
	term        proto.Term // this node's term when it saw the process go
}

// roster is the failure detector's opinion, with the ranks frozen for the term.
//
// Invariants: 1. members and live list the same processes, in the order of their ids. 2. A process
// is never both a member and among the dead.
type roster struct {
	self    proto.NodeID
	own     int64        // this node's attribute as it is now
	members []proto.Peer // this node among them; with the attributes frozen for the term
	live    []proto.Peer // the same processes as they are now; the same slice as members while no attribute has changed
	others  int          // members without this node
	dead    map[proto.NodeID]death

	// Memory for the lists of processes that came and went with the last view.
	came []proto.NodeID
	went []proto.Peer
}

// update replaces the view, and returns the processes that came and those that went. A node that
// restarted is in both lists: its old process went, its new one came. Both lists are valid until
// the next call. The roster keeps the view without copying it, since copying a large view is
// expensive.
func (r *roster) update(alive []proto.Peer, term proto.Term) (came []proto.NodeID, went []proto.Peer) {
	alive = sorted(alive)
	old, frozen := r.members, false
	r.members, r.live, r.others = alive, alive, 0
	r.came, r.went = slices.Grow(r.came[:0], max(0, len(alive)-len(old))), r.went[:0]
	for i := range alive {
		p := &alive[i]
		for len(old) > 0 && old[0].ID < p.ID {
			r.leave(old[0], term)
			old = old[1:]
		}
		known := len(old) > 0 && old[0].ID == p.ID
		switch {
		case p.ID == r.self:
			r.own = p.Attr
		case !known:
			r.come(p)
		case old[0].Incarnation != p.Incarnation:
			r.leave(old[0], term)
			r.come(p)
		case old[0].Attr != p.Attr: // frozen, unlike being eligible
			if !frozen {
				r.members, frozen = slices.Clone(alive), true
			}
			r.members[i].Attr = old[0].Attr
		}
		if p.ID != r.self {
			r.others++
		}
		if known {
			old = old[1:]
		}
	}
	for i := range old {
		r.leave(old[i], term)
	}
	return r.came, r.went
}

// come notes that a process is in this view and was not in the view before.
func (r *roster) come(p *proto.Peer) {
	r.came = append(r.came, p.ID)
	if r.dead[p.ID].incarnation == p.Incarnation {
		delete(r.dead, p.ID)
	}
}

// leave notes that a process was in the view before and is not in this view.
func (r *roster) leave(p proto.Peer, term proto.Term) {
	if p.ID != r.self {
		r.went = append(r.went, p)
		r.dead[p.ID] = death{incarnation: p.Incarnation, term: term}
	}
}

// sorted returns the view in the order of ids. It usually has that order already.
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

// freeze fixes the ranks for the term that begins: each process keeps its present attribute.
func (r *roster) freeze() { r.members = r.live }

// all yields the other processes, in the order of their ids. A Peer is valid only during the call
// of yield.
func (r *roster) all() iter.Seq[*proto.Peer] {
	return func(yield func(*proto.Peer) bool) {
		for i := range r.members {
			if p := &r.members[i]; p.ID != r.self && !yield(p) {
				return
			}
		}
	}
}

// diedIn reports whether process p left the view in term t or a later one and
// did not come back.
func (r *roster) diedIn(p proto.Peer, t proto.Term) bool {
	d, ok := r.dead[p.ID]
	return ok && d.incarnation == p.Incarnation && d.term >= t
}

// find returns the process of the other node with this id, if the view has one.
func (r *roster) find(id proto.NodeID) (proto.Peer, bool) {
	i, ok := slices.BinarySearchFunc(r.members, id, func(p proto.Peer, id proto.NodeID) int {
		return cmp.Compare(p.ID, id)
	})
	if !ok || id == r.self {
		return proto.Peer{}, false
	}
	return r.members[i], true
}

// peers yields copies of what all yields.
func (r *roster) peers(yield func(proto.Peer) bool) {
	for p := range r.all() {
		if !yield(*p) {
			return
		}
	}
}

// best returns the highest-ranked other process that is eligible. It leaves out the process of the node
// but. ok is false if there is no such process.
func (r *roster) best(but proto.NodeID) (best proto.Peer, ok bool) {
	var highest *proto.Peer
	for p := range r.all() {
		if p.ID == but || p.Ineligible {
			continue
		}
		if highest == nil || p.Rank().Compare(highest.Rank()) > 0 {
			highest = p
		}
	}
	if highest == nil {
		return best, false
	}
	return *highest, true
}
