package sim

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// Lecture notes: "Election from lowest id server in group; answer to lowest id
// server from 2nd highest id process; election from 2nd highest id server to
// highest id; timeout for answers @ 2nd highest id server; coordinator from 2nd
// highest id server": five.
func TestDepthCountsBurstsAndTimeouts(t *testing.T) {
	c := script(t, 3, func(now time.Time, ev algorithms.Event) algorithms.Output {
		ask, announce := toyElection{}, nomination.Coordinator{}
		switch ev := ev.(type) {
		case algorithms.Campaign: // 1: one burst to two nodes
			return algorithms.Output{Send: []proto.Message{message(1, 2, ask), message(1, 3, ask)}}
		case algorithms.Receive:
			if ev.To != 2 || ev.Body != ask {
				return algorithms.Output{}
			}
			return algorithms.Output{ // 2: OK; 3: ELECTION; and a deadline
				Send:     []proto.Message{message(2, 1, toyOK{}), message(2, 3, ask)},
				Deadline: now.Add(time.Second),
			}
		case algorithms.Timeout: // 4: the timeout; 5: COORDINATOR
			return algorithms.Output{Send: []proto.Message{message(2, 1, announce)}}
		}
		return algorithms.Output{}
	})
	for _, n := range c.nodes {
		c.start(n)
	}
	c.operate(c.node(1), algorithms.Campaign{})
	c.runUntil(time.Minute)
	if c.tally.deepest != 5 || c.tally.total != 5 {
		t.Errorf("depth %d, %d messages; want 5 and 5", c.tally.deepest, c.tally.total)
	}
}

// A Step that leaves the deadline alone does not set it: its timeout still counts
// from where it was set.
func TestDepthOfAnOldDeadline(t *testing.T) {
	var due time.Time
	c := script(t, 2, func(now time.Time, ev algorithms.Event) algorithms.Output {
		switch ev.(type) {
		case algorithms.Campaign:
			due = now.Add(time.Second)
			return algorithms.Output{Deadline: due}
		case algorithms.Timeout:
			return algorithms.Output{Send: []proto.Message{message(1, 2, toyOK{})}}
		}
		return algorithms.Output{Deadline: due}
	})
	n := c.node(1)
	c.start(n)
	c.operate(n, algorithms.Campaign{})
	c.send(c.node(2), message(2, 1, toyOK{}), 8)
	c.runUntil(time.Minute)
	if c.tally.deepest != 8 { // the message itself; what the timeout caused is 2
		t.Errorf("depth %d, want 8", c.tally.deepest)
	}
}

// What the measured cause has no part in is not counted, and neither is what that
// causes.
func TestDepthApart(t *testing.T) {
	if apart.next() != apart {
		t.Error("what is caused apart must be apart")
	}
	var count tally
	count.sent(message(1, 2, toyOK{}), apart)
	if count.total != 0 {
		t.Errorf("%d messages counted", count.total)
	}
}
