// Package ringleader runs a node inside a program. The node elects a leader together with the other
// nodes of its cluster, and runs the program's work only while it leads. Nodes of `ringleader run`
// and nodes inside programs form one cluster.
//
// What the package does not promise: without Config.Voters each side of a partition has a leader.
// With voters at most one node leads at a time, as long as clocks drift less than one percent. A
// write that began in time may still arrive late. Only a fencing token helps against a late write:
// see Lease.Token and package fence. docs/GUARANTEES.md lists all guarantees.
package ringleader

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"syscall"

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
	// ErrConfig: a field of the Config is wrong, or the content of the data directory is wrong.
	ErrConfig = daemon.ErrConfig
	// ErrInUse: another node uses the data directory, in this process or another.
	ErrInUse = statefile.ErrLocked
	// ErrIDTaken: another process of the cluster uses this node's id.
	ErrIDTaken = membership.ErrIDTaken
	// ErrLeft: Leave was called.
	ErrLeft = errors.New("the node has left its cluster: start another")
	// ErrStopped: the node failed, before or after a call of Leave; Node.Err says why.
	ErrStopped = node.ErrStopped
	// ErrNoLeader: this node knows no leader.
	ErrNoLeader = httpapi.ErrNoLeader
	// ErrRefused: the request cannot be done now. Nothing has changed, unless the text says who leads instead.
	ErrRefused = httpapi.ErrConflict
	// ErrNotLent: no lease was lent.
	ErrNotLent = node.ErrNotLent
)

// Node is a node that was started. Its methods may be called from any goroutine.
type Node struct {
	daemon *daemon.Daemon
	left   chan struct{}          // closed when Leave begins
	done   chan struct{}          // closed when the node has failed or left
	err    error                  // why the node failed; written before done is closed
	leave  func() error           // runs end at most once
	why    atomic.Pointer[string] // why the first Leave was called
}

// Start starts a node. The node runs until Leave is called or ctx is done. Start returns when the
// node listens and looks for the others; there may be no leader yet. If ctx is done while Start waits for the
// store, Start returns its cause.
//
// If fields of cfg are wrong, the error wraps ErrConfig and has one FieldError for each wrong field.
// Other errors wrap ErrInUse or an error of the operating system. They are a FieldError if one field
// is the cause.
func Start(ctx context.Context, cfg Config) (*Node, error) {
	if ctx == nil {
		return nil, errors.New("start a node: the context is nil: pass context.Background()")
	}
	r := read(cfg)
	if len(r.errs) == 0 {
		r.wrong("Credentials", r.exposed)
	}
	if len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	records, log := r.loggers()
	d, err := daemon.Start(ctx, r.s, records, log)
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
	lines := records.With().Str("cluster", r.s.Cluster).Uint64("node", uint64(r.s.ID))
	if security := r.s.Security(); security != "" {
		lines = lines.Str("security", security) // records have it anyway
	}
	log = lines.Logger().Hook(daemon.Timestamp{})
	for _, warning := range r.warnings {
		log.Warn().Msg(warning)
	}
	if len(r.s.Voters) == 0 && r.s.Store == nil {
		log.Warn().Msg("no voters are configured: leadership is best-effort, and in a partition " +
			"each side has a leader; name the voters")
	}
	return records, log
}

// watch waits until the node fails or Leave is called. It ends a node that failed.
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
	return n.daemon.Leave(*n.why.Load())
}

// Leave stops the node: it hands leadership over if this node leads, waits until all work has
// ended, leaves the cluster and closes all that is open. It takes at most three seconds, and longer
// only for work that does not return. Later calls wait for the first one and return the same error.
//
// A node that failed closes everything by itself, and Leave waits until it has. But if the data
// directory failed, the links stay open until the process ends. The other nodes see the links end, and
// need not wait until their promises run out. So the process should end soon after the failure.
//
// A function given to Lead must not call Leave: Leave would wait for that function for ever. The
// function must return first; then the caller of Lead can call Leave.
func (n *Node) Leave() error { return n.LeaveBecause("its program has it leave") }

// LeaveBecause is Leave. The records contain why.
func (n *Node) LeaveBecause(why string) error {
	n.why.CompareAndSwap(nil, &why)
	return n.leave()
}

// Done returns a channel that is closed when the node has failed or left. By then the node has told its
// work to stop, and leads no more.
func (n *Node) Done() <-chan struct{} { return n.done }

// Err returns the error with which the node failed. It returns nil while the node runs, and after the
// node left.
func (n *Node) Err() error {
	select {
	case <-n.done:
		return n.err
	default:
		return nil
	}
}

// Lease is one leadership of this node. Lead passes it to the function that does the work. The methods
// of Lease may be called from any goroutine, also after the leadership is over.
type Lease struct {
	node.Lease
	daemon *daemon.Daemon
}

// Token returns the fencing token of this leadership. A storage that has seen a higher token refuses
// a write with this token; package fence has such storages. Without Config.Voters and
// Config.Store, Token returns the zero Token.
func (l Lease) Token() fence.Token {
	if !l.daemon.Leased() {
		return fence.Token{}
	}
	return l.daemon.TokenOf(l.Term())
}

// Lead calls f each time this node becomes the leader, until ctx is done, f returns an error, or
// the node ends. The context of f ends when this node no longer leads, or when its lease is about
// to end because it was not renewed. f must return soon after its context ends: another node may lead
// only when f has returned, or when the lease has ended. When f returns nil before its context ends,
// Lead waits for the next leadership.
//
// Lead returns the error of f, the cause of ctx, or an error that wraps ErrLeft or ErrStopped. Several
// goroutines may call Lead, each with its own f. f must not call Leave, since Leave waits until f has
// returned.
func (n *Node) Lead(ctx context.Context, f func(context.Context, Lease) error) error {
	err := n.daemon.Node.Lead(ctx, func(ctx context.Context, l node.Lease) error {
		return f(ctx, Lease{l, n.daemon})
	})
	return n.because(err)
}

// because returns err or, if err wraps node.ErrStopped and Leave was called, an error that wraps
// ErrLeft.
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

// Leader returns who leads, as far as this node knows. ID zero means that nobody leads. Until is the
// time when this belief ends unless it is renewed, by the clock of package clock. Until is zero without
// voters.
func (n *Node) Leader() algorithms.Leader { return n.daemon.Node.Status().Leader }

// Changes returns the changes of the result of Leader, each once and in order: the changes with a number
// above seq, and all changes to come. If seq is zero, it returns all changes. A renewed lease is no
// change. The sequence ends when ctx is done, or after the last change when the node has ended.
func (n *Node) Changes(ctx context.Context, seq uint64) iter.Seq[node.Change] {
	return n.daemon.Node.Changes(ctx, seq)
}

// Watch returns a channel of the results of Leader: the present result, and each new result, also when
// a lease is renewed. A slow reader gets only the latest result. The channel is closed when ctx is done
// or the node has ended.
func (n *Node) Watch(ctx context.Context) <-chan algorithms.Leader {
	return n.daemon.Node.Watch(ctx)
}

// Transfer hands leadership over to the node with the id to. If to is zero, it hands over to the best
// node that accepts. It returns once the successor leads. Transfer may be called on any node: the node
// asks the leader over HTTP. The leader first asks the successor; if the successor could not win,
// nothing changes. The records contain why.
//
// Errors wrap ErrNoLeader, ErrRefused, ErrLeft, or the cause of ctx.
func (n *Node) Transfer(ctx context.Context, to proto.NodeID, why string) error {
	return n.ask(ctx, httpapi.Transfer, httpapi.Order{To: to, Reason: why})
}

// Resign makes this node, which must lead, hand over to the best node that accepts. If none accepts, this
// node still stops leading. This node is no candidate until Resume. Errors are those of Transfer.
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

// Elect makes this node call an election. It returns once there is a leader. A leader that has a lease stays, and
// nothing changes. Without leases a new term begins, also if the same node leads it: the work of a leader ends, and
// begins again in the new term. Errors are those of Transfer.
func (n *Node) Elect(ctx context.Context, why string) error {
	return n.ask(ctx, httpapi.Elect, httpapi.Order{Reason: why})
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

// GossipAddr returns the address that other nodes put into Config.Join, as IP:PORT.
func (n *Node) GossipAddr() string { return n.daemon.GossipAddr() }

// Listener returns the socket that other nodes dial to find out whether this process lives. If another
// process does this node's work, that process must inherit a copy of the socket: the other nodes take
// this node for dead only when the last process with a copy has ended.
func (n *Node) Listener() syscall.Conn { return n.daemon.Listener() }
