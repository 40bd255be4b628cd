package membership

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/proto"
)

var errRefused = errors.New("peer refused")

// gate decides which peers may be members: those whose meta can be read and
// whose cluster and algorithm are this node's. memberlist calls it from any
// goroutine, some of them while it holds its lock.
type gate struct {
	cluster, algorithm string
	log                zerolog.Logger
	stranger           func(Member) // nil for nobody to tell
	said               sayOnce
}

// admit returns the peer as it describes itself, or errRefused, wrapped. A
// refusal is logged once a peer and reason.
func (g *gate) admit(n *memberlist.Node) (node, error) {
	peer, err := readNode(n)
	if err == nil {
		err = g.compare(peer)
	}
	key := fmt.Sprintf("%.20q at %s", n.Name, n.Address())
	if err == nil {
		g.said.forget(key)
		return peer, nil
	}
	if g.stranger != nil && peer.cluster == g.cluster && peer.algorithm != g.algorithm {
		g.stranger(peer.member())
	}
	if g.said.first(key, err.Error(), time.Now()) {
		g.log.Warn().Msgf("refused node %s: %v", key, err)
	}
	return node{}, fmt.Errorf("%w: %w", errRefused, err)
}

// maxMembers bounds the members beside this node. Each costs a link, and whoever can send
// packets can make members up.
const maxMembers = proto.MaxRoll - 1

// room refuses one member too many.
func (g *gate) room(n node, listed []Member) error {
	known := func(m Member) bool { return m.ID == n.ID }
	if len(listed) < maxMembers || slices.ContainsFunc(listed, known) {
		return nil
	}
	if g.said.first("room", "none", time.Now()) {
		g.log.Warn().Msgf("refused node %v and maybe others: this node lists %d already, and a cluster "+
			"has at most so many; look who sends made-up members", n, len(listed))
	}
	return fmt.Errorf("%w: more than %d members", errRefused, maxMembers)
}

// compare refuses the nodes of another cluster and of another algorithm.
func (g *gate) compare(n node) error {
	if n.cluster != g.cluster {
		return fmt.Errorf("it belongs to cluster %q, this node to %q; "+
			"give both the same cluster label, or remove the address from the join targets",
			n.cluster, g.cluster)
	}
	if n.algorithm != g.algorithm {
		return fmt.Errorf("it runs algorithm %q, this node %q (\"office\" is any with voters); "+
			"run the same on all nodes of a cluster; to change it, stop all nodes and start them "+
			"with another, or give all of them voters first: in an office what nominates may differ, "+
			"and be changed node by node; not so what has a quorum of its own", n.algorithm, g.algorithm)
	}
	return nil
}

// Bounds on what sayOnce remembers, and for how long.
const (
	maxSaid   = 256
	saidAfter = time.Hour
)

// sayOnce lets each subject's reason through once, until the reason changes. It
// starts over every hour, and lets at most maxSaid through within one, so that
// nobody can fill a log from outside. Any goroutine may call it.
type sayOnce struct {
	mu     sync.Mutex
	since  time.Time
	count  int
	reason map[string]string
}

// first reports whether the subject's reason is to be said now.
func (s *sayOnce) first(subject, reason string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason == nil || now.Sub(s.since) > saidAfter {
		s.since, s.count, s.reason = now, 0, make(map[string]string)
	}
	said, ok := s.reason[subject]
	if ok && said == reason || s.count >= maxSaid {
		return false
	}
	s.count++
	s.reason[subject] = reason
	return true
}

// forget makes the subject's next reason a new one.
func (s *sayOnce) forget(subject string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.reason, subject)
}
