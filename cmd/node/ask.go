package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptrace"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// defaultAddr is where run serves HTTP when nobody says otherwise.
const defaultAddr = "127.0.0.1:7948"

// errTold is an error whose words the user has read already.
var errTold = errors.New("")

func addrFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "addr", DefaultText: "$" + addrEnv + " or " + defaultAddr,
		Usage: "`HOST:PORT` where the node to ask serves HTTP",
	}
}

func client(ctx *cli.Context) httpapi.Client {
	return httpapi.Client{Addr: cmp.Or(ctx.String("addr"), os.Getenv(addrEnv), defaultAddr)}
}

func statusCommand() *cli.Command {
	return &cli.Command{
		Name:  "status",
		Usage: "ask a node about itself and its cluster",
		Flags: []cli.Flag{addrFlag(), outputFlag()},
		Action: func(ctx *cli.Context) error {
			_, err := ask(ctx, httpapi.Client.Status, writeStatus)
			return err
		},
	}
}

func leaderCommand() *cli.Command {
	return &cli.Command{
		Name:  "leader",
		Usage: "ask a node who leads; ends with 6 when it knows nobody",
		Flags: []cli.Flag{addrFlag(), outputFlag(), &cli.BoolFlag{
			Name: "is-me", Usage: "end with 7 unless the node that is asked is the leader",
		}},
		Action: func(ctx *cli.Context) error {
			answer, err := ask(ctx, httpapi.Client.Leader, writeLeader)
			switch {
			case err != nil:
				return err
			case ctx.Bool("is-me") && !answer.IsLeader:
				return mark(errNotLeader, errTold)
			case answer.Leader == 0:
				return mark(errNoLeader, errTold)
			}
			return nil
		},
	}
}

func healthCommand() *cli.Command {
	return &cli.Command{
		Name:  "health",
		Usage: "ask a node whether it is well; ends with 0 or 1",
		Flags: []cli.Flag{addrFlag(), outputFlag()},
		Action: func(ctx *cli.Context) error {
			h, err := ask(ctx, httpapi.Client.Health, writeHealth)
			switch {
			case errors.Is(err, errUsage):
				return err
			case err != nil:
				return errors.New(err.Error()) // 1, whatever it was
			case !h.OK:
				return errTold
			}
			return nil
		},
	}
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
	connected := false
	watched := httptrace.WithClientTrace(ctx.Context, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected = true },
	})
	if answer, err = question(client(ctx), watched); err != nil {
		if connected && errors.Is(err, context.DeadlineExceeded) {
			err = hangs(client(ctx).Addr, err)
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

// writeHealth says whether the node is well in one sentence.
func writeHealth(w io.Writer, h httpapi.Health) error {
	line := fmt.Sprintf("node %v is well", h.Self)
	if !h.OK {
		line = fmt.Sprintf("node %v is not well: %s", h.Self, h.Reason)
	}
	if h.Ineligible != "" {
		line += "; it does not stand for election: " + h.Ineligible
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

// writeLeader says who leads in one sentence.
func writeLeader(w io.Writer, l httpapi.Leadership) error {
	_, err := fmt.Fprintln(w, leadershipLine(l))
	return err
}

func leadershipLine(l httpapi.Leadership) string {
	if l.Leader == 0 {
		return fmt.Sprintf("nobody leads, as node %v knows: %s", l.Self, l.Reason)
	}
	line := fmt.Sprintf("node %v leads term %d (%s)", l.Leader, l.Term, l.Guarantee)
	if l.LeaderAddr != "" {
		line += " at " + l.LeaderAddr
	}
	return line
}

func writeStatus(w io.Writer, s httpapi.Status) error {
	ready := "yes"
	if !s.Ready {
		ready = "no: " + s.NotReady
	}
	stands := ""
	if s.Ineligible != "" {
		stands = "stands     no: " + s.Ineligible + "\n"
	}
	if s.Lent > 0 {
		stands += fmt.Sprintf("lent       %s: no other node leads before the end of that\n",
			plural(s.Lent, "lease"))
	}
	if s.Recovery != "" {
		stands += "votes      no: " + s.Recovery + "\n"
	}
	watches := ""
	if len(s.Voters) > 0 {
		voters := proto.IDRanges(s.Voters) + ", confirmed by a leader"
		if s.VotersConfirmed == nil || !*s.VotersConfirmed {
			voters = proto.IDRanges(s.Voters) + ", not confirmed by a leader yet"
		}
		watches = fmt.Sprintf("voters     %s\nwatches    %s\n", voters, cmp.Or(joinIDs(s.Watched), "nobody"))
	}
	_, err := fmt.Fprintf(w, "node       %v of cluster %s\n"+
		"role       %s\nleader     %s\nalgorithm  %s\nguarantee  %s\nalive      %s\n%sready      %s\n%s",
		s.Self, s.Cluster, s.Role, leadershipLine(s.Leadership), s.Algorithm,
		s.Guarantee.InWords(), joinIDs(s.Alive), watches, ready, stands)
	if err == nil && s.Split != nil {
		_, err = fmt.Fprintf(w, "split      %s\n", s.Split)
	}
	return err
}

// joinIDs is "1 2 3".
func joinIDs(ids []proto.NodeID) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = id.String()
	}
	return strings.Join(words, " ")
}
