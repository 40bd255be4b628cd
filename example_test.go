package ringleader_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/ringleader-dev/ringleader"
)

// work is done by one node at a time: it returns when ctx is done, or, to end the example, at once.
func work(context.Context, ringleader.Lease) error { return errors.New("the work is done") }

// A program that does its work while it leads, and only then. With other nodes it names all of
// them as Voters, and some in Join.
func Example() {
	node, err := ringleader.Start(context.Background(), ringleader.Config{
		ID: 1, Voters: []ringleader.NodeID{1},
		GossipBind: "127.0.0.1:0", ElectionBind: "127.0.0.1:0", HTTPBind: "127.0.0.1:0",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Leave()
	fmt.Println(node.Lead(context.Background(), work))
	// Output: the work is done
}
