// Package rival is a candidate that takes the lead on a store as that store's own client does, and as its
// documentation says: without a proof that the leader is dead. So it waits until the leader's entry has ended. It
// is what a failover on a store is measured beside.
package rival

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/storeurl"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/store"
	"github.com/ringleader-dev/ringleader/store/all"
)

// Rival is one candidate.
type Rival struct {
	Store string        `json:"store"` // the URL
	ID    int           `json:"id"`    // from 1
	TTL   time.Duration `json:"ttl"`
}

// recipe takes the lead, calls leads, and keeps the lead until ctx is done. Then it gives the lead back.
type recipe struct {
	name string // what it is, for people
	run  func(ctx context.Context, r Rival, leads func()) error
}

// recipes are those of the stores' own clients, by the scheme of the URL. For every other store the entry of
// package store is waited out.
var recipes = map[string]recipe{
	"etcd":      {"concurrency.Election of etcd's client", campaign},
	"redis":     {"SET NX PX, renewed at a third, as Redis documents", setNX},
	"zookeeper": {"zk.Lock of go-zookeeper", zkLock},
}

func (r Rival) recipe() (recipe, error) {
	u, err := storeurl.Split(r.Store)
	if err != nil {
		return recipe{}, err
	}
	if found, ok := recipes[u.Scheme]; ok {
		return found, nil
	}
	return recipe{"the same entry, waited out", waitOut}, nil
}

// Name says what the rival does, for people.
func (r Rival) Name() string {
	found, err := r.recipe()
	if err != nil {
		return err.Error()
	}
	return found.name
}

// Run stands until in ends, as it does when the parent dies. It writes "leads NANOSECONDS" to out, by the time of
// day, when it leads.
func (r Rival) Run(in io.Reader, out io.Writer) error {
	found, err := r.recipe()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	fmt.Fprintln(out, "ready 0")
	err = found.run(ctx, r, func() { fmt.Fprintf(out, "leads %d\n", time.Now().UnixNano()) })
	if ctx.Err() != nil {
		return nil
	}
	return err
}

const (
	// poll is the pause until a rival asks again a store that tells it of no change. It adds half of it to a
	// failover, on average.
	poll = 100 * time.Millisecond
	// leavePatience is how long giving the lead back may take.
	leavePatience = time.Second
)

// pause waits for d. It reports whether ctx is not done.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// leaving returns a context for giving the lead back, when ctx is done already.
func leaving(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), leavePatience)
}

// waitOut stands as a node does, but nothing tells it that the leader is dead.
func waitOut(ctx context.Context, r Rival, leads func()) error {
	place, err := all.Parse(r.Store)
	if err != nil {
		return err
	}
	e, err := place.Open(store.Candidate{
		Cluster: "rival", TTL: r.TTL, Peer: proto.Peer{ID: proto.NodeID(r.ID), Incarnation: proto.NewIncarnation()},
	})
	if err != nil {
		return err
	}
	defer e.Close()
	led := false
	ask := algorithms.Ask{Verb: algorithms.AskStand}
	for ctx.Err() == nil {
		ask.Number++
		a, err := e.Ask(ctx, ask)
		switch {
		case err != nil:
			pause(ctx, poll)
		case a.Held():
			if !led {
				led = true
				leads()
			}
			pause(ctx, r.TTL/3)
		default:
			led = false
			select {
			case <-e.Changed():
			case <-time.After(r.TTL / 3):
			case <-ctx.Done():
			}
		}
	}
	leave, cancel := leaving(ctx)
	defer cancel()
	_, err = e.Ask(leave, algorithms.Ask{Number: ask.Number + 1, Verb: algorithms.AskLeave})
	return err
}
