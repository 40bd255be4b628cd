// Package daemon is the parts of one running node, wired together.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/internal/address"
	"github.com/ringleader-dev/ringleader/internal/health"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node"
	"github.com/ringleader-dev/ringleader/node/attribute"
	"github.com/ringleader-dev/ringleader/node/clock"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/node/statefile"
	"github.com/ringleader-dev/ringleader/node/tcp"
	"github.com/ringleader-dev/ringleader/proto"
)

// Daemon is the parts of one running node, in the order in which they start:
// first what tells that another process is this node, last what elects.
type Daemon struct {
	Settings
	log     zerolog.Logger
	Session proto.Session
	rank    attribute.Context

	state        *statefile.File
	notices      *notices
	Node         *node.Node
	health       *health.Monitor
	links        *tcp.Transport
	electionAddr netip.AddrPort // as advertised
	web          net.Listener
	group        *membership.Group

	reports  atomic.Pointer[membership.Group] // group, for evidence that may come before it
	view     atomic.Pointer[membership.View]  // the latest
	seen     lastSeen
	others   strangers
	changed  proto.NodeID                     // the voter by which the list differs from the one before; zero for none
	shots    atomic.Pointer[httpapi.Unfenced] // the fence agent's last run, while it confirms nothing
	recovery recovery
	failed   chan error         // takes the first error of a part
	dying    bool               // the kernel is to end the links
	stop     context.CancelFunc // ends the node's loop and the HTTP server
	parts    sync.WaitGroup     // the goroutines of this package
	wishes   sync.RWMutex       // each wish under way reads; locked for good on leaving
}

// Start starts a node that writes its records, and all else that it has to say. What it opened before an error it closes again.
func Start(s Settings, records, log zerolog.Logger) (*Daemon, error) {
	d := &Daemon{
		Settings: s, log: log, Session: proto.NewSession(), failed: make(chan error, 1),
		rank: attribute.Context{AdvertiseIP: s.Election.Advertise.Addr(), DataDir: s.DataDir},
	}
	ctx, cancel := context.WithCancel(context.Background())
	d.stop = cancel
	if err := d.open(records); err != nil {
		return nil, errors.Join(err, d.close())
	}
	d.serve(ctx)
	d.sayUp()
	return d, nil
}

// sayUp says what this node is.
func (d *Daemon) sayUp() {
	d.log.Info().
		Str("session", d.Session.Short()).
		Str("algorithm", d.Algorithm.Name).Bool("preempt", d.Preempt).
		Str("rank_by", d.RankBy.String()).Str("profile", d.Profile.Name).
		Str("gossip", d.group.GossipAddr()).
		Str("election", d.electionAddr.String()).
		Str("http", d.web.Addr().String()).
		Str("data_dir", d.DataDir).
		Str("guarantee", string(d.Algorithm.Guarantee)).
		Msgf("node %v is up; guarantee %s", d.ID, d.Algorithm.Guarantee.InWords())
}

// Failed takes the first error of a part. Somebody has to Die then.
func (d *Daemon) Failed() <-chan error { return d.failed }

// GossipAddr is what other nodes join.
func (d *Daemon) GossipAddr() string { return d.group.GossipAddr() }

// Listener is the socket on which other nodes ask whether this process lives.
func (d *Daemon) Listener() syscall.Conn { return d.links.Listener() }

// open opens every part.
func (d *Daemon) open(records zerolog.Logger) error {
	saved, err := d.openState()
	if err != nil {
		return err
	}
	if err := d.writePIDFile(); err != nil {
		return err
	}
	// The attribute may be about the data directory, so that comes first.
	attr, err := d.RankBy.Measure(d.rank)
	if err != nil {
		return wrong(err)
	}
	if err := d.openNotices(); err != nil {
		return err
	}
	if d.Node, err = d.newNode(saved, records); err != nil {
		return err
	}
	d.heed(membership.Notice(d.notices.kept))
	if err := d.watchHealth(); err != nil {
		return err
	}
	if err := d.listen(); err != nil {
		return err
	}
	return d.joinCluster(attr)
}

// openState locks the data directory: whoever else uses it is this node too.
func (d *Daemon) openState() (algorithms.State, error) {
	state, saved, err := statefile.Open(d.DataDir, statefile.Owner{Cluster: d.Cluster, ID: d.ID})
	d.state = state
	if err == nil && d.Voters.Has(d.ID) {
		var voters algorithms.VoterState
		voters, err = lease.VotersFrom(saved.Voters, proto.ListVoters(d.Voters))
		d.changed = voters.Changed
	}
	if err != nil && !errors.Is(err, statefile.ErrLocked) {
		err = wrong(err)
	}
	return saved, err
}

func (d *Daemon) newNode(saved algorithms.State, records zerolog.Logger) (*node.Node, error) {
	var reconcile func(context.Context, algorithms.Split) algorithms.Outcome
	if d.ReconcileCmd != "" {
		reconcile = d.reconcile
	}
	return node.New(node.Config{
		ID: d.ID, Session: d.Session, Saved: saved, Store: d.state, Transport: sender{d},
		Fencer: d.fencer(),
		Machine: d.Algorithm.New(algorithms.Config{
			Self: d.ID, Session: d.Session, Delta: d.Pacing.Latency, Preempt: d.Preempt,
			Seed:   rand.Uint64(),
			Voters: d.Voters, Promise: d.Promise, KeepPromises: d.KeepPromises,
			Fence:     len(d.FenceAgent) > 0,
			FirstTerm: d.FirstTerm,
		}),
		Ineligible: d.tellEligible,
		Recovery:   d.recovers,
		Now:        clock.Now,
		Guarantee:  d.Algorithm.Guarantee,
		Reconcile:  reconcile,
		Recorder: trace.NewRecorder(trace.RecorderConfig{
			Cluster: d.Cluster, Node: d.ID, Session: d.Session, Algorithm: d.Algorithm.Name,
			Guarantee: d.Algorithm.Guarantee, Level: d.LogLevel, Size: tcp.FrameSize,
		}),
		Record: func(rec trace.Record) { trace.Write(records, rec) },
		Logger: d.log,
	})
}

// sender is the daemon's links, which are opened only after the node is made.
type sender struct{ *Daemon }

func (s sender) Send(m proto.Message) { s.links.Send(m) }

// Hold keeps the links open while the work of this node has not ended.
func (s sender) Hold() (closing <-chan struct{}, release func()) { return s.links.Hold() }

// listen opens the election and the HTTP listener.
func (d *Daemon) listen() (err error) {
	d.links, err = tcp.Listen(tcp.Config{
		Cluster: d.Cluster, Algorithm: d.ElectionLabel(), Voters: proto.ListVoters(d.Voters),
		ID: d.ID, Session: d.Session, Bind: d.Election.Bind.String(),
		Kinds:   catalog.Kinds(),
		Receive: d.Node.Deliver, Evidence: d.report, Log: d.log,
		Heartbeat: d.Pacing.Heartbeat, Misses: d.Pacing.Misses, Patience: d.Patience(),
		Busy: d.Node.Busy, SilentPeers: d.watched(),
	})
	if errors.Is(err, tcp.ErrAddrInUse) {
		return fmt.Errorf("%w with --election-bind", err)
	}
	if err != nil {
		return err
	}
	d.electionAddr = withPort(d.Election.Advertise, d.links.Addr())
	d.web, err = net.Listen(address.Network(d.HTTPBind), d.HTTPBind.String())
	if err != nil {
		return fmt.Errorf("listen for HTTP: %w: choose another address with --http-bind", err)
	}
	return nil
}

// joinCluster starts gossip. From here on the others see this node.
func (d *Daemon) joinCluster(attr int64) (err error) {
	group, err := membership.Start(membership.Config{
		Self:    proto.Peer{ID: d.ID, Session: d.Session, Attr: attr},
		Cluster: d.Cluster, Algorithm: d.Family(), OnStranger: d.others.met,
		Voters: d.ownVoters(),
		Bind:   d.Gossip.Bind.String(), Advertise: d.Gossip.Advertise.String(),
		ElectionAddr: d.electionAddr.String(), HTTPAddr: d.advertisedWeb(),
		Notice: membership.Notice(d.notices.kept), OnNotice: d.noticed,
		Join: d.Join, Profile: d.Profile.Detector, Probe: d.probe, Logger: d.log,
		Probing: membership.ProbingWithin(d.Patience()),
	})
	if errors.Is(err, membership.ErrAddrInUse) {
		return fmt.Errorf("%w with --gossip-bind", err)
	}
	if errors.Is(err, membership.ErrConfig) {
		err = wrong(err)
	}
	if err != nil {
		return err
	}
	d.group = group
	d.reports.Store(group)
	return nil
}

// tellEligible tells the others whether this node would stand for election.
func (d *Daemon) tellEligible(why string) {
	if group := d.reports.Load(); group != nil {
		group.SetEligible(why == "")
	}
}

// withPort is addr with the bound port in place of port 0.
func withPort(addr netip.AddrPort, bound net.Addr) netip.AddrPort {
	if addr.Port() != 0 {
		return addr
	}
	return netip.AddrPortFrom(addr.Addr(), uint16(bound.(*net.TCPAddr).Port))
}

// advertisedWeb is where the others reach the HTTP API, "" when they cannot:
// loopback means this node only to nodes on the same machine.
func (d *Daemon) advertisedWeb() string {
	bound := d.web.Addr().(*net.TCPAddr).AddrPort()
	ip := bound.Addr().Unmap()
	if ip.IsUnspecified() {
		ip = d.Gossip.Advertise.Addr()
	}
	if ip.IsLoopback() && !d.Gossip.Advertise.Addr().IsLoopback() {
		return ""
	}
	return netip.AddrPortFrom(ip, bound.Port()).String()
}

// Snapshot is what the HTTP API answers from.
func (d *Daemon) Snapshot() httpapi.Snapshot {
	status, links := d.Node.Status(), d.links.Stats()
	s := httpapi.Snapshot{
		Self: d.ID, Session: d.Session, Cluster: d.Cluster, Algorithm: d.Algorithm.Name,
		Guarantee: status.Guarantee, Running: status.Running, LastTick: status.LastTick,
		Voters: d.Voters, VoterState: status.Voters, Leader: status.Leader, Lent: status.Lent,
		Counters:   counters(status.Counters, links),
		Ineligible: status.Ineligible, Checks: d.checked(), Unfenced: d.shots.Load(),
		Recovery: d.recovery.why(),
	}
	for _, p := range links.Peers {
		if p.Watched {
			s.Watched = append(s.Watched, p.ID)
		}
	}
	if split := status.Split; split != nil {
		s.Split, s.SplitAt = split, status.SplitAt
	}
	s.Members, s.Gossiping = d.members()
	return s
}

// members are the processes believed alive; ok is false before the first view.
func (d *Daemon) members() (all []httpapi.Member, ok bool) {
	view := d.view.Load()
	if view == nil {
		return nil, false
	}
	for _, m := range view.Alive {
		all = append(all, httpapi.Member{
			ID: m.ID, Session: m.Session.String(), Attr: m.Attr, Ineligible: m.Ineligible,
			GossipAddr: m.GossipAddr, ElectionAddr: m.ElectionAddr, HTTPAddr: m.HTTPAddr,
		})
	}
	return all, true
}

// changes are those of the node, for the HTTP API.
func (d *Daemon) changes(ctx context.Context, after uint64) iter.Seq[httpapi.Change] {
	return func(yield func(httpapi.Change) bool) {
		for c := range d.Node.Changes(ctx, after) {
			if !yield(httpapi.Change(c)) {
				return
			}
		}
	}
}

// counters are what the node and its links count, in one list. What the links
// dropped or rejected is there by reason, where it happened at all.
func counters(n node.Counters, links tcp.Stats) map[string]uint64 {
	all := map[string]uint64{
		"steps": n.Steps, "saves": n.Saves, "received": n.Received, "sent": n.Sent,
		"split_brains": n.Splits, "split_brain_ms": uint64(n.TwoLed.Milliseconds()),
		"overflowed": n.Overflowed, "misaddressed": n.Misaddressed,
		"heartbeats_ignored": links.Ignored,
	}
	for prefix, counts := range map[string]map[string]uint64{
		"dropped_": links.Dropped, "rejected_": links.Rejected,
	} {
		for reason, count := range counts {
			if count > 0 {
				all[prefix+strings.ReplaceAll(reason, "-", "_")] = count
			}
		}
	}
	return all
}
