package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/fenceagent"
	"github.com/ringleader-dev/ringleader/proto"
)

func fenceAgentCommand() *cli.Command {
	return &cli.Command{
		Name:  "fence-agent",
		Usage: "stop a former leader's process, for run",
		Description: "A node that a majority voted for has every former leader stopped that was not\n" +
			"seen to stop, before it leads. For that it runs the command of\n" +
			"run --fence-agent: one of these, or your own. They kill processes (STONITH).\n" +
			"The storage that refuses late writes is another thing: see ringleader fence.\n\n" +
			"An agent reads RINGLEADER_FENCE_ACTION: off, stop the process and confirm;\n" +
			"or status, change nothing and say whether off would work. Who is meant:\n" +
			"RINGLEADER_FENCE_ID, _INCARNATION, _ADDR, _TERM; what for: _NEW_TERM, _BY,\n" +
			"_CLUSTER, _ATTEMPT, _REASON. Exit code 0 to off means that this process has\n" +
			"stopped, now or before. Anything else, or no end within --fence-timeout,\n" +
			"means that nothing is known: nobody leads, and it is tried again.",
		Subcommands: []*cli.Command{
			pidfileAgentCommand(), dockerAgentCommand(), testAgentCommand(),
		},
	}
}

func pidfileAgentCommand() *cli.Command {
	return &cli.Command{
		Name:  "pidfile",
		Usage: "kill the process that a pid file names",
		Description: "For nodes that run on one machine with run --pid-file. It kills the process\n" +
			"that the file names if that still is the same one: its start, its boot and\n" +
			"its incarnation are compared, so that nobody is shot who got its number\n" +
			"later. Linux only.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "file", Usage: "the `FILE` of run --pid-file, {id} in it standing for the node's id"},
		},
		Action: func(ctx *cli.Context) error {
			return act(ctx, func(ctx context.Context, value func(string) string, o order) (string, error) {
				file := value("file")
				if file == "" {
					return "", usagef("--file: name the file, like /run/ringleader/{id}.pid")
				}
				return fenceagent.PIDFile(ctx, file, o.action, o.target)
			})
		},
	}
}

func dockerAgentCommand() *cli.Command {
	return &cli.Command{
		Name:  "docker",
		Usage: "kill the container that has the given labels",
		Description: "For nodes in containers of one Docker engine, whose socket this must reach.\n" +
			"The labels must name one container.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{
				Name: "label",
				Usage: "a label of the container, as `KEY=VALUE`, {id} in it standing for the node's id; " +
					"repeatable, all must fit",
			},
			&cli.StringFlag{
				Name: "pid-file",
				Usage: "the `FILE` of run --pid-file in the container: one that runs a later process " +
					"of the node already is left alone",
			},
			&cli.StringFlag{
				Name: "host", DefaultText: "DOCKER_HOST, or " + fenceagent.DefaultHost,
				Usage: "`ADDRESS` of the engine: unix://PATH or tcp://HOST:PORT",
			},
		},
		Action: func(c *cli.Context) error {
			return act(c, func(ctx context.Context, value func(string) string, o order) (string, error) {
				agent := fenceagent.Docker{
					Host:   cmp.Or(value("host"), os.Getenv("DOCKER_HOST"), fenceagent.DefaultHost),
					Labels: slices.Clone(c.StringSlice("label")), PIDFile: value("pid-file"),
				}
				if len(agent.Labels) == 0 || slices.Contains(agent.Labels, "") {
					return "", usagef("--label: name the container, like --label node={id}")
				}
				for i, l := range agent.Labels {
					agent.Labels[i] = strings.ReplaceAll(l, fenceagent.IDMark, o.target.ID.String())
				}
				found, err := agent.Act(ctx, o.action, o.target)
				if errors.Is(err, fenceagent.ErrHost) {
					err = mark(errUsage, err)
				}
				return found, err
			})
		},
	}
}

// order is the request to a fence agent.
type order struct {
	action fenceagent.Action
	target fenceagent.Target
}

// act reads the order from the environment, calls do to carry it out and prints the result.
// The function value returns a flag's value with the node's id in the place of {id}.
func act(
	c *cli.Context, do func(ctx context.Context, value func(string) string, o order) (string, error),
) error {
	o := order{action: fenceagent.Action(os.Getenv(fenceagent.EnvAction))}
	id, err := proto.ParseNodeID(os.Getenv(fenceagent.EnvID))
	if err != nil || o.action != fenceagent.Off && o.action != fenceagent.Status {
		return usagef("%s and %s must say what to do to whom: this is for run --fence-agent; "+
			"by hand, use ringleader fence-agent test", fenceagent.EnvAction, fenceagent.EnvID)
	}
	o.target = fenceagent.Target{ID: id, Incarnation: os.Getenv(fenceagent.EnvIncarnation)}
	value := func(name string) string { return strings.ReplaceAll(c.String(name), fenceagent.IDMark, id.String()) }
	ctx, stop := signal.NotifyContext(c.Context, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	found, err := do(ctx, value, o)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.App.Writer, found)
	return err
}

func testAgentCommand() *cli.Command {
	return &cli.Command{
		Name:      "test",
		Usage:     "run a fence agent as a node would",
		ArgsUsage: "[--] COMMAND",
		Description: "By itself it asks for the status of each node named, which must change\n" +
			"nothing. With --off it stops them. It ends with 1 when the agent failed.\n\n" +
			"    ringleader fence-agent test --id 1 --id 2 -- my-agent --flag value",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "id", Usage: "`ID` of a node; repeatable, or a range like 1-5"},
			&cli.BoolFlag{Name: "off", Usage: "really stop these nodes"},
			&cli.StringFlag{
				Name: "incarnation",
				Usage: "`INCARNATION` of the process that is meant, 32 hexadecimal digits; without it, " +
					"whichever process runs",
			},
			&cli.DurationFlag{
				Name: "timeout", Value: fenceagent.DefaultTimeout,
				Usage: "`TIME` that one run may take",
			},
		},
		Action: testAgent,
	}
}

// parseIncarnation reads an incarnation in the form that records and statuses have.
func parseIncarnation(text string) (s proto.Incarnation, err error) {
	digits, err := hex.DecodeString(text)
	if err != nil || copy(s[:], digits) != len(s) || len(digits) != len(s) {
		return s, fmt.Errorf("want %d hexadecimal digits", 2*len(s))
	}
	return s, nil
}

// testAgent runs the agent once for each node.
func testAgent(c *cli.Context) error {
	command, err := fenceagent.Parse(strings.Join(c.Args().Slice(), " "))
	if err != nil {
		return mark(errUsage, err)
	}
	ids, err := proto.ParseIDRanges(c.StringSlice("id"))
	if err != nil {
		return usagef("--id %s: %w", strings.Join(c.StringSlice("id"), ","), err)
	}
	if len(ids) == 0 {
		return usagef("--id: name a node that the agent is to be asked about")
	}
	if t := c.Duration("timeout"); t < fenceagent.MinTimeout {
		return usagef("--timeout %v: give %v or more", t, fenceagent.MinTimeout)
	}
	var incarnation proto.Incarnation
	if text := c.String("incarnation"); text != "" {
		if incarnation, err = parseIncarnation(text); err != nil {
			return usagef("--incarnation %s: %w", text, err)
		}
	}
	r := fenceagent.Request{Action: fenceagent.Status}
	if c.Bool("off") {
		r.Action = fenceagent.Off
	}
	agent := &fenceagent.Agent{Command: command, Timeout: c.Duration("timeout"), Cluster: "test", Self: ids[0]}
	ctx, stop := signal.NotifyContext(c.Context, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	failed := 0
	for _, id := range ids {
		r.Fence = algorithms.Fence{ID: id, Incarnation: incarnation, Attempt: 1, Reason: "a test by hand"}
		detail, err := agent.Run(ctx, r)
		if err != nil {
			failed++
		}
		fmt.Fprintf(c.App.Writer, "%s %v: %s\n", r.Action, id, detail)
	}
	switch {
	case ctx.Err() != nil:
		return mark(errInterrupted, errors.New("interrupted"))
	case failed > 0:
		return fmt.Errorf("the agent failed for %d of %d nodes: a leader that hangs there would "+
			"not be replaced", failed, len(ids))
	}
	return nil
}
