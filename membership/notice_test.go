package membership

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestNoticeRoundTrip(t *testing.T) {
	for _, n := range []Notice{
		{},
		{Version: 1, Origin: 5},
		{Version: 1<<63 - 1, Origin: 1 << 53, Text: strings.Repeat("é", MaxNotice/2)},
	} {
		got, rest, err := decodeNotice(append(n.encode(), "rest"...))
		if err != nil || got != n || string(rest) != "rest" {
			t.Errorf("%+v came back as %+v, %q, %v", n, got, rest, err)
		}
	}
}

func TestNoticeRefuses(t *testing.T) {
	good := Notice{Version: 7, Origin: 5, Text: "paused"}
	with := func(at int, b byte) []byte {
		c := good.encode()
		c[at] = b
		return c
	}
	for name, b := range map[string][]byte{
		"nothing":         nil,
		"a goodbye":       encodeGoodbye(identity{id: 5}),
		"cut short":       good.encode()[:noticeLen+2],
		"version too far": with(1, 0x80),
		"nobody's":        with(16, 0),
		"no text":         with(noticeLen, 0xff),
		"too long":        with(noticeLen-2, 0xff),
	} {
		if n, _, err := decodeNotice(b); err == nil {
			t.Errorf("%s: %+v", name, n)
		}
	}
}

// "The newest wins everywhere. It is spread at once to all members, and with every
// exchange of states, so that who was cut off, and who joins later, learns it."
func TestNotice(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		nodes := c.startAll(4)
		time.Sleep(30 * time.Second)
		agree := func(want string, of ...*testNode) {
			t.Helper()
			for _, n := range of {
				if got := n.Notice().Text; got != want {
					t.Errorf("node %d knows %q, want %q", n.id, got, want)
				}
			}
		}
		nodes[0].SetNotice("paused by 1")
		time.Sleep(time.Second)
		agree("paused by 1", nodes...)

		if err := nodes[0].Close(); err != nil { // who said it goes away
			t.Fatal(err)
		}
		late := c.start(c.config(5), gossipAddr(5))
		time.Sleep(30 * time.Second)
		agree("paused by 1", late, nodes[1])

		late.SetNotice("")
		time.Sleep(time.Second)
		agree("", late, nodes[1], nodes[2], nodes[3])
		synctest.Wait()
	})
}

// Of two that were said at a time, on two sides of a cut, one stands on both.
func TestNoticesMeet(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		nodes := c.startAll(4)
		time.Sleep(30 * time.Second)
		c.net.Partition([]string{nodes[0].addr, nodes[1].addr}, []string{nodes[2].addr, nodes[3].addr})
		time.Sleep(time.Minute)
		nodes[0].SetNotice("by 1")
		nodes[3].SetNotice("by 4")
		time.Sleep(time.Second)
		if a, b := nodes[1].Notice().Text, nodes[2].Notice().Text; a != "by 1" || b != "by 4" {
			t.Fatalf("apart they know %q and %q", a, b)
		}
		c.net.Heal()
		time.Sleep(2 * time.Minute)
		for _, n := range nodes {
			if got := n.Notice(); got.Text != "by 4" {
				t.Errorf("node %d knows %+v", n.id, got)
			}
		}
	})
}

// "A host that gives it to its next process lets it outlive all of them"; where they
// differ the newest stands.
func TestNoticeOutlivesAll(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		c.net.Partition([]string{gossipAddr(1)}, []string{gossipAddr(2)}, []string{gossipAddr(3)})
		for id, kept := range []Notice{
			{Version: 3, Origin: 1, Text: "resumed since"}, {Version: 4, Origin: 2, Text: "paused"}, {},
		} {
			config := c.config(id + 1)
			config.Join, config.Notice = []string{gossipAddr(1)}, kept
			n := c.start(config, gossipAddr(id+1))
			if got := n.Notice(); got != kept {
				t.Errorf("node %d begins with %+v, want %+v", id+1, got, kept)
			}
		}
		c.net.Heal()
		time.Sleep(time.Minute)
		for _, n := range c.nodes {
			if got := n.Notice(); got.Version != 4 || got.Text != "paused" {
				t.Errorf("node %d knows %+v", n.id, got)
			}
		}
		c.nodes[0].SetNotice("")
		time.Sleep(time.Second)
		if got := c.nodes[2].Notice(); got.Version != 5 || got.Text != "" {
			t.Errorf("after the end of it node 3 knows %+v", got)
		}
	})
}

// "A value from the network is bounded before it is kept, and an operator's command always
// wins": a stranger's notice of whatever version, on the disk of a node too, is beaten by
// the next that is made, on each node, and on who joins later.
func TestAnyNoticeIsBeaten(t *testing.T) {
	const forged = "paused by a stranger"
	for name, c := range map[string]struct {
		version func(now time.Time) uint64
		taken   bool
	}{
		"the highest there is":    {func(time.Time) uint64 { return 1<<63 - 1 }, false},
		"above what can be":       {func(now time.Time) uint64 { return maxVersion(now.Add(time.Minute)) }, false},
		"the highest that can be": {maxVersion, true},
	} {
		inBubble(t, func(t *testing.T, c2 *cluster) {
			nodes := c2.startAll(3)
			time.Sleep(30 * time.Second)
			bad := Notice{Version: c.version(time.Now()), Origin: 1 << 53, Text: forged}
			for _, n := range nodes {
				n.queue.post(func() { n.onNotice(bad) })
			}
			time.Sleep(time.Second)
			if got := nodes[0].Notice().Text == forged; got != c.taken {
				t.Errorf("%s: taken %v, want %v", name, got, c.taken)
			}
			nodes[1].SetNotice("by an operator")
			time.Sleep(time.Second)
			for i, kept := range []Notice{bad, {Version: 1<<63 - 1, Origin: 9, Text: forged}} {
				id := 4 + i
				config := c2.config(id)
				config.Notice = kept
				nodes = append(nodes, c2.start(config, gossipAddr(id)))
			}
			time.Sleep(2 * time.Minute)
			for _, n := range nodes {
				if got := n.Notice(); got.Text != "by an operator" {
					t.Errorf("%s: node %d knows %+v", name, n.id, got)
				}
			}
			nodes[3].SetNotice("") // of the one that had kept what was forged
			time.Sleep(time.Second)
			for _, n := range nodes {
				if got := n.Notice(); got.Text != "" {
					t.Errorf("%s: node %d knows %+v", name, n.id, got)
				}
			}
		})
	}
}
