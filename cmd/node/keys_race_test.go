package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// keyRace is nodes at which two operators, A and B, change the keys at once. Each node takes their requests in an order
// of its own, as "AABABB" says.
type keyRace struct {
	nodes  []*keyNode
	orders []string
	ended  map[byte]bool
	lost   httpapi.KeyVerb // whose answers get lost

	mu      sync.Mutex
	waiting map[keyTurn]chan struct{}
}

// keyTurn names a request: an operator has one at a time at each node.
type keyTurn struct {
	who  byte
	node proto.NodeID
}

func newKeyRace(orders, keys []string) *keyRace {
	r := &keyRace{orders: slices.Clone(orders), ended: map[byte]bool{}, waiting: map[keyTurn]chan struct{}{}}
	for i := range orders {
		r.nodes = append(r.nodes, &keyNode{id: proto.NodeID(i + 1), keys: slices.Clone(keys)})
	}
	return r
}

// seenBy returns the nodes as an operator's command asks them; who 0 is asked to wait for nobody.
func (r *keyRace) seenBy(who byte, nodes []*keyNode) *keyNodes {
	n := &keyNodes{}
	for _, node := range nodes {
		n.nodes = append(n.nodes, keyHolder{node.id, func(
			ctx context.Context, o httpapi.KeyOrder,
		) (httpapi.GossipKeys, error) {
			if err := r.wait(ctx, keyTurn{who, node.id}); err != nil {
				return httpapi.GossipKeys{}, err
			}
			keys, err := node.ChangeKeys(ctx, o)
			if who != 0 && o.Do == r.lost {
				err = httpapi.ErrUnreachable
			}
			return httpapi.GossipKeys{Self: node.id, Keys: keys}, err
		}})
	}
	return n
}

func (r *keyRace) wait(ctx context.Context, t keyTurn) error {
	if t.who == 0 {
		return nil
	}
	turn := make(chan struct{})
	r.mu.Lock()
	r.waiting[t] = turn
	r.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// grant lets the request through whose turn it is at some node. It reports whether there was one.
func (r *keyRace) grant() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, node := range r.nodes {
		r.orders[i] = strings.TrimLeftFunc(r.orders[i], func(who rune) bool { return r.ended[byte(who)] })
		if r.orders[i] == "" {
			continue
		}
		t := keyTurn{r.orders[i][0], node.id}
		if turn := r.waiting[t]; turn != nil {
			close(turn)
			delete(r.waiting, t)
			r.orders[i] = r.orders[i][1:]
			return true
		}
	}
	return false
}

// run lets both commands end. It reports whether they can, with these orders: a command asks no node for its next step
// before all have done the last.
func (r *keyRace) run(t *testing.T, cut int, a, b keyStep) (errs []error, possible bool) {
	errs = make([]error, 2)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan byte, 2)
		go func() { _, errs[0] = a.do(r.seenBy('A', r.nodes), ctx); ended <- 'A' }()
		go func() { _, errs[1] = b.do(r.seenBy('B', r.nodes[cut:]), ctx); ended <- 'B' }()
		for {
			synctest.Wait()
			for len(ended) > 0 {
				r.ended[<-ended] = true
			}
			if possible = len(r.ended) == 2; possible || !r.grant() {
				break
			}
		}
		cancel()
		synctest.Wait()
	})
	return errs, possible
}

// whole returns an error unless all nodes have the same keys, and seal with the same.
func (r *keyRace) whole() error {
	for _, n := range r.nodes {
		if !slices.Equal(slices.Sorted(slices.Values(n.keys)), slices.Sorted(slices.Values(r.nodes[0].keys))) ||
			n.keys[0] != r.nodes[0].keys[0] {
			return fmt.Errorf("node %v has keys %v, node 1 has %v", n.id, n.keys, r.nodes[0].keys)
		}
	}
	return nil
}

// cutOff returns an error if a node seals with a key that another lacks.
func (r *keyRace) cutOff() error {
	for _, n := range r.nodes {
		for _, other := range r.nodes {
			if !slices.Contains(other.keys, n.keys[0]) {
				return fmt.Errorf("node %v seals with %s, node %v has %v", n.id, n.keys[0], other.id, other.keys)
			}
		}
	}
	return nil
}

// healed does what the first of the errors says that heals, and reports whether no node is cut off then.
func (r *keyRace) healed(t *testing.T, errs []error) bool {
	for _, err := range errs {
		if err == nil {
			continue
		}
		if _, words, ok := strings.Cut(err.Error(), "ringleader keys use "); ok && len(words) >= len(oldKey) {
			_, err := r.seenBy(0, r.nodes).use(t.Context(), words[:len(oldKey)])
			if err == nil && r.cutOff() == nil {
				return true
			}
		}
	}
	return false
}

// keyStep is a command.
type keyStep struct {
	name string
	do   func(*keyNodes, context.Context) (keyTable, error)
}

// keyOrders returns all orders in which a node can take three requests of A and three of B.
func keyOrders(a, b int) (all []string) {
	if a+b == 0 {
		return []string{""}
	}
	for _, next := range []struct {
		who  string
		a, b int
	}{{"A", a - 1, b}, {"B", a, b - 1}} {
		if next.a >= 0 && next.b >= 0 {
			for _, rest := range keyOrders(next.a, next.b) {
				all = append(all, next.who+rest)
			}
		}
	}
	return all
}

// keyRaceCase is two commands at once.
type keyRaceCase struct {
	a, b       keyStep
	keys       []string
	nodes, cut int             // B leaves the first nodes out
	fails      httpapi.KeyVerb // at the last node, which has no space
	lost       httpapi.KeyVerb // whose answers get lost
}

func (c keyRaceCase) name() string {
	return fmt.Sprintf("%s and %s from node %d on, fails %q, lost %q", c.a.name, c.b.name, c.cut+1, c.fails, c.lost)
}

// try runs the commands in all orders.
func (c keyRaceCase) try(t *testing.T) {
	tried, cutOff := 0, 0
	for _, orders := range keyProducts(c.nodes, keyOrders(3, 3)) {
		r := newKeyRace(orders, c.keys)
		r.lost = c.lost
		if c.fails != "" {
			r.nodes[c.nodes-1].fails = map[httpapi.KeyVerb]error{c.fails: errors.New("no space is left")}
		}
		errs, possible := r.run(t, c.cut, c.a, c.b)
		if !possible {
			continue
		}
		tried++
		if err := r.whole(); c.cut == 0 && errors.Join(errs...) == nil && err != nil {
			t.Fatalf("orders %v: both say that it is done, but %v", orders, err)
		}
		if err := r.cutOff(); err != nil {
			cutOff++
			if c.cut == 0 || !r.healed(t, errs) {
				t.Fatalf("orders %v: %v\nA: %v\nB: %v", orders, err, errs[0], errs[1])
			}
		}
	}
	t.Logf("%d orders, a node is cut off in %d", tried, cutOff)
}

// docs/OPERATING.md: "two operators at once do no harm: the first node lets one go first, no node seals with a key
// that another lacks, and if both commands end with 0, all nodes seal with the same. Where the commands go to different
// nodes a node may seal with a key that another lacks: then a command ends with 1 and names what mends it". Every order
// in which the requests of two commands can reach the nodes is tried, and what a command names is done.
func TestKeysOfTwoOperators(t *testing.T) {
	key := credentials.NewGossipKey()
	x, y := credentials.Fingerprint(key), "ba9876543210"
	use := func(k string) keyStep {
		return keyStep{"use " + k, func(n *keyNodes, ctx context.Context) (keyTable, error) {
			return n.use(ctx, k)
		}}
	}
	remove := func(k string) keyStep {
		return keyStep{"remove " + k, func(n *keyNodes, ctx context.Context) (keyTable, error) {
			return n.remove(ctx, k)
		}}
	}
	add := keyStep{"add " + x, func(n *keyNodes, ctx context.Context) (keyTable, error) {
		return n.add(ctx, key, true)
	}}
	three := []string{oldKey, x, y}
	for _, c := range []keyRaceCase{
		{a: use(x), b: remove(x), keys: three, nodes: 3},
		{a: use(x), b: use(y), keys: three, nodes: 3},
		{a: use(x), b: remove(y), keys: three, nodes: 2},
		{a: use(x), b: remove(oldKey), keys: three, nodes: 2},
		{a: use(x), b: use(x), keys: three, nodes: 2},
		{a: use(x), b: add, keys: []string{oldKey}, nodes: 2},
		{a: remove(x), b: add, keys: three, nodes: 2},
		{a: remove(x), b: remove(y), keys: three, nodes: 2},
		{a: add, b: add, keys: []string{oldKey}, nodes: 2},
		{a: use(x), b: remove(x), keys: three, nodes: 2, fails: httpapi.UseKey},
		{a: use(x), b: remove(x), keys: three, nodes: 2, fails: httpapi.RemoveKey},
		{a: use(x), b: remove(x), keys: three, nodes: 2, lost: httpapi.UseKey},
		{a: use(x), b: remove(x), keys: three, nodes: 2, lost: httpapi.RemoveKey},
		{a: use(x), b: use(y), keys: three, nodes: 2, fails: httpapi.UseKey},
		{a: use(x), b: use(y), keys: three, nodes: 2, lost: httpapi.UseKey},
		{a: use(x), b: remove(x), keys: three, nodes: 3, cut: 1},
		{a: use(x), b: use(y), keys: three, nodes: 2, cut: 1},
		{a: remove(x), b: use(x), keys: three, nodes: 3, cut: 1},
	} {
		t.Run(c.name(), c.try)
	}
}

// keyProducts returns all ways to give each node one of the orders.
func keyProducts(nodes int, orders []string) (all [][]string) {
	if nodes == 0 {
		return [][]string{nil}
	}
	for _, rest := range keyProducts(nodes-1, orders) {
		for _, order := range orders {
			all = append(all, append(slices.Clone(rest), order))
		}
	}
	return all
}
