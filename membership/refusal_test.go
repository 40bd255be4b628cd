package membership

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/rs/zerolog"
)

// "A node of another cluster label or another algorithm joining: refused, loudly,
// on both sides", with both names, once; and it stays useful alone.
func TestStrangersAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Config)
		mine   string
		theirs string
	}{
		{"cluster", func(c *Config) { c.Cluster = "prod" }, `\"demo\"`, `\"prod\"`},
		{"algorithm", func(c *Config) { c.Algorithm = "ring" }, `\"bully\"`, `\"ring\"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *cluster) {
				nodes := c.startAll(2)
				c.eventually(time.Second, []int{1, 2}, nodes...)
				cfg := c.config(3)
				tt.change(&cfg)
				stranger := c.start(cfg, gossipAddr(3))
				time.Sleep(5 * time.Minute)
				c.eventually(0, []int{1, 2}, nodes...)
				c.eventually(0, []int{3}, stranger)
				for _, n := range nodes {
					got := n.log.count("refused node", gossipAddr(3), tt.mine, tt.theirs)
					if got != 1 {
						t.Errorf("node %d said so %d times:\n%s", n.id, got, n.log)
					}
				}
				got := stranger.log.count("refused node", tt.mine, tt.theirs)
				if got < 1 || got > 2 { // once for each member that it tried
					t.Errorf("the stranger said so %d times:\n%s", got, stranger.log)
				}
				mustNotFail(t, nodes[0], nodes[1], stranger)
			})
		})
	}
}

// A stranger with the id of a member is refused as a stranger; the member is not
// touched.
func TestStrangerWithAMembersID(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		nodes := c.startAll(3)
		c.eventually(time.Second, []int{1, 2, 3}, nodes...)
		time.Sleep(5 * time.Second)
		for _, n := range nodes {
			n.forget()
		}
		cfg := c.config(2)
		cfg.Cluster, cfg.ElectionAddr = "prod", electionAddr(22)
		stranger := c.start(cfg, gossipAddr(22))
		time.Sleep(time.Minute)
		mustNotFail(t, nodes[0], nodes[1], nodes[2], stranger)
		for _, n := range nodes {
			if got := n.evidence(); len(got) != 0 {
				t.Errorf("node %d told %v", n.id, got)
			}
		}
	})
}

// "A peer with unreadable or invalid meta is refused and logged once."
func TestUnreadableMetaIsRefusedOnce(t *testing.T) {
	var log lockedBuffer
	g := &gate{cluster: "demo", algorithm: "bully", log: zerolog.New(&log)}
	bad := &memberlist.Node{
		Name: "7", Addr: []byte{10, 0, 0, 7}, Port: 7946, Meta: []byte("?"),
		PMin: memberlist.ProtocolVersionMin, PMax: memberlist.ProtocolVersionMax, PCur: gossipVersion,
	}
	for range 100 {
		if _, err := g.admit(bad); err == nil {
			t.Fatal("admitted")
		}
	}
	if got := log.count("refused node", "10.0.0.7:7946"); got != 1 {
		t.Errorf("said %d times:\n%s", got, &log)
	}
	good := *bad
	m := sampleMeta()
	m.ID = 7
	good.Meta = m.encode()
	if _, err := g.admit(&good); err != nil {
		t.Fatal(err)
	}
	_, _ = g.admit(bad)
	if got := log.count("refused node"); got != 2 {
		t.Errorf("after it was in order in between: said %d times", got)
	}
	for _, n := range []memberlist.Node{
		{Name: "8", Addr: good.Addr, Port: 7946, Meta: good.Meta}, // another name
		{Name: "7", Addr: []byte{1, 2, 3}, Port: 7946, Meta: good.Meta},
		{Name: "7", Addr: []byte{0, 0, 0, 0}, Port: 7946, Meta: good.Meta},
		{Name: "7", Addr: good.Addr, Meta: good.Meta},
	} {
		if _, err := g.admit(&n); err == nil {
			t.Errorf("admitted %+v", n)
		}
	}
}

// Nobody can fill the log from outside.
func TestLogLimiterIsBounded(t *testing.T) {
	var s logLimiter
	now := time.Unix(0, 0)
	said := 0
	for i := range 10 * maxLogged {
		if s.first(fmt.Sprint(i), strings.Repeat("x", i%7), now) {
			said++
		}
	}
	if said != maxLogged {
		t.Errorf("%d lines, want %d", said, maxLogged)
	}
	if !s.first("0", "", now.Add(2*limitPeriod)) {
		t.Error("silent for ever")
	}
}
