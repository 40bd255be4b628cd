package daemon

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/node"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// The causes for which an operator keeps a node from leading.
const (
	causePaused   = "operator: paused"
	causeResigned = "operator: resigned"
	causeCluster  = "operator: cluster paused"
)

// Do carries out what an operator asks of this node.
func (d *Daemon) Do(ctx context.Context, v httpapi.Verb, o httpapi.Order) (httpapi.Done, error) {
	if !d.requests.TryRLock() {
		return httpapi.Done{}, fmt.Errorf("%w: node %v is leaving: ask another", httpapi.ErrConflict, d.ID)
	}
	defer d.requests.RUnlock()
	began := time.Now()
	d.log.Info().Str("verb", string(v)).Str("by", o.By).Str("reason", o.Reason).
		Uint64("to", uint64(o.To)).Bool("whole_cluster", o.Cluster).Msg("an operator asks")
	var done httpapi.Done
	var err error
	switch v {
	case httpapi.Transfer:
		done, err = d.transfer(ctx, o)
	case httpapi.Resign:
		done, err = d.resign(ctx, o)
	case httpapi.Pause:
		done, err = d.pause(ctx, o)
	case httpapi.Resume:
		done, err = d.resume(ctx, o)
	case httpapi.Elect:
		done, err = d.elect(ctx, o)
	}
	if err != nil {
		d.log.Info().Str("verb", string(v)).Str("by", o.By).Err(err).Msg("what an operator asks was not done")
		return done, err
	}
	if done.Self == 0 {
		leader := d.Node.Status().Leader
		done.Self, done.Leader, done.Term = d.ID, leader.ID, leader.Term
		done.Millis = float64(time.Since(began).Microseconds()) / 1000
	}
	return done, nil
}

// transfer hands leadership over if this node leads. Otherwise it passes the order on to the leader.
func (d *Daemon) transfer(ctx context.Context, o httpapi.Order) (httpapi.Done, error) {
	leader := d.Node.Status().Leader
	switch leader.ID {
	case 0:
		return httpapi.Done{}, fmt.Errorf("%w, as node %v knows: there is nothing to hand over; "+
			"ask again once a node does", httpapi.ErrNoLeader, d.ID)
	case d.ID:
	default:
		return d.askLeader(ctx, leader.ID, o)
	}
	next, err := d.Node.Transfer(ctx, o.To, because("asked", o))
	switch {
	case errors.Is(err, node.ErrNotTaken):
		return httpapi.Done{}, movedError{err}
	case errors.Is(err, node.ErrRefused):
		return httpapi.Done{}, fmt.Errorf("%w: %w", httpapi.ErrConflict, err)
	case errors.Is(err, node.ErrStopped):
		return httpapi.Done{}, fmt.Errorf("node %v stopped before it saw a successor, as a node may "+
			"when its leadership ends: ask another node who leads: %w", d.ID, err)
	case errors.Is(err, context.DeadlineExceeded):
		return httpapi.Done{}, fmt.Errorf("node %v was to give way, but no successor was seen in time: %w; "+
			"it may still come: ask who leads", d.ID, err)
	case err != nil:
		return httpapi.Done{}, err
	}
	return httpapi.Done{Done: fmt.Sprintf("node %v leads term %d after node %v",
		next.ID, next.Term, d.ID)}, nil
}

// movedError is a conflict in which leadership moved, so that its text does not begin with "refused".
type movedError struct{ error }

func (movedError) Is(target error) bool { return target == httpapi.ErrConflict }
func (e movedError) Unwrap() error      { return e.error }

// viaNode stands in a reason between who asked and the node through which they asked.
const viaNode = " through node "

// askLeader passes a request on to the leader. The leader does not pass it on again.
func (d *Daemon) askLeader(
	ctx context.Context, leader proto.NodeID, o httpapi.Order,
) (httpapi.Done, error) {
	addr := ""
	if view := d.view.Load(); view != nil {
		for _, m := range view.Alive {
			if m.ID == leader {
				addr = m.HTTPAddr
			}
		}
	}
	switch {
	case addr == "":
		return httpapi.Done{}, fmt.Errorf("%w: node %v leads, and serves HTTP to no other machine: "+
			"ask it on its own, or give it an address that other machines reach (the setting http-bind)",
			httpapi.ErrConflict, leader)
	case strings.Contains(o.By, viaNode): // two nodes that disagree must not play ball
		return httpapi.Done{}, fmt.Errorf("%w: node %v leads, not node %v: ask again",
			httpapi.ErrConflict, leader, d.ID)
	}
	o.By += fmt.Sprintf("%s%v", viaNode, d.ID)
	there := httpapi.Client{Addr: addr, Token: d.tokens.get().Operate(), InClear: d.Credentials == nil}
	if d.Credentials != nil {
		there.TLS = d.Credentials.Ask()
	}
	done, err := there.Do(ctx, httpapi.Transfer, o)
	told, ok := errors.AsType[httpapi.Told](err)
	switch {
	case ok && errors.Is(err, httpapi.ErrConflict):
		return done, told // it says who it is; that this node asked it matters to nobody
	case errors.Is(err, httpapi.ErrForbidden):
		return done, fmt.Errorf("node %v leads, and does not take orders from node %v: "+
			"ask it on its own machine, or give "+
			"all nodes the same API token: %w", leader, d.ID, err)
	}
	return done, err
}

// resign makes this node, the leader, step down.
func (d *Daemon) resign(ctx context.Context, o httpapi.Order) (httpapi.Done, error) {
	if leader := d.Node.Status().Leader.ID; leader != d.ID {
		if leader == 0 {
			return httpapi.Done{}, fmt.Errorf("%w, as node %v knows: there is nothing to resign; "+
				"ask again once a node does", httpapi.ErrNoLeader, d.ID)
		}
		return httpapi.Done{}, fmt.Errorf("%w: node %v does not lead, node %v does: ask that node to resign, or "+
			"transfer from any node", httpapi.ErrConflict, d.ID, leader)
	}
	if err := d.stepDown(ctx, causeResigned, because("asked to resign at "+now(), o)); err != nil {
		return httpapi.Done{}, err
	}
	return httpapi.Done{Done: fmt.Sprintf("node %v stepped down and stands aside until "+
		"it is resumed, or restarts", d.ID)}, nil
}

// stepDown makes this node ineligible. It returns once the Machine has heard that. If this node
// led, stepDown also waits until another node leads, but only for a moment, since there may be no
// other.
func (d *Daemon) stepDown(ctx context.Context, cause, why string) error {
	led := d.Node.Status().Leader.ID == d.ID
	<-d.Node.StandAside(cause, why)
	if err := d.Node.AwaitEligible(ctx); err != nil {
		return err
	}
	if led {
		d.awaitSuccessor(ctx)
	}
	return nil
}

// pause keeps this node from leading, or the cluster from electing.
func (d *Daemon) pause(ctx context.Context, o httpapi.Order) (httpapi.Done, error) {
	if o.Cluster {
		if err := d.tellCluster(ctx, because(trace.ClusterPaused+" since "+now(), o)); err != nil {
			return httpapi.Done{}, err
		}
		return httpapi.Done{Done: "the cluster elects no more until it is resumed; who leads goes on"}, nil
	}
	if err := d.stepDown(ctx, causePaused, because("paused since "+now(), o)); err != nil {
		return httpapi.Done{}, err
	}
	return httpapi.Done{Done: fmt.Sprintf("node %v does not lead until it is resumed, or restarts",
		d.ID)}, nil
}

// resume ends a pause, and the effect of a resignation.
func (d *Daemon) resume(ctx context.Context, o httpapi.Order) (httpapi.Done, error) {
	if o.Cluster {
		if err := d.tellCluster(ctx, ""); err != nil {
			return httpapi.Done{}, err
		}
		return httpapi.Done{Done: "the cluster elects again"}, nil
	}
	d.Node.SetEligible(causePaused, true, "")
	d.Node.SetEligible(causeResigned, true, "")
	if err := d.Node.AwaitEligible(ctx); err != nil {
		return httpapi.Done{}, err
	}
	if why := d.Node.Status().Ineligible; why != "" {
		return httpapi.Done{Done: fmt.Sprintf("node %v was resumed; it still does not stand: %s", d.ID, why)}, nil
	}
	return httpapi.Done{Done: fmt.Sprintf("node %v stands for election again", d.ID)}, nil
}

// elect makes this node call an election, and returns once there is a leader. A leader that has a lease keeps
// it: no election is called. Without leases the round gives all nodes a new term, also when the same one leads.
//
// Lecture notes: "After election, master has an election 'term' where no other elections will be run."
func (d *Daemon) elect(ctx context.Context, o httpapi.Order) (httpapi.Done, error) {
	before := d.Node.Status()
	leases := before.Guarantee.Leases()
	switch {
	case before.Ineligible != "":
		return httpapi.Done{}, fmt.Errorf("%w: node %v calls no election, as it does not stand: %s; resume it if it "+
			"paused, with --cluster if all are, mend what ails it if not, or ask another",
			httpapi.ErrConflict, d.ID, before.Ineligible)
	case leases && before.Leader.ID != 0:
		return httpapi.Done{Done: fmt.Sprintf("no election: node %v leads term %d under a lease, and keeps it; "+
			"to have another lead, transfer", before.Leader.ID, before.Leader.Term)}, nil
	case leases && len(d.Voters) > 0 && !d.Voters.Has(d.ID):
		return httpapi.Done{}, fmt.Errorf("%w: node %v calls no election, as it is no voter: ask one of %v",
			httpapi.ErrConflict, d.ID, proto.IDRanges(d.Voters))
	}
	if err := d.Node.Campaign(ctx, because("asked", o)); err != nil {
		return httpapi.Done{}, err
	}
	leader := d.awaitElected(ctx, before.Leader)
	switch {
	case leader.ID != 0:
		return httpapi.Done{Done: fmt.Sprintf("node %v called an election: node %v leads term %d",
			d.ID, leader.ID, leader.Term)}, nil
	case ctx.Err() != nil:
		return httpapi.Done{}, fmt.Errorf("node %v called an election, and no leader was seen in time: %w; "+
			"it may still come: ask who leads", d.ID, context.Cause(ctx))
	}
	return httpapi.Done{}, fmt.Errorf("node %v called an election, and stopped before it saw a leader: "+
		"ask another node who leads: %w", d.ID, node.ErrStopped)
}

// awaitElected returns the first leader of a later term than that of the leader before or, if nobody led
// before, the first leader. It returns nobody if ctx or the node ends first.
func (d *Daemon) awaitElected(ctx context.Context, before algorithms.Leader) algorithms.Leader {
	watch, stop := context.WithCancel(ctx)
	defer stop()
	for l := range d.Node.Watch(watch) {
		if l.ID != 0 && (before.ID == 0 || l.Term > before.Term) {
			return l
		}
	}
	return algorithms.Leader{}
}

// now returns the present time as text.
func now() string { return time.Now().UTC().Format(time.RFC3339) }

// because describes who asked for something, and why.
func because(what string, o httpapi.Order) string {
	text := what + " by " + o.By
	if o.Reason != "" {
		text += " because " + o.Reason
	}
	return text
}
