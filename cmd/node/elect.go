package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptrace"
	"slices"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

func electCommand() *cli.Command {
	return &cli.Command{
		Name:  "elect",
		Usage: "call an election, at one node or at several at once",
		Description: "The nodes that are asked call an election at one instant, and this waits\n" +
			"until they agree on a leader. Without leases they elect the best again, in a\n" +
			"new term, also when it led before: its work ends and begins again. A leader\n" +
			"that has a lease, by voters or a store, keeps it, and its term. A node that\n" +
			"does not stand calls no election, and one that does not answer is named; the\n" +
			"others call it all the same, and this ends with 1.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "reason", Usage: "`TEXT` for the records: what for"},
			&cli.StringSliceFlag{
				Name: "addr", DefaultText: "$" + addrEnv + " or " + defaultHTTP,
				Usage: "`HOST:PORT` where a node to ask serves HTTP; repeatable",
			},
			&cli.DurationFlag{
				Name: "timeout", Value: httpapi.DoPatience,
				Usage: "`TIME` after which it ends with 6 if they do not agree",
			},
			inClearFlag(), credentialsFlag(), tokenFlag(), outputFlag(),
		},
		Action: elect,
	}
}

// election is the result of a call of an election.
type election struct {
	httpapi.Leadership                // as the first of the nodes says; the zero Leadership if they do not agree
	Agree              []proto.NodeID `json:"agree"` // the nodes that name this leader
	// Millis is how many milliseconds passed from the call until all were seen to agree.
	Millis float64        `json:"millis"`
	Calls  []httpapi.Done `json:"calls"`
}

func elect(ctx *cli.Context) error {
	asJSON, err := wantsJSON(ctx)
	if err != nil {
		return err
	}
	nodes, err := clients(ctx)
	if err != nil {
		return err
	}
	timeout := ctx.Duration("timeout")
	if timeout <= 0 {
		return usagef("--timeout %v: want a time above 0", timeout)
	}
	limit, cancel := context.WithTimeout(ctx.Context, timeout)
	defer cancel()
	order := httpapi.Order{Reason: ctx.String("reason")}
	began, calls, refusals := callAll(limit, nodes, order)
	var e election
	for i, node := range nodes {
		if refusals[i] == nil {
			e.Calls = append(e.Calls, calls[i])
			nodes[len(e.Calls)-1] = node
		}
	}
	failed := errors.Join(refusals...)
	if len(e.Calls) == 0 {
		return failed
	}
	err = e.await(ctx.Context, limit, nodes[:len(e.Calls)])
	e.Millis = float64(time.Since(began).Microseconds()) / 1000
	write := writeElection
	if asJSON {
		write = func(w io.Writer, e election) error { return writeJSON(w, e) }
	}
	return errors.Join(write(ctx.App.Writer, e), failed, err)
}

// clients returns a client of each node that the command asks.
func clients(ctx *cli.Context) ([]httpapi.Client, error) {
	all, err := asking(ctx)
	if err != nil {
		return nil, err
	}
	addresses := ctx.StringSlice("addr")
	if len(addresses) == 0 {
		all.Addr, err = usualAddr()
		return []httpapi.Client{all}, err
	}
	var nodes []httpapi.Client
	for i, addr := range addresses {
		if err := checkAddr("--addr", addr); err != nil {
			return nil, mark(errUsage, err)
		}
		if slices.Contains(addresses[:i], addr) {
			return nil, usagef("--addr %s: given twice; a node calls one election at a time", addr)
		}
		all.Addr = addr
		nodes = append(nodes, all)
	}
	return nodes, nil
}

// connectPatience is how long a call waits until all nodes are connected.
const connectPatience = 2 * time.Second

// callAll connects to all nodes, and when all are connected calls an election at all of them at once. It does not
// wait for a node that does not take the connection. It returns when they were called, and the result of each node.
func callAll(
	ctx context.Context, nodes []httpapi.Client, order httpapi.Order,
) (began time.Time, calls []httpapi.Done, errs []error) {
	calls, errs = make([]httpapi.Done, len(nodes)), make([]error, len(nodes))
	send := make(chan struct{})
	var ready, all sync.WaitGroup
	for i, node := range nodes {
		ready.Add(1)
		all.Go(func() {
			calls[i], errs[i] = callWhen(ctx, send, sync.OnceFunc(ready.Done), node, order)
		})
	}
	ready.Wait()
	began = time.Now()
	close(send)
	all.Wait()
	return began, calls, errs
}

// callWhen connects to a node, calls ready, and calls an election once send is closed. It also calls ready if the
// node does not take the connection in time.
func callWhen(
	ctx context.Context, send <-chan struct{}, ready func(), node httpapi.Client, order httpapi.Order,
) (httpapi.Done, error) {
	defer ready()
	call, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	unconnected := time.AfterFunc(connectPatience, func() {
		giveUp(fmt.Errorf("it took no connection within %v", connectPatience))
	})
	connected := false
	call = httptrace.WithClientTrace(call, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		connected = unconnected.Stop()
		ready()
		<-send
	}})
	done, err := node.Do(call, httpapi.Elect, order)
	switch {
	case err != nil && connected && ctx.Err() != nil:
		err = fmt.Errorf("%s: ask %s: no answer in time, as from a node that hangs, or while nobody is elected: %w",
			httpapi.Elect, node.Addr, ctx.Err())
	case errors.Is(err, httpapi.ErrNoLeader):
		err = mark(errNoLeader, err)
	}
	return done, err
}

// agreementLook is how often the command asks the nodes who leads.
const agreementLook = 20 * time.Millisecond

// await asks the nodes who leads, until all name one leader, or limit is done. They are asked once at least.
func (e *election) await(ctx, limit context.Context, nodes []httpapi.Client) error {
	for {
		said, against := e.ask(ctx, nodes)
		if against == "" {
			e.Leadership = said
			for _, c := range e.Calls {
				e.Agree = append(e.Agree, c.Self)
			}
			return nil
		}
		select {
		case <-limit.Done():
			return mark(errNoLeader, fmt.Errorf("elect: the nodes do not agree: %s", against))
		case <-time.After(agreementLook):
		}
	}
}

// ask asks all nodes who leads. It returns the leader, or in words what speaks against one.
func (e *election) ask(ctx context.Context, nodes []httpapi.Client) (said httpapi.Leadership, against string) {
	answers, errs := make([]httpapi.Leadership, len(nodes)), make([]error, len(nodes))
	var all sync.WaitGroup
	for i, node := range nodes {
		all.Go(func() { answers[i], errs[i] = node.Leader(ctx) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return said, err.Error()
	}
	said = answers[0]
	for i, a := range answers {
		switch {
		case a.Leader == 0, a.Term < e.Calls[i].Term:
			return said, fmt.Sprintf("node %v knows no leader yet", a.Self)
		case a.Leader != said.Leader || a.Term != said.Term:
			return said, fmt.Sprintf("node %v leads term %d for node %v, and node %v leads term %d for node %v",
				said.Leader, said.Term, said.Self, a.Leader, a.Term, a.Self)
		}
	}
	return said, ""
}

// writeElection says what each node did, and then who leads.
func writeElection(w io.Writer, e election) error {
	for _, c := range e.Calls {
		if err := writeDone(w, c); err != nil {
			return err
		}
	}
	if len(e.Agree) == 0 {
		return nil
	}
	who := words.Either(len(e.Agree), "node %s says", "nodes %s say")
	_, err := fmt.Fprintf(w, "%s, as "+who+" %.1f ms after the call\n",
		leadershipLine(e.Leadership), joinIDs(e.Agree), e.Millis)
	return err
}
