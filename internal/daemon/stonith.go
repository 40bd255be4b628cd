package daemon

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/fenceagent"
	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// fencer returns the Fencer that stops former leaders; nil if the node has no fence agent.
func (d *Daemon) fencer() node.Fencer {
	if len(d.FenceAgent) == 0 {
		return nil
	}
	return fencer{&d.shots, &fenceagent.Agent{
		Command: d.FenceAgent, Timeout: d.FenceTimeout,
		Cluster: d.Cluster, Self: d.ID, Addr: d.seen.addr,
	}}
}

// fencer runs the operator's fence agent. It keeps the result of the last run for the status: as
// long as the agent does not confirm that the process stopped, nobody leads.
type fencer struct {
	last *atomic.Pointer[httpapi.Unfenced]
	*fenceagent.Agent
}

// Fence makes one attempt.
func (f fencer) Fence(ctx context.Context, shot algorithms.Fence) (detail string, err error) {
	said := func(outcome string) *httpapi.Unfenced {
		return &httpapi.Unfenced{For: shot.For, Why: fmt.Sprintf(
			"node %v of term %d was not seen to stop, and the fence agent did not confirm it: attempt %d %s",
			shot.ID, shot.Term, shot.Attempt, outcome)}
	}
	f.last.Store(said("is under way"))
	detail, err = f.Agent.Fence(ctx, shot)
	switch {
	case err == nil, errors.Is(err, fenceagent.ErrCalledBack):
		f.last.Store(nil)
	default:
		f.last.Store(said("failed, " + detail))
	}
	return detail, err
}

// writePIDFile writes the file that tells fence agents this process's id, if the operator wants
// that. The data directory is locked, so no other process of this node runs.
func (d *Daemon) writePIDFile() error {
	if d.PIDFile == "" {
		return nil
	}
	path := strings.ReplaceAll(d.PIDFile, fenceagent.IDMark, d.ID.String())
	if err := fenceagent.WritePIDFile(path, d.ID, d.Incarnation); err != nil {
		return FieldError{"PIDFile", wrong(fmt.Errorf("%w: name a file that this process may write, "+
			"in a directory that exists", err))}
	}
	return nil
}

// lastSeen is the address of each node when gossip last listed it. A node that has to be fenced is
// usually no longer listed.
type lastSeen struct {
	mu    sync.Mutex
	addrs map[proto.NodeID]string
}

func (l *lastSeen) note(v membership.View) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.addrs == nil {
		l.addrs = make(map[proto.NodeID]string)
	}
	for _, m := range v.Alive {
		l.addrs[m.ID] = m.ElectionAddr
	}
}

func (l *lastSeen) addr(id proto.NodeID) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.addrs[id]
}
