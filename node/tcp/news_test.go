package tcp

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/ringleader-dev/ringleader/proto"
)

// teller collects what the peers of a node tell of themselves.
type teller struct {
	mu   sync.Mutex
	told []string
}

func (w *teller) hear(from proto.NodeID, process proto.Incarnation, news []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, fmt.Sprintf("%v %v %s", from, process.Short(), news))
}

func (w *teller) heard(what string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.told, what)
}

// "News are told when they change, and when a link comes up", by a node that is proven.
func TestNews(t *testing.T) {
	ca := newAuthority(t)
	w := &teller{}
	a, b := start(t, 1, with(ca.keeper(1))), start(t, 2, with(ca.keeper(2)), func(c *Config) { c.News = w.hear })
	from := func(n *node, news string) string {
		return fmt.Sprintf("%v %v %s", n.cfg.ID, n.cfg.Incarnation.Short(), news)
	}
	a.SetNews([]byte("before"))
	connect(t, a, b)
	eventually(t, "it is told when the link comes up", func() bool { return w.heard(from(a, "before")) })
	a.SetNews([]byte("after"))
	eventually(t, "it is told when it changes", func() bool { return w.heard(from(a, "after")) })
	c := start(t, 1, with(ca.keeper(1)))
	c.SetNews([]byte("of another process"))
	c.SetPeers([]Peer{b.asPeer()})
	eventually(t, "another process tells its own", func() bool { return w.heard(from(c, "of another process")) })
}

// "Without credentials nothing is told": whoever says NEWS loses the link.
func TestNoNewsOfStrangers(t *testing.T) {
	w := &teller{}
	a, b := start(t, 1), start(t, 2, func(c *Config) { c.News = w.hear })
	a.SetNews([]byte("told by nobody"))
	connect(t, a, b)
	r := dialRaw(t, b)
	r.say(proto.Hello{
		Cluster: b.cfg.Cluster, Agreement: agreement(b.cfg.Algorithm), Algorithm: b.cfg.Algorithm, ID: 7,
		Incarnation: proto.NewIncarnation(), To: 2,
	})
	r.hear()
	r.say(proto.News{Bytes: "paused by a stranger"})
	eventually(t, "the link is ended", func() bool { return b.Stats().Rejected["unexpected"] == 1 })
	if len(w.told) != 0 {
		t.Errorf("told %q", w.told)
	}
}
