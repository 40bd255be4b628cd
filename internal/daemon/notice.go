package daemon

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node/statefile"
)

// The cluster's pause is a notice that gossip carries. Every node that hears of it
// keeps it on its disk, its end too: a paused cluster that is restarted stays paused,
// and of what the nodes kept the newest stands.

// notices keeps the newest notice on the disk.
type notices struct {
	mu    sync.Mutex
	file  *statefile.File
	kept  statefile.Notice
	err   error         // of the last attempt
	tried chan struct{} // closed by the next attempt
}

// openNotices takes up what the node's last process knew.
func (d *Daemon) openNotices() error {
	kept, err := d.state.Notice()
	if err != nil {
		return wrong(err)
	}
	kept = bounded(kept)
	d.notices = &notices{file: d.state, kept: kept, tried: make(chan struct{})}
	if kept.Text != "" {
		d.log.Warn().Msg(kept.Text + "; as it was when this node ended: ringleader resume --cluster ends it")
	}
	return nil
}

// noticed follows the cluster's notice, whoever it comes from. The group's goroutine
// does not wait for the disk.
func (d *Daemon) noticed(n membership.Notice) {
	d.heed(n)
	d.parts.Go(func() {
		if err := d.notices.keep(statefile.Notice(n)); err != nil {
			d.log.Error().Err(err).
				Msg("after a restart of all nodes the cluster may be as it was before: free some disk")
		}
	})
}

// heed keeps this node from standing while the cluster is paused.
func (d *Daemon) heed(n membership.Notice) {
	if n.Text == "" {
		d.Node.SetEligible(causeCluster, true, "")
		return
	}
	d.Node.KeepFromStanding(causeCluster, n.Text)
}

// bounded is what a node makes of a notice that it kept, maybe before versions had a bound.
func bounded(n statefile.Notice) statefile.Notice {
	return statefile.Notice(membership.Notice(n).Bounded(time.Now()))
}

// keep makes n durable, unless a newer one is.
func (k *notices) keep(n statefile.Notice) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	kept := bounded(k.kept)
	if n.Version < kept.Version || n.Version == kept.Version && n.Origin <= kept.Origin {
		return nil
	}
	k.err = k.file.SaveNotice(n)
	if k.err == nil {
		k.kept = n
	}
	close(k.tried)
	k.tried = make(chan struct{})
	return k.err
}

// newer returns once a notice above a version is durable here, or could not be made so.
func (k *notices) newer(ctx context.Context, version uint64) error {
	for {
		k.mu.Lock()
		kept, tried := bounded(k.kept), k.tried
		k.mu.Unlock()
		if kept.Version > version {
			return nil
		}
		select {
		case <-tried:
			k.mu.Lock()
			err := k.err
			k.mu.Unlock()
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// tellCluster gives the cluster a notice, and returns once it is durable here.
func (d *Daemon) tellCluster(ctx context.Context, text string) error {
	before := d.group.Notice().Version
	d.group.SetNotice(text)
	if err := d.notices.newer(ctx, before); err != nil {
		return fmt.Errorf("all nodes that can be reached are told, and node %v may forget it at a restart: %w",
			d.ID, err)
	}
	return nil
}
