package main

import (
	"strings"
	"sync"

	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/stonith"
	"github.com/ringleader-dev/ringleader/stonith/pidfile"
)

// fencer is what stops former leaders, nil for nobody.
func (d *daemon) fencer() node.Fencer {
	if len(d.fenceAgent) == 0 {
		return nil
	}
	return &stonith.Agent{
		Command: d.fenceAgent, Timeout: d.fenceTimeout,
		Cluster: d.cluster, Self: d.id, Addr: d.seen.addr,
	}
}

// writePIDFile names this process to fence agents, if the operator wants that.
// The data directory is locked: no other process of this node runs.
func (d *daemon) writePIDFile() error {
	if d.pidFile == "" {
		return nil
	}
	path := strings.ReplaceAll(d.pidFile, idMark, d.id.String())
	return mark(errConfig, pidfile.Write(path, d.id, d.session))
}

// lastSeen is where each node was when gossip last listed it: who has to be
// fenced is listed no more.
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
