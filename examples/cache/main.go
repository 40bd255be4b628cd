// Cache: "Leader manages keys". The leader answers from its memory, and writes through it. A former leader
// whose memory is old does not answer from it: its lease is no longer valid.
//
//	go run ./cmd/node fence --data-dir ringleader-data/cache/disk    # in a shell of its own
//	go run ./examples/cache -id 1                                    # in three more: -id 2, -id 3
//	curl -L -X PUT --data blue 127.0.0.1:7201/keys/sky; curl -L 127.0.0.1:7202/keys/sky
package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/ringleader-dev/ringleader"
	"github.com/ringleader-dev/ringleader/examples/internal/cluster"
)

func main() {
	node := cluster.Join()
	node.Serve(func(ctx context.Context, lease ringleader.Lease) (http.Handler, error) {
		token := lease.Token()
		var mu sync.Mutex
		memory := map[string]string{} // what the storage holds, of the keys that were asked for

		owner := http.NewServeMux()
		owner.Handle("PUT /keys/{key}", cluster.Answer(func(r *http.Request) (string, error) {
			value, err := io.ReadAll(r.Body)
			if err != nil {
				return "", err
			}
			mu.Lock()
			defer mu.Unlock()
			if err := node.Put(ctx, token, r.PathValue("key"), value); err != nil {
				return "", err
			}
			memory[r.PathValue("key")] = string(value)
			return "written\n", nil
		}))
		owner.Handle("GET /keys/{key}", cluster.Answer(func(r *http.Request) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			value, hit := memory[r.PathValue("key")]
			if !hit {
				kept, err := node.Store.Get(ctx, token, r.PathValue("key"))
				if err != nil {
					return "", err
				}
				value = string(kept.Data)
				memory[r.PathValue("key")] = value
			}
			if !lease.Valid() { // asked after the memory was read: so the value was the newest then
				return "", errors.New("another may own the keys")
			}
			return value, nil
		}))
		return owner, node.Store.Seal(ctx, token)
	})
}
