package daemon

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node/statefile"
)

// Gossip or, with credentials, the links carry the pause of the cluster, and its end, as a notice. Every node
// that hears of a notice keeps it on its disk. So a paused cluster that is restarted stays paused.
// Of the notices that the nodes kept, the newest counts.

// notices keeps the newest notice on disk.
type notices struct {
	mu    sync.Mutex
	file  *statefile.File
	kept  statefile.Notice
	err   error         // what the last attempt to save returned
	tried chan struct{} // closed when the next attempt ends
}

// openNotices reads the notice that the node's last process knew.
func (d *Daemon) openNotices() error {
	kept, err := d.state.Notice()
	if err != nil {
		return FieldError{"DataDir", wrong(err)}
	}
	kept = bounded(kept)
	d.notices = &notices{file: d.state, kept: kept, tried: make(chan struct{})}
	if kept.Text != "" {
		d.log.Warn().Msg(kept.Text + "; as it was when this node ended: it lasts until the cluster is resumed")
	}
	return nil
}

// noticed handles a new notice of the cluster, from any node. It does not make its caller, the
// group's goroutine, wait for the disk.
func (d *Daemon) noticed(n membership.Notice) {
	d.applyNotice(n)
	d.parts.Go(func() {
		if err := d.notices.keep(statefile.Notice(n)); err != nil {
			d.log.Error().Err(err).
				Msg("after a restart of all nodes the cluster may be as it was before: free some disk")
		}
	})
}

// applyNotice keeps this node from being a candidate while the cluster is paused.
func (d *Daemon) applyNotice(n membership.Notice) {
	if n.Text == "" {
		d.Node.SetEligible(causeCluster, true, "")
		return
	}
	d.Node.KeepFromStanding(causeCluster, n.Text)
}

// bounded limits the version of a notice that the node saved, perhaps before versions had a limit.
func bounded(n statefile.Notice) statefile.Notice {
	return statefile.Notice(membership.Notice(n).Bounded(time.Now()))
}

// keep saves n durably, unless a newer notice was saved.
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

// newer waits until this node has saved a notice with a higher version than the given one, or has
// failed to save a notice. Then it returns the error.
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

// tellCluster gives the cluster a notice, and returns once the notice is durable here.
func (d *Daemon) tellCluster(ctx context.Context, text string) error {
	before := d.group.Notice().Version
	d.group.SetNotice(text)
	if err := d.notices.newer(ctx, before); err != nil {
		return fmt.Errorf("all nodes that can be reached are told, and node %v may forget it at a restart: %w",
			d.ID, err)
	}
	return nil
}
