package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// The errors that end a Node, or refuse a request to it.
var (
	// ErrDisk: the Disk failed, and so the Node ended.
	ErrDisk = errors.New("the term and vote cannot be kept")
	// ErrEnd: the Machine ended the Node, and the error says why.
	ErrEnd = errors.New("this node must not go on")
	// ErrRefused: leadership cannot be transferred, and nothing has changed.
	ErrRefused = errors.New("no transfer")
	// ErrNotTaken: the leader stepped down, but another node than the chosen successor leads.
	ErrNotTaken = errors.New("the successor did not take over")
	// ErrStopped: the Node ended before it carried the request out.
	ErrStopped = errors.New("the node has stopped")
	// ErrNotLeader is the cause with which the context of Lead's function ends when this node no
	// longer leads. HandedOver wraps it.
	ErrNotLeader = errors.New("this node leads no more")
	// ErrLeaseExpired is the cause if the lease was about to end and was not renewed.
	ErrLeaseExpired = errors.New("the lease was not renewed in time")
	// ErrConfig: the Config is not complete, or Run was called twice.
	ErrConfig = errors.New("node configuration")
)

// Disk saves what a node must not forget when its process ends.
type Disk interface {
	// Save makes s durable before it returns. The Node's goroutine calls Save and waits for it. An error ends
	// the Node.
	Save(s algorithms.State) error
}

// Transport sends messages to other nodes.
type Transport interface {
	// Send sends a message. The Node's goroutine calls it. It never blocks: a message that cannot
	// be sent is dropped. Messages to one node leave in the order of the calls.
	Send(m proto.Message)
	// Hold keeps the transport, its links and its listener, open until release is called. When the links and
	// the listener close, other nodes take this process for dead, and take its promises for ended. Run calls
	// Hold once, and calls release when all work has ended. The channel closing is closed when the owner of
	// the transport wants to close the transport; this ends Run. A nil closing is never closed.
	Hold() (closing <-chan struct{}, release func())
}

// Config lists the parts of a Node. All fields are required, except Fencer, Store, Now, Reconcile,
// Ineligible, Recovery, Record and Logger.
type Config struct {
	// ID and Incarnation name this process.
	ID          proto.NodeID
	Incarnation proto.Incarnation
	// Machine belongs to the Node from New on.
	Machine algorithms.Machine
	// Saved is the state that the Disk holds from the last process.
	Saved     algorithms.State
	Disk      Disk
	Transport Transport
	// Fencer carries out Output.Fence. A nil Fencer confirms nothing.
	Fencer Fencer
	// Store is asked for the Machine. A nil Store answers nothing.
	Store Store
	// Now is the clock of the Machine, and of leases. It never goes back. For leases it must also
	// go on while the machine is suspended, as the clock of package clock does. Nil means time.Now.
	Now func() time.Time
	// Wall returns what the machine's wall clock shows, and by how much somebody set it since the process began, as
	// package clock does. It gives records their times. Nil means time.Now, and a clock that nobody sets.
	Wall func() (now time.Time, set time.Duration)
	// Guarantee says how far the Machine's answers can be trusted.
	Guarantee algorithms.Guarantee
	// Reconcile reconciles the work of two leaders that met. The Node calls it in a goroutine of its own,
	// after all former leaders have stopped; no node leads until it returns. It is called at least once for a
	// split, on one node at a time as far as the nodes reach each other. ctx ends when another node takes
	// over the recovery, and when Run ends; Run waits until Reconcile has returned. A nil Reconcile does
	// nothing.
	Reconcile func(ctx context.Context, s algorithms.Split) algorithms.Outcome
	// Recorder belongs to the Node from New on.
	Recorder *trace.Recorder
	// Ineligible is called on the Node's goroutine whenever the reason why this node is not
	// eligible changes; "" means that it is eligible. It should tell the other nodes, by
	// proto.Peer.Ineligible. It must not block. Nil ignores it.
	Ineligible func(why string)
	// Recovery is called on the Node's goroutine with what a voter without a saved vote waits for:
	// after each Step of such a voter, and once with nil when it votes. It must not block. Nil
	// ignores it.
	Recovery func(*algorithms.Recovery)
	// Record takes each record, on the Node's goroutine. It should not block. Nil discards the
	// records.
	Record func(trace.Record)
	// Logger takes warnings that belong to no Step, for example about dropped messages. The zero value
	// discards them.
	Logger zerolog.Logger
}

func (c Config) validate() error {
	if err := c.ID.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	missing := ""
	switch {
	case c.Incarnation.IsZero():
		missing = "incarnation"
	case c.Machine == nil:
		missing = "machine"
	case c.Disk == nil:
		missing = "disk"
	case c.Transport == nil:
		missing = "transport"
	case c.Guarantee == "":
		missing = "guarantee"
	case c.Recorder == nil:
		missing = "recorder"
	default:
		return nil
	}
	return fmt.Errorf("%w: no %s", ErrConfig, missing)
}

const (
	// inboxSize is how many messages may wait for the Machine. Elections send a few for each node,
	// so a full inbox means that the Node hangs or a peer is hostile.
	inboxSize = 1024
	// warnEvery is the shortest time between two warnings about dropped messages.
	warnEvery = 10 * time.Second
)

// Node runs one Machine, once. Its methods may be called from any goroutine.
type Node struct {
	cfg         Config
	inbox       chan *proto.Message // pointers: there is room for many, and few are there
	peers       peersBox
	asks        chan ask
	causes      ineligibleBox
	liveness    chan *liveness // pointers: it is large, and nearly always empty
	proofs      proofs
	workStopped chan proto.Term // the terms of leaderships whose work has stopped
	fenced      chan algorithms.Fenced
	answers     chan algorithms.Answered
	started     atomic.Bool
	work        work
	ended       chan struct{} // closed when Run ends

	// Only the goroutine in Run uses these.
	clock    clock
	recovers bool                          // Config.Recovery was last called with a Recovery
	transfer chan<- algorithms.TransferEnd // receives the end of the transfer under way; nil for none
	timer    *time.Timer
	deadline time.Time // the deadline of the timer, zero for none
	shot     *shot     // the Fencer's present attempt; nil for none
	lastShot *shot     // the last attempt that was begun
	// question is the ask that the Store works at, nil for none, and lastQuestion the last one.
	question, lastQuestion *question
	reconciling            reconciling
	draining               int // how many leaderships are over but still have to come from workStopped

	misaddressed *dropped
	overflowed   *dropped

	mu          sync.Mutex // guards the fields below
	status      Status     // without Gone
	gone        gone
	over        bool          // Run ends: results of the Machine no longer count
	leadership  *leadership   // nil while this node does not lead
	leaderships chan struct{} // closed and replaced when a leadership begins
	changes     changes
	loans       loans                                  // all but asking, which belongs to the goroutine in Run
	watchers    map[chan algorithms.Leader]func() bool // each with the function that stops its AfterFunc
}

// New returns a Node on which Run was not called yet. Errors wrap ErrConfig.
func New(cfg Config) (*Node, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Wall == nil {
		cfg.Wall = func() (now time.Time, set time.Duration) { return time.Now(), 0 }
	}
	if cfg.Fencer == nil {
		cfg.Fencer = noFencer{}
	}
	if cfg.Store == nil {
		cfg.Store = noStore{}
	}
	return &Node{
		cfg:          cfg,
		inbox:        make(chan *proto.Message, inboxSize),
		peers:        peersBox{wake: make(chan struct{}, 1)},
		asks:         make(chan ask),
		causes:       newIneligibleBox(),
		liveness:     make(chan *liveness, inboxSize),
		workStopped:  make(chan proto.Term),
		fenced:       make(chan algorithms.Fenced),
		answers:      make(chan algorithms.Answered),
		leaderships:  make(chan struct{}),
		loans:        loans{last: loansBefore(cfg.Incarnation), out: map[uint64]Loan{}, changed: make(chan struct{})},
		work:         work{began: time.Now()},
		reconciling:  reconciling{done: make(chan algorithms.Reconciled)},
		ended:        make(chan struct{}),
		misaddressed: newDropped(cfg.Logger),
		overflowed:   newDropped(cfg.Logger),
		status: Status{
			ID:          cfg.ID,
			Incarnation: cfg.Incarnation,
			Guarantee:   cfg.Guarantee,
			Leader:      algorithms.Leader{Term: cfg.Saved.Term},
		},
		watchers: make(map[chan algorithms.Leader]func() bool),
	}, nil
}

// Run runs the Machine. It returns nil when ctx is done or the Transport wants to close, or the
// error that ended the Node, which wraps ErrDisk or ErrEnd. It may be called once.
//
// A Node that ended follows nobody: its belief becomes "nobody" at once, and all work is told to
// stop. Run returns when all work has returned: the functions of Lead, Reconcile and the Fencer. It
// keeps the Transport open until then. So work that never returns blocks Run, and the closing of
// the Transport, for ever.
func (n *Node) Run(ctx context.Context) error {
	if n.started.Swap(true) {
		return fmt.Errorf("%w: Run was called before", ErrConfig)
	}
	closing, release := n.cfg.Transport.Hold()
	defer release()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	select {
	case <-closing:
		stop()
	default:
		go func() {
			select {
			case <-closing:
				stop()
			case <-ctx.Done():
			}
		}()
	}
	err := n.loop(ctx)
	leads := n.end()
	if told := n.drain(err == nil && !leads); err == nil {
		err = told
	}
	n.endReconciling()
	n.callBack()
	n.endAsking()
	if err != nil {
		return fmt.Errorf("node %d: %w", n.cfg.ID, err)
	}
	return nil
}

// drain waits until the work of every term has ended. If tell is set, drain tells the Machine of each end,
// and the Machine then frees the voters of the terms that this node has left.
func (n *Node) drain(tell bool) (err error) {
	n.reconcile(nil)
	n.aim(nil)
	for ; n.draining > 0; n.draining-- {
		term := <-n.workStopped
		if tell && err == nil {
			err = n.step(algorithms.WorkStopped{Term: term})
		}
	}
	if tell && err == nil {
		err = n.awaitStore()
	}
	return err
}
