package node

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// Deliver hands a message from another node to the Machine. It never blocks:
// what is not for this node, or finds the inbox full, is dropped and counted.
func (n *Node) Deliver(m proto.Message) {
	if m.To != n.cfg.ID {
		n.misaddressed.add("a message is not for this node -> dropped", m)
		return
	}
	select {
	case n.inbox <- m:
	default:
		n.overflowed.add("too many messages wait -> dropped", m)
	}
}

// Gone hands the proof that a process is dead to the Machine: its connection
// ended cleanly, and a dial begun after that found its address refusing, or
// another session there. It never blocks; when too many wait, which no cluster
// brings about, a proof is dropped, and promises are waited out.
func (n *Node) Gone(id proto.NodeID, s proto.Session) {
	n.proofs.mu.Lock()
	defer n.proofs.mu.Unlock()
	select {
	case n.gone <- fate{proto.Peer{ID: id, Session: s}, true}:
		if n.proofs.of == nil {
			n.proofs.of = map[proto.NodeID]proto.Session{}
		}
		n.proofs.of[id] = s
	default:
	}
}

// HeardAgain says that a process answered on a connection that was dialled after all that
// Gone has said of it. If that was its death, the Machine is told that it was none. It
// never blocks; when too many wait the process counts as dead until it is heard once more.
func (n *Node) HeardAgain(id proto.NodeID, s proto.Session) {
	n.proofs.mu.Lock()
	defer n.proofs.mu.Unlock()
	if was, ok := n.proofs.of[id]; !ok || was != s {
		return
	}
	select {
	case n.gone <- fate{proto.Peer{ID: id, Session: s}, false}:
		delete(n.proofs.of, id)
	default:
	}
}

// proofs are the processes that Gone said are dead, of each node the last.
type proofs struct {
	mu sync.Mutex
	of map[proto.NodeID]proto.Session
}

// fate is what the links say has become of a process.
type fate struct {
	proto.Peer
	dead bool
}

// dropped counts messages and warns of them now and then.
type dropped struct {
	count atomic.Uint64
	log   zerolog.Logger
}

func newDropped(l zerolog.Logger) *dropped {
	return &dropped{log: l.Sample(&zerolog.BurstSampler{Burst: 1, Period: warnEvery})}
}

func (d *dropped) add(why string, m proto.Message) {
	total := d.count.Add(1)
	d.log.Warn().Uint64("from", uint64(m.From)).Uint64("to", uint64(m.To)).
		Str("msg_id", m.ID()).Uint64("dropped_total", total).Msg(why)
}

// PeersChanged hands the failure detector's opinion to the Machine: the
// processes believed alive, this one among them, in the order of their ids.
// It never blocks. While the Machine is busy the latest opinion replaces the
// one before, and their evidence adds up.
func (n *Node) PeersChanged(alive []proto.Peer, evidence string) {
	n.peers.put(alive, evidence)
}

// maxEvidence bounds how many different pieces of evidence add up.
const maxEvidence = 16

// peersBox holds the latest opinion until the Machine takes it.
type peersBox struct {
	wake chan struct{} // has one element if an opinion may wait

	mu       sync.Mutex
	waiting  bool
	alive    []proto.Peer
	evidence []string
}

func (b *peersBox) put(alive []proto.Peer, evidence string) {
	b.mu.Lock()
	b.alive, b.waiting = slices.Clone(alive), true
	isNew := evidence != "" && !slices.Contains(b.evidence, evidence)
	if isNew && len(b.evidence) < maxEvidence {
		b.evidence = append(b.evidence, evidence)
	}
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take empties the box; ok is false if it was empty.
func (b *peersBox) take() (ev algorithms.PeersChanged, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ev = algorithms.PeersChanged{Alive: b.alive, Evidence: strings.Join(b.evidence, ", ")}
	ok = b.waiting
	b.waiting, b.alive, b.evidence = false, nil, nil
	return ev, ok
}
