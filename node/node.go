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

// What ends a Node or refuses a request to it.
var (
	// ErrStore: the Store failed, so the Node ended.
	ErrStore = errors.New("the term and vote cannot be kept")
	// ErrRefused: leadership cannot be transferred; nothing has changed.
	ErrRefused = errors.New("no transfer")
	// ErrNotTaken: the leader gave way, and another than the chosen successor leads.
	ErrNotTaken = errors.New("the successor did not take over")
	// ErrStopped: the Node ended before it carried the request out.
	ErrStopped = errors.New("the node has stopped")
	// ErrNotLeader is the cause with which the context of Lead's function ends
	// when this node leads no more. HandedOver wraps it.
	ErrNotLeader = errors.New("this node leads no more")
	// ErrLeaseExpired is the cause when the lease is about to end and was not
	// renewed.
	ErrLeaseExpired = errors.New("the lease was not renewed in time")
	// ErrConfig: New was given what no Node can run on.
	ErrConfig = errors.New("node configuration")
)

// Store keeps what a node must never forget.
type Store interface {
	// Save returns once s is durable. It is called from the Node's goroutine,
	// which waits for it. An error ends the Node.
	Save(s algorithms.State) error
}

// Transport takes messages to other nodes.
type Transport interface {
	// Send is called from the Node's goroutine and never blocks: what cannot
	// be sent is dropped. Messages to one node leave in the order of the calls.
	Send(m proto.Message)
	// Hold keeps the transport open, its links and its listener, until release is
	// called: once they close, others take this process for dead, and its promises for
	// over. It is called once, by Run, which calls release when all work has ended.
	// closing is closed once somebody wants to close the transport, and ends Run; nil
	// never is.
	Hold() (closing <-chan struct{}, release func())
}

// Config is what a Node is made of. Every field is required but Fencer, Now, Reconcile,
// Record and Logger.
type Config struct {
	// ID and Session are this process.
	ID      proto.NodeID
	Session proto.Session
	// Machine is owned by the Node from New on.
	Machine algorithms.Machine
	// Saved is what the Store kept from the last run.
	Saved     algorithms.State
	Store     Store
	Transport Transport
	// Fencer is whom Output.Fence is for. Nil confirms nothing.
	Fencer Fencer
	// Now is the clock by which the Machine lives and leases are judged. It never
	// goes back; for a lease it must also go on while the machine is suspended,
	// as that of package clock does. Nil is time.Now.
	Now func() time.Time
	// Guarantee is how far the Machine's answers can be trusted.
	Guarantee algorithms.Guarantee
	// Reconcile is called in a goroutine of its own when two leaders met, all who
	// led have stopped, and none leads until it returns. It is called at least once
	// a split, on one node at a time as far as the nodes reach each other. ctx ends
	// when another node takes the mending over, and with Run, which waits for it.
	// Nil reconciles nothing.
	Reconcile func(ctx context.Context, s algorithms.Split) algorithms.Outcome
	// Recorder is owned by the Node from New on.
	Recorder *trace.Recorder
	// Ineligible is told, on the Node's goroutine, why this node does not stand
	// for election whenever that changes, "" when it would; the others are to be
	// told then, by proto.Peer.Ineligible. It must not block. Nil ignores it.
	Ineligible func(why string)
	// Recovery is told, on the Node's goroutine, what a voter of which nothing is saved
	// waits for, after each Step in which it does, and nil once it votes. It must not
	// block. Nil ignores it.
	Recovery func(*algorithms.Recovery)
	// Record takes each record, on the Node's goroutine; it should not block.
	// Nil discards them.
	Record func(trace.Record)
	// Logger takes what is worth a warning and no Step: dropped messages. The
	// zero value discards it.
	Logger zerolog.Logger
}

func (c Config) validate() error {
	if err := c.ID.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	missing := ""
	switch {
	case c.Session.IsZero():
		missing = "session"
	case c.Machine == nil:
		missing = "machine"
	case c.Store == nil:
		missing = "store"
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
	// inboxSize is how many messages may wait for the Machine. Elections send
	// a few for each node, so that a full inbox means a stuck Node or a
	// hostile peer.
	inboxSize = 1024
	// warnEvery spaces the warnings about dropped messages.
	warnEvery = 10 * time.Second
)

// Node runs one Machine, once. Its methods may be called from any goroutine.
type Node struct {
	cfg     Config
	inbox   chan proto.Message
	peers   peersBox
	asks    chan ask
	bars    barsBox
	gone    chan fate
	proofs  proofs
	idle    chan proto.Term // the terms of tenures whose work has stopped
	fenced  chan algorithms.Fenced
	started atomic.Bool
	work    work
	ended   chan struct{} // closed when Run is at its end

	// Of the goroutine in Run alone.
	clock       clock
	recovers    bool                          // Config.Recovery was told so last
	transfer    chan<- algorithms.TransferEnd // of the transfer under way, nil for none
	timer       *time.Timer
	deadline    time.Time // of the timer, zero for none
	shot        *shot     // the Fencer's attempt under way, nil for none,
	lastShot    *shot     // and the last one that was begun
	reconciling reconciling
	draining    int // tenures that are over, and are to come from idle

	misaddressed *dropped
	overflowed   *dropped

	mu       sync.Mutex // guards what follows
	status   Status
	over     bool          // Run is at its end: nothing that the Machine says counts
	tenure   *tenure       // nil while another leads, or nobody
	tenures  chan struct{} // closed when a tenure begins
	changes  changes
	loans    loans                                  // asking belongs to the goroutine in Run
	watchers map[chan algorithms.Leader]func() bool // each with what stops its AfterFunc
}

// New returns a Node that has not started. Errors wrap ErrConfig.
func New(cfg Config) (*Node, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Fencer == nil {
		cfg.Fencer = noFencer{}
	}
	return &Node{
		cfg:          cfg,
		inbox:        make(chan proto.Message, inboxSize),
		peers:        peersBox{wake: make(chan struct{}, 1)},
		asks:         make(chan ask),
		bars:         newBarsBox(),
		gone:         make(chan fate, inboxSize),
		idle:         make(chan proto.Term),
		fenced:       make(chan algorithms.Fenced),
		tenures:      make(chan struct{}),
		loans:        loans{last: loansBefore(cfg.Session), out: map[uint64]Loan{}, changed: make(chan struct{})},
		work:         work{epoch: time.Now()},
		reconciling:  reconciling{done: make(chan algorithms.Reconciled)},
		ended:        make(chan struct{}),
		misaddressed: newDropped(cfg.Logger),
		overflowed:   newDropped(cfg.Logger),
		status: Status{
			ID:        cfg.ID,
			Session:   cfg.Session,
			Guarantee: cfg.Guarantee,
			Leader:    algorithms.Leader{Term: cfg.Saved.Term},
		},
		watchers: make(map[chan algorithms.Leader]func() bool),
	}, nil
}

// Run starts the Machine and returns nil when ctx is done or the Transport is to be
// closed, or the error that ended the Node, which wraps ErrStore. It may be called once.
//
// Since a Node that ended follows nobody, the belief is then "nobody", at once, and all
// work is told to stop. Run returns when all of it has: the functions of Lead, Reconcile
// and the Fencer. It keeps the Transport open until then, so work that never returns
// keeps Run, and whoever closes the Transport, waiting for ever.
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
	if err != nil {
		return fmt.Errorf("node %d: %w", n.cfg.ID, err)
	}
	return nil
}

// drain returns when the work of every term has ended. If tell is set the Machine hears
// of it, and so frees the voters of the terms that it has left.
func (n *Node) drain(tell bool) (err error) {
	n.reconcile(nil)
	n.aim(nil)
	for ; n.draining > 0; n.draining-- {
		term := <-n.idle
		if tell && err == nil {
			err = n.step(algorithms.Idle{Term: term})
		}
	}
	return err
}
