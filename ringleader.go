// Package ringleader is a node inside a program: it elects a leader with the other nodes of its
// cluster, and runs the program's work while it leads, and only then. Nodes of `ringleader run`
// and of programs form one cluster.
//
// What it does not promise: without Config.Voters each side of a partition has a leader. With
// them at most one node leads at a time, while clocks drift less than one percent; an act that
// was begun in time may still arrive late, which only a fencing token helps against: see
// Lease.Token and package fence. docs/GUARANTEES.md has all of it.
package ringleader

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/internal/daemon"
	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/node/statefile"
	"github.com/ringleader-dev/ringleader/proto"
)

// What Start and the methods of Node refuse.
var (
	// ErrConfig: a field of the Config, or what the data directory holds, is wrong.
	ErrConfig = daemon.ErrConfig
	// ErrInUse: another node uses the data directory, in this process or another.
	ErrInUse = statefile.ErrLocked
	// ErrIDTaken: another process of the cluster has this node's id.
	ErrIDTaken = membership.ErrIDTaken
	// ErrLeft: Leave was called.
	ErrLeft = errors.New("the node has left its cluster: start another")
	// ErrStopped: the node failed; Node.Err says why.
	ErrStopped = node.ErrStopped
	// ErrNoLeader: nobody leads, as far as this node knows.
	ErrNoLeader = httpapi.ErrNoLeader
	// ErrRefused: what was asked cannot be done now, and nothing has changed.
	ErrRefused = httpapi.ErrConflict
	// ErrNotLent: no lease was lent.
	ErrNotLent = node.ErrNotLent
)

// Node is a node that was started. Its methods may be called from any goroutine.
type Node struct {
	daemon *daemon.Daemon
	left   chan struct{} // closed when Leave begins
	done   chan struct{} // closed when the node has failed or left
	err    error         // why it failed; written before done is closed
	leave  func() error  // once
}

// Start starts a node, which runs until Leave, and leaves by itself when ctx is done. It returns
// when the node listens and looks for the others: nobody may lead yet.
//
// Errors wrap ErrConfig, with one FieldError for each field of cfg that is wrong, ErrInUse, or
// what the system said.
func Start(ctx context.Context, cfg Config) (*Node, error) {
	r := read(cfg)
	if len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	records, log := r.loggers()
	d, err := daemon.Start(r.s, records, log)
	if err != nil {
		return nil, err
	}
	n := &Node{daemon: d, left: make(chan struct{}), done: make(chan struct{})}
	n.leave = sync.OnceValue(n.end)
	go n.watch()
	context.AfterFunc(ctx, func() { _ = n.Leave() })
	return n, nil
}

// loggers are for records of elections, and for all else. What the settings make one wary of
// stands there first.
func (r *reading) loggers() (records, log zerolog.Logger) {
	if r.c.Log == nil {
		return zerolog.Nop(), zerolog.Nop()
	}
	records = zerolog.New(r.c.Log).Level(r.s.LogLevel)
	log = records.With().Str("cluster", r.s.Cluster).Uint64("node", uint64(r.s.ID)).Logger().Hook(timestamp{})
	for _, warning := range r.warnings {
		log.Warn().Msg(warning)
	}
	if len(r.s.Voters) == 0 {
		log.Warn().Msg("no voters are configured: leadership is best-effort, and in a partition " +
			"each side has a leader; name the voters with --voters")
	}
	return records, log
}

// timestamp adds the time to a line. That of package zerolog has the format of the whole program.
type timestamp struct{}

func (timestamp) Run(e *zerolog.Event, _ zerolog.Level, _ string) {
	e.Str(zerolog.TimestampFieldName, time.Now().Format(time.RFC3339Nano))
}

// watch waits until the node fails or leaves.
func (n *Node) watch() {
	select {
	case n.err = <-n.daemon.Failed():
	case <-n.left:
		_ = n.leave()
	}
	close(n.done)
}

// end is what Leave does, once.
func (n *Node) end() error {
	close(n.left)
	select {
	case <-n.done:
		return n.daemon.Die()
	default:
		return n.daemon.Leave()
	}
}

// Leave hands over if this node leads, waits until all work has ended, leaves the cluster and
// closes what is open. It takes three seconds at most, and longer only for work that does not
// return. Calls after the first wait for it and return the same.
//
// Of a node that failed the links stay open until the process ends: so the others see that end,
// and need not wait for its promises. The process should end soon then.
func (n *Node) Leave() error { return n.leave() }

// Done is closed when the node has failed or left.
func (n *Node) Done() <-chan struct{} { return n.done }

// Err is why the node failed; nil while it runs, and when it left.
func (n *Node) Err() error {
	select {
	case <-n.done:
		return n.err
	default:
		return nil
	}
}

// Lease is one leadership of this node, from Lead. Its methods may be called from any goroutine,
// also after it is over.
type Lease struct {
	node.Lease
	daemon *daemon.Daemon
}

// Token is the fencing token of this leadership: a storage that has seen a higher one refuses
// what comes with it. Package fence has such storages. The zero Token without Config.Voters.
func (l Lease) Token() fence.Token {
	if len(l.daemon.Voters) == 0 {
		return fence.Token{}
	}
	return l.daemon.TokenOf(l.Term())
}

// Lead calls f each time this node becomes the leader, until ctx is done, f returns an error, or
// the node ends. The context that f gets ends when this node leads no more, or when its lease is
// about to end unrenewed. f must return soon after that: others may lead only then, or when the
// lease has ended. When f returns nil before, Lead waits for the next leadership.
//
// The error is f's own, the cause of ctx, or wraps ErrLeft or ErrStopped. Several goroutines may
// call Lead, each with an f of its own.
func (n *Node) Lead(ctx context.Context, f func(context.Context, Lease) error) error {
	err := n.daemon.Node.Lead(ctx, func(ctx context.Context, l node.Lease) error {
		return f(ctx, Lease{l, n.daemon})
	})
	return n.because(err)
}

// because says that a node which has stopped was told to.
func (n *Node) because(err error) error {
	select {
	case <-n.left:
		if errors.Is(err, node.ErrStopped) {
			return fmt.Errorf("node %v: %w", n.daemon.ID, ErrLeft)
		}
	default:
	}
	return err
}

// Leader is who leads, as far as this node knows. Its ID is zero for nobody; Until is when the
// belief ends unless it is renewed, by the clock of package clock, and zero without voters.
func (n *Node) Leader() algorithms.Leader { return n.daemon.Node.Status().Leader }

// Changes returns the changes of that belief after number seq, each once, in order, and those to
// come; zero for all. A lease that is renewed is none. It ends when ctx is done, and after the
// last change when the node has ended.
func (n *Node) Changes(ctx context.Context, seq uint64) iter.Seq[node.Change] {
	return n.daemon.Node.Changes(ctx, seq)
}

// Watch returns a channel of what Leader returns: now, and whenever it changes, renewals of the
// lease included. A slow reader gets the latest. It is closed when ctx is done or the node ended.
func (n *Node) Watch(ctx context.Context) <-chan algorithms.Leader {
	return n.daemon.Node.Watch(ctx)
}

// Transfer hands leadership over to a node, or to the best that would if to is zero, and returns
// once it leads. Any node may be asked, and asks the leader over HTTP. The successor is asked
// first: if it could not win nothing changes. why is for the records.
//
// Errors wrap ErrNoLeader, ErrRefused, ErrLeft, or the cause of ctx.
func (n *Node) Transfer(ctx context.Context, to proto.NodeID, why string) error {
	return n.ask(ctx, httpapi.Transfer, httpapi.Order{To: to, Reason: why})
}

// Resign makes this node, which must lead, hand over to the best node that would, or to nobody,
// and stand aside until Resume. Errors are those of Transfer.
func (n *Node) Resign(ctx context.Context, why string) error {
	return n.ask(ctx, httpapi.Resign, httpapi.Order{Reason: why})
}

// Pause keeps this node from leading until Resume; if it leads it hands over. It votes and
// follows as ever. Errors are those of Transfer.
func (n *Node) Pause(ctx context.Context, why string) error {
	return n.ask(ctx, httpapi.Pause, httpapi.Order{Reason: why})
}

// Resume ends Pause, and what Resign left. Errors are those of Transfer.
func (n *Node) Resume(ctx context.Context) error {
	return n.ask(ctx, httpapi.Resume, httpapi.Order{})
}

func (n *Node) ask(ctx context.Context, v httpapi.Verb, o httpapi.Order) error {
	select {
	case <-n.left:
		return fmt.Errorf("node %v: %w", n.daemon.ID, ErrLeft)
	default:
	}
	o.By = fmt.Sprintf("the program of node %v", n.daemon.ID)
	_, err := n.daemon.Do(ctx, v, o)
	return n.because(err)
}

// Loan is a lease that was lent to a process outside of this one.
type Loan struct {
	node.Loan
	// Token is the fencing token of the leadership that was lent.
	Token fence.Token
}

// Lend lends the lease of this node, which must lead, to a process outside of this one, for the
// rest of it: no other node leads before the loan's end, whatever becomes of this one. Return
// gives it back early.
//
// Errors wrap ErrNotLent, ErrLeft, ErrStopped, or the cause of ctx.
func (n *Node) Lend(ctx context.Context) (Loan, error) {
	l, err := n.daemon.Node.Lend(ctx)
	if err != nil {
		return Loan{}, n.because(err)
	}
	return Loan{l, n.daemon.TokenOf(l.Term)}, nil
}

// Return gives a loan back before its end, and reports whether it had not ended.
func (n *Node) Return(l Loan) bool { return n.daemon.Node.Return(l.ID) }

// GossipAddr is what other nodes join, as IP:PORT.
func (n *Node) GossipAddr() string { return n.daemon.GossipAddr() }

// Listener is the socket on which other nodes ask whether this process lives. A process that is
// to do this node's work has to inherit a copy: nobody takes the node for dead before the last
// process that has one.
func (n *Node) Listener() syscall.Conn { return n.daemon.Listener() }
