package etcd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/storeprobe"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/store"
)

// election is an open election.
type election struct {
	c       store.Candidate
	prefix  string // of all keys, with the slash
	several bool   // there is more than one member to ask
	target  storeprobe.Target
	client  *clientv3.Client
	user    *user
	hint    store.Hint
	late    *time.Timer // gives the hint when nothing was heard for a TTL

	ended    context.Context // done when the election is closed
	end      context.CancelFunc
	watching sync.WaitGroup

	// These belong to whoever calls Ask.
	watches bool // the watch is under way
	keeper  keeper
	lease   clientv3.LeaseID // of the own key, if there is one; zero for none
	fresh   time.Time        // when the lease was last granted or renewed
	own     algorithms.Entry // by the last answer
	unsure  bool             // the last ask failed: it may have been carried out
}

func open(c store.Candidate, o Config, client *clientv3.Client, who *user) *election {
	e := &election{
		c: c, prefix: o.Prefix + "/", several: len(o.Servers) > 1, client: client, user: who, target: storeprobe.Target{
			Product: storeprobe.Etcd, Servers: o.Servers, TLS: o.TLS,
			WantsTLS: "give tls=true or ca=FILE", HasNone: "leave out tls, ca and cert",
		},
		hint: store.NewHint(), keeper: keeper{remote: pb.NewLeaseClient(client.ActiveConnection())},
	}
	e.ended, e.end = context.WithCancel(context.Background())
	e.late = time.AfterFunc(c.TTL, e.hint.Give)
	return e
}

func (e *election) Changed() <-chan struct{} { return e.hint }

func (e *election) Close() error {
	e.end()
	e.late.Stop()
	e.keeper.close()
	err := e.client.Close()
	e.watching.Wait()
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("close the connection to etcd: %w", err)
	}
	return nil
}

// watch gives the hint when a key appears or goes, until the election is closed.
func (e *election) watch() {
	for e.ended.Err() == nil {
		ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(e.ended))
		for r := range e.client.Watch(ctx, e.prefix, clientv3.WithPrefix(), clientv3.WithCreatedNotify()) {
			if r.Created || slices.ContainsFunc(r.Events, e.isNews) {
				e.hint.Give()
			}
		}
		cancel()
		select {
		case <-e.ended.Done():
		case <-time.After(e.c.TTL / 20):
		}
	}
}

// isNews reports whether this node did not do it by itself.
func (e *election) isNews(ev *clientv3.Event) bool {
	return ev.Type == clientv3.EventTypeDelete || !e.isOurs(ev.Kv)
}

// isOurs reports whether this process made the key.
func (e *election) isOurs(kv *mvccpb.KeyValue) bool {
	value := string(kv.Value)
	return value == e.c.Value(false) || value == e.c.Value(true)
}

// does carries out what f asks for, and sees to the watch, which needs the token of the user.
func (e *election) does(ctx context.Context, f func() error) error {
	err := e.user.does(ctx, f)
	if err == nil && !e.watches {
		e.watches = true
		e.watching.Go(e.watch)
	}
	if err != nil {
		return wrong(ctx, err)
	}
	return nil
}

// Ask carries out one ask. If one of several members hangs, Ask asks a second time soon: asking twice does no
// harm.
func (e *election) Ask(ctx context.Context, ask algorithms.Ask) (algorithms.Answered, error) {
	e.late.Reset(e.c.TTL)
	if e.several {
		first, cancel := context.WithTimeout(ctx, e.c.TTL/10)
		a, err := e.try(first, ask)
		hung := first.Err() != nil
		cancel()
		if err == nil || !hung || ctx.Err() != nil {
			return a, err
		}
	}
	return e.try(ctx, ask)
}

// try carries out one ask as the user.
func (e *election) try(ctx context.Context, ask algorithms.Ask) (a algorithms.Answered, err error) {
	err = e.does(ctx, func() error {
		a, err = e.ask(ctx, ask)
		return err
	})
	return a, err
}

func (e *election) ask(ctx context.Context, ask algorithms.Ask) (a algorithms.Answered, err error) {
	var list []*mvccpb.KeyValue
	var keeps time.Duration
	mayHave := e.unsure || !e.own.IsZero()
	unsure := e.unsure
	e.unsure = true
	switch ask.Verb {
	case algorithms.AskStand:
		list, keeps, err = e.stand(ctx, e.removing(ask.Remove))
	case algorithms.AskRenew:
		list, keeps, err = e.renew(ctx, mayHave, ask.Lent && (unsure || !e.own.Lent))
	case algorithms.AskLeave:
		list, err = e.leave(ctx, ask.Remove)
	case algorithms.AskRemove:
		list, err = e.do(ctx, e.removing(ask.Remove)...)
	default:
		list, err = e.look(ctx, !mayHave)
	}
	if err != nil {
		return algorithms.Answered{}, err
	}
	a = algorithms.Answered{Number: ask.Number, Keeps: min(keeps, e.c.TTL)}
	if len(list) > 0 {
		a.Holder = e.entry(list[0])
	}
	if i := slices.IndexFunc(list, e.isOurs); i >= 0 {
		a.Own = e.entry(list[i])
	}
	if a.Own.IsZero() {
		a.Keeps = 0
	}
	e.own, e.unsure = a.Own, false
	return a, nil
}

// entry returns the entry that a key is.
func (e *election) entry(kv *mvccpb.KeyValue) algorithms.Entry {
	key := string(kv.Key) + "@" + strconv.FormatInt(kv.CreateRevision, 10)
	return e.c.Read(key, string(kv.Value), proto.Term(kv.CreateRevision))
}

// key is the name of the own key, "prefix/lease id".
func (e *election) key() string { return e.prefix + strconv.FormatInt(int64(e.lease), 16) }

// listed is how many keys are read. More candidates may queue.
const listed = 16

// reading returns the operations, and those that read the keys after them: those that were created first, in
// that order, and the own one.
func (e *election) reading(ops ...clientv3.Op) []clientv3.Op {
	ops = append(slices.Clip(ops), clientv3.OpGet(e.prefix, clientv3.WithPrefix(), clientv3.WithLimit(listed),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend)))
	if e.lease != 0 {
		ops = append(ops, clientv3.OpGet(e.key()))
	}
	return ops
}

// commit carries out the operations in one transaction, and returns the keys that they read.
func (e *election) commit(ctx context.Context, ops []clientv3.Op) (list []*mvccpb.KeyValue, err error) {
	r, err := e.client.Txn(ctx).Then(ops...).Commit()
	if err != nil {
		return nil, err
	}
	for _, one := range r.Responses {
		for _, kv := range one.GetResponseRange().GetKvs() {
			if !slices.ContainsFunc(list, func(has *mvccpb.KeyValue) bool { return bytes.Equal(has.Key, kv.Key) }) {
				list = append(list, kv)
			}
		}
	}
	return list, nil
}

// do carries out the operations and reads the keys.
func (e *election) do(ctx context.Context, ops ...clientv3.Op) ([]*mvccpb.KeyValue, error) {
	return e.commit(ctx, e.reading(ops...))
}

// keyOf returns the key of an entry, and the revision of its creation. ok is false if the entry is none of this
// election.
func (e *election) keyOf(entry algorithms.Entry) (key string, created int64, ok bool) {
	at := strings.LastIndex(entry.Key, "@")
	if at < 0 {
		return "", 0, false
	}
	key = entry.Key[:at]
	created, err := strconv.ParseInt(entry.Key[at+1:], 10, 64)
	return key, created, err == nil && strings.HasPrefix(key, e.prefix)
}

// removing returns the operation that deletes the key of a dead process: if it is the very key, by its
// revision of creation, and has not been marked as lent since.
func (e *election) removing(dead algorithms.Entry) []clientv3.Op {
	key, rev, ok := e.keyOf(dead)
	if !ok || dead.ID == 0 || dead.Lent || e.lease != 0 && key == e.key() {
		return nil
	}
	made := store.Candidate{Cluster: e.c.Cluster, Peer: proto.Peer{ID: dead.ID, Incarnation: dead.Incarnation}}
	return []clientv3.Op{clientv3.OpTxn([]clientv3.Cmp{
		clientv3.Compare(clientv3.CreateRevision(key), "=", rev),
		clientv3.Compare(clientv3.Value(key), "=", made.Value(false)),
	}, []clientv3.Op{clientv3.OpDelete(key)}, nil)}
}

// grant gets a lease. If etcd's answer is lost, the lease ends by itself; nothing is attached to it.
func (e *election) grant(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	r, err := e.client.Grant(ctx, int64((e.c.TTL+time.Second-1)/time.Second))
	if err != nil {
		return 0, err
	}
	e.lease, e.fresh = r.ID, began
	return time.Duration(r.TTL) * time.Second, nil
}

// keep renews the lease. It forgets a lease that etcd has no more.
func (e *election) keep(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	ttl, err := e.keeper.keep(ctx, e.lease)
	switch {
	case err == nil:
		e.fresh = began
	case errors.Is(err, errGone):
		e.lease = 0
	}
	return ttl, err
}

// look reads the keys. In the meantime it sees to a lease that nothing is attached to, if the node is idle: so
// standing takes one request. It does not matter if that fails.
func (e *election) look(ctx context.Context, idle bool) ([]*mvccpb.KeyValue, error) {
	ops := e.reading()
	if idle {
		var ready sync.WaitGroup
		defer ready.Wait()
		ready.Go(func() {
			if e.lease != 0 && time.Since(e.fresh) > e.c.TTL/2 {
				_, _ = e.keep(ctx)
			}
			if e.lease == 0 {
				_, _ = e.grant(ctx)
			}
		})
	}
	return e.commit(ctx, ops)
}

// stand creates the own key unless it is there, and renews the lease.
func (e *election) stand(ctx context.Context, removing []clientv3.Op) (
	list []*mvccpb.KeyValue, keeps time.Duration, err error,
) {
	for range 3 {
		var kept error
		if e.lease == 0 {
			if keeps, err = e.grant(ctx); err != nil {
				return nil, 0, err
			}
			list, err = e.do(ctx, e.creating(removing)...)
		} else {
			list, keeps, kept, err = e.both(ctx, e.reading(e.creating(removing)...))
		}
		switch {
		case errors.Is(err, rpctypes.ErrLeaseNotFound), errors.Is(kept, errGone):
			e.lease = 0
			continue
		case err != nil || kept != nil:
			return nil, 0, cmp.Or(err, kept)
		}
		if settled, err := e.settle(ctx, list); err != nil || settled {
			return list, keeps, err
		}
	}
	return nil, 0, errors.New("the lease ends as soon as it is granted")
}

// both renews the lease while it carries out the operations. If both succeed, the lease was there after the ask
// had left, and the key was attached to it: which of them came first does not matter.
func (e *election) both(ctx context.Context, ops []clientv3.Op) (
	list []*mvccpb.KeyValue, keeps time.Duration, kept, err error,
) {
	var renewed sync.WaitGroup
	renewed.Go(func() { keeps, kept = e.keep(ctx) })
	list, err = e.commit(ctx, ops)
	renewed.Wait()
	return list, keeps, kept, err
}

// creating returns the operations, and the one that creates the own key unless it is there.
func (e *election) creating(ops []clientv3.Op) []clientv3.Op {
	key := e.key()
	return append(slices.Clip(ops), clientv3.OpTxn(
		[]clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(key), "=", 0)},
		[]clientv3.Op{clientv3.OpPut(key, e.c.Value(false), clientv3.WithLease(e.lease))}, nil))
}

// settle leaves only the oldest key of this process. It reports whether the list shows that key alone, and
// its lease is the one at hand.
func (e *election) settle(ctx context.Context, list []*mvccpb.KeyValue) (bool, error) {
	var kept clientv3.LeaseID
	settled := true
	for _, kv := range list {
		id := clientv3.LeaseID(kv.Lease)
		switch {
		case !e.isOurs(kv):
		case kept == 0:
			kept = id
		default:
			settled = false
			if err := e.drop(ctx, kv); err != nil {
				return false, err
			}
		}
	}
	settled = settled && kept == e.lease
	e.lease = kept
	return settled, nil
}

// renew renews the lease, and marks the key as lent if mark is set. It then reads whether the key is there.
func (e *election) renew(ctx context.Context, mayHave, mark bool) (
	list []*mvccpb.KeyValue, keeps time.Duration, err error,
) {
	if e.lease == 0 || !mayHave {
		list, err = e.do(ctx)
		return list, 0, err
	}
	if keeps, err = e.keep(ctx); err != nil && !errors.Is(err, errGone) {
		return nil, 0, err
	}
	if mark && e.lease != 0 {
		list, err = e.do(ctx, e.marking())
	} else {
		list, err = e.do(ctx)
	}
	return list, keeps, err
}

// marking returns the operation that marks the own key as lent. The revision of its creation stays.
func (e *election) marking() clientv3.Op {
	key, value := e.key(), e.c.Value(true)
	return clientv3.OpTxn([]clientv3.Cmp{
		clientv3.Compare(clientv3.CreateRevision(key), ">", 0),
		clientv3.Compare(clientv3.Value(key), "!=", value),
	}, []clientv3.Op{clientv3.OpPut(key, value, clientv3.WithLease(e.lease))}, nil)
}

// leave deletes the key of an entry of this process, and then revokes its lease: a request to create that key, which
// was given up and is still on its way, fails from then on.
func (e *election) leave(ctx context.Context, entry algorithms.Entry) ([]*mvccpb.KeyValue, error) {
	key, created, ok := e.keyOf(entry)
	if !ok || !entry.Of(e.c.Peer) {
		return e.do(ctx)
	}
	list, err := e.do(ctx, clientv3.OpTxn(
		[]clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(key), "=", created)},
		[]clientv3.Op{clientv3.OpDelete(key)}, nil))
	if err != nil || e.lease == 0 || key != e.key() || slices.ContainsFunc(list, e.isOurs) {
		return list, err
	}
	if err := e.revoke(ctx, e.lease); err != nil {
		return nil, err
	}
	e.lease = 0
	return list, nil
}

// drop removes a key of this process that is not the one at hand, and its lease.
func (e *election) drop(ctx context.Context, kv *mvccpb.KeyValue) error {
	if kv.Lease != 0 {
		return e.revoke(ctx, clientv3.LeaseID(kv.Lease))
	}
	_, err := e.client.Delete(ctx, string(kv.Key))
	return err
}

// revoke ends a lease, unless it has ended.
func (e *election) revoke(ctx context.Context, id clientv3.LeaseID) error {
	if id == 0 {
		return nil
	}
	if _, err := e.client.Revoke(ctx, id); err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return err
	}
	return nil
}
