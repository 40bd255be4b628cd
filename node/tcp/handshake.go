package tcp

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// RefusedError says that a node answered, and refused the link.
type RefusedError struct {
	Hello  proto.Hello  // the HELLO that was sent
	Answer proto.Refuse // which node refused it, and why
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
		return e.otherLabel()
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
		return fmt.Sprintf("node %v has as many links as it can have, and takes no more", a.ID)
	case proto.NeedsCredentials:
		return fmt.Sprintf("node %v takes links under TLS alone, and this node runs without credentials: start all "+
			"nodes of a cluster with credentials, or all without", a.ID)
	}
	return fmt.Sprintf("node %v refused node %v: %q", a.ID, h.ID, a.Reason)
}

// Settings that may differ between two nodes. If one of them differs, the nodes exchange no messages.
const (
	algorithmDiffers = "the setting algorithm"
	votersDiffer     = "the setting voters"

	storeDiffers      = "the setting store"
	ttlDiffers        = "the setting lease"
	storeAndTTLDiffer = "the settings store, and lease"
)

// otherLabel explains a refusal whose cause is that the labels of the two nodes differ. A label is a
// Config.Algorithm.
func (e *RefusedError) otherLabel() string {
	h, a := e.Hello, e.Answer
	const again = "start the one that is wrong again, with what the others have: "
	switch settings := e.Differs(); settings {
	case algorithmDiffers:
		return fmt.Sprintf("node %v runs %q, node %v runs %q: all nodes of a cluster run the same; "+
			"to change the algorithm, stop all nodes and start them with another, or give all of them "+
			"voters first: under votes what nominates may differ, and be changed node by node",
			h.ID, h.Algorithm, a.ID, a.Algorithm)
	case storeDiffers, ttlDiffers, storeAndTTLDiffer:
		return fmt.Sprintf("node %v elects by %q, node %v by %q: %s%s", h.ID, h.Algorithm, a.ID, a.Algorithm, again,
			settings)
	case votersDiffer:
		return fmt.Sprintf("node %v has %v, node %v has %v: %s%s", h.ID, h.Voters, a.ID, a.Voters, again, settings)
	default:
		return fmt.Sprintf("node %v runs %q, node %v runs %q: %s%s",
			h.ID, h.Algorithm, a.ID, a.Algorithm, again, settings)
	}
}

// Differs returns the settings in which the two nodes differ, as far as their labels show, for example "the
// setting voters". It returns "" if the link was refused for another reason.
func (e *RefusedError) Differs() string {
	if e.Answer.Reason != proto.OtherAlgorithm {
		return ""
	}
	if settings := otherStore(e.Hello.Algorithm, e.Answer.Algorithm); settings != "" {
		return settings
	}
	name, terms, votes := strings.Cut(e.Hello.Algorithm, " with ")
	otherName, otherTerms, otherVotes := strings.Cut(e.Answer.Algorithm, " with ")
	switch {
	case votes != otherVotes:
		return votersDiffer
	case name != otherName:
		return algorithmDiffers
	}
	one, other := strings.Split(terms, ", "), strings.Split(otherTerms, ", ")
	var settings []string
	if one[0] != other[0] {
		settings = append(settings, "lease, failover-budget or profile")
	}
	for _, s := range []struct{ term, setting string }{
		{"waited out whoever dies", "await-leases"}, {"a fence agent", "fence-agent"},
	} {
		if slices.Contains(one, s.term) != slices.Contains(other, s.term) {
			settings = append(settings, s.setting)
		}
	}
	if len(settings) == 1 && one[0] == other[0] {
		return "the setting " + settings[0]
	}
	return "the settings " + strings.Join(settings, ", and ")
}

// StoreLabel returns the Config.Algorithm of a node that elects in a place of a store.
func StoreLabel(place string, ttl time.Duration) string {
	return fmt.Sprintf("a store with a TTL of %v: %s", ttl, place)
}

// otherStore returns in which settings of a store two labels differ; "" if neither is a StoreLabel.
func otherStore(label, other string) string {
	place, ttl, one := cutStore(label)
	otherPlace, otherTTL, two := cutStore(other)
	switch {
	case !one && !two:
		return ""
	case one && two && place == otherPlace:
		return ttlDiffers
	case one && two && ttl != otherTTL:
		return storeAndTTLDiffer
	}
	return storeDiffers
}

// cutStore returns what StoreLabel has joined. ok is false for another label.
func cutStore(label string) (place, ttl string, ok bool) {
	rest, ok := strings.CutPrefix(label, "a store with a TTL of ")
	ttl, place, _ = strings.Cut(rest, ": ")
	return place, ttl, ok
}

// refusals maps each refusal on the wire to the reason under which this node counts that refusal.
var refusals = map[proto.Refusal]reason{
	proto.OtherVersion:   otherVersion,
	proto.OtherCluster:   otherCluster,
	proto.OtherAlgorithm: otherAlgorithm,
	proto.DistantVoters:  distantVoters,
	proto.OtherNode:      otherNode,
	proto.SameNode:       sameID,
	proto.TooMany:        crowded,
	proto.Hung:           hung,

	proto.NeedsCredentials: plaintext,
}

// hello returns the first frame that this node sends on a connection. The parameter to is zero if this node
// only asks which process is there.
func (t *Transport) hello(to proto.NodeID) proto.Hello {
	return proto.Hello{
		Cluster: t.cfg.Cluster, Algorithm: inWords(t.cfg.Algorithm), Agreement: agreement(t.cfg.Algorithm),
		Voters: t.cfg.Voters, ID: t.cfg.ID, Incarnation: t.cfg.Incarnation, To: to,
	}
}

// agreement returns the hash of a label, which must be equal at both ends. The hash fits an int64, as all
// integers on the wire do.
func agreement(label string) uint64 {
	sum := sha256.Sum256([]byte(label))
	return binary.BigEndian.Uint64(sum[:]) >> 1
}

// inWords returns a label, cut to the length that a HELLO may have. Two labels that were cut may
// look equal although they differ.
func inWords(label string) string {
	const mark = "…"
	if len(label) <= proto.MaxLabel {
		return label
	}
	return strings.ToValidUTF8(label[:proto.MaxLabel-len(mark)], "") + mark
}

// reach dials addr, sends h, and returns the link. With Config.Security only the node wanted gets h; zero is any node.
// If ctx ends first, the handshake ends at once, and the error is that of ctx.
func (t *Transport) reach(ctx context.Context, addr string, h proto.Hello, wanted proto.NodeID) (*link, error) {
	conn, err := t.cfg.Network.Dial(ctx, addr, t.cfg.timing.dial)
	if err != nil {
		return nil, err
	}
	l := &link{conn: conn, addr: addr, forget: t.resetAtEnd(conn)}
	stop := context.AfterFunc(ctx, func() { reset(conn) })
	err = conn.SetDeadline(time.Now().Add(t.cfg.timing.handshake))
	if err == nil {
		err = t.introduce(l, h, wanted)
	}
	if !stop() {
		err = ctx.Err()
	}
	if t.open.Err() != nil {
		err = net.ErrClosed
	}
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err != nil {
		if f := faultIn(err); f != nil && f.reason == unproven {
			t.drain(conn) // or the end would overtake what TLS says about it
		}
		l.end()
		return nil, err
	}
	return l, nil
}

// introduce proves who is at the other end of l, if anything does, and greets it. The caller has set a deadline.
func (t *Transport) introduce(l *link, h proto.Hello, wanted proto.NodeID) error {
	conn, proven, err := t.secureDialled(l.conn, wanted)
	if err != nil {
		return err
	}
	l.conn, l.frames = conn, newFrameReader(conn)
	if l.welcome, err = greet(conn, l.frames, h); err != nil {
		return alerted(err)
	}
	return proves(proven, l.welcome.ID)
}

// greet sends h on a new connection and returns the WELCOME. The caller has set a deadline.
func greet(conn net.Conn, r *frameReader, h proto.Hello) (proto.Welcome, error) {
	if err := say(conn, h); err != nil {
		return proto.Welcome{}, err
	}
	body, err := r.control("in answer to HELLO", proto.KindWelcome, proto.KindRefuse)
	if err != nil {
		return proto.Welcome{}, fmt.Errorf("the answer to HELLO: %w", noEOF(err))
	}
	if refused, ok := body.(proto.Refuse); ok {
		return proto.Welcome{}, &RefusedError{Hello: h, Answer: refused}
	}
	welcome := body.(proto.Welcome)
	if h.To != 0 && welcome.ID != h.To {
		return proto.Welcome{}, faultf(otherNode, "node %v answers for node %v", welcome.ID, h.To)
	}
	return welcome, nil
}

// readHello reads a HELLO and judges it. The other end is the node proven, unless that is zero. Its caller limits the
// time.
func (t *Transport) readHello(r *frameReader, proven proto.NodeID) (proto.Hello, error) {
	body, err := r.control("where HELLO belongs", proto.KindHello)
	if err != nil {
		return proto.Hello{}, err
	}
	h := body.(proto.Hello)
	if err := proves(proven, h.ID); err != nil {
		return h, err
	}
	if why := t.judge(h); why != "" {
		return h, t.refusal(h, why)
	}
	return h, nil
}

// judge returns why a HELLO is refused; "" if this node accepts it. A process with this node's own id that
// only asks who is here gets an answer: in this way it learns that its id is taken.
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

// Probe asks which process answers at addr, host:port, without making a link. A caller that gets
// its own id with another incarnation has found another node with its id, or an earlier process of
// its own node that is still ending. The error is a *RefusedError if the node there is of another
// cluster or algorithm.
func (t *Transport) Probe(ctx context.Context, addr string) (proto.Welcome, error) {
	l, err := t.reach(ctx, addr, t.hello(0), 0)
	if err != nil {
		return proto.Welcome{}, fmt.Errorf("ask who is at %s: %w", addr, err)
	}
	l.end()
	return l.welcome, nil
}

// Refuses reports whether node id, proven by Config.Security, answers at addr and refuses links with this node. Without
// Security nobody is proven.
func (t *Transport) Refuses(ctx context.Context, id proto.NodeID, addr string) bool {
	if t.cfg.Security == nil {
		return false
	}
	l, err := t.reach(ctx, addr, t.hello(0), id)
	if l != nil {
		l.end()
	}
	_, refused := errors.AsType[*RefusedError](err)
	return refused
}
