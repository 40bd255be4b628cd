package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// keyNodes are the nodes whose keys a command is about: all that one of them believes alive, or only some of them, as
// whoever has a key of gossip can make the nodes list others that do not exist.
type keyNodes struct {
	nodes   []keyHolder
	absent  []proto.NodeID // nodes of the cluster that are not among them
	dropped string         // that one of them drops what maybe an absent one seals; "" if it does not
	only    []proto.NodeID // that were named; none means all
	voters  []proto.NodeID // which are nodes of this cluster for certain
}

// keyHolder is one of them. order gives it an order.
type keyHolder struct {
	id    proto.NodeID
	order func(context.Context, httpapi.KeyOrder) (httpapi.GossipKeys, error)
}

func keyNodesOf(ctx context.Context, c httpapi.Client, only []proto.NodeID) (*keyNodes, error) {
	members, err := c.Members(ctx)
	if err != nil {
		return nil, err
	}
	status, err := c.Status(ctx)
	if err != nil {
		return nil, err
	}
	n := &keyNodes{only: only, voters: status.Voters}
	for _, m := range members.Members {
		if len(only) > 0 && !slices.Contains(only, m.ID) {
			continue
		}
		other := c
		if m.ID != members.Self {
			other.Addr = m.HTTPAddr
		}
		n.nodes = append(n.nodes, holderAt(other, m.ID))
	}
	n.missing(status, members.Members)
	for _, id := range only {
		if !slices.ContainsFunc(n.nodes, func(h keyHolder) bool { return h.id == id }) {
			return nil, fmt.Errorf("--only names node %v, which node %v does not believe alive", id, members.Self)
		}
	}
	return n, nil
}

// missing notes who is not there, as a node says: voters, and those that it does not believe alive any more.
func (n *keyNodes) missing(s httpapi.Status, there []httpapi.Member) {
	away := slices.Clone(s.Voters)
	for _, g := range s.Gone {
		away = append(away, g.ID)
	}
	slices.Sort(away)
	n.absent = slices.DeleteFunc(slices.Compact(away), func(id proto.NodeID) bool {
		listed := slices.ContainsFunc(there, func(m httpapi.Member) bool { return m.ID == id })
		return listed || slices.Contains(n.only, id)
	})
	if dropped := s.Counters["gossip_dropped_unknown_key"]; dropped > 0 && len(n.absent) > 0 {
		n.dropped = fmt.Sprintf("node %v dropped %s sealed with a key that it has not, since it started: its log says "+
			"from where", s.Self, words.Plural(int(dropped), "message"))
	}
}

// holderAt returns the node that a client asks, which must be the one with the id. The client has no address for a node
// that serves HTTP to no other machine.
func holderAt(c httpapi.Client, id proto.NodeID) keyHolder {
	return keyHolder{id, func(ctx context.Context, o httpapi.KeyOrder) (httpapi.GossipKeys, error) {
		if c.Addr == "" {
			return httpapi.GossipKeys{}, errors.New("it serves HTTP to no other machine: give it an address that " +
				"other machines reach (the setting http-bind)")
		}
		k, err := c.ChangeKeys(ctx, o)
		switch {
		case err == nil && k.Self != id:
			err = fmt.Errorf("node %v answers at %s", k.Self, c.Addr)
		case errors.Is(err, context.DeadlineExceeded) && errors.Is(err, httpapi.ErrUnreachable):
			err = silence{c.Addr}
		}
		return k, err
	}}
}

// silence is the error that a node does not answer, at this address.
type silence struct{ addr string }

func (s silence) Error() string {
	return fmt.Sprintf("does not answer at %s within %.0f s: it hangs, is paused, or is cut off from here", s.addr,
		(httpapi.Patience + httpapi.DoPatience).Seconds())
}

func (silence) Unwrap() error { return context.DeadlineExceeded }

// do gives an order to nodes, to all at once. The table has the keys of those that carried it out; the errors say which
// did not.
func do(ctx context.Context, nodes []keyHolder, o httpapi.KeyOrder) (keyTable, map[proto.NodeID]error) {
	answers, errs := make([]httpapi.GossipKeys, len(nodes)), make([]error, len(nodes))
	var all sync.WaitGroup
	for i, node := range nodes {
		all.Go(func() { answers[i], errs[i] = node.order(ctx, o) })
	}
	all.Wait()
	var table keyTable
	failed := map[proto.NodeID]error{}
	for i, node := range nodes {
		if errs[i] != nil {
			says := "node %v: %w"
			if _, silent := errors.AsType[silence](errs[i]); silent {
				says = "node %v %w"
			}
			failed[node.id] = fmt.Errorf(says, node.id, errs[i])
			continue
		}
		table.put(node.id, answers[i].Keys)
	}
	return table, failed
}

// list asks all nodes for their keys.
func (n *keyNodes) list(ctx context.Context) (keyTable, error) {
	return n.listed(ctx, map[proto.NodeID]error{})
}

// listed asks the nodes for their keys, but for those that kept the command waiting before. The error has what failed
// then, too.
func (n *keyNodes) listed(ctx context.Context, failed map[proto.NodeID]error) (keyTable, error) {
	table, unread := do(ctx, slices.DeleteFunc(slices.Clone(n.nodes), func(h keyHolder) bool {
		return errors.Is(failed[h.id], context.DeadlineExceeded)
	}), httpapi.KeyOrder{Do: httpapi.ListKeys})
	table.Absent, table.dropped, table.only = n.absent, n.dropped, n.only
	var errs []error
	for _, node := range n.nodes {
		if !slices.Contains(table.Nodes, node.id) {
			table.Failed = append(table.Failed, node.id)
		}
		errs = append(errs, cmp.Or(failed[node.id], unread[node.id]))
	}
	return table, errors.Join(errs...)
}

// change gives an order to the first node and, once that has carried it out, to all others at once. So the first node
// decides between two operators: what the one removes there the other uses nowhere, and the other way round. Then it
// asks all nodes what they have: only that counts, since another operator may have been at work meanwhile.
func (n *keyNodes) change(ctx context.Context, o httpapi.KeyOrder) (keyTable, error) {
	_, failed := do(ctx, n.nodes[:1], o)
	if len(failed) == 0 {
		_, failed = do(ctx, n.nodes[1:], o)
	}
	table, err := n.listed(ctx, failed)
	if len(table.Failed) > 0 {
		err = fmt.Errorf("%w\n%s still do it: ringleader keys list shows what %s then", err,
			nodesDo(table.Failed, "may", "may"), words.Either(len(table.Failed), "it has", "they have"))
	}
	return table, err
}

// before asks all nodes for their keys before something is changed. Unless all answer, nothing is.
func (n *keyNodes) before(ctx context.Context) (keyTable, error) {
	table, err := n.list(ctx)
	if err != nil {
		return table, fmt.Errorf("%w\nnothing was changed: it is done at all nodes that are alive, or at "+
			"none%s", err, n.advice(err, table.Failed))
	}
	return table, nil
}

// advice says what to do about nodes that failed before something was changed. Voters are nodes of this cluster.
func (n *keyNodes) advice(err error, failed []proto.NodeID) string {
	if _, silent := errors.AsType[silence](err); !silent {
		return n.without(failed)
	}
	others := slices.DeleteFunc(slices.Clone(failed), func(id proto.NodeID) bool {
		return slices.Contains(n.voters, id)
	})
	wait := words.Either(len(failed), "; wait until it answers, or end it, and run this again: a node that is down "+
		"keeps its keys, and is let in when it is back", "; wait until they answer, or end them, and run this again: "+
		"nodes that are down keep their keys, and are let in when they are back")
	if len(others) == 0 {
		return wait
	}
	return wait + n.without(others)
}

// without says how to leave nodes out of a command; "" if that would leave none.
func (n *keyNodes) without(some []proto.NodeID) string {
	var rest []string
	for _, node := range n.nodes {
		if !slices.Contains(some, node.id) {
			rest = append(rest, node.id.String())
		}
	}
	if len(rest) == 0 {
		return ""
	}
	return words.Either(len(some), "; if it is no node of this cluster, leave it out",
		"; if they are no nodes of this cluster, leave them out") + ": --only " + strings.Join(rest, ",")
}

// nobodyHas returns the error that no node has a key.
func nobodyHas(fingerprint string, all keyTable) error {
	var there []string
	for _, row := range all.Keys {
		there = append(there, row.Fingerprint)
	}
	return fmt.Errorf("no node that answers has key %s: nothing was changed; there are %s", fingerprint,
		strings.Join(there, ", "))
}

func (n *keyNodes) add(ctx context.Context, key []byte, fromFile bool) (keyTable, error) {
	if before, err := n.before(ctx); err != nil {
		return before, err
	}
	fingerprint := credentials.Fingerprint(key)
	table, err := n.change(ctx, httpapi.KeyOrder{Do: httpapi.AddKey, Key: key})
	if err == nil && len(table.lacking(fingerprint)) == 0 {
		table.Next = fmt.Sprintf("key %s was added; next: ringleader keys use %s", fingerprint, fingerprint)
		return table, nil
	}
	again := "run this again, with the same file"
	switch {
	case table.row(fingerprint) == nil && len(table.Failed) == 0:
		again = "nothing was changed"
	case !fromFile:
		again = fmt.Sprintf("take it back with ringleader keys remove %s, and run this again", fingerprint)
	}
	return table, errors.Join(err, fmt.Errorf("not all nodes have key %s: %s", fingerprint, again),
		table.disagreement(fingerprint))
}

func (n *keyNodes) use(ctx context.Context, fingerprint string) (keyTable, error) {
	before, err := n.before(ctx)
	if err != nil {
		return before, err
	}
	row := before.row(fingerprint)
	if row == nil {
		return before, nobodyHas(fingerprint, before)
	}
	if lack := before.lacking(fingerprint); len(lack) > 0 {
		return before, errors.Join(fmt.Errorf("%s not key %s, and would not open what the others seal: nothing "+
			"was changed; give %s the gossip.key of node %v%s", nodesHave(lack), fingerprint,
			words.Either(len(lack), "it", "them"), row.Have[0], n.without(lack)), before.disagreement(""))
	}
	table, err := n.change(ctx, httpapi.KeyOrder{Do: httpapi.UseKey, Fingerprint: fingerprint})
	if row := table.row(fingerprint); err != nil || row == nil || len(row.Seal) < len(table.Nodes) {
		return table, errors.Join(err, fmt.Errorf("not all nodes seal with key %s: run this again, unless another "+
			"operator chose another key", fingerprint), table.disagreement(fingerprint))
	}
	table.Next = fmt.Sprintf("%s with key %s now", nodesDo(table.Nodes, "seals", "seal"), fingerprint)
	next := "; next: "
	if len(table.Absent) > 0 {
		next = "; next, once all that stay are there: "
	}
	for _, row := range table.Keys {
		if row.Fingerprint != fingerprint {
			table.Next += next + "ringleader keys remove " + row.Fingerprint
		}
	}
	return table, nil
}

func (n *keyNodes) remove(ctx context.Context, fingerprint string) (keyTable, error) {
	before, err := n.before(ctx)
	if err != nil {
		return before, err
	}
	row := before.row(fingerprint)
	switch {
	case row == nil:
		return before, nobodyHas(fingerprint, before)
	case len(row.Seal) > 0:
		return before, errors.Join(fmt.Errorf("%s with key %s: nothing was changed; use another one first",
			nodesDo(row.Seal, "seals", "seal"), fingerprint), before.disagreement(""))
	}
	table, err := n.change(ctx, httpapi.KeyOrder{Do: httpapi.RemoveKey, Fingerprint: fingerprint})
	if err != nil || table.row(fingerprint) != nil {
		return table, errors.Join(err, fmt.Errorf("some nodes still open what is sealed with key %s: run this again",
			fingerprint), table.disagreement(fingerprint))
	}
	table.Next = fmt.Sprintf("%s not key %s any more", nodesHave(table.Nodes), fingerprint)
	return table, nil
}

func nodesHave(ids []proto.NodeID) string { return nodesDo(ids, "has", "have") }

// nodesDo returns "node 1 has", or "nodes 1 2 have".
func nodesDo(ids []proto.NodeID, one, many string) string {
	return words.Either(len(ids), "node ", "nodes ") + joinIDs(ids) + " " + words.Either(len(ids), one, many)
}
