package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptrace"
	"os"
	"sync"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/node/httpapi"
)

// errTold is an error whose words the user has read already.
var errTold = errors.New("")

func addrFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "addr", DefaultText: "$" + addrEnv + " or " + defaultHTTP,
		Usage: "`HOST:PORT` where the node to ask serves HTTP",
	}
}

// askFlags returns the flags more, and the flags of all commands that ask one node.
func askFlags(more ...cli.Flag) []cli.Flag {
	return append(more, addrFlag(), credentialsFlag(), tokenFlag(), outputFlag())
}

// client returns a client of the node that the command asks.
func client(ctx *cli.Context) (httpapi.Client, error) {
	addr, err := addrOf(ctx)
	if err != nil {
		return httpapi.Client{}, err
	}
	c, err := asking(ctx)
	c.Addr = addr
	return c, err
}

// addrOf returns the address of the node that the command asks.
func addrOf(ctx *cli.Context) (string, error) {
	if addr := ctx.String("addr"); addr != "" {
		return addr, mark(errUsage, checkAddr("--addr", addr))
	}
	return usualAddr()
}

// usualAddr returns the address of the node that a command asks if no flag names one.
func usualAddr() (string, error) {
	if addr := os.Getenv(addrEnv); addr != "" {
		return addr, mark(errConfig, checkAddr(addrEnv, addr))
	}
	return defaultHTTP, nil
}

// asking returns a client without an address, for all nodes that the command asks: with their TLS and its token.
func asking(ctx *cli.Context) (c httpapi.Client, err error) {
	c.Exposed = sayingExposed(ctx)
	keeper, err := askingKeeper(ctx)
	if err != nil {
		return c, err
	}
	if keeper != nil {
		c.TLS = keeper.Ask()
	}
	if c.InClear, err = inClear(ctx); err != nil {
		return c, err
	}
	c.Token, err = clientToken(ctx, keeper)
	return c, err
}

// sayingExposed returns a httpapi.Client.Exposed that names each address once.
func sayingExposed(ctx *cli.Context) func(addr string) {
	var mu sync.Mutex
	said := map[string]bool{}
	return func(addr string) {
		mu.Lock()
		defer mu.Unlock()
		if !said[addr] {
			said[addr] = true
			_, _ = fmt.Fprintf(ctx.App.ErrWriter, "unauthenticated: the node at %s believes whoever can send "+
				"packets to it\n", addr)
		}
	}
}

// checkAddr returns an error unless addr is a HOST:PORT. The error names where addr was given.
func checkAddr(where, addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return fmt.Errorf("%s %s: want HOST:PORT, like %s", where, addr, defaultHTTP)
	}
	return nil
}

// ask gets an answer from the node and prints it as text or JSON.
func ask[T any](
	ctx *cli.Context, question func(httpapi.Client, context.Context) (T, error),
	write func(io.Writer, T) error,
) (T, error) {
	return askAs(ctx, client, question, write)
}

// askAs does what ask does with the client that as returns.
func askAs[T any](
	ctx *cli.Context, as func(*cli.Context) (httpapi.Client, error),
	question func(httpapi.Client, context.Context) (T, error), write func(io.Writer, T) error,
) (T, error) {
	var answer T
	asJSON, err := wantsJSON(ctx)
	if err != nil {
		return answer, err
	}
	node, err := as(ctx)
	if err != nil {
		return answer, err
	}
	var connected atomic.Bool
	watched := httptrace.WithClientTrace(ctx.Context, &httptrace.ClientTrace{
		ConnectDone: func(_, _ string, err error) { // TLS comes after it
			if err == nil {
				connected.Store(true)
			}
		},
	})
	if answer, err = question(node, watched); err != nil {
		if connected.Load() && errors.Is(err, context.DeadlineExceeded) {
			err = hangs(node.Addr, err)
		}
		return answer, err
	}
	if asJSON {
		return answer, writeJSON(ctx.App.Writer, answer)
	}
	return answer, write(ctx.App.Writer, answer)
}

// hangs says in words what a timeout behind an accepted connection means.
func hangs(addr string, err error) error {
	return mark(err, fmt.Errorf("ask %s: no answer: it accepted the connection but did not "+
		"answer within %.0f s: is the node paused or overloaded?", addr, httpapi.Patience.Seconds()))
}
