package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/storeserver"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/store"
	"github.com/ringleader-dev/ringleader/store/all"
)

const (
	// electionName is the cluster's label, and names the election in the store.
	electionName = "demo"
	// storeLease is short, since the demo waits for one.
	storeLease = 5 * time.Second
	// lookPause is the pause until the demo looks into the store again.
	lookPause = 20 * time.Millisecond
)

// storeDemo is one run of the story on a store.
type storeDemo struct {
	demo
	server   *storeserver.Server
	election store.Election
}

// startStore starts the server of a store and opens the election on it.
func startStore(ctx context.Context, o *Options) (s *storeDemo, err error) {
	s = &storeDemo{}
	if s.server, err = storeserver.Start(ctx, o.Store); err != nil {
		return nil, err
	}
	place, err := all.Parse(s.server.URL(electionName))
	if err == nil {
		o.Entry = o.Entry.WithStore(place.Guarantee())
		// It only looks, so its id is none of the nodes.
		s.election, err = place.Open(store.Candidate{
			Cluster: electionName, Peer: proto.Peer{ID: proto.NodeID(o.Nodes + 1)}, TTL: storeLease,
		})
	}
	if err != nil {
		return nil, errors.Join(err, s.server.Close())
	}
	return s, nil
}

// close ends the server. It does nothing if there is none.
func (s *storeDemo) close() error {
	if s == nil {
		return nil
	}
	return errors.Join(s.election.Close(), s.server.Close())
}

// args are the arguments of the nodes.
func (s *storeDemo) args() []string {
	if s == nil {
		return nil
	}
	return []string{"--cluster", electionName, "--store", s.server.URL(electionName), "--lease", storeLease.String()}
}

// tell plays the whole story.
func (s *storeDemo) tell(ctx context.Context) error {
	s.titleOnStore(s.entry, len(s.nodes), s.server)
	first, err := s.assemble(ctx)
	if err == nil {
		err = s.holds(ctx, first)
	}
	if err != nil {
		return fmt.Errorf("no first leader: %w", err)
	}
	next, dead, err := s.killLeader(ctx, first.Leader)
	if err == nil {
		err = s.holds(ctx, next)
	}
	if err != nil {
		return fmt.Errorf("nobody took over from node %v: %w", first.Leader, err)
	}
	if err := s.comeBack(ctx, dead, next); err != nil {
		return fmt.Errorf("node %v did not come back as it should: %w", first.Leader, err)
	}
	if err := s.stopLeader(ctx); err != nil {
		return fmt.Errorf("the leader did not hand over as it should: %w", err)
	}
	if err := s.hangLeader(ctx); err != nil {
		return fmt.Errorf("nobody took over from a leader that hangs: %w", err)
	}
	return nil
}

// holds shows what the store holds, once it names this leader.
func (s *storeDemo) holds(ctx context.Context, leader testcluster.Belief) error {
	ctx, cancel := context.WithTimeout(ctx, 2*storeLease)
	defer cancel()
	for {
		a, err := s.election.Ask(ctx, algorithms.Ask{Verb: algorithms.AskLook})
		if err != nil {
			return fmt.Errorf("look into the store: %w", err)
		}
		if a.Holder.ID == leader.Leader && a.Holder.Token == leader.Term {
			return s.show(ctx, a.Holder)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the store names node %v with token %d, not node %v: %w",
				a.Holder.ID, a.Holder.Token, leader.Leader, context.Cause(ctx))
		case <-time.After(lookPause):
		}
	}
}

// show prints an entry.
func (s *storeDemo) show(ctx context.Context, e algorithms.Entry) error {
	text := store.Candidate{
		Cluster: electionName, Peer: proto.Peer{ID: e.ID, Incarnation: e.Incarnation},
	}.Value(e.Lent)
	s.say("The store holds the entry of node %v, with token %d:", e.ID, e.Token)
	command, shown, err := s.server.Look(ctx, electionName)
	if err != nil {
		return err
	}
	if shown == "" {
		s.quote(text)
	} else {
		s.quote("$ " + command + "\n" + shown)
	}
	return nil
}

// stopLeader tells the leader to stop, and starts it again when another leads.
func (s *storeDemo) stopLeader(ctx context.Context) error {
	leader, err := s.settle(ctx)
	if err != nil {
		return err
	}
	s.chapter(4, "Tell the leader to stop: SIGTERM to node %v", leader.Leader)
	told := death{node: leader.Leader, at: time.Now()}
	if err := s.cluster.Terminate(leader.Leader); err != nil {
		return err
	}
	next, err := s.cluster.WaitAgreed(ctx, testcluster.Without(s.nodes, told.node)...)
	if err != nil {
		return err
	}
	s.begin("After %s the others agree: node %v leads term %d. The former leader had removed its entry, and said so, "+
		"once its work had stopped.", millis(time.Since(told.at)), next.Leader, next.Term)
	if err := s.holds(ctx, next); err != nil {
		return err
	}
	if code, err := s.cluster.WaitExit(ctx, told.node); err != nil || code != 0 {
		return cmp.Or(err, fmt.Errorf("it ended with %d", code))
	}
	if err := s.cluster.Start(told.node); err != nil {
		return err
	}
	back, err := s.cluster.WaitAgreed(ctx)
	if err == nil {
		s.say("Node %v is started again. Node %v leads term %d.", told.node, back.Leader, back.Term)
	}
	return err
}

// hangLeader stops the leader, waits for the next, and wakes it.
func (s *storeDemo) hangLeader(ctx context.Context) error {
	leader, err := s.cluster.WaitAgreed(ctx)
	if err != nil {
		return err
	}
	s.chapter(5, "The leader hangs: SIGSTOP to node %v", leader.Leader)
	hung := death{node: leader.Leader, at: time.Now()}
	if err := s.cluster.Pause(leader.Leader); err != nil {
		return err
	}
	next, err := s.cluster.WaitAgreed(ctx, testcluster.Without(s.nodes, hung.node)...)
	if err != nil {
		return err
	}
	s.begin("After %s the others agree: node %v leads term %d. Nothing proves that a process is dead that "+
		"hangs, so its lease of %v was waited out.", millis(time.Since(hung.at)), next.Leader, next.Term,
		storeLease)
	if err := s.holds(ctx, next); err != nil {
		return err
	}
	s.chapter(6, "It wakes: SIGCONT to node %v", leader.Leader)
	if err := s.cluster.Resume(leader.Leader); err != nil {
		return err
	}
	awake := time.Now()
	last, err := s.cluster.WaitAgreed(ctx)
	if err != nil {
		return err
	}
	s.begin("Its lease had ended, so it did not lead any more. After %s all agree: node %v leads term %d.",
		millis(time.Since(awake)), last.Leader, last.Term)
	return s.holds(ctx, last)
}
