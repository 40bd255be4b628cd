// Database: "Leader accepts writes". Two primaries at a time would each accept some, so the disk looks at
// the token that the primary shows with each.
//
//	go run ./cmd/node fence --data-dir ringleader-data/database/disk    # in a shell of its own
//	go run ./examples/database -id 1                                    # in three more: -id 2, -id 3
//	curl -L -X PUT --data blue 127.0.0.1:7201/rows/sky; curl -L 127.0.0.1:7202/rows/sky
package main

import (
	"context"
	"io"
	"net/http"

	"github.com/ringleader-dev/ringleader"
	"github.com/ringleader-dev/ringleader/examples/internal/cluster"
)

func main() {
	node := cluster.Join()
	node.Serve(func(ctx context.Context, lease ringleader.Lease) (http.Handler, error) {
		token := lease.Token()
		primary := http.NewServeMux()
		primary.Handle("PUT /rows/{key}", cluster.Answer(func(r *http.Request) (string, error) {
			row, err := io.ReadAll(r.Body)
			if err != nil {
				return "", err
			}
			return "written\n", node.Put(ctx, token, r.PathValue("key"), row)
		}))
		primary.Handle("GET /rows/{key}", cluster.Answer(func(r *http.Request) (string, error) {
			row, err := node.Store.Get(ctx, token, r.PathValue("key"))
			return string(row.Data), err
		}))
		return primary, node.Store.Seal(ctx, token) // from here on no primary of before can write
	})
}
