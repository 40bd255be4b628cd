package membership

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// "What a link proves stands above what gossip says": while a node hangs, and afterwards, no node drops another because
// somebody lies in gossip; and each counts the node that hung again once it goes on.
func TestLiesWhileANodeHangs(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		l := newLinked(c, 3)
		c.eventually(3*time.Second, []int{1, 2, 3}, c.nodes...)
		a, number := c.attacker(), uint32(1<<20)
		lies := func(d time.Duration) {
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				for _, n := range c.nodes {
					others := slices.DeleteFunc(slices.Clone(c.seeds), func(s string) bool { return s == n.addr })
					described := madeUp(int(n.id))
					described.Peer, described.electionAddr = n.cfg.Self, n.cfg.ElectionAddr
					described.Attr, described.Ineligible = 1<<40, true
					another := madeUp(int(n.id))
					a.sends(a.dead(number+1, n.id), others...)
					a.sends(a.aliveAs(number+2, described, n.addr, ownVersions), others...)
					a.sends(a.aliveAs(number+3, another, n.addr, ownVersions), others...)
					number += 4
				}
			}
		}
		lies(2 * time.Second)
		l.hang(c.nodes[0], true)
		lies(1300 * time.Millisecond)
		for _, n := range c.nodes[1:] {
			if !n.told("heartbeat-missed 1") {
				t.Errorf("node %d never missed node 1: %v", n.id, n.evidence())
			}
		}
		l.hang(c.nodes[0], false)
		c.eventually(100*time.Millisecond, []int{1, 2, 3}, c.nodes...)
		lies(time.Second)
		time.Sleep(time.Minute)
		c.eventually(0, []int{1, 2, 3}, c.nodes...)
		for _, n := range c.nodes {
			for _, s := range n.evidence() {
				word, _, _ := strings.Cut(s, " ")
				if slices.Contains([]string{gossipDead, attr, ineligible, moved}, word) {
					t.Errorf("node %d believed a lie: %s", n.id, s)
				}
			}
			for id := 1; id <= 3; id++ {
				if got := n.member(id); got.Attr != int64(10*id) || got.Ineligible {
					t.Errorf("node %d describes node %d as %+v", n.id, id, got)
				}
			}
		}
	})
}
