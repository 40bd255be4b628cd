package membership

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// "A cold cluster forms within about a second."
func TestColdStartFormsWithinASecond(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		nodes := c.startAll(5)
		took := c.eventually(time.Second, []int{1, 2, 3, 4, 5}, nodes...)
		t.Logf("five nodes after %v", took)
		m := nodes[0].member(4)
		want := Member{
			Peer:       proto.Peer{ID: 4, Incarnation: nodes[3].cfg.Self.Incarnation, Attr: 40},
			GossipAddr: gossipAddr(4), ElectionAddr: electionAddr(4), HTTPAddr: "10.0.0.4:8001",
		}
		if m != want {
			t.Errorf("node 1 lists %+v, want %+v", m, want)
		}
	})
}

// "A whole cluster has no join traffic": what is left is memberlist's own
// exchange, one a node every five seconds.
func TestHealthyClusterHasNoJoinTraffic(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		nodes := c.startAll(5)
		c.eventually(time.Second, []int{1, 2, 3, 4, 5}, nodes...)
		time.Sleep(10 * time.Second)
		before := c.net.Streams()
		time.Sleep(time.Minute)
		if got := c.net.Streams() - before; got > 5*60/5+5 {
			t.Errorf("%d streams in a quiet minute, memberlist's own are %d", got, 5*60/5)
		}
	})
}

// "Noticing a SIGKILL": within the time that the profile states.
func TestKillIsDetected(t *testing.T) {
	for _, tt := range []struct {
		profile Profile
		within  time.Duration
	}{{LAN, 14 * time.Second}, {Local, 6 * time.Second}, {Fast, 2 * time.Second}} {
		t.Run(string(tt.profile), func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *cluster) {
				for id := 1; id <= 5; id++ {
					c.seeds = []string{gossipAddr(1)}
					cfg := c.config(id)
					cfg.Profile = tt.profile
					c.start(cfg, gossipAddr(id))
				}
				c.eventually(2*time.Second, []int{1, 2, 3, 4, 5}, c.nodes...)
				c.kill(c.nodes[4])
				took := c.eventually(tt.within, []int{1, 2, 3, 4}, c.nodes[:4]...)
				t.Logf("noticed by all after %v", took)
				for _, n := range c.nodes[:4] {
					if !n.told("gossip-dead 5") || n.told("left 5") {
						t.Errorf("node %d told %v", n.id, n.evidence())
					}
				}
			})
		})
	}
}

// "A full partition heals for certain", within two rejoin intervals: also when
// the other side is still remembered as dead, and when it is long forgotten.
func TestFullPartitionHeals(t *testing.T) {
	for _, lasting := range []time.Duration{12 * time.Second, 45 * time.Second, 5 * time.Minute} {
		for _, sides := range [][2][]int{{{1, 2, 3, 4}, {5}}, {{1, 2, 3}, {4, 5}}} {
			t.Run(fmt.Sprintf("%v %v", lasting, sides), func(t *testing.T) {
				inBubble(t, func(t *testing.T, c *cluster) {
					all := []int{1, 2, 3, 4, 5}
					nodes := c.startAll(5)
					c.eventually(time.Second, all, nodes...)
					cut := len(sides[0])
					c.net.Partition(c.seeds[:cut], c.seeds[cut:])
					time.Sleep(lasting)
					if lasting > 24*time.Second { // what a lone node may take to notice
						c.eventually(time.Second, sides[0], nodes[:cut]...)
						c.eventually(time.Second, sides[1], nodes[cut:]...)
					}
					c.net.Heal()
					took := c.eventually(2*2*profiles[LAN].rejoin, all, nodes...)
					t.Logf("healed after %v", took)
					time.Sleep(time.Minute)
					c.eventually(0, all, nodes...)
				})
			})
		}
	}
}

// The same with a single seed that is on the other side: peers once met are
// tried too.
func TestPartitionHealsWithoutSeeds(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start(c.config(1), gossipAddr(1))
		c.seeds = []string{gossipAddr(1)}
		c.start(c.config(2), gossipAddr(2))
		c.start(c.config(3), gossipAddr(3))
		c.eventually(time.Second, []int{1, 2, 3}, c.nodes...)
		c.net.Partition([]string{gossipAddr(1)}, []string{gossipAddr(2)}, []string{gossipAddr(3)})
		time.Sleep(45 * time.Second)
		c.eventually(time.Second, []int{3}, c.nodes[2])
		c.kill(c.nodes[0])
		c.net.Heal()
		c.eventually(2*2*profiles[LAN].rejoin, []int{2, 3}, c.nodes[1:]...)
	})
}

// "Graceful leave told from death": the leaver is out of the views at once.
func TestLeaveIsToldFromDeath(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		nodes := c.startAll(5)
		c.eventually(time.Second, []int{1, 2, 3, 4, 5}, nodes...)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- nodes[1].Leave(ctx) }()
		others, ids := []*testNode{nodes[0], nodes[2], nodes[3], nodes[4]}, []int{1, 3, 4, 5}
		c.eventually(100*time.Millisecond, ids, others...)
		if err := <-done; err != nil {
			t.Errorf("leave: %v", err)
		}
		time.Sleep(30 * time.Second)
		for _, n := range others {
			if !n.told("left 2") || n.told("gossip-dead 2") || !slices.Equal(n.alive(), ids) {
				t.Errorf("node %d: %v, told %v", n.id, n.alive(), n.evidence())
			}
		}

		// "Restart of that id afterwards is accepted."
		nodes[0].forget()
		again := c.start(c.config(2), gossipAddr(2))
		c.eventually(2*2*profiles[LAN].rejoin, []int{1, 2, 3, 4, 5}, append(others, again)...)
		if got := nodes[0].member(2).Incarnation; got != again.cfg.Self.Incarnation {
			t.Errorf("incarnation %v is listed, want the new one", got)
		}
	})
}

// Nobody looks for a process that said goodbye; one that was never told so is
// looked for.
func TestGoodbyeIsNotLookedFor(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		c.seeds = []string{gossipAddr(1)}
		for id := 1; id <= 3; id++ {
			c.start(c.config(id), gossipAddr(id))
		}
		c.eventually(time.Second, []int{1, 2, 3}, c.nodes...)
		if err := c.nodes[2].Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		before := c.net.Streams()
		time.Sleep(time.Minute)
		if got := c.net.Streams() - before; got > 2*60/5+2 {
			t.Errorf("%d streams in a minute after a goodbye", got)
		}
	})
}

// "Leave is bounded by ctx", and closes all the same.
func TestLeaveEndsWithItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		nodes := c.startAll(3)
		c.eventually(time.Second, []int{1, 2, 3}, nodes...)
		c.net.Partition(c.seeds[:1], c.seeds[1:])
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		start := time.Now()
		err := nodes[0].Leave(ctx)
		if took := time.Since(start); took > 310*time.Millisecond {
			t.Errorf("leaving took %v", took)
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("leave: %v", err)
		}
		if err := nodes[0].Close(); err != nil {
			t.Errorf("close after leave: %v", err)
		}
	})
}

// "When all have heard the goodbye": whoever leaves a cluster that gossips rarely has told
// all, and is done, although gossip goes out no more in the time that it has.
func TestLeaveIsDoneWhenAllHaveHeard(t *testing.T) {
	for _, patience := range []time.Duration{300 * time.Millisecond, 3 * time.Second} {
		inBubble(t, func(t *testing.T, c *cluster) {
			c.seeds = []string{gossipAddr(1)}
			for id := 1; id <= 3; id++ {
				cfg := c.config(id)
				cfg.Budget = maxProbeInterval
				c.start(cfg, gossipAddr(id))
			}
			c.eventually(time.Minute, []int{1, 2, 3}, c.nodes...)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			start := time.Now()
			err := c.nodes[1].Leave(ctx)
			took := time.Since(start)
			if most := min(patience, maxProbeInterval/2); err != nil || took > most+10*time.Millisecond {
				t.Errorf("of %v: leave: %v, after %v; want %v at most", patience, err, took, most)
			}
			c.eventually(time.Second, []int{1, 3}, c.nodes[0], c.nodes[2])
		})
	}
}

// "Restart on a new address accepted", while others still list the former life
// at the old one.
func TestRestartOnANewAddress(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		nodes := c.startAll(3)
		c.eventually(time.Second, []int{1, 2, 3}, nodes...)
		c.kill(nodes[2])
		cfg := c.config(3)
		cfg.ElectionAddr = electionAddr(33)
		again := c.start(cfg, gossipAddr(33))
		c.until(25*time.Second, "all list the new process", func() bool {
			return nodes[0].member(3).Incarnation == cfg.Self.Incarnation &&
				nodes[1].member(3).Incarnation == cfg.Self.Incarnation
		})
		c.eventually(time.Second, []int{1, 2, 3}, nodes[0], nodes[1], again)
		if got := nodes[0].member(3).GossipAddr; got != gossipAddr(33) {
			t.Errorf("listed at %s", got)
		}
		mustNotFail(t, nodes[0], nodes[1], again)
	})
}

// The links know at once that the former life is gone: then nobody waits for
// gossip to find out, which takes it several seconds.
func TestRestartOnANewAddressIsListedAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		nodes := c.startAll(3)
		c.eventually(time.Second, []int{1, 2, 3}, nodes...)
		former := nodes[0].member(3).Incarnation
		c.kill(nodes[2])
		for _, n := range nodes[:2] {
			n.Report(Evidence{ID: 3, Incarnation: former, Event: proto.DialRefused})
		}
		cfg := c.config(3)
		cfg.ElectionAddr = electionAddr(33)
		again := c.start(cfg, gossipAddr(33))
		c.until(time.Second, "all list the new process", func() bool {
			return nodes[0].member(3).Incarnation == cfg.Self.Incarnation &&
				nodes[1].member(3).Incarnation == cfg.Self.Incarnation
		})
		time.Sleep(30 * time.Second) // gossip gives the former life up
		c.eventually(time.Second, []int{1, 2, 3}, nodes[0], nodes[1], again)
		for _, n := range nodes[:2] {
			if n.told("gossip-dead 3") || n.member(3).GossipAddr != gossipAddr(33) {
				t.Errorf("node %d: %v", n.id, n.evidence())
			}
		}
	})
}

// The same when the old address belongs to another node by now, as when
// container addresses are swapped.
func TestRestartOnSwappedAddresses(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		nodes := c.startAll(4)
		c.eventually(time.Second, []int{1, 2, 3, 4}, nodes...)
		c.kill(nodes[2])
		c.kill(nodes[3])
		cfg3, cfg4 := c.config(3), c.config(4)
		cfg3.ElectionAddr, cfg4.ElectionAddr = electionAddr(4), electionAddr(3)
		again3 := c.start(cfg3, gossipAddr(4))
		again4 := c.start(cfg4, gossipAddr(3))
		c.until(40*time.Second, "both are listed anew", func() bool {
			return nodes[0].member(3).Incarnation == cfg3.Self.Incarnation &&
				nodes[1].member(4).Incarnation == cfg4.Self.Incarnation
		})
		c.eventually(5*time.Second, []int{1, 2, 3, 4}, nodes[0], nodes[1], again3, again4)
		mustNotFail(t, nodes[0], nodes[1], again3, again4)
	})
}

// "A new incarnation for a known id is a new process", before anybody noticed that
// the old one died.
func TestQuickRestartOnTheSameAddress(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		nodes := c.startAll(3)
		c.eventually(time.Second, []int{1, 2, 3}, nodes...)
		nodes[0].forget()
		c.kill(nodes[2])
		again := c.start(c.config(3), gossipAddr(3))
		c.until(2*time.Second, "the new incarnation is listed", func() bool {
			return nodes[0].member(3).Incarnation == again.cfg.Self.Incarnation
		})
		if got := nodes[0].evidence(); !slices.Equal(got, []string{"new-incarnation 3"}) {
			t.Errorf("node 1 told %v", got)
		}
	})
}

// "A changed attribute is gossiped."
func TestAttributeUpdateIsSeen(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		nodes := c.startAll(3)
		c.eventually(time.Second, []int{1, 2, 3}, nodes...)
		time.Sleep(time.Second)
		for _, n := range nodes {
			n.forget()
		}
		nodes[1].SetAttr(-7)
		nodes[1].SetAttr(-7)
		c.until(2*time.Second, "all list the new attribute", func() bool {
			for _, n := range nodes {
				if n.member(2).Attr != -7 {
					return false
				}
			}
			return true
		})
		time.Sleep(10 * time.Second)
		for _, n := range nodes {
			if got := n.evidence(); !slices.Equal(got, []string{"attr 2"}) {
				t.Errorf("node %d told %v", n.id, got)
			}
		}
	})
}

// "A join target that never answers: keeps trying, says so, stays useful alone."
func TestUnreachableJoinTarget(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		c.seeds = []string{gossipAddr(9), gossipAddr(8)}
		n := c.start(c.config(1), gossipAddr(1))
		c.net.Sever(gossipAddr(1), gossipAddr(9)) // never answers; 8 refuses
		c.eventually(streamTimeout+time.Millisecond, []int{1}, n)
		time.Sleep(9 * time.Minute)
		for _, target := range c.seeds {
			if got := n.log.count("cannot join through", target); got != 1 {
				t.Errorf("%d lines about %s in nine minutes, want one\n%s", got, target, n.log)
			}
		}
		late := c.start(c.config(8), gossipAddr(8))
		c.eventually(2*profiles[LAN].rejoin, []int{1, 8}, n, late)
	})
}

// Join targets may be names; a name stands for all its addresses, and is looked
// up again.
func TestJoinByName(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		for id := 1; id <= 3; id++ {
			c.start(c.config(id), gossipAddr(id))
		}
		known := false
		cfg := c.config(4)
		cfg.Join = []string{"peers:7946"}
		cfg.lookup = func(_ context.Context, host string) ([]netip.Addr, error) {
			if c.mu.Lock(); !known || host != "peers" {
				c.mu.Unlock()
				return nil, errors.New("no such host")
			}
			defer c.mu.Unlock()
			return []netip.Addr{
				netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("::ffff:10.0.0.2"),
				netip.MustParseAddr("10.0.0.3"), netip.MustParseAddr("10.0.0.4"),
			}, nil
		}
		n := c.start(cfg, gossipAddr(4))
		time.Sleep(time.Minute)
		c.eventually(0, []int{4}, n)
		if n.log.count("cannot join through peers:7946", "no such host") != 1 {
			t.Errorf("not said:\n%s", n.log)
		}
		c.mu.Lock()
		known = true
		c.mu.Unlock()
		c.eventually(5*time.Second, []int{1, 2, 3, 4}, c.nodes...)
	})
}

// What a link proves takes a process out of the view at once, while gossip has
// not noticed, and Listed still names it.
func TestReportedDeathIsInTheViewAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		nodes := c.startAll(3)
		c.eventually(time.Second, []int{1, 2, 3}, nodes...)
		nodes[0].forget()
		dead := identity{3, nodes[2].cfg.Self.Incarnation}
		c.kill(nodes[2])
		nodes[0].Report(Evidence{dead.id, dead.incarnation, proto.LinkClosed})
		nodes[0].Report(Evidence{dead.id, dead.incarnation, proto.DialRefused})
		c.eventually(time.Millisecond, []int{1, 2}, nodes[0])
		if got := nodes[0].Listed(); len(got) != 2 || got[1].ID != 3 {
			t.Errorf("gossip lists %v", got)
		}
		c.eventually(15*time.Second, []int{1, 2}, nodes[1])
		time.Sleep(time.Minute)
		want := []string{"link-closed 3", "dial-refused 3"}
		if got := nodes[0].evidence(); !slices.Equal(got, want) {
			t.Errorf("told %v", got)
		}
		if got := nodes[0].Listed(); len(got) != 1 {
			t.Errorf("gossip lists %v", got)
		}
	})
}

// Gossip counts a process as alive across the cut of a single pair; elections
// need what the link says.
func TestCutPairNeedsTheLinks(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		nodes := c.startAll(4)
		c.eventually(time.Second, []int{1, 2, 3, 4}, nodes...)
		c.net.Sever(gossipAddr(1), gossipAddr(4))
		time.Sleep(time.Minute)
		c.eventually(0, []int{1, 2, 3, 4}, nodes...)
		four := identity{4, nodes[3].cfg.Self.Incarnation}
		nodes[0].Report(Evidence{four.id, four.incarnation, proto.Unreachable})
		c.eventually(time.Millisecond, []int{1, 2, 3}, nodes[0])
		nodes[0].Report(Evidence{four.id, four.incarnation, proto.LinkUp})
		c.eventually(time.Millisecond, []int{1, 2, 3, 4}, nodes[0])
	})
}

func mustNotFail(t *testing.T, nodes ...*testNode) {
	t.Helper()
	for _, n := range nodes {
		select {
		case err := <-n.Failed():
			t.Errorf("node %d at %s failed: %v", n.id, n.addr, err)
		default:
		}
	}
}
