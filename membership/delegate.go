package membership

import (
	"time"

	"github.com/hashicorp/memberlist"
)

// delegate is what memberlist calls, from any goroutine and mostly under its own
// lock: it copies what it is given into the group's queue and returns. It never
// calls memberlist back.
type delegate struct{ g *Group }

var (
	_ memberlist.Delegate         = delegate{}
	_ memberlist.EventDelegate    = delegate{}
	_ memberlist.AliveDelegate    = delegate{}
	_ memberlist.MergeDelegate    = delegate{}
	_ memberlist.ConflictDelegate = delegate{}
)

// NotifyAlive refuses who may not be a member, this node's own id included:
// a node of another cluster may have the same one.
func (d delegate) NotifyAlive(n *memberlist.Node) error {
	peer, err := d.g.gate.admit(n)
	if err != nil {
		return err
	}
	return d.g.gate.room(peer, *d.g.listed.Load())
}

// NotifyMerge refuses a whole exchange when one of the living that the peer
// lists, itself among them, may not be a member: else its dead and suspects
// would be mistaken for ours of the same id.
func (d delegate) NotifyMerge(peers []*memberlist.Node) error {
	for _, n := range peers {
		if n.State == memberlist.StateDead || n.State == memberlist.StateLeft {
			continue
		}
		if _, err := d.g.gate.admit(n); err != nil {
			return err
		}
	}
	return nil
}

// NotifyConflict tells of an id at two addresses.
func (d delegate) NotifyConflict(existing, other *memberlist.Node) {
	old, err1 := readNode(existing)
	rival, err2 := readNode(other)
	if err1 == nil && err2 == nil {
		d.g.queue.post(func() { d.g.onConflict(old, rival) })
	}
}

// NotifyJoin tells that gossip lists a process that it did not list before.
func (d delegate) NotifyJoin(n *memberlist.Node) {
	if peer, err := readNode(n); err == nil && peer.ID != d.g.me.id {
		d.g.queue.post(func() { d.g.onAlive(peer) })
	}
}

// NotifyUpdate tells of new meta: another attribute, or another process.
func (d delegate) NotifyUpdate(n *memberlist.Node) { d.NotifyJoin(n) }

// NotifyLeave tells that gossip gave a process up. Its state does not say
// whether it left or died.
func (d delegate) NotifyLeave(n *memberlist.Node) {
	if peer, err := readNode(n); err == nil && peer.ID != d.g.me.id {
		d.g.queue.post(func() { d.g.onGone(identity{peer.ID, peer.Session}, time.Now()) })
	}
}

// NodeMeta is what this node says of itself.
func (d delegate) NodeMeta(int) []byte { return *d.g.metaBytes.Load() }

// NotifyMsg takes another process's goodbye, or a notice.
func (d delegate) NotifyMsg(b []byte) {
	if len(b) > 0 && b[0] == noticeTag {
		if n, _, err := decodeNotice(b); err == nil {
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

// LocalState is the notice that this node knows, and its roll.
func (d delegate) LocalState(bool) []byte {
	return append(d.g.notice.Load().encode(), *d.g.roll.Load()...)
}

// MergeRemoteState takes another node's notice and roll.
func (d delegate) MergeRemoteState(b []byte, _ bool) {
	notice, b, err := decodeNotice(b)
	if err != nil {
		d.g.log.Debug().Err(err).Msg("dropped a state")
		return
	}
	d.g.queue.post(func() { d.g.onNotice(notice) })
	sender, listed, err := decodeRoll(b, d.g.me)
	if err != nil {
		d.g.log.Debug().Err(err).Msg("dropped a roll")
		return
	}
	d.g.queue.post(func() { d.g.onRoll(sender, listed) })
}

// GetBroadcasts: nothing of ours travels by gossip.
func (d delegate) GetBroadcasts(int, int) [][]byte { return nil }
