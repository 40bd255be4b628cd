package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/node/clock"
	"github.com/ringleader-dev/ringleader/node/httpapi"
)

func leaseCommand() *cli.Command {
	return &cli.Command{
		Name:  "lease",
		Usage: "borrow a node's lease; ends with 7 unless it leads",
		Description: "exec, the library and a lease that is borrowed are the three ways to act as\n" +
			"the leader. Until its end nobody else does, whatever becomes of the node: one\n" +
			"that is killed, or told to hand over, meanwhile is replaced after that, up to\n" +
			"a lease later. Borrow again before the end to go on (--renews), and give it\n" +
			"back when done (--return). Two who borrow from one node get a lease each: it\n" +
			"keeps other nodes off, and not them off each other.\n\n" +
			"With -o json, until_boot_ms is its end in milliseconds since boot, for other\n" +
			"processes of this machine (Linux: CLOCK_BOOTTIME, see /proc/uptime), and\n" +
			"valid_for_ms counts from before this command asked.",
		Flags: askFlags(
			&cli.Uint64Flag{Name: "renews", Usage: "lend a new lease in place of lease `ID`"},
			&cli.Uint64Flag{Name: "return", Usage: "give lease `ID` back, and borrow none"},
			inClearFlag(),
		),
		Action: runLease,
	}
}

// borrowed is a lease with its end by this machine's clock.
type borrowed struct {
	httpapi.Lease
	// UntilBootMS is the lease's end in milliseconds since boot. It is absent where other
	// processes cannot read that clock.
	UntilBootMS int64 `json:"until_boot_ms,omitempty"`
}

func runLease(ctx *cli.Context) error {
	if id := ctx.Uint64("return"); ctx.IsSet("return") {
		if ctx.IsSet("renews") {
			return usagef("--return borrows nothing that --renews could be for: give one of the two")
		}
		_, err := ask(ctx, func(c httpapi.Client, ctx context.Context) (returned, error) {
			return returned{id}, c.Return(ctx, id)
		}, writeReturned)
		return err
	}
	_, err := ask(ctx, func(c httpapi.Client, cx context.Context) (b borrowed, err error) {
		before := clock.Now() // the lease counts from here
		if b.Lease, err = c.Lend(cx, ctx.Uint64("renews")); err == nil && runtime.GOOS == "linux" {
			b.UntilBootMS = clock.SinceBoot(before.Add(b.ValidFor())).Milliseconds()
		}
		return b, err
	}, writeLease)
	if errors.Is(err, httpapi.ErrNotLeader) {
		return mark(errNotLeader, err)
	}
	return err
}

func writeLease(w io.Writer, b borrowed) error {
	until := ""
	if b.UntilBootMS != 0 {
		until = fmt.Sprintf(", until %d.%03d s since boot", b.UntilBootMS/1000, b.UntilBootMS%1000)
	}
	_, err := fmt.Fprintf(w, "node %v leads term %d and lent lease %d: act as the leader for %d ms from when "+
		"you asked%s\ntoken %v\n", b.Self, b.Term, b.ID, b.ValidForMS, until, b.FencingToken)
	return err
}

// returned is a lease that was given back.
type returned struct {
	ID uint64 `json:"returned"`
}

func writeReturned(w io.Writer, r returned) error {
	_, err := fmt.Fprintf(w, "lease %d was given back\n", r.ID)
	return err
}
