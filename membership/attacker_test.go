package membership

import (
	"errors"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/ringleader-dev/ringleader/membership/memtest"
	"github.com/ringleader-dev/ringleader/proto"
)

// attacker writes packets of memberlist's protocol by hand. It belongs to no cluster.
type attacker struct {
	t    *testing.T
	from *memtest.Transport
}

func (c *cluster) attacker() *attacker {
	return &attacker{c.t, c.net.Transport("10.66.0.1:7946")}
}

// ownVersions are the versions that a correct node states of itself.
var ownVersions = []byte{memberlist.ProtocolVersionMin, memberlist.ProtocolVersionMax, gossipVersion, 0, 0, 0}

// madeUp is the description of a member that does not exist.
func madeUp(id int) meta {
	m := sampleMeta()
	process := proto.Incarnation{1, byte(id >> 16), byte(id >> 8), byte(id)}
	m.Peer = proto.Peer{ID: proto.NodeID(id), Incarnation: process}
	m.cluster, m.algorithm = "demo", "bully"
	m.voters, m.store = Voters{}, Store{}
	m.electionAddr, m.httpAddr = "10.99.0.1:7001", ""
	return m
}

// alive returns memberlist's message that a process is alive.
func (a *attacker) alive(m meta, gossip string, versions []byte) []byte {
	a.t.Helper()
	return a.aliveAs(1, m, gossip, versions)
}

// dead returns memberlist's message that a process of this id is dead.
func (a *attacker) dead(number uint32, id proto.NodeID) []byte {
	a.t.Helper()
	body, err := msgpack.Marshal(struct {
		Incarnation uint32
		Node, From  string
	}{number, id.String(), "1"})
	if err != nil {
		a.t.Fatal(err)
	}
	return append([]byte{5}, body...)
}

// aliveAs is alive, with memberlist's number of the message.
func (a *attacker) aliveAs(number uint32, m meta, gossip string, versions []byte) []byte {
	a.t.Helper()
	addr := netip.MustParseAddrPort(gossip)
	body, err := msgpack.Marshal(struct {
		Incarnation uint32
		Node        string
		Addr        []byte
		Port        uint16
		Meta, Vsn   []byte
	}{number, m.ID.String(), addr.Addr().AsSlice(), addr.Port(), m.encode(), versions})
	if err != nil {
		a.t.Fatal(err)
	}
	return append([]byte{4}, body...)
}

// sends sends a packet to each of the nodes.
func (a *attacker) sends(packet []byte, to ...string) {
	for _, addr := range to {
		_, _ = a.from.WriteTo(packet, addr)
	}
}

// "A value from the network is bounded before it is kept": a made-up member of another
// version of memberlist's protocol, said again each second, keeps nobody from joining or
// from coming back.
func TestFalseVersionsKeepNobodyOut(t *testing.T) {
	for name, versions := range map[string][]byte{
		"a later delegate":           {1, 5, 2, 7, 7, 7},
		"a delegate up to any":       {1, 5, 2, 0, 255, 1},
		"a later protocol":           {5, 5, 5, 0, 0, 0},
		"an earlier protocol":        {1, 1, 1, 0, 0, 0},
		"a protocol that it has not": {1, 5, 9, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *cluster) {
				nodes := c.startAll(3)
				c.eventually(time.Second, []int{1, 2, 3}, nodes...)
				a := c.attacker()
				packet := a.alive(madeUp(666), "10.66.0.1:7946", versions)
				over := time.NewTicker(time.Second)
				defer over.Stop()
				done := make(chan struct{})
				defer close(done)
				go func() {
					for {
						a.sends(packet, append(c.seeds, gossipAddr(4))...)
						select {
						case <-over.C:
						case <-done:
							return
						}
					}
				}()
				time.Sleep(5 * time.Second) // of the bubble
				c.kill(nodes[2])
				time.Sleep(30 * time.Second)
				c.start(c.config(4), gossipAddr(4))
				c.start(c.config(3), gossipAddr(3))
				now := []*testNode{nodes[0], nodes[1], c.nodes[3], c.nodes[4]}
				c.eventually(3*time.Second, []int{1, 2, 3, 4}, now...)
			})
		})
	}
}

// linkAll tells each node that its links to the others are up.
func (c *cluster) linkAll(nodes ...*testNode) {
	for _, n := range nodes {
		for _, m := range nodes {
			if n != m {
				n.Report(Evidence{m.id, m.cfg.Self.Incarnation, proto.LinkUp})
			}
		}
	}
}

// "Counts and members are bounded before they are kept": 5,000 members that somebody makes up
// cost each node at most 64 of them; those that a link reached stay, come back at once after a
// death, and others join once the flood is over.
func TestMadeUpMembersAreFew(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		nodes := c.startAll(3)
		c.eventually(time.Second, []int{1, 2, 3}, nodes...)
		c.linkAll(nodes...)
		a := c.attacker()
		stop, ended := make(chan struct{}), make(chan struct{})
		end := sync.OnceFunc(func() { close(stop); <-ended })
		defer end()
		go func() {
			defer close(ended)
			for id := 0; ; id++ {
				packet := a.alive(madeUp(1000+id%5000), "10.99.0.1:7946", ownVersions)
				a.sends(packet, c.seeds...)
				select {
				case <-stop:
					return
				case <-time.After(2 * time.Millisecond): // of the bubble
				}
			}
		}()
		bounded := func(when string) {
			t.Helper()
			for _, n := range c.nodes {
				if got := len(n.Listed()); got > maxStrangers+len(c.nodes) {
					t.Fatalf("%s: node %d lists %d", when, n.id, got)
				}
				if got := len(n.list.Members()); got > 300 {
					t.Fatalf("%s: node %d's memberlist has %d", when, n.id, got)
				}
			}
		}
		for range 20 {
			time.Sleep(time.Second) // of the bubble
			bounded("in the flood")
		}
		for _, n := range nodes {
			for _, id := range []int{1, 2, 3} {
				if !slices.Contains(n.alive(), id) {
					t.Errorf("node %d lost %d: %v", n.id, id, n.alive())
				}
			}
		}
		c.kill(nodes[2])
		for _, n := range nodes[:2] {
			n.Report(Evidence{3, nodes[2].cfg.Self.Incarnation, proto.DialRefused})
		}
		back := c.start(c.config(3), gossipAddr(3))
		lists := func(id int, in ...*testNode) func() bool {
			return func() bool {
				return !slices.ContainsFunc(in, func(n *testNode) bool { return !slices.Contains(n.alive(), id) })
			}
		}
		c.until(3*time.Second, "a proven id is back in the flood", func() bool {
			return nodes[0].member(3).Incarnation == back.cfg.Self.Incarnation &&
				nodes[1].member(3).Incarnation == back.cfg.Self.Incarnation
		})
		bounded("after the return")
		end()
		fresh := c.start(c.config(4), gossipAddr(4))
		c.until(2*strangerGrace, "a new id joins after the flood", lists(4, nodes[0], nodes[1], back, fresh))
		bounded("at the end")
	})
}

// "A voter is expected": it finds a place in the flood although no link ever reached it.
func TestExpectedMembersFindAPlace(t *testing.T) {
	p := newPlaces([]proto.NodeID{7})
	now := time.Unix(1e9, 0)
	of := func(id int) node { return node{meta: madeUp(id), gossip: netip.MustParseAddrPort("10.99.0.1:7946")} }
	for id := range maxStrangers {
		if _, _, err := p.find(of(1000+id), now); err != nil {
			t.Fatalf("stranger %d: %v", id, err)
		}
		p.joined(of(1000 + id))
	}
	if _, _, err := p.find(of(8), now); !errors.Is(err, errRefused) {
		t.Errorf("one stranger too many: %v", err)
	}
	if _, _, err := p.find(of(7), now); err != nil {
		t.Errorf("a voter: %v", err)
	}
	p.prove(1000, now)
	if _, _, err := p.find(of(8), now.Add(time.Second)); err != nil {
		t.Errorf("a stranger after another was proven: %v", err)
	}
	p.joined(of(8))
	lost, _, err := p.find(of(9), now.Add(strangerGrace+1))
	if err != nil || lost == nil || lost.ID == 8 || lost.ID == 1000 {
		t.Errorf("after the grace of the others: %v, %v", lost, err)
	}
	p.joined(of(9))
	// whoever lost its place gets another one, in its turn
	_, returned, err := p.find(of(int(lost.ID)), now.Add(strangerGrace+1))
	if err != nil || !returned {
		t.Errorf("the one that lost its place: returned %v, %v", returned, err)
	}
	p.left(1000)
	if !p.isKnown(1000) || p.isKnown(9) {
		t.Error("what was proven is forgotten")
	}
}

// "A node lists as many as a cluster can have", and no more, proven or not.
func TestAllMembersAreBounded(t *testing.T) {
	p := newPlaces(nil)
	now := time.Unix(1e9, 0)
	of := func(id int) node { return node{meta: madeUp(id), gossip: netip.MustParseAddrPort("10.99.0.1:7946")} }
	for id := range maxMembers {
		if _, _, err := p.find(of(1000+id), now); err != nil {
			t.Fatalf("one of %d is refused: %v", maxMembers, err)
		}
		p.prove(proto.NodeID(1000+id), now)
	}
	if _, _, err := p.find(of(1000), now); err != nil {
		t.Errorf("one that is known is refused: %v", err)
	}
	if _, _, err := p.find(of(5), now); !errors.Is(err, errRefused) {
		t.Errorf("one too many: %v", err)
	}
	if len(p.proven) > maxProven {
		t.Errorf("%d are remembered", len(p.proven))
	}
}

// "Ordinary starts work": a hundred that start at once meet while links come up.
func TestAHundredStartAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		c.seeds = []string{gossipAddr(1), gossipAddr(2), gossipAddr(3)}
		for id := 1; id <= 100; id++ {
			c.start(c.config(id), gossipAddr(id))
		}
		up := map[[2]proto.NodeID]bool{}
		began := time.Now()
		for all := false; !all; {
			time.Sleep(20 * time.Millisecond) // of the bubble
			all = true
			for _, n := range c.nodes { // what the links would do
				listed := *n.listed.Load()
				all = all && len(listed) == len(c.nodes)-1
				for _, m := range listed {
					if pair := [2]proto.NodeID{n.id, m.ID}; !up[pair] {
						up[pair] = true
						n.Report(Evidence{m.ID, m.Incarnation, proto.LinkUp})
					}
				}
			}
			if time.Since(began) > 3*time.Second {
				t.Fatal("not all list all")
			}
		}
		t.Logf("after %v", time.Since(began))
	})
}
