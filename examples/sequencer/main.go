// Sequencer: "Who provides total ordering for multicasts, i.e. who's the Sequencer". The leader numbers the
// messages, and every node delivers them in that order.
//
//	go run ./cmd/node fence --data-dir ringleader-data/sequencer/disk    # in a shell of its own
//	go run ./examples/sequencer -id 1                                    # in three more: -id 2, -id 3
//	curl -L --data hello 127.0.0.1:7201/messages
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader"
	"github.com/ringleader-dev/ringleader/examples/internal/cluster"
	"github.com/ringleader-dev/ringleader/fence/store"
)

func main() {
	node := cluster.Join()
	go deliver(node)
	node.Serve(func(ctx context.Context, lease ringleader.Lease) (http.Handler, error) {
		token := lease.Token()
		key := func(number any) string { return fmt.Sprint("message/", number) }
		err := node.Store.Seal(ctx, token)
		last := 0
		for err == nil { // go on after the last message of the sequencer before
			if _, err = node.Store.Get(ctx, token, key(last+1)); err == nil {
				last++
			}
		}
		if !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		var mu sync.Mutex
		sequencer := http.NewServeMux()
		sequencer.Handle("POST /messages", cluster.Answer(func(r *http.Request) (string, error) {
			text, err := io.ReadAll(r.Body)
			if err != nil {
				return "", err
			}
			mu.Lock()
			defer mu.Unlock()
			if err := node.Put(ctx, token, key(last+1), text); err != nil {
				return "", err // and nothing else is ever given that number: see Put
			}
			last++
			return fmt.Sprintln(last), nil
		}))
		sequencer.Handle("GET /messages/{number}", cluster.Answer(func(r *http.Request) (string, error) {
			message, err := node.Store.Get(ctx, token, key(r.PathValue("number")))
			return string(message.Data), err
		}))
		return sequencer, nil
	})
}

// deliver prints the messages in their order.
func deliver(node *cluster.Node) {
	for next := 1; ; {
		text, err := node.Ask("GET", fmt.Sprint("/messages/", next))
		if err != nil {
			time.Sleep(50 * time.Millisecond) // there is none yet
			continue
		}
		fmt.Println("delivers", next, text)
		next++
	}
}
