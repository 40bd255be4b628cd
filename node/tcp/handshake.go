package tcp

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// RefusedError says that a node answered, and refused the link.
type RefusedError struct {
	Hello  proto.Hello  // what was asked
	Answer proto.Refuse // by whom, and why it was refused
}

// Error explains the refusal to the people of both nodes.
func (e *RefusedError) Error() string {
	h, a := e.Hello, e.Answer
	switch a.Reason {
	case proto.OtherCluster:
		return fmt.Sprintf("node %v is of cluster %q, node %v of cluster %q: "+
			"give both the same cluster label, or keep them apart",
			h.ID, h.Cluster, a.ID, a.Cluster)
	case proto.OtherAlgorithm:
		return fmt.Sprintf("node %v runs %q, node %v runs %q: all nodes of a cluster run the same%s",
			h.ID, h.Algorithm, a.ID, a.Algorithm, remedy(h.Algorithm, a.Algorithm))
	case proto.DistantVoters:
		return fmt.Sprintf("node %v has %v, node %v has %v: lists that differ by more than one voter have "+
			"majorities that need not meet; start the one that is wrong again, with what the others have, "+
			"and change one voter at a time", h.ID, h.Voters, a.ID, a.Voters)
	case proto.OtherNode:
		return fmt.Sprintf("node %v wanted node %v and found node %v: "+
			"node %v has a wrong election address", h.ID, h.To, a.ID, h.To)
	case proto.SameNode:
		return fmt.Sprintf("two processes have the id %v: give one of them another", h.ID)
	case proto.OtherVersion:
		return fmt.Sprintf("node %v speaks another protocol version: "+
			"run the same release on both", a.ID)
	case proto.Hung:
		return fmt.Sprintf("node %v takes no links while its elections stand still", a.ID)
	case proto.TooMany:
		return fmt.Sprintf("node %v has %d links and takes no more", a.ID, maxInbound)
	}
	return fmt.Sprintf("node %v refused node %v: %q", a.ID, h.ID, a.Reason)
}

// remedy says what to do about two labels that differ.
func remedy(one, other string) string {
	name, _, _ := strings.Cut(one, " with ")
	if same, _, _ := strings.Cut(other, " with "); same == name {
		return ": start the one that is wrong again, with what the others have"
	}
	return "; to change the algorithm, stop all nodes and start them with another, or give all of " +
		"them voters first: in an office what nominates may differ, and be changed node by node"
}

// refusals pairs what is said on the wire with what is counted.
var refusals = map[proto.Refusal]reason{
	proto.OtherVersion:   otherVersion,
	proto.OtherCluster:   otherCluster,
	proto.OtherAlgorithm: otherAlgorithm,
	proto.DistantVoters:  distantVoters,
	proto.OtherNode:      otherNode,
	proto.SameNode:       sameID,
	proto.TooMany:        crowded,
	proto.Hung:           hung,
}

// hello is what this node says first; to zero asks who is there.
func (t *Transport) hello(to proto.NodeID) proto.Hello {
	return proto.Hello{
		Cluster: t.cfg.Cluster, Algorithm: inWords(t.cfg.Algorithm), Agreement: agreement(t.cfg.Algorithm),
		Voters: t.cfg.Voters, ID: t.cfg.ID, Session: t.cfg.Session, To: to,
	}
}

// agreement is the hash of what must be equal at both ends. It fits an int64, as all integers
// on the wire do.
func agreement(label string) uint64 {
	sum := sha256.Sum256([]byte(label))
	return binary.BigEndian.Uint64(sum[:]) >> 1
}

// inWords is a label as far as it is said: two that are cut may look the same, and differ.
func inWords(label string) string {
	const mark = "…"
	if len(label) <= proto.MaxLabel {
		return label
	}
	return strings.ToValidUTF8(label[:proto.MaxLabel-len(mark)], "") + mark
}

// greet says h on a new connection and returns the WELCOME. Its caller limits
// the time.
func greet(conn net.Conn, r *frameReader, h proto.Hello) (proto.Welcome, error) {
	if err := say(conn, h); err != nil {
		return proto.Welcome{}, err
	}
	number, payload, err := r.next(maxControl)
	if err != nil {
		return proto.Welcome{}, fmt.Errorf("the answer to HELLO: %w", noEOF(err))
	}
	kind := proto.LinkKind(number)
	body, err := proto.UnmarshalLink(kind, payload)
	if err != nil {
		return proto.Welcome{}, faultf(badPayload, "the answer to HELLO: %v", err)
	}
	switch b := body.(type) {
	case proto.Refuse:
		return proto.Welcome{}, &RefusedError{Hello: h, Answer: b}
	case proto.Welcome:
		if h.To != 0 && b.ID != h.To {
			return proto.Welcome{}, faultf(otherNode, "node %v answers for node %v", b.ID, h.To)
		}
		return b, nil
	}
	return proto.Welcome{}, faultf(unexpected, "%v in answer to HELLO", kind)
}

// readHello reads a HELLO and judges it. Its caller limits the time.
func (t *Transport) readHello(r *frameReader) (proto.Hello, error) {
	number, payload, err := r.next(maxControl)
	if err != nil {
		return proto.Hello{}, err
	}
	kind := proto.LinkKind(number)
	if kind != proto.KindHello {
		return proto.Hello{}, faultf(unexpected, "%v where HELLO belongs", kind)
	}
	body, err := proto.UnmarshalLink(kind, payload)
	if err != nil {
		return proto.Hello{}, faultf(badPayload, "%v", err)
	}
	h := body.(proto.Hello)
	if why := t.judge(h); why != "" {
		return h, t.refusal(h, why)
	}
	return h, nil
}

// judge says why h leads nowhere, "" when it does not. A caller with my own id
// who only asks who is here is told: that is how it learns that its id is
// taken.
func (t *Transport) judge(h proto.Hello) proto.Refusal {
	switch {
	case h.Cluster != t.cfg.Cluster:
		return proto.OtherCluster
	case h.Agreement != agreement(t.cfg.Algorithm):
		return proto.OtherAlgorithm
	case !near(h.Voters, t.cfg.Voters):
		return proto.DistantVoters
	case h.To == 0:
		return ""
	case h.To != t.cfg.ID:
		return proto.OtherNode
	case h.ID == t.cfg.ID:
		return proto.SameNode
	}
	return ""
}

// near reports whether two lists are equal or differ by one voter, so that their
// majorities meet.
func near(one, other proto.VoterList) bool {
	d, _ := one.Distance(other)
	return d <= proto.OneVoter
}

func (t *Transport) refusal(h proto.Hello, why proto.Refusal) *RefusedError {
	return &RefusedError{Hello: h, Answer: proto.Refuse{
		Reason: why, ID: t.cfg.ID, Cluster: t.cfg.Cluster, Algorithm: inWords(t.cfg.Algorithm),
		Voters: t.cfg.Voters,
	}}
}

// say writes one control frame.
func say(conn net.Conn, b proto.LinkBody) error {
	kind, payload, err := proto.MarshalLink(b)
	if err != nil {
		return err
	}
	_, err = conn.Write(appendFrame(nil, kind, payload))
	return err
}

// Probe asks who answers at addr, host:port, without making a link. A caller
// that learns its own id and another session has found either another node
// with its id or, while that process ends, its own former life. The error is a
// *RefusedError when the node there is of another cluster or algorithm.
func (t *Transport) Probe(ctx context.Context, addr string) (proto.Welcome, error) {
	w, err := t.probe(ctx, addr)
	if err != nil {
		return proto.Welcome{}, fmt.Errorf("ask who is at %s: %w", addr, err)
	}
	return w, nil
}

func (t *Transport) probe(ctx context.Context, addr string) (proto.Welcome, error) {
	conn, err := t.dial(ctx, addr)
	if err != nil {
		return proto.Welcome{}, err
	}
	defer t.conns.end(conn)
	defer context.AfterFunc(ctx, func() { reset(conn) })()
	if err := conn.SetDeadline(time.Now().Add(t.cfg.timing.handshake)); err != nil {
		return proto.Welcome{}, err
	}
	w, err := greet(conn, newFrameReader(conn), t.hello(0))
	if ctx.Err() != nil {
		return proto.Welcome{}, ctx.Err()
	}
	return w, err
}

// dial connects to addr.
func (t *Transport) dial(ctx context.Context, addr string) (net.Conn, error) {
	conn, err := t.cfg.Network.Dial(ctx, addr, t.cfg.timing.dial)
	if err != nil {
		return nil, err
	}
	if !t.conns.add(conn) {
		return nil, net.ErrClosed
	}
	return conn, nil
}
