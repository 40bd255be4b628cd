package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/store"
)

// election is an Election.
type election struct {
	store.Candidate
	api  *api
	hint store.Hint
	life context.Context
	end  context.CancelFunc
	done sync.WaitGroup

	// These belong to whoever calls Ask.
	watches  bool
	over     string  // the key of the last own entry that was found to be over
	promised promise // by the last update that kept the lease

	mu     sync.Mutex
	last   sight
	expiry *time.Timer // of the lease
}

// sight is what was last seen of the object.
type sight struct {
	known   bool   // it was read
	lease   *lease // nil if it is not there
	version uint64 // the highest that was seen
	// at is when the record was first seen as it is; of an own update, when that left.
	at time.Time
	// since is the resource version at which this holder was first seen.
	since uint64
}

func (e *election) Changed() <-chan struct{} { return e.hint }

func (e *election) Close() error {
	e.end()
	e.done.Wait()
	e.mu.Lock()
	e.expiry.Stop()
	e.mu.Unlock()
	e.api.client.CloseIdleConnections()
	return nil
}

// see notes the object, and returns what is known of it now. From a watch, which may lag behind, it notes only
// what is newer.
func (e *election) see(l *lease, at time.Time, watched bool) sight {
	e.mu.Lock()
	defer e.mu.Unlock()
	was := e.last
	s := sight{known: true, lease: l, version: was.version, at: at}
	if l != nil {
		s.version, s.since = l.version, l.version
		if was.lease != nil && l.uid == was.lease.uid {
			is, old := l.record, was.lease.record
			if is == old && was.at.Before(at) {
				s.at = was.at
			}
			if is.Holder == old.Holder && is.Acquired == old.Acquired && is.Transitions == old.Transitions {
				s.since = was.since
			}
		}
	}
	if watched && l != nil && was.known && l.version <= was.version {
		return was
	}
	e.last = s
	if e.expiry.Stop(); s.held() && e.life.Err() == nil {
		e.expiry.Reset(time.Until(s.ends()) + time.Millisecond)
	}
	return s
}

func (e *election) seen() sight {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last
}

// held reports whether the lease has a holder, who may have let it end.
func (s sight) held() bool { return s.lease != nil && s.lease.record.Holder != "" }

// ends is when the lease ends if it is not renewed.
func (s sight) ends() time.Time {
	return s.at.Add(time.Duration(min(s.lease.record.Seconds, 1<<31)) * time.Second)
}

// entry returns the entry of the holder, whether the lease is over or not.
func (e *election) entry(s sight) algorithms.Entry {
	if !s.held() {
		return algorithms.Entry{}
	}
	key := func(token uint64) string { return s.lease.uid + "@" + strconv.FormatUint(token, 10) }
	holder := s.lease.record.Holder
	if token, err := strconv.ParseUint(s.lease.token, 10, 64); err == nil && token > 0 {
		// The annotation of a node stays when a stranger takes the lease.
		if is := e.Read(key(token), holder, proto.Term(token)); is.ID != 0 {
			return is
		}
	}
	return e.Read(key(s.since-1), holder, proto.Term(s.since-1))
}

// holder returns the entry of the holder, and the zero Entry if the lease is over. An own entry that was over
// once does not come back, although a request that was given up may renew it: the others may have seen nobody
// lead.
func (e *election) holder(s sight) algorithms.Entry {
	is := e.entry(s)
	if is.IsZero() || is.Key == e.over {
		return algorithms.Entry{}
	}
	if time.Now().Before(s.ends()) {
		return is
	}
	if is.Of(e.Peer) {
		e.over = is.Key
	}
	return algorithms.Entry{}
}

// seconds is how long the lease is kept.
func (e *election) seconds() int64 { return int64(e.TTL / time.Second) }

// micro is how Kubernetes writes times.
const micro = "2006-01-02T15:04:05.000000Z07:00"

func nobody(transitions int64) *change {
	now := time.Now().UTC().Format(micro)
	return &change{token: new(string), spec: map[string]any{
		"holderIdentity": "", "leaseDurationSeconds": 1, "acquireTime": now, "renewTime": now,
		"leaseTransitions": transitions,
	}}
}

// tick is the step in which client-go reads times. A record whose renewTime differs by less is the same for it, and
// counts from when it was first seen.
const tick = time.Second

// promise is what an update promises this candidate: that nobody thinks the record is older than from.
type promise struct {
	renewed string // the renewTime of the update
	from    time.Time
}

// renew returns the promise of an update after the record old. An update in the same tick as the last one promises no
// more than that. Where it is not known when the last one left, or the clock was set back, renewTime is in the tick
// after that of old.
func (e *election) renew(old record) promise {
	now := time.Now()
	t := now.UTC().Truncate(time.Microsecond)
	was, err := time.Parse(micro, old.Renewed)
	switch last := e.promised; {
	case err != nil || t.Unix() > was.Unix():
	case t.Unix() == was.Unix() && t.After(was) && last.renewed == old.Renewed && now.Sub(last.from) < tick:
		return promise{t.Format(micro), last.from}
	default:
		t = was.Truncate(tick).Add(tick)
	}
	return promise{t.Format(micro), now}
}

func (e *election) renewal(p promise, lent bool) *change {
	return &change{promise: p, spec: map[string]any{
		"holderIdentity": e.Value(lent), "leaseDurationSeconds": e.seconds(), "renewTime": p.renewed,
	}}
}

// taking is the change by which this candidate takes the lease. The token is the version that it replaces.
func (e *election) taking(l *lease) *change {
	now := time.Now()
	c, token := e.renewal(promise{now.UTC().Format(micro), now}, false), strconv.FormatUint(l.version, 10)
	c.token = &token
	c.spec["acquireTime"], c.spec["leaseTransitions"] = c.promise.renewed, l.record.Transitions+1
	return c
}

// change returns what an ask changes of the object, nil for nothing.
func (e *election) change(ask algorithms.Ask, s sight) *change {
	is, holder := e.entry(s), e.holder(s)
	dead := !is.IsZero() && is.Key == ask.Remove.Key && ask.Remove.ID != 0 && !is.Lent && !is.Of(e.Peer)
	stand := ask.Verb == algorithms.AskStand
	switch {
	case s.lease == nil:
	case (stand || ask.Verb == algorithms.AskRenew) && holder.Of(e.Peer):
		return e.renewal(e.renew(s.lease.record), holder.Lent || ask.Lent)
	case stand && (holder.IsZero() || dead):
		return e.taking(s.lease)
	case ask.Verb == algorithms.AskLeave && is.Of(e.Peer) && is.Key == ask.Remove.Key,
		ask.Verb == algorithms.AskRemove && dead:
		return nobody(s.lease.record.Transitions)
	}
	return nil
}

// Ask implements store.Election. What was last seen is enough for a change: if it is old, the API server refuses
// the change, and Ask reads.
func (e *election) Ask(ctx context.Context, ask algorithms.Ask) (a algorithms.Answered, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(e.life, stop)()
	e.listen()
	began := time.Now()
	for s, read := e.seen(), false; ; {
		c := e.change(ask, s)
		creates := ask.Verb == algorithms.AskStand && s.known && s.lease == nil
		switch {
		case creates:
			s, err = e.write(ctx, e.api.create, e.api.fresh().with(nobody(0)))
		case c != nil:
			s, err = e.write(ctx, e.api.update, s.lease.with(c))
		case read:
			return e.answer(ask, s), nil
		default:
			if s, err = e.read(ctx); err != nil {
				return a, err
			}
			read = true
			continue
		}
		switch {
		case err == nil && !creates:
			a = e.answer(ask, s)
			if p := c.promise; !a.Own.IsZero() && !p.from.IsZero() {
				e.promised = p
				kept := time.Duration(e.seconds()) * time.Second
				a.Keeps = min(kept, p.from.Add(kept).Sub(began))
			}
			return a, nil
		case errors.Is(err, errConflict) || errors.Is(err, errGone):
			if s, err = e.again(ctx); err != nil {
				return a, err
			}
			read = true
		case err != nil:
			return a, err
		}
	}
}

// read reads the object.
func (e *election) read(ctx context.Context) (sight, error) {
	l, err := e.api.get(ctx)
	if err != nil {
		return sight{}, err
	}
	return e.see(l, time.Now(), false), nil
}

// conflictPause is the longest pause before the object is read again after a conflict.
const conflictPause = 20 * time.Millisecond

// again reads the object after a conflict. Of those who had the same one, some come sooner.
func (e *election) again(ctx context.Context) (sight, error) {
	select {
	case <-ctx.Done():
		return sight{}, fmt.Errorf("%w: %w", errConflict, ctx.Err())
	case <-time.After(rand.N(conflictPause)):
	}
	return e.read(ctx)
}

func (e *election) write(
	ctx context.Context, do func(context.Context, []byte, string) (*lease, error), body []byte,
) (sight, error) {
	sent := time.Now()
	l, err := do(ctx, body, "")
	if err != nil {
		return sight{}, err
	}
	return e.see(l, sent, false), nil
}

// answer is the answer to an ask by which s was seen.
func (e *election) answer(ask algorithms.Ask, s sight) algorithms.Answered {
	a := algorithms.Answered{Number: ask.Number, Holder: e.holder(s)}
	if a.Holder.Of(e.Peer) {
		a.Own = a.Holder
	}
	return a
}

// listen begins to watch the object.
func (e *election) listen() {
	if e.watches {
		return
	}
	e.watches = true
	e.done.Go(func() {
		for e.life.Err() == nil {
			e.hear()
			select {
			case <-e.life.Done():
			case <-time.After(min(e.TTL/10, time.Second)):
			}
		}
	})
}

// hear notes each change of the object, so that a lease is over soon after it ends, and gives a hint when the
// holder changes.
func (e *election) hear() {
	events, err := e.api.watch(e.life)
	if err != nil {
		return
	}
	defer events.Close()
	e.hint.Give()
	for d := json.NewDecoder(events); ; {
		var event struct {
			Type   string
			Object json.RawMessage
		}
		if d.Decode(&event) != nil || event.Type == "ERROR" {
			return
		}
		l, err := parseLease(event.Object)
		if err != nil {
			return
		}
		was := e.entry(e.seen())
		if event.Type == "DELETED" {
			e.gone(l)
		} else {
			e.see(l, time.Now(), true)
		}
		if is := e.entry(e.seen()); is.Key != was.Key && !is.Of(e.Peer) {
			e.hint.Give()
		}
	}
}

// gone notes that the object was deleted, unless there is a newer one.
func (e *election) gone(l *lease) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if l.version > e.last.version {
		e.last = sight{known: true, version: l.version}
		e.expiry.Stop()
	}
}
