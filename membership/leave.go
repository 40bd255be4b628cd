package membership

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// maxGoodbyes bounds the streams opened at once to say goodbye.
const maxGoodbyes = 32

// Leave says goodbye to every member, so that they drop this process at once,
// leaves the gossip and closes the group. When ctx ends before all have been told
// the group is closed all the same, and the error says so. After Close it does
// nothing.
func (g *Group) Leave(ctx context.Context) error {
	var err error
	g.shutdown.Do(func() {
		g.stop()
		<-g.stopped
		heard := g.sayGoodbye(ctx)
		if !g.failed {
			// With a taken id, memberlist's own leave would be about the other.
			g.leaveGossip(ctx, heard)
		}
		if !heard && ctx.Err() != nil {
			err = fmt.Errorf("leave the cluster: %w", context.Cause(ctx))
		}
		g.close(&err)
	})
	return err
}

// Close stops without a goodbye, as if the process had died: the others have to
// notice. A second call, or one after Leave, does nothing.
func (g *Group) Close() error {
	var err error
	g.shutdown.Do(func() {
		g.stop()
		<-g.stopped
		g.close(&err)
	})
	return err
}

func (g *Group) close(err *error) {
	if shut := g.list.Shutdown(); shut != nil && *err == nil {
		*err = fmt.Errorf("close gossip: %w", shut)
	}
}

// sayGoodbye tells all members, side by side, and returns when all have heard it or
// ctx ends: gossip, which is next, must not come first, or they would take this
// process for dead. Who hangs is given streamTimeout; so is a stream that is still
// open when ctx ends. It reports whether all have heard it.
func (g *Group) sayGoodbye(ctx context.Context) (heard bool) {
	g.guard.parting.Store(true)
	message := encodeGoodbye(g.me)
	places := make(chan struct{}, maxGoodbyes)
	var told sync.WaitGroup
	for _, m := range g.Listed() {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return false
		}
		told.Go(func() {
			defer func() { <-places }()
			if err := g.list.SendReliable(m.gossipNode(), message); err != nil {
				g.guard.unheard.Store(true)
				g.log.Debug().Err(err).Uint64("peer", uint64(m.ID)).Msg("goodbye not delivered")
			}
		})
	}
	all := make(chan struct{})
	go func() { told.Wait(); close(all) }()
	select {
	case <-all:
		return !g.guard.unheard.Load()
	case <-ctx.Done():
		return false
	}
}

// gossipNode is the member in memberlist's terms.
func (m Member) gossipNode() *memberlist.Node {
	addr := netip.MustParseAddrPort(m.GossipAddr) // written by node.member
	return &memberlist.Node{Name: m.ID.String(), Addr: addr.Addr().AsSlice(), Port: addr.Port()}
}

// leaveGossip makes memberlist spread that this node left, for those whom the
// goodbye did not reach: in four gossip intervals it has gone out as often as it
// will in a cluster of up to a thousand. When all have heard the goodbye it is only
// for their lists, and once is enough: they pass it on.
func (g *Group) leaveGossip(ctx context.Context, heard bool) {
	if ctx.Err() != nil {
		return
	}
	// Leave queues the message and waits, deaf to ctx: so wait here instead. It
	// returns nil when there is nobody to tell.
	if err := g.list.Leave(time.Nanosecond); err == nil {
		return
	}
	intervals := 4
	if heard {
		intervals = 1
	}
	select {
	case <-time.After(time.Duration(intervals) * g.settings.gossipInterval):
	case <-ctx.Done():
	}
}
