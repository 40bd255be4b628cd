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

// Deliver passes a message from another node to the Machine. It may be called from any goroutine
// and never blocks: a message that is not for this node, or that finds the inbox full, is dropped
// and counted.
func (n *Node) Deliver(m proto.Message) {
	if m.To != n.cfg.ID {
		n.misaddressed.add("a message is not for this node -> dropped", m)
		return
	}
	select {
	case n.inbox <- &m:
	default:
		n.overflowed.add("too many messages wait -> dropped", m)
	}
}

// ProvenDead passes the proof that a process is dead to the Machine: its connection ended cleanly, and a dial
// that began after that was refused at its address, or answered by another incarnation. It may be called from
// any goroutine and never blocks. If too many proofs wait, this one is dropped, and voters wait until their
// promises end.
func (n *Node) ProvenDead(id proto.NodeID, s proto.Incarnation) {
	n.proofs.mu.Lock()
	defer n.proofs.mu.Unlock()
	select {
	case n.liveness <- &liveness{proto.Peer{ID: id, Incarnation: s}, true}:
		if n.proofs.of == nil {
			n.proofs.of = map[proto.NodeID]proto.Incarnation{}
		}
		n.proofs.of[id] = s
	default:
	}
}

// HeardAgain tells the Node that a process answered on a connection that was dialled after the last call of
// ProvenDead for the node of this process. If that call was about this process, the Machine is told that the
// proof was wrong. HeardAgain may be called from any goroutine and never blocks. If too many events wait, the
// call is dropped: the process counts as dead until the next call.
func (n *Node) HeardAgain(id proto.NodeID, s proto.Incarnation) {
	n.proofs.mu.Lock()
	defer n.proofs.mu.Unlock()
	if was, ok := n.proofs.of[id]; !ok || was != s {
		return
	}
	select {
	case n.liveness <- &liveness{proto.Peer{ID: id, Incarnation: s}, false}:
		delete(n.proofs.of, id)
	default:
	}
}

// proofs holds, for each node, the last process that was proven dead.
type proofs struct {
	mu sync.Mutex
	of map[proto.NodeID]proto.Incarnation
}

// liveness is what the links found out about a process: that the process is dead, or that it lives after all.
type liveness struct {
	proto.Peer
	dead bool
}

// dropped counts dropped messages, and logs a warning now and then.
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

// PeersChanged passes the failure detector's opinion to the Machine: the processes believed alive, this one
// included, in the order of their ids. It may be called from any goroutine and never blocks. While the
// Machine is busy, a later opinion replaces an earlier one, and the evidence of both is joined.
func (n *Node) PeersChanged(alive []proto.Peer, evidence string) {
	n.peers.put(alive, evidence)
}

// maxEvidence is how many different pieces of evidence are joined at most.
const maxEvidence = 16

// peersBox holds the latest view of who is alive until the Machine takes it.
type peersBox struct {
	wake chan struct{} // has one element if a view may wait

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
	signal(b.wake)
}

// take empties the box. ok is false if it was empty.
func (b *peersBox) take() (ev algorithms.PeersChanged, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ev = algorithms.PeersChanged{Alive: b.alive, Evidence: strings.Join(b.evidence, ", ")}
	ok = b.waiting
	b.waiting, b.alive, b.evidence = false, nil, nil
	return ev, ok
}
