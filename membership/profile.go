package membership

import (
	"fmt"
	"time"

	"github.com/hashicorp/memberlist"
)

// Profile says for which network gossip is tuned: how soon a death is noticed,
// against how soon a slow process is taken for dead. Empty is [LAN].
type Profile string

// The profiles, with the time from the death of one of five processes until the
// others' views lack it, median and worst of a hundred simulated deaths.
const (
	// LAN is for machines of one network: 5.9 s, 8.0 s.
	LAN Profile = "lan"
	// Local is for processes on one machine: 2.4 s, 3.8 s.
	Local Profile = "local"
	// Fast is for machines with time to spare: 1.0 s, 1.4 s. A process that gets no
	// processor for that long is taken for dead.
	Fast Profile = "fast"
)

// Probing is how fast gossip looks for the dead.
type Probing struct {
	// Interval is how often a node asks some member for a sign of life, Timeout
	// how long it waits before it has others ask. Gossip is how often it passes
	// news on.
	Interval, Timeout, Gossip time.Duration
}

// ProbingWithin is the probing that suits a failover budget: one member asked
// in each, but not so often that gossip costs more than the elections, nor so
// rarely that nobody is ever missed. News is passed on twice in it: most of what
// gossip costs a node at rest is to wake up for it.
func ProbingWithin(budget time.Duration) Probing {
	interval := min(max(budget, minProbeInterval), maxProbeInterval)
	return Probing{Interval: interval, Timeout: interval / 2, Gossip: interval / 2}
}

const (
	minProbeInterval = 200 * time.Millisecond
	maxProbeInterval = 5 * time.Second
)

// probe replaces the profile's probing, unless by is zero.
func (s *settings) probe(by Probing) error {
	if by == (Probing{}) {
		return nil
	}
	if by.Timeout <= 0 || by.Gossip <= 0 || by.Interval <= by.Timeout {
		return fmt.Errorf("probing every %v, timeout %v, gossip every %v: want all above 0, "+
			"and the timeout below the interval", by.Interval, by.Timeout, by.Gossip)
	}
	s.probeInterval, s.probeTimeout, s.gossipInterval = by.Interval, by.Timeout, by.Gossip
	return nil
}

// settings are the numbers behind a profile.
type settings struct {
	probeInterval  time.Duration // a member is asked each time
	probeTimeout   time.Duration // before others are asked to ask it
	suspicionMult  int           // probe intervals from suspicion to death, at least
	suspicionMax   int           // times as long when no other member suspects it
	gossipInterval time.Duration
	toTheDead      time.Duration // the dead are remembered and may still refute
	reclaim        time.Duration // a dead one's id may come back elsewhere after this
	rejoin         time.Duration // a rejoin round follows in this to twice this
}

func lan() settings {
	return settings{
		probeInterval: time.Second, probeTimeout: 500 * time.Millisecond,
		suspicionMult: 4, suspicionMax: 3, gossipInterval: 200 * time.Millisecond,
		toTheDead: 30 * time.Second, reclaim: 5 * time.Second, rejoin: time.Second,
	}
}

func local() settings {
	return settings{
		probeInterval: 500 * time.Millisecond, probeTimeout: 200 * time.Millisecond,
		suspicionMult: 3, suspicionMax: 3, gossipInterval: 100 * time.Millisecond,
		toTheDead: 15 * time.Second, reclaim: 2 * time.Second, rejoin: time.Second / 2,
	}
}

func fast() settings {
	return settings{
		probeInterval: 200 * time.Millisecond, probeTimeout: 100 * time.Millisecond,
		suspicionMult: 3, suspicionMax: 2, gossipInterval: 50 * time.Millisecond,
		toTheDead: 15 * time.Second, reclaim: time.Second, rejoin: time.Second / 2,
	}
}

// settings are the profile's numbers.
func (p Profile) settings() (settings, error) {
	switch p {
	case LAN, "":
		return lan(), nil
	case Local:
		return local(), nil
	case Fast:
		return fast(), nil
	}
	return settings{}, fmt.Errorf("detector profile %q: want %s, %s or %s", p, LAN, Local, Fast)
}

// streamTimeout bounds an exchange of state with one peer, dialling included. It
// is not above the shortest rejoin round of the default profile, so that an
// attempt begun just before a partition heals does not cost more than one round.
const streamTimeout = time.Second

// apply writes the settings into memberlist's.
func (s settings) apply(c *memberlist.Config) {
	c.ProbeInterval, c.ProbeTimeout = s.probeInterval, s.probeTimeout
	c.SuspicionMult, c.SuspicionMaxTimeoutMult = s.suspicionMult, s.suspicionMax
	c.GossipInterval, c.GossipToTheDeadTime = s.gossipInterval, s.toTheDead
	c.DeadNodeReclaimTime = s.reclaim
	c.TCPTimeout = streamTimeout
	// Views of small clusters stay incomplete for seconds with fewer
	// retransmissions and rarer exchanges.
	c.RetransmitMult = 4
	c.PushPullInterval = 5 * time.Second
}
