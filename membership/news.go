package membership

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// News is what a process tells the others of itself on its links, where links prove who speaks:
//
//	notice | gossip address: length 1 byte + text | meta
//
// So whoever can lie in gossip can neither say anything in the name of a process nor give the cluster a notice.

// tellNews tells the links this node's news, if they have changed.
func (g *Group) tellNews() {
	if !g.cfg.LinksProve {
		return
	}
	gossip := g.addr.String()
	b := append(g.Notice().encode(), byte(len(gossip)))
	b = append(append(b, gossip...), g.self.encode()...)
	if !slices.Equal(b, g.news) {
		g.news = b
		g.cfg.OnNews(slices.Clone(b))
	}
}

// decodeNews reads the news that the process who told.
func decodeNews(b []byte, who identity) (Notice, node, error) {
	notice, b, err := decodeNotice(b)
	if err != nil {
		return notice, node{}, err
	}
	if len(b) == 0 || len(b)-1 < int(b[0]) {
		return notice, node{}, fmt.Errorf("%w: news cut short", errWire)
	}
	n := 1 + int(b[0])
	gossip, err := netip.ParseAddrPort(string(b[1:n]))
	if err != nil || gossip.Port() == 0 || gossip.Addr().IsUnspecified() {
		return notice, node{}, fmt.Errorf("%w: a gossip address %.20q", errWire, b[1:n])
	}
	m, err := decodeMeta(b[n:])
	if err == nil && (identity{m.ID, m.Incarnation}) != who {
		err = fmt.Errorf("%w: news of node %d from node %d", errWire, m.ID, who.id)
	}
	return notice, node{meta: m, gossip: gossip}, err
}

// heard keeps the news that the loop has not read: the latest of each node. So a node that tells very much costs
// little.
type heard struct {
	mu   sync.Mutex
	news map[proto.NodeID]told
}

// told is the news of one process.
type told struct {
	process identity
	bytes   []byte
}

// put keeps the news of a process. It reports whether nothing of its node was waiting.
func (h *heard) put(t told) (first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, waits := h.news[t.process.id]
	if h.news == nil {
		h.news = map[proto.NodeID]told{}
	}
	h.news[t.process.id] = t
	return !waits
}

func (h *heard) take(id proto.NodeID) told {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.news[id]
	delete(h.news, id)
	return t
}

// HearNews takes what a process told of itself on a link that proved that it is a process of node id. It never blocks.
func (g *Group) HearNews(id proto.NodeID, process proto.Incarnation, news []byte) {
	if g.cfg.LinksProve && g.heard.put(told{identity{id, process}, news}) {
		g.queue.post(func() { g.onNews(g.heard.take(id)) })
	}
}

// onHint handles a description that came with an exchange of states, of a process whose id is known. memberlist may
// have ignored it: what was made up of its node with the highest number that memberlist has cannot be contradicted by
// gossip. So the process is asked whether it exists.
func (g *Group) onHint(n node) {
	p := g.merge.listed[n.ID]
	if n.ID == g.me.id || p != nil && (g.merge.vouched(p) || p.Member == n.member()) || g.asking >= maxAsked {
		return
	}
	g.asking++
	go func() {
		exists := g.exists(n)
		g.queue.post(func() {
			g.asking--
			if p := g.merge.listed[n.ID]; exists && (p == nil || !g.merge.vouched(p)) {
				g.merge.found(n.member())
			}
		})
	}()
}

func (g *Group) onNews(t told) {
	notice, n, err := decodeNews(t.bytes, t.process)
	if err = cmp.Or(err, g.gate.compare(n)); err != nil {
		g.log.Debug().Err(err).Uint64("peer", uint64(t.process.id)).Msg("dropped news")
		return
	}
	g.onNotice(notice)
	g.places.vouch(n.ID, time.Now())
	g.rejoin.proven(n.ID)
	g.merge.told(n.member())
}
