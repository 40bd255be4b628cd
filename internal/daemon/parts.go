package daemon

import (
	"context"
	"errors"
	stdlog "log"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/internal/buildinfo"
	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/node/tcp"
	"github.com/ringleader-dev/ringleader/proto"
)

const (
	// measureEvery is how often the attribute is measured, if it can change.
	measureEvery = 10 * time.Second
	// redialEvery is how often the links are told whom gossip lists, even if no view came. So they
	// go on dialling nodes that they found unreachable.
	redialEvery = 3 * time.Second
)

// serve starts the goroutines that tie the parts together.
func (d *Daemon) serve(ctx context.Context) {
	d.parts.Go(func() { d.fail(d.Node.Run(ctx)) })
	if d.web != nil {
		d.parts.Go(func() { d.fail(d.serveHTTP(ctx)) })
	}
	d.parts.Go(func() { d.health.Run(ctx) })
	d.parts.Go(d.follow)
	d.parts.Go(func() {
		for leader := range d.Node.Watch(ctx) {
			d.links.SetLeader(leader.ID)
		}
	})
	d.parts.Go(func() {
		select {
		case err := <-d.group.Failed():
			d.fail(err)
		case <-ctx.Done():
		}
	})
	if d.Credentials != nil {
		d.parts.Go(func() { d.watchCredentials(ctx) })
	}
	if d.RankBy.Live() {
		d.parts.Go(func() { d.measure(ctx) })
	}
}

// serveHTTP serves the HTTP API until ctx is done.
func (d *Daemon) serveHTTP(ctx context.Context) error {
	warnings := d.log.With().Str(zerolog.LevelFieldName, zerolog.LevelWarnValue).Logger()
	cfg := httpapi.Config{
		Source: d, Security: d.Security(), Changes: d.changes, Control: d, Lender: lender{d}, Keys: d.keysPort(),
		Tokens: d.tokens.get, Version: buildinfo.Read(),
		ErrorLog: stdlog.New(warnings, "", 0),
	}
	if d.Credentials != nil {
		cfg.TLS = d.Credentials.Web
	}
	return httpapi.Serve(ctx, d.web, cfg)
}

// fail keeps the first error of a part. It ends the daemon.
func (d *Daemon) fail(err error) {
	if err == nil {
		return
	}
	select {
	case d.failed <- err:
	default:
	}
}

// follow hands each view to the links, which have to know a process before the
// node writes to it, and then to the node. It ends with the stream of views.
func (d *Daemon) follow() {
	redial := time.NewTicker(redialEvery)
	defer redial.Stop()
	var slow slowness
	ranks := mixedRanks{}
	for {
		select {
		case <-d.group.Listings(): // those that no link has proven yet are in no view
			d.dial()
		case <-redial.C:
			d.dial()
			slow.judge(d.links.Stats().Peers, d.Settings, d.log)
		case view, ok := <-d.group.Views():
			if !ok {
				return
			}
			d.view.Store(&view)
			d.seen.note(view)
			ranks.judge(view, d.RankBy.String(), d.log)
			d.dial()
			alive := make([]proto.Peer, 0, len(view.Alive))
			for _, m := range view.Alive {
				alive = append(alive, m.Peer)
			}
			d.Node.PeersChanged(alive, strings.Join(view.Evidence, ", "))
		}
	}
}

// dial tells the links whom gossip lists. That includes nodes against which the links have
// evidence: only a link that comes up again clears them.
func (d *Daemon) dial() {
	listed := d.group.Listed()
	proven := d.proven(listed)
	d.compareVoters(proven, time.Now())
	d.compareStores(proven, time.Now())
	peers := make([]tcp.Peer, 0, len(listed))
	for _, m := range listed {
		peers = append(peers, tcp.Peer{ID: m.ID, Incarnation: m.Incarnation, Addr: m.ElectionAddr})
	}
	d.links.SetPeers(peers)
}

// report passes the evidence of the links on to the node and to the group. Links may be accepted
// before there is a group; evidence that comes then is about processes that the group does not list
// yet.
func (d *Daemon) report(e tcp.Evidence) {
	d.log.Debug().Stringer("evidence", e).Str("incarnation", e.Incarnation.Short()).Msg("link")
	d.TellNode(d.Node, e)
	if group := d.reports.Load(); group != nil {
		group.Report(membership.Evidence{
			ID: e.Peer, Incarnation: e.Incarnation, Event: e.Event,
		})
	}
}

// hearNews gives the group what a peer tells of itself. Links may be accepted before there is a group, and what is told
// once is not told again.
func (d *Daemon) hearNews(from proto.NodeID, process proto.Incarnation, news []byte) {
	<-d.grouped
	if group := d.reports.Load(); group != nil {
		group.HearNews(from, process, news)
	}
}

// probe asks who answers at an election address.
func (d *Daemon) probe(ctx context.Context, addr string) (proto.NodeID, proto.Incarnation, error) {
	welcome, err := d.links.Probe(ctx, addr)
	return welcome.ID, welcome.Incarnation, err
}

// measure tells the cluster this node's attribute whenever it changes.
func (d *Daemon) measure(ctx context.Context) {
	every := time.NewTicker(measureEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			attr, err := d.RankBy.Measure(d.rank)
			if err != nil {
				d.log.Warn().Err(err).Msg("the attribute stays as it was")
				continue
			}
			d.group.SetAttr(attr)
		}
	}
}

// How long a node that was told to stop may take. It must have ended before an impatient supervisor
// kills it.
const (
	handOverTime = time.Second     // until this node sees another leader
	leaveTime    = 3 * time.Second // in all
)

// Leave ends the node in order. It resigns, waits a moment for another leader and for requests
// under way, tells the group that it leaves, and closes. The text why says, for the record, why it does so.
func (d *Daemon) Leave(why string) error {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	d.giveWay(ctx, why)
	if err := d.group.Leave(ctx); err != nil {
		d.log.Warn().Err(err).Msg("the others have to notice by themselves")
	}
	return d.close()
}

// giveWay resigns. It returns when another node leads and the requests under way have been
// answered, or after a moment. It waits for requests because a transfer may be why this node ends,
// as with exec, and only a node that still follows can tell that the transfer succeeded.
func (d *Daemon) giveWay(ctx context.Context, why string) {
	carriedOut := d.endRequests()
	led := d.Node.Status().Leader.ID == d.ID
	err := d.Node.Resign(ctx, 0, why)
	ctx, cancel := context.WithTimeout(ctx, handOverTime)
	defer cancel()
	if err != nil {
		d.log.Warn().Err(err).Msg("leaving without having resigned")
	} else if led {
		d.awaitSuccessor(ctx)
	}
	select {
	case <-carriedOut:
	case <-ctx.Done():
		d.log.Warn().Msg("what an operator asks is still under way: leaving without its end")
	}
}

// endRequests lets no new request begin. It returns a channel that is closed when no request is
// under way.
func (d *Daemon) endRequests() <-chan struct{} {
	carriedOut := make(chan struct{})
	go func() {
		d.requests.Lock()
		close(carriedOut)
	}()
	return carriedOut
}

// successorLook is how often a node that resigned looks whether another leads.
const successorLook = 10 * time.Millisecond

// awaitSuccessor returns when another node leads, or when no other could.
func (d *Daemon) awaitSuccessor(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, handOverTime)
	defer cancel()
	watch, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		for d.couldSucceed() && watch.Err() == nil {
			time.Sleep(successorLook)
		}
		stop() // all are being stopped at once, as it seems
	}()
	for leader := range d.Node.Watch(watch) {
		if leader.ID != 0 && leader.ID != d.ID {
			return
		}
	}
	if ctx.Err() == nil {
		d.log.Info().Msg("no other node is there that could lead: waiting for no successor")
		return
	}
	d.log.Warn().Msg("no successor was seen: leaving without one")
}

// couldSucceed reports whether another node that could lead is believed alive. If there are
// voters, a majority of them must be believed alive, too.
func (d *Daemon) couldSucceed() bool {
	view := d.view.Load()
	if view == nil {
		return false
	}
	votes := 0
	for _, m := range view.Alive {
		if d.Voters.Has(m.ID) {
			votes++
		}
	}
	return d.anotherCouldLead(*view) && (len(d.Voters) == 0 || votes >= d.Voters.Majority())
}

// Stop ends the node's loop: the node leads no more, and its work has been told to stop when Stop
// returns. Stop does not wait until the work has ended.
func (d *Daemon) Stop() {
	d.stop()
	for range d.Node.Watch(context.Background()) { // until the loop has ended
	}
}

// Die closes a node that failed with err. A node whose state cannot be saved may not have given
// back what it held. Its links stay open, and its process must end next. The kernel then ends the
// links, which proves to the others that the process is dead. The process could not prove that
// itself.
func (d *Daemon) Die(err error) error {
	d.dying = errors.Is(err, node.ErrDisk)
	return d.close()
}

// close closes all open parts, in the reverse order of opening.
func (d *Daemon) close() error {
	d.stop()
	var errs []error
	if d.group != nil {
		errs = append(errs, d.group.Close())
	}
	d.parts.Wait()
	d.noMore.Do(func() { close(d.grouped) })
	if d.web != nil {
		_ = d.web.Close() // the server has closed it, unless it never began
	}
	if d.links != nil && !d.dying {
		errs = append(errs, d.links.Close())
	}
	if d.store != nil {
		errs = append(errs, d.store.Close())
	}
	if d.state != nil {
		errs = append(errs, d.state.Close())
	}
	return errors.Join(errs...)
}
