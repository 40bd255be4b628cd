package main

import (
	"context"
	"fmt"
	"log"
	"path/filepath"
	"sync"

	"github.com/ringleader-dev/ringleader"
)

// side starts nodes that reach each other and nobody else, as on one side of a partition. They keep their
// votes in dir. With voters a majority of these makes the leader; with none, whoever ranks highest among
// those that answer leads.
func side(dir string, voters []ringleader.NodeID, ids ...ringleader.NodeID) (nodes []*ringleader.Node) {
	config := ringleader.Config{
		Voters: voters, Profile: "local", GossipBind: "127.0.0.1:0", ElectionBind: "127.0.0.1:0",
	}
	for _, id := range ids {
		config.ID, config.DataDir = id, filepath.Join(dir, fmt.Sprint(id))
		n, err := ringleader.Start(context.Background(), config)
		if err != nil {
			log.Fatal(err)
		}
		config.Join = append(config.Join, n.GossipAddr())
		nodes = append(nodes, n)
	}
	return nodes
}

// leave ends nodes, all at once.
func leave(nodes ...*ringleader.Node) {
	var leaving sync.WaitGroup
	defer leaving.Wait()
	for _, n := range nodes {
		leaving.Go(func() { _ = n.Leave() })
	}
}

// whenLeading calls f each time that a node begins to lead.
func whenLeading(n *ringleader.Node, f func(context.Context, ringleader.Lease)) {
	go func() {
		_ = n.Lead(context.Background(), func(ctx context.Context, lease ringleader.Lease) error {
			f(ctx, lease)
			<-ctx.Done()
			return nil
		})
	}()
}
