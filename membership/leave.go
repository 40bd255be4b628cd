package membership

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// maxGoodbyes is how many streams are open at the same time to say goodbye.
const maxGoodbyes = 32

// Leave tells every member that this process leaves, so that they drop it at once. Then it leaves
// the gossip and closes the group. If ctx ends before all have been told, the group is closed all
// the same, and the error says so. After Close, Leave does nothing.
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
		err = cmp.Or(err, g.close())
	})
	return err
}

// Close ends this node's part in the gossip without a goodbye, as if the process had died: the other nodes
// must notice that it is gone. After Close or Leave it does nothing.
func (g *Group) Close() error {
	var err error
	g.shutdown.Do(func() {
		g.stop()
		<-g.stopped
		err = g.close()
	})
	return err
}

func (g *Group) close() error {
	if err := g.list.Shutdown(); err != nil {
		return fmt.Errorf("close gossip: %w", err)
	}
	return nil
}

// sayGoodbye tells all members at the same time that this process leaves. It returns true when all have heard
// it, and false when ctx ends first. Gossip must not spread the news before, or the members would take this
// process for dead. A stream to a member that hangs, or that is still open when ctx ends, gets streamTimeout.
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

// gossipNode returns the member in memberlist's form.
func (m Member) gossipNode() *memberlist.Node {
	addr := netip.MustParseAddrPort(m.GossipAddr) // written by node.member
	return &memberlist.Node{Name: m.ID.String(), Addr: addr.Addr().AsSlice(), Port: addr.Port()}
}

// leaveGossip makes memberlist spread that this node left, for members that the goodbye did not reach. In a
// cluster of up to a thousand members, memberlist has sent this message often enough after four gossip
// intervals. If all have heard the goodbye, one interval is enough: gossip only has to update the lists of
// the members, and each member passes the message on.
func (g *Group) leaveGossip(ctx context.Context, heard bool) {
	if ctx.Err() != nil {
		return
	}
	// memberlist's Leave queues the message and then waits, whatever becomes of ctx: so
	// the waiting is done here. Leave returns nil when there is nobody to tell.
	if err := g.list.Leave(time.Nanosecond); err == nil {
		return
	}
	intervals := 4
	if heard {
		intervals = 1
	}
	select {
	case <-time.After(time.Duration(intervals) * g.settings.Gossip):
	case <-ctx.Done():
	}
}
