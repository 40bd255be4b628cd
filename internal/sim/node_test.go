package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/scenario"
	"github.com/ringleader-dev/ringleader/proto"
)

// scripted is a Machine that returns what it is told to.
type scripted func(now time.Time, ev algorithms.Event) algorithms.Output

func (s scripted) Step(now time.Time, ev algorithms.Event) algorithms.Output { return s(now, ev) }

// script makes every process of a cluster run the same script.
func script(t *testing.T, n int, s scripted) *cluster {
	t.Helper()
	a := toyAlgorithm(sound)
	a.New = func(algorithms.Config) algorithms.Machine { return s }
	c := newCluster(Options{Algorithm: a}, scenario.Numbered(n), false, weather{MinDelay: 1, MaxDelay: 1})
	c.checkers = nil
	c.detector.off = true
	return c
}

// "Save must be durable before anything below leaves the node": a process may die
// between any two effects of a Step, and what came before is done, what comes
// after is not.
func TestCrashBetweenEffects(t *testing.T) {
	for after, want := range []struct {
		term proto.Term
		sent []proto.NodeID
	}{
		0: {0, nil}, 1: {7, nil}, 2: {7, []proto.NodeID{2}}, 3: {7, []proto.NodeID{2, 3}},
		4: {7, []proto.NodeID{2, 3}},
	} {
		var got []proto.NodeID
		c := script(t, 3, func(_ time.Time, ev algorithms.Event) algorithms.Output {
			switch ev := ev.(type) {
			case algorithms.Receive:
				got = append(got, ev.To)
			case algorithms.Campaign:
				return algorithms.Output{
					Save: &algorithms.State{Term: 7, Reserved: 7},
					Send: []proto.Message{message(1, 2, toyOK{}), message(1, 3, toyOK{})},
				}
			}
			return algorithms.Output{}
		})
		for _, n := range c.nodes {
			c.start(n)
		}
		n := c.node(1)
		c.killWithin(n, doom{after: after})
		c.operate(n, algorithms.Campaign{})
		c.runUntil(time.Second)
		if n.life != nil || n.disk.Term != want.term || !slices.Equal(got, want.sent) {
			t.Errorf("after effect %d: alive %v, saved %d, arrived at %v; want %+v",
				after, n.life != nil, n.disk.Term, got, want)
		}
	}
}

// A restarted process is another one, and starts with what was saved.
func TestRestart(t *testing.T) {
	var saved []proto.Term
	c := script(t, 1, func(_ time.Time, ev algorithms.Event) algorithms.Output {
		if start, ok := ev.(algorithms.Start); ok {
			saved = append(saved, start.Saved.Term)
			term := start.Saved.Term + 1
			return algorithms.Output{Save: &algorithms.State{Term: term, Reserved: term}}
		}
		return algorithms.Output{}
	})
	n := c.node(1)
	c.start(n)
	first := n.life.incarnation
	c.kill(n)
	c.restart(n)
	if n.life.incarnation == first {
		t.Error("the incarnation is the same")
	}
	if !slices.Equal(saved, []proto.Term{0, 1}) {
		t.Errorf("started with terms %v", saved)
	}
}

// Only the last deadline rings, and it rings once.
func TestDeadlineReplacesTheOneBefore(t *testing.T) {
	var rings []time.Duration
	c := script(t, 1, func(now time.Time, ev algorithms.Event) algorithms.Output {
		switch ev.(type) {
		case algorithms.Start:
			return algorithms.Output{Deadline: now.Add(time.Second)}
		case algorithms.Campaign:
			return algorithms.Output{Deadline: now.Add(2 * time.Second)}
		case algorithms.Timeout:
			rings = append(rings, now.Sub(beginning))
		}
		return algorithms.Output{}
	})
	c.start(c.node(1))
	c.operate(c.node(1), algorithms.Campaign{})
	c.runUntil(time.Minute)
	if !slices.Equal(rings, []time.Duration{2 * time.Second}) {
		t.Errorf("rang at %v", rings)
	}
}

// A paused process misses nothing: what reached it waits for it.
func TestPause(t *testing.T) {
	var at []time.Duration
	c := script(t, 2, func(now time.Time, ev algorithms.Event) algorithms.Output {
		if _, ok := ev.(algorithms.Receive); ok {
			at = append(at, now.Sub(beginning))
		}
		return algorithms.Output{}
	})
	for _, n := range c.nodes {
		c.start(n)
	}
	c.pause(c.node(1), time.Second)
	c.send(c.node(2), message(2, 1, toyOK{}), 0)
	c.runUntil(time.Minute)
	if !slices.Equal(at, []time.Duration{time.Second}) {
		t.Errorf("received at %v", at)
	}
}
