package membership

import (
	"cmp"
	"fmt"
	"time"

	"github.com/hashicorp/memberlist"
)

// Profile says for which network gossip is tuned: how soon a death is noticed,
// against how soon a slow process is taken for dead. Empty is [LAN].
type Profile string

// The profiles, with the time from the death of one of five processes until the
// others' views lack it, median and worst of a hundred simulated deaths: see
// TestKillIsDetected.
const (
	// LAN is for machines in one network: 6.0 s in the median, 8.0 s at worst.
	LAN Profile = "lan"
	// Local is for processes on one machine: 2.5 s in the median, 3.5 s at worst.
	Local Profile = "local"
	// Fast is for machines with processor time to spare: 1.2 s in the median, 1.7 s at worst. A process that
	// gets no processor for so long counts as dead.
	Fast Profile = "fast"
)

// Probing says how often gossip looks for dead members.
type Probing struct {
	// Interval is how often a node asks a member for a sign of life. Timeout is how long the node waits for
	// the sign before it asks other members to try. Gossip is how often a node passes news on.
	Interval, Timeout, Gossip time.Duration
}

const (
	minProbeInterval = 200 * time.Millisecond
	maxProbeInterval = 5 * time.Second
)

// ProbingWithin returns the probing that suits a failover budget. A node asks one member in each budget,
// within bounds: gossip must not cost more than the elections, and must notice every death. News is passed on
// twice in an interval, since waking up for it is most of what gossip costs an idle node.
func ProbingWithin(budget time.Duration) Probing {
	interval := min(max(budget, minProbeInterval), maxProbeInterval)
	return Probing{Interval: interval, Timeout: interval / 2, Gossip: interval / 2}
}

// settings are the numbers behind a profile.
type settings struct {
	Probing
	budget        time.Duration // a node probes one member in each budget
	suspicionMult int           // from suspicion to death, in probe intervals, at least
	suspicionMax  int           // times as long if no other member suspects it too
	toTheDead     time.Duration // how long dead members are remembered and may still refute that
	reclaim       time.Duration // after this time the id of a dead member may return at another address
	rejoin        time.Duration // the next rejoin round follows in one to two times this
}

var profiles = map[Profile]settings{
	LAN: {
		budget: time.Second, suspicionMult: 4, suspicionMax: 3,
		toTheDead: 30 * time.Second, reclaim: 5 * time.Second, rejoin: time.Second,
	},
	Local: {
		budget: time.Second / 2, suspicionMult: 3, suspicionMax: 3,
		toTheDead: 15 * time.Second, reclaim: 2 * time.Second, rejoin: time.Second / 2,
	},
	Fast: {
		budget: time.Second / 4, suspicionMult: 3, suspicionMax: 2,
		toTheDead: 15 * time.Second, reclaim: time.Second, rejoin: time.Second / 2,
	},
}

// settings returns the profile's numbers. If budget is not zero, it replaces the profile's own budget.
func (p Profile) settings(budget time.Duration) (settings, error) {
	s, ok := profiles[cmp.Or(p, LAN)]
	switch {
	case !ok:
		return s, fmt.Errorf("detector profile %q: want %s, %s or %s", p, LAN, Local, Fast)
	case budget < 0:
		return s, fmt.Errorf("a probing budget of %v: want more than 0", budget)
	}
	s.budget = cmp.Or(budget, s.budget)
	s.Probing = ProbingWithin(s.budget)
	return s, nil
}

// streamTimeout is how long an exchange of states with one peer may take, with the dial. It is not
// longer than the shortest rejoin round of the default profile, so that an attempt begun just
// before a partition heals delays the others by one round at most.
const streamTimeout = time.Second

// apply writes the settings into a memberlist.Config.
func (s settings) apply(c *memberlist.Config) {
	c.ProbeInterval, c.ProbeTimeout = s.Interval, s.Timeout
	c.SuspicionMult, c.SuspicionMaxTimeoutMult = s.suspicionMult, s.suspicionMax
	c.GossipInterval, c.GossipToTheDeadTime = s.Gossip, s.toTheDead
	c.DeadNodeReclaimTime = s.reclaim
	c.TCPTimeout = streamTimeout
	// Views of small clusters stay incomplete for seconds with fewer
	// retransmissions and rarer exchanges.
	c.RetransmitMult = 4
	c.PushPullInterval = 5 * time.Second
}
