package nodesim

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/node/tcp"
	"github.com/ringleader-dev/ringleader/proto"
)

// "It may name it for as long after its lease has ended as that was on a connection: at most
// 6¼ times the failover budget, when a connection without an acknowledgement is ended. What
// it waited for a connection is taken off."
func TestAnnouncementsAreNotOld(t *testing.T) {
	for _, algorithm := range []string{"bully", "raft"} {
		t.Run(algorithm, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := draw(1, algorithm, []string{"leave"})
				o.nodes, o.voters = 3, []proto.NodeID{1, 2, 3}
				o.patience, o.promise = time.Second, 2*time.Second
				w := newWorld(o)
				defer w.finish()
				a := announcements{ends: map[string]time.Time{}}
				w.said = a.note
				for _, m := range w.machines {
					w.start(m)
				}
				w.pass(10*time.Second, nil)
				leader := w.leader()
				ack := tcp.LimitsFor(o.patience).Ack
				// In some runs, all of the first attempts come beside the moment that matters.
				for i := time.Duration(0); i < 60 || i < 600 && a.latest() < ack; i++ {
					w.delayAnnouncement(leader.id, leader.id%3+1, i*w.network.latency/4)
				}
				if w.leader() != leader {
					t.Errorf("n%d leads no more", leader.id)
				}
				if most := ack + ack/4 + time.Second/10; a.late > most || a.late < ack {
					t.Errorf("a follower named the leader for %v after what it was told had ended; want %v to %v",
						a.late, ack, most)
				}
			})
		})
	}
}

// delayAnnouncement has what a leader says to one follower wait for as long as may be, first
// for a connection and then on it: the other end of that one is cut off in the middle of a
// handshake, this long after its start.
func (w *world) delayAnnouncement(leader, follower proto.NodeID, after time.Duration) {
	n, out := w.network, []path{{leader, follower}}
	both := []path{{leader, follower}, {follower, leader}}
	dials := func() uint64 {
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.dials[out[0]]
	}
	n.change(both, 1)
	w.pass(7*time.Second, nil) // the connection is ended
	before := dials()
	n.change(both, -1)
	for dials() == before {
		time.Sleep(n.latency / 10)
	}
	time.Sleep(after)
	n.change(out, 1)
	w.pass(6100*time.Millisecond, nil)
	n.change(out, -1)
	w.pass(2*time.Second, nil)
}

// announcements are the LEASEs and HEARTBEATs that were sent.
type announcements struct {
	mu   sync.Mutex
	ends map[string]time.Time // of each, the end of the lease that it tells of
	late time.Duration        // how long after that, at the most, it was told as a receiver counts
}

func (a *announcements) latest() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.late
}

func (a *announcements) note(m proto.Message, leaves bool) {
	b, ok := m.Body.(proto.Heartbeat)
	if !ok {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	key, end := m.ID()+">"+m.To.String(), time.Now().Add(b.Remaining)
	if leaves {
		a.ends[key] = end
	} else {
		a.late = max(a.late, end.Sub(a.ends[key]))
	}
}
