package membership

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// mustFail waits for the node's end and returns what it says.
func (c *cluster) mustFail(within time.Duration, n *testNode) string {
	c.t.Helper()
	var err error
	c.until(within, "the newcomer ends", func() bool {
		select {
		case err = <-n.Failed():
		default:
		}
		return err != nil
	})
	if !errors.Is(err, ErrIDTaken) {
		c.t.Errorf("failed with %v, want ErrIDTaken", err)
	}
	return err.Error()
}

// "A taken id refused with a clear error on the newcomer": it ends, the holder
// goes on and nobody's view loses it.
func TestTakenID(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		nodes := c.startAll(3)
		c.eventually(time.Second, []int{1, 2, 3}, nodes...)
		time.Sleep(5 * time.Second) // of the bubble
		for _, n := range nodes {
			n.forget()
		}
		cfg := c.config(3)
		cfg.ElectionAddr = electionAddr(33)
		newcomer := c.start(cfg, gossipAddr(33))
		words := c.mustFail(5*time.Second, newcomer)
		for _, w := range []string{
			"id 3", gossipAddr(3), electionAddr(3), "give this node another id",
		} {
			if !strings.Contains(words, w) {
				t.Errorf("the error lacks %q: %s", w, words)
			}
		}
		if err := newcomer.Leave(t.Context()); err != nil {
			t.Errorf("leave: %v", err)
		}
		time.Sleep(time.Minute) // of the bubble
		mustNotFail(t, nodes...)
		for _, n := range nodes {
			if got := n.evidence(); len(got) != 0 {
				t.Errorf("node %d's view changed: %v", n.id, got)
			}
		}
		if nodes[2].log.count("claims this node's id 3", gossipAddr(33)) != 1 {
			t.Errorf("the holder does not say so, or too often:\n%s", nodes[2].log)
		}
	})
}

// "memberlist returns 1, nil on join under a taken name while both sides stay
// alone": the two meet directly.
func TestTakenIDOfALoneNode(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		c.seeds = []string{gossipAddr(1)}
		holder := c.start(c.config(1), gossipAddr(1))
		time.Sleep(time.Hour)
		cfg := c.config(1)
		cfg.ElectionAddr = electionAddr(11)
		newcomer := c.start(cfg, gossipAddr(11))
		c.mustFail(5*time.Second, newcomer)
		time.Sleep(10 * time.Second)
		mustNotFail(t, holder)
	})
}

// Two long-running holders meet when a partition ends: the one that started
// later ends.
func TestTwoHoldersMeet(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		here := []string{gossipAddr(1), gossipAddr(2)}
		c.net.Partition(here, []string{gossipAddr(3), gossipAddr(22)})
		c.seeds = []string{gossipAddr(1), gossipAddr(3)}
		c.start(c.config(1), gossipAddr(1))
		senior := c.start(c.config(2), gossipAddr(2))
		time.Sleep(time.Second)
		c.start(c.config(3), gossipAddr(3))
		cfg := c.config(2)
		cfg.ElectionAddr = electionAddr(22)
		junior := c.start(cfg, gossipAddr(22))
		time.Sleep(time.Minute)
		c.eventually(0, []int{1, 2}, c.nodes[0], senior)
		c.eventually(0, []int{2, 3}, c.nodes[2], junior)

		c.net.Heal()
		c.mustFail(10*time.Second, junior)
		c.kill(junior)
		c.until(30*time.Second, "all list the senior", func() bool {
			for _, n := range []*testNode{c.nodes[0], senior, c.nodes[2]} {
				if !slices.Equal(n.alive(), []int{1, 2, 3}) ||
					n.member(2).Incarnation != senior.cfg.Self.Incarnation {
					return false
				}
			}
			return true
		})
		mustNotFail(t, senior)
	})
}

// An id whose holder's election port does not answer is a former life: the
// newcomer goes on joining, and says why it is not listed.
func TestDeafHolderIsWaitedFor(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		nodes := c.startAll(3)
		c.eventually(time.Second, []int{1, 2, 3}, nodes...)
		c.closeDoor(nodes[2])
		cfg := c.config(3)
		cfg.ElectionAddr = electionAddr(33)
		newcomer := c.start(cfg, gossipAddr(33))
		time.Sleep(time.Minute)
		mustNotFail(t, newcomer, nodes[2])
		if newcomer.log.count("none of them lists this node") != 1 {
			t.Errorf("not said:\n%s", newcomer.log)
		}
		c.kill(nodes[2])
		c.until(30*time.Second, "the newcomer is listed", func() bool {
			return nodes[0].member(3).Incarnation == cfg.Self.Incarnation &&
				nodes[1].member(3).Incarnation == cfg.Self.Incarnation
		})
	})
}

// "The one whose process started later, tie by incarnation, is the newcomer", and
// one that no peer lists yields to one that is listed, whatever their clocks.
func TestExactlyOneIsTheNewcomer(t *testing.T) {
	low, high := proto.Incarnation{1}, proto.Incarnation{2}
	of := func(s proto.Incarnation, started int64, listed bool) meta {
		return meta{Peer: proto.Peer{ID: 3, Incarnation: s}, started: started, listed: listed}
	}
	for _, tt := range []struct {
		name         string
		mine, theirs meta
		want         bool
	}{
		{"I started later", of(low, 2, true), of(high, 1, true), true},
		{"I started first", of(high, 1, true), of(low, 2, true), false},
		{"same instant, higher incarnation", of(high, 1, false), of(low, 1, false), true},
		{"same instant, lower incarnation", of(low, 1, false), of(high, 1, false), false},
		{"unlisted with a slow clock", of(low, 1, false), of(high, 2, true), true},
		{"listed with a fast clock", of(low, 2, true), of(high, 1, false), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := isNewcomer(tt.mine, tt.theirs); got != tt.want {
				t.Errorf("newcomer: %v, want %v", got, tt.want)
			}
			if isNewcomer(tt.theirs, tt.mine) == tt.want {
				t.Error("both or neither would end")
			}
		})
	}
}

// "The process may end only on the rival's own word": somebody who gossips a rival with this node's id, listed and
// of an older start, does not end it unless that very process answers at its election address, twice a second apart.
func TestForgedRivalEndsNobody(t *testing.T) {
	const door = "10.66.0.1:7001"
	rival := madeUp(3)
	rival.started, rival.listed, rival.electionAddr = 1, true, door
	itself, otherNode := identity{3, rival.Incarnation}, identity{4, rival.Incarnation}
	otherLife := identity{3, proto.Incarnation{7}}
	for name, tt := range map[string]struct {
		answers func(asked int) (identity, bool)
		ends    bool
	}{
		"nobody answers":             {func(int) (identity, bool) { return identity{}, false }, false},
		"another process answers":    {func(int) (identity, bool) { return otherLife, true }, false},
		"another node answers":       {func(int) (identity, bool) { return otherNode, true }, false},
		"it answers every other try": {func(asked int) (identity, bool) { return itself, asked%2 == 0 }, false},
		"it answers":                 {func(int) (identity, bool) { return itself, true }, true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *cluster) {
				c.startAll(2)
				cfg := c.config(3)
				asked := 0
				var times []time.Time
				cfg.Probe = func(ctx context.Context, addr string) (proto.NodeID, proto.Incarnation, error) {
					if addr != door {
						return c.probe(ctx, addr)
					}
					who, ok := tt.answers(asked)
					asked, times = asked+1, append(times, time.Now())
					if !ok {
						return 0, proto.Incarnation{}, syscall.ECONNREFUSED
					}
					return who.id, who.incarnation, nil
				}
				n := c.start(cfg, gossipAddr(3))
				c.eventually(3*time.Second, []int{1, 2, 3}, c.nodes...)
				a := c.attacker()
				packet := a.alive(rival, "10.66.0.1:7946", ownVersions)
				if tt.ends {
					a.sends(packet, n.addr)
					c.mustFail(5*time.Second, n)
					if len(times) != 2 || times[1].Sub(times[0]) < time.Second {
						t.Errorf("asked at %v", times)
					}
					return
				}
				for range 30 {
					a.sends(packet, n.addr)
					time.Sleep(time.Second) // of the bubble
				}
				synctest.Wait() // a question may be under way
				mustNotFail(t, c.nodes...)
				if asked == 0 {
					t.Error("it was never asked")
				}
			})
		})
	}
}
