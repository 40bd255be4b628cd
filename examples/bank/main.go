// Bank: "your bank account details are replicated at a few servers, but one of these servers is responsible for
// receiving all reads and writes". To the notes' three questions:
//
//   - "What if there are two leaders?" Each replica looks at the token, and refuses the former one.
//   - "What if servers disagree?" What a majority has written is so; and every majority has one that knows.
//   - "What if the leader crashes?" The next one reads a majority, and completes what it had begun.
//
// In three shells, with -id 1, 2 and 3:
//
//	go run ./examples/bank -id 1
//	curl -L -X POST 127.0.0.1:7201/deposits/salary-may/100    # each deposit has a name, and counts once
//	curl -L 127.0.0.1:7202/balance
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"strconv"

	"github.com/ringleader-dev/ringleader"
	"github.com/ringleader-dev/ringleader/examples/internal/cluster"
	"github.com/ringleader-dev/ringleader/fence/kv"
	"github.com/ringleader-dev/ringleader/fence/store"
)

func main() {
	node := cluster.Join()
	replica, err := store.Open(node.Dir + "/replica")
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/v1/", kv.NewHandler(replica, func(_ *http.Request, err error) { log.Print("refused: ", err) }))
	node.Serve(func(ctx context.Context, lease ringleader.Lease) (http.Handler, error) {
		account, err := open(ctx, node, lease.Token())
		leader := http.NewServeMux()
		leader.Handle("POST /deposits/{name}/{amount}", cluster.Answer(func(r *http.Request) (string, error) {
			amount, err := strconv.Atoi(r.PathValue("amount"))
			if err != nil {
				return "", cluster.Refused("not an amount")
			}
			return "booked\n", account.deposit(r.PathValue("name"), amount)
		}))
		leader.Handle("GET /balance", cluster.Answer(func(*http.Request) (string, error) {
			balance, err := account.read()
			return fmt.Sprintln(balance), err
		}))
		return leader, err
	})
}
