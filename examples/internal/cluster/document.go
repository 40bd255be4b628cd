package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"sync"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/fence/store"
)

// Put writes with the leader's token. A write without an answer may be done, or may yet be: the leader
// knows no more what the storage holds, so it ends. The next one seals its token, which refuses what is
// late, and then reads. So no write is given up either when the leadership ends: it might arrive after this node
// leads again in the same term, with the same token.
func (n *Node) Put(ctx context.Context, token fence.Token, key string, data []byte) error {
	if err := n.Store.Put(context.WithoutCancel(ctx), token, key, data); err != nil {
		log.Fatal(err)
	}
	return nil
}

// Document is what the leader of one term knows: its memory, and the same in the storage. Any goroutine
// may call its methods.
type Document[T any] struct {
	mu    sync.Mutex
	value T
	save  func(data []byte) error
}

// Load seals the token, and then reads the document that the leaders before have left; empty if none has.
func Load[T any](ctx context.Context, n *Node, token fence.Token, key string, empty T) (*Document[T], error) {
	d := &Document[T]{value: empty}
	d.save = func(data []byte) error { return n.Put(ctx, token, key, data) }
	if err := n.Store.Seal(ctx, token); err != nil {
		return nil, err
	}
	kept, err := n.Store.Get(ctx, token, key)
	if errors.Is(err, store.ErrNotFound) {
		return d, nil
	}
	if err != nil {
		return nil, err
	}
	return d, json.Unmarshal(kept.Data, &d.value)
}

// Update changes the document and saves it. A change that returns an error has changed nothing.
func (d *Document[T]) Update(change func(*T) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := change(&d.value); err != nil {
		return err
	}
	data, err := json.Marshal(d.value)
	if err != nil {
		return err
	}
	return d.save(data)
}
