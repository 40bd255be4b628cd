package storetest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/store"
	"github.com/ringleader-dev/ringleader/store/storetest"
)

func TestMemory(t *testing.T) {
	for _, queues := range []bool{false, true} {
		t.Run(fmt.Sprintf("queues %v", queues), func(t *testing.T) {
			storetest.Run(t, storetest.Rig{
				New: func(*testing.T) store.Store { return &storetest.Memory{Queues: queues} },
				TTL: 300 * time.Millisecond,
			})
		})
	}
}
