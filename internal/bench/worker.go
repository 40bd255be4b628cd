package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/fence/kv"
	"github.com/ringleader-dev/ringleader/fence/store"
	"github.com/ringleader-dev/ringleader/internal/bench/history"
	"github.com/ringleader-dev/ringleader/node/clock"
	"github.com/ringleader-dev/ringleader/node/httpapi"
)

// worker is a process beside a node that works while that node leads: it writes to a storage with
// the node's token. As every such process does, it first looks whether it may write, and then
// writes. Anything may happen between the two.
type worker struct {
	Node  string        `json:"node"`  // host:port where its node serves HTTP
	Store string        `json:"store"` // the path of a socket that leads to the storage
	Name  string        `json:"name"`  // part of each value that it writes; unique among all workers
	Think time.Duration `json:"think"` // how long it waits after it looked at the node and before it writes
}

const (
	workerKeys  = 3                     // how many keys it writes and reads
	workerBatch = 4                     // writes after each look at the node
	workerPause = 20 * time.Millisecond // time between two looks at the node
)

// said is a line that a worker writes. There are four cases: the worker was lent a lease, whose
// token is Leads; the worker returned that lease, at Returned; the call with this Number begins; or
// a call has ended, and Call describes it.
type said struct {
	Leads fence.Token `json:"leads,omitzero"`
	// Heard is when the worker was lent the lease, Until is when the lease ends, and Returned is
	// just before the worker gave it back; all since the machine's start.
	Heard    time.Duration `json:"heard,omitzero"`
	Until    time.Duration `json:"until,omitzero"`
	Returned time.Duration `json:"returned,omitzero"`
	Number   int           `json:"n,omitempty"`
	Call     *history.Call `json:"call,omitempty"`
	Error    string        `json:"error,omitempty"` // why the outcome is Unknown
}

// run works until in ends, as it does when the parent dies. It writes errors of calls to out.
func (w worker) run(in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var listens sync.WaitGroup
	listens.Go(func() {
		_, _ = io.Copy(io.Discard, in)
		cancel()
	})
	run := workerRun{worker: w, store: storeClient(w.Store), said: json.NewEncoder(out)}
	for ctx.Err() == nil {
		if err := run.look(ctx); err != nil {
			return fmt.Errorf("tell what was done: %w", err)
		}
		_ = Pause(ctx, workerPause)
	}
	listens.Wait()
	return nil
}

// storeClient returns a client that uses a new connection for each call. So no call is ever
// repeated because an old connection has ended.
func storeClient(address string) kv.Client {
	base, transport := address, &http.Transport{DisableKeepAlives: true}
	if !strings.HasPrefix(address, "http://") {
		base = "http://store"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", address)
		}
	}
	return kv.Client{Base: base, HTTP: &http.Client{Transport: transport}}
}

// workerRun is a worker while it runs.
type workerRun struct {
	worker
	store  kv.Client
	said   *json.Encoder
	calls  int
	sealed fence.Token
}

// look asks the node for its lease, and writes if the node lends it. Only a failure to write to out
// is an error.
func (w *workerRun) look(ctx context.Context) error {
	node, before := httpapi.Client{Addr: w.Node}, clock.Now()
	l, err := node.Lend(ctx, 0)
	if err != nil {
		return w.readAsAnybody(ctx)
	}
	until := before.Add(l.ValidFor())
	defer func() {
		// By then nobody acts on it any more. If it is not told, or not heard, it ends by itself.
		_ = w.said.Encode(said{Returned: now()})
		_ = node.Return(ctx, l.ID)
	}()
	looked := said{Leads: l.FencingToken, Heard: now(), Until: clock.SinceBoot(until)}
	if err := w.said.Encode(looked); err != nil {
		return err
	}
	if w.sealed != l.FencingToken {
		sealed, err := w.call(ctx, history.Call{Kind: history.Seal, Token: l.FencingToken})
		if err != nil || sealed != history.Done {
			return err
		}
		w.sealed = l.FencingToken
	}
	for n := range workerBatch {
		// What it was just told it takes for true once, however long it is stopped.
		if ctx.Err() != nil || n > 0 && !clock.Now().Before(until) {
			return nil
		}
		_ = Pause(ctx, w.Think)
		put := history.Call{Kind: history.Put, Token: l.FencingToken, Key: w.key()}
		put.Value = fmt.Sprintf("%s.%d", w.Name, w.calls)
		if _, err := w.call(ctx, put); err != nil {
			return err
		}
		get := history.Call{Kind: history.Get, Token: l.FencingToken, Key: w.key()}
		if _, err := w.call(ctx, get); err != nil {
			return err
		}
	}
	return nil
}

// readAsAnybody reads without a token, after a pause. What a client reads that does not lead must
// fit into the same order of calls.
func (w *workerRun) readAsAnybody(ctx context.Context) error {
	_ = Pause(ctx, 5*workerPause)
	if ctx.Err() != nil {
		return nil
	}
	_, err := w.call(ctx, history.Call{Kind: history.Get, Key: w.key()})
	return err
}

// key returns the next key in turn, so that a read has another key than the write before it.
func (w *workerRun) key() string {
	return fmt.Sprintf("key%d", w.calls*(workerKeys-1)%workerKeys)
}

// call makes one call, and reports it before and after.
func (w *workerRun) call(ctx context.Context, c history.Call) (history.Outcome, error) {
	w.calls++
	c.Began = time.Now().UnixNano()
	if err := w.said.Encode(said{Number: w.calls, Call: &c}); err != nil {
		return "", err
	}
	// A call that was begun is seen through, so that its outcome is known.
	err := do(context.WithoutCancel(ctx), w.store, &c)
	c.Ended = time.Now().UnixNano()
	ended := said{Number: w.calls, Call: &c}
	if c.Outcome == history.Unknown {
		ended.Error = err.Error()
	}
	return c.Outcome, w.said.Encode(ended)
}

// do makes a call and notes its outcome.
func do(ctx context.Context, s kv.Client, c *history.Call) (err error) {
	switch c.Kind {
	case history.Put:
		err = s.Put(ctx, c.Token, c.Key, []byte(c.Value))
	case history.Seal:
		err = s.Seal(ctx, c.Token)
	case history.Get:
		var v store.Value
		if v, err = s.Get(ctx, c.Token, c.Key); errors.Is(err, store.ErrNotFound) {
			err = nil // no value is an answer
		}
		c.Value = string(v.Data)
	}
	c.Outcome = history.Done
	if errors.Is(err, kv.ErrRefused) { // so the proxy answers while the storage is down
		c.Outcome = history.Undone
		return err
	}
	if stale, ok := errors.AsType[*fence.StaleError](err); ok {
		c.Outcome, c.Current = history.Stale, stale.Highest
	} else if err != nil {
		c.Outcome = history.Unknown
	}
	return err
}
