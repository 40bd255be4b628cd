package membership

import (
	"sync/atomic"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// linked is a cluster whose links prove who speaks. Each node has a link to each process that it lists.
type linked struct {
	*cluster
	at   map[string]*testNode        // by election address
	up   map[[2]*testNode]bool       // the links, from the node that dialled
	hung map[*testNode]bool          // the nodes that neither dial nor answer
	lost map[[2]*testNode]bool       // the second one is silent to the first
	told map[[2]*testNode]string     // the news that the second one has of the first
	news map[*testNode]*atomic.Value // what a node says of itself
}

func newLinked(c *cluster, nodes int) *linked {
	l := &linked{
		cluster: c, at: map[string]*testNode{}, up: map[[2]*testNode]bool{}, hung: map[*testNode]bool{},
		lost: map[[2]*testNode]bool{}, told: map[[2]*testNode]string{}, news: map[*testNode]*atomic.Value{},
	}
	for id := 1; id <= nodes; id++ {
		c.seeds = append(c.seeds, gossipAddr(id))
	}
	for id := 1; id <= nodes; id++ {
		l.start(id)
	}
	return l
}

func (l *linked) start(id int) *testNode {
	cfg := l.config(id)
	news, doubts := &atomic.Value{}, make(chan proto.NodeID, 64)
	cfg.LinksProve, cfg.Linked = true, func(other proto.NodeID, s proto.Incarnation) bool {
		return l.isLinked(cfg.Self.Incarnation, s)
	}
	cfg.OnNews = func(b []byte) { news.Store(string(b)) }
	cfg.OnDoubt = func(id proto.NodeID) {
		select {
		case doubts <- id:
		default: // it is asked for a sign of life already
		}
	}
	n := l.cluster.start(cfg, gossipAddr(id))
	l.mu.Lock()
	l.at[cfg.ElectionAddr], l.news[n] = n, news
	l.mu.Unlock()
	go func() {
		for {
			select {
			case <-n.stopped:
				return
			case doubted := <-doubts:
				l.ask(n, doubted)
			case <-time.After(10 * time.Millisecond): // of the bubble
				l.dial(n)
			}
		}
	}()
	return n
}

// isLinked reports whether there is a link between two processes.
func (l *linked) isLinked(a, b proto.Incarnation) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for link := range l.up {
		if x, y := link[0].me.incarnation, link[1].me.incarnation; x == a && y == b || x == b && y == a {
			return true
		}
	}
	return false
}

// dial does what the links of n would do: it ends those to processes that n lists no more, and dials the others.
func (l *linked) dial(n *testNode) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hung[n] {
		return
	}
	listed := map[*testNode]bool{}
	for _, m := range n.Listed() {
		to := l.at[m.ElectionAddr]
		if to == nil || to.me.incarnation != m.Incarnation || l.hung[to] && !l.up[[2]*testNode{n, to}] {
			continue
		}
		listed[to] = true
		link, news := [2]*testNode{n, to}, l.news[n].Load().(string)
		if !l.up[link] {
			l.up[link], l.told[link] = true, ""
			n.Report(Evidence{to.id, to.me.incarnation, proto.LinkUp})
		}
		if l.lost[link] && !l.hung[to] {
			delete(l.lost, link)
			n.Report(Evidence{to.id, to.me.incarnation, proto.HeartbeatBack})
		}
		if l.told[link] != news && !l.hung[to] {
			l.told[link] = news
			to.HearNews(n.id, n.me.incarnation, []byte(news))
		}
	}
	for link := range l.up {
		if link[0] == n && !listed[link[1]] {
			delete(l.up, link)
			delete(l.lost, link)
			link[1].Report(Evidence{n.id, n.me.incarnation, proto.LinkReset})
		}
	}
}

// ask has n miss the heartbeat of a process that hangs.
func (l *linked) ask(n *testNode, id proto.NodeID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for link := range l.up {
		if link[0] == n && link[1].id == id && l.hung[link[1]] && !l.hung[n] && !l.lost[link] {
			l.lost[link] = true
			n.Report(Evidence{id, link[1].me.incarnation, proto.HeartbeatMissed})
		}
	}
}

// hang has n neither dial nor answer, or go on.
func (l *linked) hang(n *testNode, yes bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hung[n] = yes
}
