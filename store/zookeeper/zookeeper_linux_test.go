package zookeeper

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/store"
	"github.com/ringleader-dev/ringleader/store/storetest"
)

const ttl = 5 * tick

func at(t *testing.T, path string, servers ...*server) store.Store {
	t.Helper()
	c := Config{Path: path, Tick: tick}
	for _, s := range servers {
		c.Servers = append(c.Servers, s.address)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStoreZooKeeper(t *testing.T) {
	s := start(t)
	var count atomic.Int64
	storetest.Run(t, storetest.Rig{TTL: ttl, Queues: true, New: func(t *testing.T) store.Store {
		return at(t, fmt.Sprintf("/elections/%d", count.Add(1)), s)
	}})
}
