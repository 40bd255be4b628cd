package nodesim

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node/tcp"
	"github.com/ringleader-dev/ringleader/proto"
)

// views are what gossip and the links together tell a process of the others: a model of
// package membership. Gossip looks around now and then; it lists who can be heard by any
// path, and a process that cannot for some seconds more. Whoever the links speak against
// does not count as alive.
type views struct {
	p     *process
	dice  dice
	began time.Time

	mu     sync.Mutex
	listed map[proto.NodeID]*listing
	met    bool // somebody, or tried long enough
	said   []string
	wake   chan struct{}
}

// listing is a process that gossip lists.
type listing struct {
	*process    // as gossip tells of it
	incarnation proto.Incarnation
	heard       time.Time
	former      proto.Incarnation // proven gone, and maybe still heard of
	against     string            // what speaks against it
	gone        bool              // it is proven
}

const (
	lookEvery   = 300 * time.Millisecond
	gossipBears = 4 * time.Second // before who is not heard is not listed
	meetingTime = 3 * time.Second // after which a node that met nobody is alone
)

func newViews(p *process) *views {
	return &views{
		p: p, dice: newDice(p.w.options.seed, uint64(p.machine.id)<<32|uint64(p.machine.lives)),
		began: time.Now(), listed: map[proto.NodeID]*listing{}, wake: make(chan struct{}, 1),
	}
}

// follow looks around, and hands each view to the links and to the node, in the order of
// daemon.follow.
func (v *views) follow(ctx context.Context) {
	for ctx.Err() == nil {
		look := time.NewTimer(v.dice.N(2 * lookEvery))
		select {
		case <-ctx.Done():
			look.Stop()
			return
		case <-look.C:
			if !v.p.gate.pass() {
				return
			}
			changed := v.look()
			v.p.compareVoters(v.voters())
			if !changed {
				continue
			}
		case <-v.wake:
			look.Stop()
			if !v.p.gate.pass() {
				return
			}
		}
		peers, alive, evidence, met := v.take()
		v.p.links.SetPeers(peers)
		if met {
			v.p.node.PeersChanged(alive, evidence)
		}
	}
}

// look brings what gossip lists up to date, and reports whether that changed anything.
func (v *views) look() (changed bool) {
	heard := v.p.w.heardBy(v.p)
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	for id, q := range heard {
		l, incarnation := v.listed[id], q.incarnation
		switch {
		case l == nil || l.incarnation != incarnation && l.former != incarnation:
			v.listed[id] = &listing{process: q, incarnation: incarnation, heard: now}
			v.say("joined", id)
			changed = true
		case l.incarnation == incarnation:
			l.heard, l.former = now, proto.Incarnation{}
		}
	}
	for id, l := range v.listed {
		if now.Sub(l.heard) > gossipBears {
			delete(v.listed, id)
			v.say("gossip-dead", id)
			changed = true
		}
	}
	if met := len(heard) > 0 || now.Sub(v.began) > meetingTime; met && !v.met {
		v.met, changed = true, true
	}
	return changed
}

// voters are those of the processes that gossip lists.
func (v *views) voters() (all []membership.Voters) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, l := range v.listed {
		all = append(all, l.settings.VotersNow(l.node))
	}
	return all
}

func (v *views) say(what string, id proto.NodeID) {
	v.said = append(v.said, what+" "+id.String())
}

// report takes evidence, as membership.Group does.
func (v *views) report(e tcp.Evidence) {
	v.mu.Lock()
	defer v.mu.Unlock()
	l := v.listed[e.Peer]
	if l == nil || l.incarnation != e.Incarnation {
		return
	}
	switch e.Event {
	case proto.LinkUp, proto.HeartbeatBack:
		if l.against == "" {
			return
		}
		l.against, l.gone = "", false
	case proto.DialRefused, proto.OtherIncarnation, proto.Unreachable, proto.HeartbeatMissed, proto.IndirectUnreachable:
		l.gone = l.gone || e.Event == proto.DialRefused || e.Event == proto.OtherIncarnation
		if l.against != "" {
			return
		}
		l.against = e.Event.String()
	default:
		return
	}
	v.say(e.Event.String(), e.Peer)
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

// take is what the links and the node are told.
func (v *views) take() (peers []tcp.Peer, alive []proto.Peer, evidence string, met bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	alive = append(alive, proto.Peer{ID: v.p.machine.id, Incarnation: v.p.incarnation})
	for id, l := range v.listed {
		peers = append(peers, tcp.Peer{ID: id, Incarnation: l.incarnation, Addr: addrOf(id).String()})
		if l.against == "" {
			alive = append(alive, proto.Peer{ID: id, Incarnation: l.incarnation})
		}
	}
	slices.SortFunc(peers, func(a, b tcp.Peer) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(alive, func(a, b proto.Peer) int { return cmp.Compare(a.ID, b.ID) })
	evidence, v.said = strings.Join(v.said, ", "), nil
	return peers, alive, evidence, v.met
}
