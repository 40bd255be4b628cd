package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/ringleader-dev/ringleader/examples/internal/cluster"
	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/fence/kv"
	"github.com/ringleader-dev/ringleader/fence/store"
)

// account is what the leader of one term knows of the account: its bookings, each of which is a key of
// the replicas. A booking is begun only when a majority has the one before.
type account struct {
	ctx      context.Context
	token    fence.Token
	replicas []kv.Client

	mu       sync.Mutex
	deposits map[string]int
}

// open seals the token at a majority, and completes the bookings that a leader of before has begun.
func open(ctx context.Context, node *cluster.Node, token fence.Token) (*account, error) {
	a := &account{ctx: ctx, token: token, deposits: map[string]int{}}
	for _, addr := range node.Addrs {
		a.replicas = append(a.replicas, kv.NewClient("http://"+addr))
	}
	for {
		next := a.next()
		found, err := majority(a.replicas, func(r kv.Client) (store.Value, error) {
			if err := r.Seal(ctx, token); err != nil {
				return store.Value{}, err
			}
			v, err := r.Get(ctx, token, next)
			if errors.Is(err, store.ErrNotFound) {
				err = nil // it has no such booking
			}
			return v, err
		})
		var latest store.Value // of two leaders' bookings of one number the higher token's is right
		for _, v := range found {
			if v.By.Term > latest.By.Term {
				latest = v
			}
		}
		if err != nil || latest.Data == nil {
			return a, err
		}
		var name string
		var amount int
		if _, err := fmt.Sscan(string(latest.Data), &name, &amount); err != nil {
			return nil, err
		}
		if err := a.book(name, amount); err != nil {
			return nil, err
		}
	}
}
