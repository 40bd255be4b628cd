package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/supervise"
	"github.com/ringleader-dev/ringleader/node/httpapi"
)

// The reconcile command runs on one node, after all leaders of a split brain have
// stopped, and before the next leader is elected.

const (
	// reconcileTries is how often the command is run at most until it succeeds.
	reconcileTries = 3
	// reconcilePause is the pause between two runs.
	reconcilePause = 100 * time.Millisecond
	// maxHookOutput is how much of the command's output is kept, in bytes.
	maxHookOutput = 4 << 10
)

// reconcile runs the reconcile command until it exits with 0, at most reconcileTries times.
func (d *Daemon) reconcile(ctx context.Context, s algorithms.Split) algorithms.Outcome {
	var o algorithms.Outcome
	for o.Tries < reconcileTries && ctx.Err() == nil {
		if o.Tries > 0 {
			select {
			case <-time.After(reconcilePause):
			case <-ctx.Done():
				return o
			}
		}
		o.Tries++
		began := time.Now()
		said, err := d.runReconcile(ctx, s)
		o.Exit, o.Problem = exitOf(err, d.ReconcileTimeout)
		line := d.log.Info()
		if err != nil {
			line = d.log.Warn()
		}
		line.Uint64("split", s.Number).Int("try", o.Tries).Int("exit", o.Exit).
			Dur("took", time.Since(began)).Str("output", said).Msg("reconcile command")
		if err == nil {
			break
		}
	}
	return o
}

// runReconcile runs the command once, and kills its process group when it takes too
// long or when another node takes over.
func (d *Daemon) runReconcile(ctx context.Context, s algorithms.Split) (said string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, d.ReconcileTimeout, context.DeadlineExceeded)
	defer cancel()
	out, err := supervise.Job{
		Path: "/bin/sh", Args: []string{"-c", d.ReconcileCmd}, Env: append(os.Environ(), d.reconcileEnv(s)...),
		Keep: maxHookOutput,
	}.Output(ctx)
	return strings.ToValidUTF8(strings.TrimSpace(string(out)), "?"), err
}

// reconcileEnv returns the environment variables that tell the command about the split.
func (d *Daemon) reconcileEnv(s algorithms.Split) []string {
	var leaders, terms, led []string
	for _, r := range s.Leaderships {
		leaders = append(leaders, r.Leadership.Leader.String())
		terms = append(terms, strconv.FormatUint(uint64(r.Leadership.Term), 10))
		led = append(led, strconv.FormatInt(r.Led.Milliseconds(), 10))
	}
	all, _ := d.members()
	members, err := json.Marshal(append([]httpapi.Member{}, all...))
	if err != nil {
		members = []byte("[]") // a Member is always JSON
	}
	return []string{
		"RINGLEADER_ID=" + d.ID.String(),
		"RINGLEADER_CLUSTER=" + d.Cluster,
		"RINGLEADER_SPLIT=" + strconv.FormatUint(s.Number, 10),
		"RINGLEADER_SPLIT_LEADERS=" + strings.Join(leaders, " "),
		"RINGLEADER_SPLIT_TERMS=" + strings.Join(terms, " "),
		"RINGLEADER_SPLIT_LED_MS=" + strings.Join(led, " "),
		"RINGLEADER_SPLIT_OVERLAP_MS=" + strconv.FormatInt(s.Overlap.Milliseconds(), 10),
		"RINGLEADER_MEMBERS=" + string(members),
	}
}

// exitOf returns the exit code of a command that ended with err, and what was wrong.
func exitOf(err error, limit time.Duration) (code int, problem string) {
	var ended *exec.ExitError
	switch {
	case err == nil:
		return 0, ""
	case errors.Is(err, context.DeadlineExceeded):
		return -1, fmt.Sprintf("it did not end within %v", limit)
	case errors.As(err, &ended):
		return ended.ExitCode(), ended.Error()
	}
	problem = strings.ToValidUTF8(err.Error(), "?")
	return -1, problem[:min(len(problem), algorithms.MaxProblem)]
}
