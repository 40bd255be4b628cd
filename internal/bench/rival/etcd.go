package rival

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"

	"github.com/ringleader-dev/ringleader/internal/storeurl"
)

// campaign is a candidate of the election that etcd's client has. The client keeps the lease alive: when the
// process ends, the server waits for the whole of it.
func campaign(ctx context.Context, r Rival, leads func()) error {
	u, err := storeurl.Split(r.Store)
	if err != nil {
		return err
	}
	place, err := storeurl.Read(u, "2379", false)
	if err != nil {
		return err
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: place.Servers, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer client.Close()
	session, err := concurrency.NewSession(client, concurrency.WithTTL(int(r.TTL/time.Second)))
	if err != nil {
		return err
	}
	defer session.Close() // its entry goes with the lease
	e := concurrency.NewElection(session, place.Path)
	if err := e.Campaign(ctx, r.Store); err != nil {
		return err
	}
	leads()
	<-ctx.Done()
	leave, cancel := leaving(ctx)
	defer cancel()
	return e.Resign(leave)
}
