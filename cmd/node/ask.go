package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptrace"
	"os"

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

// client returns a client of the node that the command asks.
func client(ctx *cli.Context) (httpapi.Client, error) {
	if addr := ctx.String("addr"); addr != "" {
		return httpapi.Client{Addr: addr}, mark(errUsage, checkAddr("--addr", addr))
	}
	return usualClient()
}

// usualClient returns a client of the node that a command asks if no flag names one.
func usualClient() (httpapi.Client, error) {
	if addr := os.Getenv(addrEnv); addr != "" {
		return httpapi.Client{Addr: addr}, mark(errConfig, checkAddr(addrEnv, addr))
	}
	return httpapi.Client{Addr: defaultHTTP}, nil
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
	var answer T
	asJSON, err := wantsJSON(ctx)
	if err != nil {
		return answer, err
	}
	node, err := client(ctx)
	if err != nil {
		return answer, err
	}
	connected := false
	watched := httptrace.WithClientTrace(ctx.Context, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected = true },
	})
	if answer, err = question(node, watched); err != nil {
		if connected && errors.Is(err, context.DeadlineExceeded) {
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
