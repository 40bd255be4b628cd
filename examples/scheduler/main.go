// Scheduler: "Leader distributes tasks". Each node works; the leader hands out the jobs, and writes down with
// its token what is done. A job whose worker died is handed out again, and the first result counts: no job
// is lost, and none counts twice.
//
//	go run ./cmd/node fence --data-dir ringleader-data/scheduler/disk    # in a shell of its own
//	go run ./examples/scheduler -id 1                                    # in three more: -id 2, -id 3
//	curl -L -X POST 127.0.0.1:7201/jobs/sweep; curl -L 127.0.0.1:7202/done
package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader"
	"github.com/ringleader-dev/ringleader/examples/internal/cluster"
)

type jobs struct{ Todo, Done []string }

func main() {
	node := cluster.Join()
	go work(node)
	node.Serve(func(ctx context.Context, lease ringleader.Lease) (http.Handler, error) {
		doc, err := cluster.Load(ctx, node, lease.Token(), "jobs", jobs{})
		scheduler := http.NewServeMux()
		scheduler.Handle("POST /jobs/{job}", cluster.Answer(func(r *http.Request) (string, error) {
			return "will be done\n", doc.Update(func(j *jobs) error {
				if job := r.PathValue("job"); !slices.Contains(j.Todo, job) && !slices.Contains(j.Done, job) {
					j.Todo = append(j.Todo, job)
				}
				return nil
			})
		}))
		scheduler.Handle("POST /take", cluster.Answer(func(*http.Request) (job string, err error) {
			err = doc.Update(func(j *jobs) error {
				if len(j.Todo) == 0 {
					return cluster.Refused("nothing to do")
				}
				job = j.Todo[0]
				j.Todo = append(j.Todo[1:], job) // again once all others were handed out
				return nil
			})
			return job, err
		}))
		scheduler.Handle("POST /done/{job}", cluster.Answer(func(r *http.Request) (string, error) {
			return "counts\n", doc.Update(func(j *jobs) error {
				at := slices.Index(j.Todo, r.PathValue("job"))
				if at < 0 {
					return cluster.Refused("another was faster")
				}
				j.Todo, j.Done = slices.Delete(j.Todo, at, at+1), append(j.Done, r.PathValue("job"))
				return nil
			})
		}))
		scheduler.Handle("GET /done", cluster.Answer(func(*http.Request) (done string, err error) {
			err = doc.Update(func(j *jobs) error { done = strings.Join(j.Done, "\n"); return nil })
			return done, err
		}))
		return scheduler, err
	})
}

func work(node *cluster.Node) {
	for {
		job, err := node.Ask("POST", "/take")
		time.Sleep(10 * time.Millisecond) // the work
		if err == nil {
			if _, err = node.Ask("POST", "/done/"+job); err == nil {
				fmt.Println("did", job)
			}
		}
	}
}
