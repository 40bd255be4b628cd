package membership

import (
	"time"

	"github.com/hashicorp/memberlist"
)

// delegate has the methods that memberlist calls, from any goroutine and mostly while it holds its own lock.
// These methods put news into the group's queue and return. They never call memberlist.
type delegate struct{ g *Group }

// NotifyAlive refuses processes that may not be members, or that find no place. It also judges processes with this
// node's own id, since a node of another cluster may have the same id.
func (d delegate) NotifyAlive(n *memberlist.Node) error {
	peer, err := d.g.gate.admit(n)
	if err != nil || peer.ID == d.g.me.id {
		return err
	}
	lost, returned, err := d.g.places.find(peer, time.Now())
	if err != nil {
		d.g.gate.crowded(peer, err)
		return err
	}
	if lost != nil {
		d.g.queue.post(func() { d.g.onDisplaced(lost.identity()) })
	}
	if returned {
		d.g.queue.post(func() { d.g.onAlive(peer) }) // memberlist lists it already, and says nothing
	}
	return nil
}

// NotifyMerge refuses a whole exchange of states if the peer lists a living process that may not be
// a member; that may be the peer itself. Otherwise this node would take processes that the peer
// calls dead or suspect for its own peers with the same ids.
func (d delegate) NotifyMerge(peers []*memberlist.Node) error {
	for _, n := range peers {
		if n.State == memberlist.StateDead || n.State == memberlist.StateLeft {
			continue
		}
		peer, err := d.g.gate.admit(n)
		if err != nil {
			return err
		}
		if d.g.cfg.LinksProve && d.g.places.isKnown(peer.ID) {
			d.g.queue.post(func() { d.g.onHint(peer) })
		}
	}
	return nil
}

// NotifyConflict tells the group that two addresses have the same id.
func (d delegate) NotifyConflict(existing, other *memberlist.Node) {
	old, err1 := readNode(existing)
	rival, err2 := readNode(other)
	if err1 == nil && err2 == nil {
		d.g.queue.post(func() { d.g.onConflict(old, rival) })
	}
}

// NotifyJoin tells the group that gossip lists a process that it did not list before.
func (d delegate) NotifyJoin(n *memberlist.Node) {
	if peer, err := readNode(n); err == nil && peer.ID != d.g.me.id {
		d.g.places.joined(peer)
		d.g.queue.post(func() { d.g.onAlive(peer) })
	}
}

// NotifyUpdate tells the group that a listed process changed: its attribute, for example, or its
// incarnation.
func (d delegate) NotifyUpdate(n *memberlist.Node) { d.NotifyJoin(n) }

// NotifyLeave tells the group that gossip no longer lists a process. n does not say whether the
// process left or died.
func (d delegate) NotifyLeave(n *memberlist.Node) {
	if peer, err := readNode(n); err == nil && peer.ID != d.g.me.id {
		d.g.places.left(peer.ID)
		d.g.queue.post(func() { d.g.onGone(identity{peer.ID, peer.Incarnation}, time.Now()) })
	}
}

// NodeMeta returns what this node tells the others about itself.
func (d delegate) NodeMeta(int) []byte { return *d.g.metaBytes.Load() }

// NotifyMsg handles a goodbye or a notice of another process.
func (d delegate) NotifyMsg(b []byte) {
	if len(b) > 0 && b[0] == noticeTag {
		if n, _, err := decodeNotice(b); err == nil && !d.g.cfg.LinksProve {
			d.g.queue.post(func() { d.g.onNotice(n) })
		}
		return
	}
	who, err := decodeGoodbye(b)
	if err != nil {
		d.g.log.Debug().Err(err).Msg("dropped a gossip message")
		return
	}
	d.g.queue.post(func() { d.g.onGoodbye(who) })
}

// LocalState returns what this node adds to an exchange of states: the notice that it knows, and its roll.
func (d delegate) LocalState(bool) []byte {
	notice := *d.g.notice.Load()
	if d.g.cfg.LinksProve {
		notice = Notice{} // the links tell it
	}
	return append(notice.encode(), *d.g.roll.Load()...)
}

// MergeRemoteState handles another node's notice and roll.
func (d delegate) MergeRemoteState(b []byte, _ bool) {
	notice, b, err := decodeNotice(b)
	if err != nil {
		d.g.log.Debug().Err(err).Msg("dropped a state")
		return
	}
	if !d.g.cfg.LinksProve {
		d.g.queue.post(func() { d.g.onNotice(notice) })
	}
	sender, listed, err := decodeRoll(b, d.g.me)
	if err != nil {
		d.g.log.Debug().Err(err).Msg("dropped a roll")
		return
	}
	d.g.queue.post(func() { d.g.onRoll(sender, listed) })
}

// GetBroadcasts returns nothing: this package sends no messages by gossip.
func (d delegate) GetBroadcasts(int, int) [][]byte { return nil }
