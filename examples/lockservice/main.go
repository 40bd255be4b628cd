// Lock service: "Leader grants locks". A lock has one holder, also when the leader that granted it is dead.
// Each grant has a higher number: the holder's own fencing token.
//
//	go run ./cmd/node fence --data-dir ringleader-data/lockservice/disk    # in a shell of its own
//	go run ./examples/lockservice -id 1                                    # in three more: -id 2, -id 3
//	curl -L -X POST 127.0.0.1:7201/locks/printer/alice      # the number of the grant, or who holds it
//	curl -L -X DELETE 127.0.0.1:7202/locks/printer/alice
package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/ringleader-dev/ringleader"
	"github.com/ringleader-dev/ringleader/examples/internal/cluster"
)

type grant struct {
	Holder string
	Number int
}

type locks struct {
	Held   map[string]grant
	Grants int // the number of the last one
}

func main() {
	node := cluster.Join()
	node.Serve(func(ctx context.Context, lease ringleader.Lease) (http.Handler, error) {
		empty := locks{Held: map[string]grant{}}
		doc, err := cluster.Load(ctx, node, lease.Token(), "locks", empty)
		service := http.NewServeMux()
		service.Handle("POST /locks/{name}/{who}", cluster.Answer(func(r *http.Request) (answer string, err error) {
			name, who := r.PathValue("name"), r.PathValue("who")
			err = doc.Update(func(l *locks) error {
				held, is := l.Held[name]
				switch {
				case !is:
					l.Grants++
					l.Held[name] = grant{who, l.Grants}
				case held.Holder != who:
					return cluster.Refused(held.Holder + " holds it")
				}
				answer = fmt.Sprintln(l.Held[name].Number) // the same again for who missed the answer
				return nil
			})
			return answer, err
		}))
		service.Handle("DELETE /locks/{name}/{who}", cluster.Answer(func(r *http.Request) (string, error) {
			err := doc.Update(func(l *locks) error {
				if name := r.PathValue("name"); l.Held[name].Holder == r.PathValue("who") {
					delete(l.Held, name)
				}
				return nil
			})
			return "free\n", err
		}))
		return service, err
	})
}
