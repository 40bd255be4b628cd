package rival

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/ringleader-dev/ringleader/internal/storeurl"
)

// silent logs nothing.
type silent struct{}

func (silent) Printf(string, ...any) {}

// zkLock holds the lock of go-zookeeper. The session keeps it: when the process ends, the server waits for a
// whole timeout of the session.
func zkLock(ctx context.Context, r Rival, leads func()) error {
	u, err := storeurl.Split(r.Store)
	if err != nil {
		return err
	}
	place, err := storeurl.Read(u, "2181", false)
	if err != nil {
		return err
	}
	conn, _, err := zk.Connect(place.Servers, r.TTL, zk.WithLogger(silent{}))
	if err != nil {
		return err
	}
	defer conn.Close() // its entry goes with the session
	defer context.AfterFunc(ctx, conn.Close)()
	lock := zk.NewLock(conn, "/"+place.Path, zk.WorldACL(zk.PermAll))
	if err := lock.Lock(); err != nil {
		return err
	}
	leads()
	<-ctx.Done()
	return nil
}
