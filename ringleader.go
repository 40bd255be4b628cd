// Package ringleader runs a node inside a program. The node elects a leader together with the other
// nodes of its cluster, and runs the program's work only while it leads. Nodes of `ringleader run`
// and nodes inside programs form one cluster.
//
// What it does not promise: without Config.Voters each side of a partition has a leader. With
// voters at most one node leads at a time, as long as clocks drift less than one percent. A write
// that began in time may still arrive late; only a fencing token helps against that: see
// Lease.Token and package fence. docs/GUARANTEES.md lists all guarantees.
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

// The errors of Start and of the methods of Node.
var (
	// ErrConfig: a field of the Config is wrong, or the content of the data directory is.
	ErrConfig = daemon.ErrConfig
	// ErrInUse: another node uses the data directory, in this process or another.
	ErrInUse = statefile.ErrLocked
	// ErrIDTaken: another process of the cluster uses this node's id.
	ErrIDTaken = membership.ErrIDTaken
	// ErrLeft: Leave was called.
	ErrLeft = errors.New("the node has left its cluster: start another")
	// ErrStopped: the node failed, also after Leave was called; Node.Err says why.
	ErrStopped = node.ErrStopped
	// ErrNoLeader: this node knows no leader.
	ErrNoLeader = httpapi.ErrNoLeader
	// ErrRefused: the request cannot be done now, and nothing has changed.
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

// Start starts a node. The node runs until Leave is called or ctx is done. Start returns when the
// node listens and looks for the others; there may be no leader yet.
//
// Errors wrap ErrConfig, with one FieldError for each wrong field of cfg; or ErrInUse; or they are
// of the operating system, with a FieldError if one field is their cause.
func Start(ctx context.Context, cfg Config) (*Node, error) {
	r := read(cfg)
	if len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	records, log := r.loggers()
	d, err := daemon.Start(r.s, records, log)
	if field, ok := errors.AsType[daemon.FieldError](err); ok {
		return nil, FieldError{Field: field.Field, Err: err, refused: !errors.Is(err, ErrConfig)}
	}
	if err != nil {
		return nil, err
	}
	n := &Node{daemon: d, left: make(chan struct{}), done: make(chan struct{})}
	n.leave = sync.OnceValue(n.end)
	go n.watch()
	context.AfterFunc(ctx, func() { _ = n.Leave() })
	return n, nil
}

// loggers returns the logger for records of elections and the logger for everything else. It writes
// the warnings about the settings first.
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
			"each side has a leader; name the voters")
	}
	return records, log
}

// timestamp adds the time to each line. The timestamp of package zerolog would have the format that
// the whole program has set.
type timestamp struct{}

func (timestamp) Run(e *zerolog.Event, _ zerolog.Level, _ string) {
	e.Str(zerolog.TimestampFieldName, time.Now().Format(time.RFC3339Nano))
}

// watch waits until the node fails or leaves. It ends a node that failed.
func (n *Node) watch() {
	select {
	case n.err = <-n.daemon.Failed():
		n.daemon.Stop()
		close(n.done)
		_ = n.leave()
	case <-n.left:
		_ = n.leave()
		close(n.done)
	}
}

// end does the work of Leave. It is called once.
func (n *Node) end() error {
	if err := n.Err(); err != nil {
		return n.daemon.Die(err)
	}
	close(n.left)
	return n.daemon.Leave()
}

// Leave stops the node: it hands leadership over if this node leads, waits until all work has
// ended, leaves the cluster and closes all that is open. It takes at most three seconds, and longer
// only for work that does not return. Later calls wait for the first one and return the same error.
//
// A node that failed closes everything by itself, and Leave waits for that. But if the data
// directory failed, the links stay open until the process ends: the other nodes see that end and
// need not wait for the promises of their votes. So the process should end soon after.
//
// A function given to Lead must not call Leave, which would wait for that function for ever: such a
// function returns, and its caller leaves.
func (n *Node) Leave() error { return n.leave() }

// Done returns a channel that is closed when the node has failed or left. Then its work has been
// told to stop, and it leads no more.
func (n *Node) Done() <-chan struct{} { return n.done }

// Err returns why the node failed. It is nil while the node runs, and after it left.
func (n *Node) Err() error {
	select {
	case <-n.done:
		return n.err
	default:
		return nil
	}
}

// Lease is one leadership of this node, as Lead passes it to the work. Its methods may be called
// from any goroutine, also after the leadership is over.
type Lease struct {
	node.Lease
	daemon *daemon.Daemon
}

// Token is the fencing token of this leadership. A storage that has seen a higher token refuses a
// write with this one; package fence has such storages. Without Config.Voters it is the zero Token.
func (l Lease) Token() fence.Token {
	if len(l.daemon.Voters) == 0 {
		return fence.Token{}
	}
	return l.daemon.TokenOf(l.Term())
}

// Lead calls f each time this node becomes the leader, until ctx is done, f returns an error, or
// the node ends. The context of f ends when this node no longer leads, or when its lease is about
// to end unrenewed. f must return soon after that: other nodes may lead only when f has returned,
// or when the lease has ended. When f returns nil before its context ends, Lead waits for the next
// leadership.
//
// The error is f's own, the cause of ctx, or wraps ErrLeft or ErrStopped. Several goroutines may
// call Lead, each with its own f. f must not call Leave, which waits until f has returned: return,
// and then leave.
func (n *Node) Lead(ctx context.Context, f func(context.Context, Lease) error) error {
	err := n.daemon.Node.Lead(ctx, func(ctx context.Context, l node.Lease) error {
		return f(ctx, Lease{l, n.daemon})
	})
	return n.because(err)
}

// because returns ErrLeft instead of node.ErrStopped if the node was told to leave.
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

// Leader returns who leads, as far as this node knows. ID zero is nobody. Until is the end of this
// belief unless it is renewed, by the clock of package clock; it is zero without voters.
func (n *Node) Leader() algorithms.Leader { return n.daemon.Node.Status().Leader }

// Changes returns the changes of what Leader returns, each once and in order: those after number
// seq, and those to come. Number zero means all. A renewed lease is no change. The sequence ends
// when ctx is done, and after the last change when the node has ended.
func (n *Node) Changes(ctx context.Context, seq uint64) iter.Seq[node.Change] {
	return n.daemon.Node.Changes(ctx, seq)
}

// Watch returns a channel of the results of Leader: the present one, and each new one, also when a
// lease is renewed. A slow reader gets only the latest. The channel is closed when ctx is done or
// the node has ended.
func (n *Node) Watch(ctx context.Context) <-chan algorithms.Leader {
	return n.daemon.Node.Watch(ctx)
}

// Transfer hands leadership over to the node to, or to the best node that accepts if to is zero. It
// returns once that node leads. It may be called on any node: the node asks the leader over HTTP.
// The leader asks the successor first; if that could not win, nothing changes. why is for the
// records.
//
// Errors wrap ErrNoLeader, ErrRefused, ErrLeft, or the cause of ctx.
func (n *Node) Transfer(ctx context.Context, to proto.NodeID, why string) error {
	return n.ask(ctx, httpapi.Transfer, httpapi.Order{To: to, Reason: why})
}

// Resign makes this node, which must lead, hand over to the best node that accepts, or to nobody.
// This node is no candidate until Resume. Errors are those of Transfer.
func (n *Node) Resign(ctx context.Context, why string) error {
	return n.ask(ctx, httpapi.Resign, httpapi.Order{Reason: why})
}

// Pause keeps this node from leading until Resume. If it leads, it hands over. It still votes and
// follows. Errors are those of Transfer.
func (n *Node) Pause(ctx context.Context, why string) error {
	return n.ask(ctx, httpapi.Pause, httpapi.Order{Reason: why})
}

// Resume ends the effect of Pause and of Resign. Errors are those of Transfer.
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

// Loan is a lease that was lent to another process.
type Loan struct {
	node.Loan
	// Token is the fencing token of the leadership that was lent.
	Token fence.Token
}

// Lend lends the lease of this node, which must lead, to another process, for the rest of the
// lease. No other node leads before the end of the loan, whatever happens to this node. Return
// gives the loan back early.
//
// Errors wrap ErrNotLent, ErrLeft, ErrStopped, or the cause of ctx.
func (n *Node) Lend(ctx context.Context) (Loan, error) {
	l, err := n.daemon.Node.Lend(ctx)
	if err != nil {
		return Loan{}, n.because(err)
	}
	return Loan{l, n.daemon.TokenOf(l.Term)}, nil
}

// Return gives a loan back before its end. It reports whether the loan had not ended.
func (n *Node) Return(l Loan) bool { return n.daemon.Node.Return(l.ID) }

// GossipAddr is the address that other nodes put into Join, as IP:PORT.
func (n *Node) GossipAddr() string { return n.daemon.GossipAddr() }

// Listener is the socket that other nodes dial to find out whether this process lives. A process
// that does this node's work must inherit a copy: the others take the node for dead only when the
// last process with a copy has ended.
func (n *Node) Listener() syscall.Conn { return n.daemon.Listener() }
