package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/credentials"
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
			"the keys that it has: if the others open none of them once it is back, copy\n" +
			"another's gossip.key to it.",
		Subcommands: []*cli.Command{
			{
				Name:  "list",
				Usage: "show which nodes have which keys, and seal with which",
				Flags: keysFlags(),
				Action: func(ctx *cli.Context) error {
					return withKeys(ctx, func(n *keyNodes, cx context.Context) (keyTable, error) {
						table, err := n.list(cx)
						return table, errors.Join(err, table.disagreement(""))
					})
				},
			},
			{
				Name:  "add",
				Usage: "let all nodes open what is sealed with another key",
				Description: "Without --key-file the nodes that are asked to get a new random key, which\n" +
					"nobody sees.",
				Flags: keysFlags(&cli.StringFlag{
					Name:  "key-file",
					Usage: "`FILE` of mode 0600 with one key, 16, 24 or 32 bytes as base64, or a gossip.key",
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
	keys, err := credentials.ReadGossipKeys(file)
	if err == nil && len(keys) != 1 {
		err = fmt.Errorf("%s: %d keys in it, want one", file, len(keys))
	}
	if err != nil {
		return nil, mark(errConfig, fmt.Errorf("--key-file: %w", err))
	}
	return keys[0], nil
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
