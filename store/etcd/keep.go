package etcd

import (
	"context"
	"errors"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// keeper renews leases one at a time, on a stream that stays open: the client would log in for each new one.
// The client's own KeepAliveOnce asks again without a pause while the server is away.
type keeper struct {
	remote pb.LeaseClient
	stream pb.Lease_LeaseKeepAliveClient // nil if none is open
	cancel context.CancelFunc
}

// errGone says that etcd has no such lease any more.
var errGone = rpctypes.ErrLeaseNotFound

// keep renews a lease and returns its TTL. The stream may have ended since the last time: then keep opens
// another.
func (k *keeper) keep(ctx context.Context, id clientv3.LeaseID) (ttl time.Duration, err error) {
	for range 2 {
		old := k.stream != nil
		ttl, err = k.once(ctx, id)
		if err == nil || errors.Is(err, errGone) {
			return ttl, err
		}
		k.close()
		if !old || ctx.Err() != nil {
			break
		}
	}
	return 0, err
}

func (k *keeper) once(ctx context.Context, id clientv3.LeaseID) (time.Duration, error) {
	if k.stream == nil {
		own, cancel := context.WithCancel(context.Background())
		k.cancel = cancel
		stop := context.AfterFunc(ctx, cancel)
		stream, err := k.remote.LeaseKeepAlive(own)
		if err != nil {
			return 0, err
		}
		stop()
		k.stream = stream
	}
	defer context.AfterFunc(ctx, k.cancel)()
	if err := k.stream.Send(&pb.LeaseKeepAliveRequest{ID: int64(id)}); err != nil {
		_, err = k.stream.Recv() // the error of Send only says that the stream has ended
		return 0, err
	}
	r, err := k.stream.Recv()
	switch {
	case err != nil:
		return 0, err
	case r.TTL <= 0:
		return 0, errGone
	}
	return time.Duration(r.TTL) * time.Second, nil
}

func (k *keeper) close() {
	if k.cancel != nil {
		k.cancel()
	}
	k.stream, k.cancel = nil, nil
}
