// Queue: "Leader assigns partitions". Each node consumes the partitions that the leader assigned to it, and
// the leader takes an offset only from a partition's owner: each partition has one.
//
//	go run ./cmd/node fence --data-dir ringleader-data/queue/disk    # in a shell of its own
//	go run ./examples/queue -id 1                                    # in three more: -id 2, -id 3; kill one
package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader"
	"github.com/ringleader-dev/ringleader/examples/internal/cluster"
)

// silence is for how long a consumer may say nothing. If it lives on all the same, that does no harm.
const silence = 2 * time.Second

// queue is what the leader knows of each partition.
type queue [6]struct {
	Owner string
	Next  int // the first offset that was not consumed
}

func main() {
	node := cluster.Join()
	go consume(node)
	node.Serve(func(ctx context.Context, lease ringleader.Lease) (http.Handler, error) {
		doc, err := cluster.Load(ctx, node, lease.Token(), "queue", queue{})
		heard := map[string]time.Time{} // guarded by doc
		leader := http.NewServeMux()
		leader.Handle("POST /assign/{who}", cluster.Answer(func(r *http.Request) (work string, err error) {
			who := r.PathValue("who")
			err = doc.Update(func(q *queue) error {
				heard[who] = time.Now()
				maps.DeleteFunc(heard, func(_ string, at time.Time) bool { return time.Since(at) > silence })
				alive := slices.Sorted(maps.Keys(heard))
				for p := range q {
					if q[p].Owner = alive[p%len(alive)]; q[p].Owner == who {
						work += fmt.Sprintln(p, q[p].Next)
					}
				}
				return nil
			})
			return work, err
		}))
		leader.Handle("POST /consumed/{p}/{offset}/{who}", cluster.Answer(func(r *http.Request) (string, error) {
			return "", doc.Update(func(q *queue) error {
				for p := range q {
					if r.URL.Path == fmt.Sprintf("/consumed/%d/%d/%s", p, q[p].Next, q[p].Owner) {
						q[p].Next++
						return nil
					}
				}
				return cluster.Refused("not yours, or not the next")
			})
		}))
		return leader, err
	})
}

func consume(node *cluster.Node) {
	for ; ; time.Sleep(20 * time.Millisecond) {
		work, _ := node.Ask("POST", fmt.Sprint("/assign/", node.ID))
		for line := range strings.Lines(work) {
			var p, offset int
			if _, err := fmt.Sscan(line, &p, &offset); err != nil {
				continue
			}
			if _, err := node.Ask("POST", fmt.Sprintf("/consumed/%d/%d/%d", p, offset, node.ID)); err == nil {
				fmt.Println("consumed", p, offset)
			}
		}
	}
}
