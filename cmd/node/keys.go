package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

func keysCommand() *cli.Command {
	return &cli.Command{
		Name:  "keys",
		Usage: "rotate the keys of gossip on the live cluster",
		Description: "A key is named by its fingerprint, and never shown. To rotate: add one, use\n" +
			"it, remove the old one. Each step is done at every node that the node of\n" +
			"--addr believes alive, and kept on the disk of each. A step that was done at\n" +
			"some nodes only ends with 1, and may be run again. A node that is down keeps\n" +
			"the keys that it has: give it another's gossip.key before it starts.",
		Subcommands: []*cli.Command{
			{
				Name:  "list",
				Usage: "show which nodes have which keys, and seal with which",
				Flags: keysFlags(),
				Action: func(ctx *cli.Context) error {
					return withKeys(ctx, (*keyNodes).list)
				},
			},
			{
				Name:  "add",
				Usage: "let all nodes open what is sealed with another key",
				Description: "Without --key-file the nodes that are asked to get a new random key, which\n" +
					"nobody sees.",
				Flags: keysFlags(&cli.StringFlag{
					Name: "key-file", Usage: "`FILE` of mode 0600 with the key: 16, 24 or 32 bytes as base64",
				}),
				Action: func(ctx *cli.Context) error {
					key, err := keyToAdd(ctx.String("key-file"))
					if err != nil {
						return err
					}
					return withKeys(ctx, func(n *keyNodes, cx context.Context) (keyTable, error) {
						return n.add(cx, key, ctx.String("key-file") != "")
					})
				},
			},
			{
				Name: "use", ArgsUsage: "FINGERPRINT",
				Usage:  "make all nodes seal with a key that all have",
				Flags:  keysFlags(),
				Action: withFingerprint((*keyNodes).use),
			},
			{
				Name: "remove", ArgsUsage: "FINGERPRINT",
				Usage:  "make all nodes forget a key that none seals with",
				Flags:  keysFlags(),
				Action: withFingerprint((*keyNodes).remove),
			},
		},
	}
}

func keysFlags(more ...cli.Flag) []cli.Flag {
	return askFlags(append(more, &cli.StringSliceFlag{
		Name: "only", Usage: "`IDS` of the nodes to ask, as 1-3: where others are listed that are none",
	})...)
}

// keyToAdd returns the key in a file, or a new one if there is no file. A key is never given on the command line.
func keyToAdd(file string) ([]byte, error) {
	if file == "" {
		return credentials.NewGossipKey(), nil
	}
	const most = 4 << 10
	text, err := credentials.ReadSecret(file, most)
	if err != nil {
		return nil, mark(errConfig, fmt.Errorf("--key-file: %w", err))
	}
	key, err := credentials.ParseGossipKey(string(text))
	if err != nil {
		return nil, mark(errConfig, fmt.Errorf("--key-file %s: %w", file, err))
	}
	return key, nil
}

// withFingerprint is the action of a command that takes a fingerprint.
func withFingerprint(do func(*keyNodes, context.Context, string) (keyTable, error)) cli.ActionFunc {
	return func(ctx *cli.Context) error {
		if ctx.NArg() != 1 {
			return usagef("want the fingerprint of one key, as ringleader keys list shows it; see %s --help",
				ctx.Command.HelpName)
		}
		fingerprint := ctx.Args().First()
		if err := httpapi.ValidateFingerprint(fingerprint); err != nil {
			return mark(errUsage, err)
		}
		return withKeys(ctx, func(n *keyNodes, cx context.Context) (keyTable, error) {
			return do(n, cx, fingerprint)
		})
	}
}

// withKeys does something with the keys of all nodes, and prints what the nodes have then, also when it fails.
func withKeys(ctx *cli.Context, do func(*keyNodes, context.Context) (keyTable, error)) error {
	var failed error
	only, err := proto.ParseIDRanges(ctx.StringSlice("only"))
	if err != nil {
		return usagef("--only: %w", err)
	}
	_, err = ask(ctx, func(c httpapi.Client, cx context.Context) (keyTable, error) {
		nodes, err := keyNodesOf(cx, c, only)
		if err != nil {
			return keyTable{}, err
		}
		table, err := do(nodes, cx)
		if len(table.Nodes) == 0 {
			return table, err
		}
		failed = err
		return table, nil
	}, writeKeyTable)
	return errors.Join(err, failed)
}

// keyNodes are the nodes whose keys a command is about: all that one of them believes alive, or only some of them, as
// whoever has a key of gossip can make the nodes list others that do not exist.
type keyNodes struct {
	ids     []proto.NodeID
	clients []httpapi.Client // without an address for a node that serves HTTP to no other machine
	absent  []proto.NodeID   // voters that are not among the nodes
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
	n := &keyNodes{}
	for _, m := range members.Members {
		if len(only) > 0 && !slices.Contains(only, m.ID) {
			continue
		}
		other := c
		if m.ID != members.Self {
			other.Addr = m.HTTPAddr
		}
		n.ids, n.clients = append(n.ids, m.ID), append(n.clients, other)
	}
	for _, id := range status.Voters {
		listed := slices.ContainsFunc(members.Members, func(m httpapi.Member) bool { return m.ID == id })
		if !listed && !slices.Contains(only, id) {
			n.absent = append(n.absent, id)
		}
	}
	for _, id := range only {
		if !slices.Contains(n.ids, id) {
			return nil, fmt.Errorf("--only names node %v, which node %v does not believe alive", id, members.Self)
		}
	}
	return n, nil
}

// do gives an order to all nodes at once. The table has the keys of those that carried it out; the error says
// which did not.
func (n *keyNodes) do(ctx context.Context, o httpapi.KeyOrder) (keyTable, error) {
	answers, errs := make([]httpapi.GossipKeys, len(n.ids)), make([]error, len(n.ids))
	var all sync.WaitGroup
	for i, id := range n.ids {
		all.Go(func() {
			if answers[i], errs[i] = orderKeys(ctx, n.clients[i], id, o); errs[i] != nil {
				errs[i] = fmt.Errorf("node %v: %w", id, errs[i])
			}
		})
	}
	all.Wait()
	table := keyTable{Absent: n.absent}
	for i, id := range n.ids {
		if errs[i] != nil {
			table.Failed = append(table.Failed, id)
			continue
		}
		table.put(id, answers[i].Keys)
	}
	return table, errors.Join(errs...)
}

// orderKeys gives an order to one node, which must be the one with the id.
func orderKeys(
	ctx context.Context, c httpapi.Client, id proto.NodeID, o httpapi.KeyOrder,
) (httpapi.GossipKeys, error) {
	if c.Addr == "" {
		return httpapi.GossipKeys{}, errors.New("it serves HTTP to no other machine: give it an address that other " +
			"machines reach (the setting http-bind)")
	}
	k, err := c.ChangeKeys(ctx, o)
	if err == nil && k.Self != id {
		err = fmt.Errorf("node %v answers at %s", k.Self, c.Addr)
	}
	return k, err
}

// list asks all nodes for their keys.
func (n *keyNodes) list(ctx context.Context) (keyTable, error) {
	return n.do(ctx, httpapi.KeyOrder{Do: httpapi.ListKeys})
}

// before asks all nodes for their keys before something is changed. Unless all answer, nothing is.
func (n *keyNodes) before(ctx context.Context) (keyTable, error) {
	table, err := n.list(ctx)
	if err != nil {
		return keyTable{}, fmt.Errorf("%w\nnothing was changed: it is done at all nodes that are alive, or at "+
			"none%s", err, n.without(table.Failed))
	}
	return table, nil
}

// without says how to leave nodes out of a command; "" if that would leave none.
func (n *keyNodes) without(some []proto.NodeID) string {
	var rest []string
	for _, id := range n.ids {
		if !slices.Contains(some, id) {
			rest = append(rest, id.String())
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
	if _, err := n.before(ctx); err != nil {
		return keyTable{}, err
	}
	fingerprint := credentials.Fingerprint(key)
	table, err := n.do(ctx, httpapi.KeyOrder{Do: httpapi.AddKey, Key: key})
	switch {
	case err == nil:
		table.Next = fmt.Sprintf("key %s was added; next: ringleader keys use %s", fingerprint, fingerprint)
	case fromFile:
		err = fmt.Errorf("%w\nsome nodes lack key %s: run this again, with the same file", err, fingerprint)
	default:
		err = fmt.Errorf("%w\nsome nodes lack key %s: take it back with ringleader keys remove %s, and run this again",
			err, fingerprint, fingerprint)
	}
	return table, err
}

func (n *keyNodes) use(ctx context.Context, fingerprint string) (keyTable, error) {
	before, err := n.before(ctx)
	if err != nil {
		return keyTable{}, err
	}
	row := before.row(fingerprint)
	if row == nil {
		return before, nobodyHas(fingerprint, before)
	}
	if lack := before.lacking(fingerprint); len(lack) > 0 {
		return keyTable{}, fmt.Errorf("%s not key %s, and would not open what the others seal: nothing was changed; "+
			"give %s the gossip.key of node %v%s", nodesHave(lack), fingerprint, words.Either(len(lack), "it", "them"),
			row.Have[0], n.without(lack))
	}
	table, err := n.do(ctx, httpapi.KeyOrder{Do: httpapi.UseKey, Fingerprint: fingerprint})
	if err != nil {
		return table, fmt.Errorf("%w\nsome nodes do not seal with key %s yet: all open it; run this again", err,
			fingerprint)
	}
	table.Next = fmt.Sprintf("all seal with key %s now", fingerprint)
	for _, row := range table.Keys {
		if row.Fingerprint != fingerprint {
			table.Next += fmt.Sprintf("; next: ringleader keys remove %s", row.Fingerprint)
		}
	}
	return table, nil
}

func (n *keyNodes) remove(ctx context.Context, fingerprint string) (keyTable, error) {
	before, err := n.before(ctx)
	if err != nil {
		return keyTable{}, err
	}
	row := before.row(fingerprint)
	switch {
	case row == nil:
		return before, nobodyHas(fingerprint, before)
	case len(row.Seal) > 0:
		return keyTable{}, fmt.Errorf("%s with key %s: nothing was changed; use another one first",
			nodesDo(row.Seal, "seals", "seal"), fingerprint)
	}
	table, err := n.do(ctx, httpapi.KeyOrder{Do: httpapi.RemoveKey, Fingerprint: fingerprint})
	if err != nil {
		return table, fmt.Errorf("%w\nsome nodes still open what is sealed with key %s: run this again", err,
			fingerprint)
	}
	table.Next = fmt.Sprintf("no node has key %s any more", fingerprint)
	return table, nil
}

func nodesHave(ids []proto.NodeID) string { return nodesDo(ids, "has", "have") }

// nodesDo returns "node 1 has", or "nodes 1 2 have".
func nodesDo(ids []proto.NodeID, one, many string) string {
	return words.Either(len(ids), "node ", "nodes ") + joinIDs(ids) + " " + words.Either(len(ids), one, many)
}

// keyTable says which nodes have which keys of gossip.
type keyTable struct {
	Nodes []proto.NodeID `json:"nodes"` // that answered
	Keys  []keyRow       `json:"keys"`
	// Failed are the nodes that did not do what they were asked, or did not answer.
	Failed []proto.NodeID `json:"failed,omitempty"`
	// Absent are the voters that are not believed alive: their keys stay as they are.
	Absent []proto.NodeID `json:"absent_voters,omitempty"`
	Next   string         `json:"-"` // what was done, and what comes next, for people
}

// keyRow says which nodes have one key.
type keyRow struct {
	Fingerprint string         `json:"fingerprint"`
	Have        []proto.NodeID `json:"have"`
	Seal        []proto.NodeID `json:"seal"`
}

// put notes the keys of a node, the one that seals first.
func (t *keyTable) put(id proto.NodeID, keys []string) {
	t.Nodes = append(t.Nodes, id)
	for i, fingerprint := range keys {
		row := t.row(fingerprint)
		if row == nil {
			t.Keys = append(t.Keys, keyRow{Fingerprint: fingerprint, Seal: []proto.NodeID{}})
			row = &t.Keys[len(t.Keys)-1]
		}
		row.Have = append(row.Have, id)
		if i == 0 {
			row.Seal = append(row.Seal, id)
		}
	}
}

func (t *keyTable) row(fingerprint string) *keyRow {
	i := slices.IndexFunc(t.Keys, func(r keyRow) bool { return r.Fingerprint == fingerprint })
	if i < 0 {
		return nil
	}
	return &t.Keys[i]
}

// lacking returns the nodes that have not a key.
func (t *keyTable) lacking(fingerprint string) []proto.NodeID {
	row := t.row(fingerprint)
	return slices.DeleteFunc(slices.Clone(t.Nodes), func(id proto.NodeID) bool {
		return row != nil && slices.Contains(row.Have, id)
	})
}

func writeKeyTable(w io.Writer, t keyTable) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "key\tnodes that have it\tthat seal with it")
	var notes strings.Builder
	sealing := 0
	for _, row := range t.Keys {
		seal := "none"
		if len(row.Seal) > 0 {
			seal = joinIDs(row.Seal)
			sealing++
		}
		fmt.Fprintf(columns, "%s\t%s\t%s\n", row.Fingerprint, joinIDs(row.Have), seal)
		lack := t.lacking(row.Fingerprint)
		switch {
		case len(lack) == 0:
		case len(row.Seal) > 0:
			fmt.Fprintf(&notes, "%s not key %s: what is sealed with it does not reach there\n", nodesHave(lack),
				row.Fingerprint)
		default:
			fmt.Fprintf(&notes, "%s not key %s\n", nodesHave(lack), row.Fingerprint)
		}
	}
	if sealing > 1 {
		notes.WriteString("not all nodes seal with the same key\n")
	}
	if len(t.Absent) > 0 {
		fmt.Fprintf(&notes, "%s not there: give another's gossip.key to each before it starts\n",
			nodesDo(t.Absent, "is", "are"))
	}
	if t.Next != "" {
		notes.WriteString(t.Next + "\n")
	}
	if err := columns.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, notes.String())
	return err
}
