package main

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/internal/daemon"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// What docs/SECURITY.md promises of an attacker who has a secret or none. The limits are its words.
const (
	// backWithin is how long a node takes to come back while an attacker does what it can with the secrets below.
	backWithin = 20 * time.Second
	// revokedWithin is how long a certificate counts after it was revoked in every node's directory.
	revokedWithin = 20 * time.Second
	// moreMemory is how much memory made-up members cost a node, without the race detector.
	moreMemory = 32 << 20

	attackLease = 15 * time.Second
	// believedFor is how long after the last lie of a voter, which never won its term, all follow the leader again.
	believedFor = attackLease * 3 / 2
)

// intruder attacks a cluster of three voters. It speaks the protocols by hand.
type intruder struct {
	securedE2E
	before testcluster.Belief
	label  string       // what nodes must agree on, and an attacker may know
	key    cipher.AEAD  // the key of gossip; nil without
	as     proto.NodeID // whose certificate it has; 0 without
	keeper *credentials.Keeper
	seq    uint64
}

func newIntruder(t *testing.T) *intruder { return newIntruderOf(t, "10s") }

// newIntruderOf attacks a cluster of this failover budget.
func newIntruderOf(t *testing.T, budget string) *intruder {
	t.Helper()
	e := newSecuredE2E(t, "bully", 3, "--voters", "1-3", "--preempt=false", "--lease", attackLease.String(),
		"--failover-budget", budget)
	entry, err := catalog.Lookup("bully")
	e.check(err)
	in := &intruder{securedE2E: e, label: daemon.Settings{
		Algorithm: entry.WithLease(), Voters: quorum.Voters{1, 2, 3}, Promise: attackLease,
	}.ElectionLabel()}
	e.check(e.StartAll())
	in.before = e.agreed()
	for _, n := range e.Nodes() {
		e.told(n.ID, func(s httpapi.Status) bool { return len(s.Alive) == 3 })
	}
	return in
}

// stealKey gives the attacker the key of gossip.
func (in *intruder) stealKey() {
	k, err := credentials.Open(filepath.Join(in.Credentials(), "node-1"), credentials.Identity{
		Cluster: testcluster.ClusterLabel, ID: 1,
	})
	in.check(err)
	block, err := aes.NewCipher(k.GossipKeys()[0])
	in.check(err)
	in.key, err = cipher.NewGCM(block)
	in.check(err)
}

// stealCertificate gives the attacker the certificate of a node. One that the cluster lacks is made.
func (in *intruder) stealCertificate(id proto.NodeID) {
	who := credentials.Identity{Cluster: testcluster.ClusterLabel, ID: id}
	dir := filepath.Join(in.Credentials(), "node-"+id.String())
	if in.Node(id).ID == 0 {
		a, err := credentials.OpenAuthority(in.Credentials())
		in.check(err)
		_, err = a.Issue(who, nil, time.Hour)
		in.check(err)
	}
	var err error
	in.keeper, err = credentials.Open(dir, who)
	in.check(err)
	in.as = id
}

// patient gives what follows its own time: the attacks take minutes together, and none may wait for ever.
func (in *intruder) patient() {
	ctx, cancel := context.WithTimeout(in.Context(), 2*patience)
	in.Cleanup(cancel)
	in.ctx = ctx
}

// tries does what each row says.
func (in *intruder) tries(rows []row) {
	for _, r := range rows {
		in.Logf("row: %s", r.name)
		in.patient()
		r.try(in)
	}
	in.patient()
}

// followers are the nodes that do not lead.
func (in *intruder) followers() []proto.NodeID { return without(in.before.Leader, 1, 2, 3) }

// unharmed says that leader and term are what they were, that nobody ended and nobody is paused, and that a node
// that restarts is back in time.
func (in *intruder) unharmed(restarts ...proto.NodeID) {
	in.Helper()
	for _, id := range restarts {
		_, err := in.Kill(id)
		in.check(err)
		in.check(in.Start(id))
		in.back(id)
	}
	if now := in.agreed(); now != in.before {
		in.Errorf("%+v lead, it was %+v before", now, in.before)
	}
	for _, n := range in.Nodes() {
		if code, words, ended := in.Ended(n.ID); ended {
			in.Errorf("node %v ended with %d: %s", n.ID, code, words)
		}
		in.told(n.ID, func(s httpapi.Status) bool { return s.Ineligible == "" && len(s.Alive) == 3 })
		for _, line := range []string{"paused by a stranger", "x by a stranger"} {
			if strings.Contains(in.Log(n.ID), line) {
				in.Errorf("node %v was told %q", n.ID, line)
			}
		}
	}
}

// within returns the cluster with a time of its own: an attack may go on meanwhile, and reads in.
func (in *intruder) within(d time.Duration) (securedE2E, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(in.Context(), d)
	e := in.securedE2E
	e.ctx = ctx
	return e, cancel
}

// back waits until the others count node id again, and it follows, within backWithin.
func (in *intruder) back(id proto.NodeID) {
	in.Helper()
	began := time.Now()
	within, cancel := in.within(backWithin)
	defer cancel()
	ctx := within.ctx
	incarnation := ""
	within.eventually(func() string {
		s, err := in.client(id).Status(ctx)
		if err != nil || s.Leader != in.before.Leader || len(s.Alive) != 3 {
			return fmt.Sprintf("node %v is not back: %+v, %v", id, s, err)
		}
		incarnation = s.Incarnation
		return ""
	})
	for _, other := range without(id, 1, 2, 3) {
		within.eventually(func() string {
			s, err := in.client(other).Members(ctx)
			for _, m := range s.Members {
				if err == nil && m.ID == id && m.Incarnation == incarnation {
					return ""
				}
			}
			return fmt.Sprintf("node %v does not count node %v: %+v, %v", other, id, s, err)
		})
	}
	in.Logf("node %v was back after %v", id, time.Since(began).Round(time.Millisecond))
}

// gossip sends a message of memberlist to nodes, sealed if the attacker has the key.
func (in *intruder) gossip(message []byte, to ...proto.NodeID) {
	in.Helper()
	if in.key != nil {
		nonce := make([]byte, in.key.NonceSize())
		_, _ = rand.Read(nonce)
		message = in.key.Seal(append([]byte{1}, nonce...), nonce, message, nil)
	}
	if len(to) == 0 {
		to = []proto.NodeID{1, 2, 3}
	}
	for _, id := range to {
		conn, err := net.Dial("udp", in.Node(id).Gossip)
		in.check(err)
		_, _ = conn.Write(message) // a node may be down
		in.check(conn.Close())
	}
}

// The types of memberlist's messages.
const (
	gossipAlive = 4
	gossipDead  = 5
	gossipUser  = 8
)

// someone is a member as gossip tells of it.
type someone struct {
	proto.Peer
	number   uint32 // memberlist's "incarnation"
	started  int64
	flags    byte
	gossip   string
	election string
	list     proto.VoterList
	version  uint64
	versions []byte
}

// truly is how a node describes itself, as far as an attacker can know.
func (in *intruder) truly(id proto.NodeID) someone {
	in.Helper()
	s := in.told(id, func(s httpapi.Status) bool { return s.Incarnation != "" })
	incarnation, err := proto.ParseIncarnation(s.Incarnation)
	in.check(err)
	n := in.Node(id)
	return someone{
		Peer: proto.Peer{ID: id, Incarnation: incarnation}, number: 1 << 20, started: time.Now().UnixMicro(),
		gossip: n.Gossip, election: n.Election, list: "1-3", version: 1,
	}
}

// madeUp is a member that does not exist.
func madeUp(id proto.NodeID) someone {
	return someone{
		Peer: proto.Peer{ID: id, Incarnation: proto.NewIncarnation(), Attr: 1 << 40}, number: 1, started: 1,
		gossip: "127.0.0.1:9", election: "127.0.0.1:9", list: "1-3", version: 1,
	}
}

// description is how package membership describes a process.
func (s someone) description() []byte {
	m := []byte{3, s.flags}
	m = binary.BigEndian.AppendUint64(m, uint64(s.ID))
	m = append(m, s.Incarnation[:]...)
	m = binary.BigEndian.AppendUint64(m, uint64(s.Attr))
	m = binary.BigEndian.AppendUint64(m, uint64(s.started))
	m = binary.BigEndian.AppendUint64(m, s.version)
	m = append(m, make([]byte, 8)...) // no store
	for _, text := range []string{s.election, "", testcluster.ClusterLabel, "nomination", string(s.list)} {
		m = append(append(m, byte(len(text))), text...)
	}
	return m
}

// alive says that a member is alive, in memberlist's encoding.
func (in *intruder) alive(s someone) []byte {
	if s.versions == nil {
		s.versions = []byte{1, 5, 2, 0, 0, 0}
	}
	at := netip.MustParseAddrPort(s.gossip)
	body, err := msgpack.Marshal(struct {
		Incarnation uint32
		Node        string
		Addr        []byte
		Port        uint16
		Meta, Vsn   []byte
	}{s.number, s.ID.String(), at.Addr().AsSlice(), at.Port(), s.description(), s.versions})
	in.check(err)
	return append([]byte{gossipAlive}, body...)
}

// dead says that a member is dead.
func (in *intruder) dead(id proto.NodeID, number uint32) []byte {
	body, err := msgpack.Marshal(struct {
		Incarnation uint32
		Node, From  string
	}{number, id.String(), "1"})
	in.check(err)
	return append([]byte{gossipDead}, body...)
}

// goodbye says that a process leaves.
func goodbye(p proto.Peer) []byte {
	b := binary.BigEndian.AppendUint64([]byte{gossipUser, 'G'}, uint64(p.ID))
	return append(b, p.Incarnation[:]...)
}

// notice is one of the whole cluster.
func notice(version uint64, text string) []byte {
	b := binary.BigEndian.AppendUint64([]byte{gossipUser, 'N'}, version)
	b = binary.BigEndian.AppendUint64(b, 2)
	b = binary.BigEndian.AppendUint16(b, uint16(len(text)))
	return append(b, text...)
}

// caller is one connection of the attacker to the election address of a node.
type caller struct {
	net.Conn
	in *intruder
	to proto.NodeID
}

// call dials a node, under TLS if the attacker has a certificate.
func (in *intruder) call(to proto.NodeID) (*caller, error) {
	raw, err := net.DialTimeout("tcp", in.Node(to).Election, 5*time.Second)
	if err != nil {
		return nil, err
	}
	conn := raw
	_ = raw.SetDeadline(time.Now().Add(10 * time.Second))
	if in.keeper != nil {
		if conn, _, err = in.keeper.Dial(raw, to); err != nil {
			_ = raw.Close()
			return nil, err
		}
	}
	in.Cleanup(func() { _ = raw.Close() })
	return &caller{conn, in, to}, nil
}

// hello says who the attacker is, or says that it is. It returns what the node answers; nil if it hangs up.
func (c *caller) hello(id, to proto.NodeID, change ...func(*proto.Hello)) (proto.LinkBody, error) {
	sum := sha256.Sum256([]byte(c.in.label))
	h := proto.Hello{
		Cluster: testcluster.ClusterLabel, Agreement: binary.BigEndian.Uint64(sum[:]) >> 1, Algorithm: c.in.label,
		Voters: "1-3", ID: id, Incarnation: proto.NewIncarnation(), To: to,
	}
	for _, f := range change {
		f(&h)
	}
	kind, payload, err := proto.MarshalLink(h)
	c.in.check(err)
	if err := c.frame(byte(kind), payload); err != nil {
		return nil, err
	}
	header := make([]byte, 6)
	if _, err := io.ReadFull(c, header); err != nil {
		return nil, err
	}
	answer := make([]byte, binary.BigEndian.Uint32(header))
	if _, err := io.ReadFull(c, answer); err != nil {
		return nil, err
	}
	return proto.UnmarshalLink(proto.LinkKind(header[5]), answer)
}

func (c *caller) frame(kind byte, payload []byte) error {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))
	_, err := c.Write(append(append(b, 6, kind), payload...))
	return err
}

// says sends a message, whatever it says of its sender.
func (c *caller) says(from proto.NodeID, term proto.Term, body proto.Body) error {
	c.in.seq++
	kind, payload, err := proto.Marshal(proto.Message{From: from, To: c.to, Term: term, Seq: c.in.seq, Body: body})
	c.in.check(err)
	return c.frame(kind.Number(), payload)
}

// speaks has the attacker say something to each node, as the node named: on a link of its own that says it is that
// node, and on one that says it is whom it has the certificate of.
func (in *intruder) speaks(named proto.NodeID, term proto.Term, bodies ...proto.Body) {
	for _, to := range without(named, 1, 2, 3) {
		for _, id := range slices.Compact([]proto.NodeID{named, in.as}) {
			c, err := in.call(to)
			if err != nil || id == 0 {
				continue
			}
			answer, err := c.hello(id, to)
			_, welcome := answer.(proto.Welcome)
			if welcome && id != in.as {
				in.Errorf("node %v takes the attacker for node %v", to, id)
			}
			for _, b := range bodies {
				if err == nil {
					err = c.says(named, term, b)
				}
			}
			_ = c.Close()
		}
	}
}

// during does f again and again, each time that long after the last, for at least the given times and until the cluster
// was found unharmed while the nodes restarted, one after the other.
func (in *intruder) during(every time.Duration, times int64, f func(), restarts ...proto.NodeID) {
	in.Helper()
	done, stop := again(every, f)
	defer stop()
	for _, id := range restarts {
		in.unharmed(id)
	}
	in.reaches(done, times)
	in.unharmed()
}

// again does f again and again, each time that long after the last, until stop is called. It counts the times.
func again(every time.Duration, f func()) (done *atomic.Int64, stop func()) {
	done = &atomic.Int64{}
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			f()
			done.Add(1)
			select {
			case <-quit:
				return
			case <-tick.C:
			}
		}
	}()
	return done, sync.OnceFunc(func() { close(quit); <-ended })
}

// reaches waits until a count is high enough.
func (in *intruder) reaches(count *atomic.Int64, times int64) {
	in.Helper()
	in.eventually(func() string {
		if n := count.Load(); n < times {
			return fmt.Sprintf("done %d times", n)
		}
		return ""
	})
}

// row is one row of the table of what an unauthenticated peer could once do.
type row struct {
	name string
	try  func(in *intruder)
}

// rows are the table. Each has the cluster attacked and says that it is unharmed.
func rows() []row {
	return []row{
		{"a notice of the highest version, and of one that is taken", func(in *intruder) {
			for _, version := range []uint64{1<<63 - 1, uint64(time.Now().UnixMicro()), 2} {
				in.gossip(notice(version, "paused by a stranger"))
			}
			in.arrived()
			in.unharmed()
		}},
		{"a node's id with an older start", func(in *intruder) {
			for id := range proto.NodeID(3) {
				rival := madeUp(id + 1)
				rival.flags, rival.number = 1, 1<<20 // a peer lists it
				rival.Incarnation, rival.election = proto.Incarnation{7}, in.door(id+1)
				in.gossip(in.alive(rival))
			}
			in.arrived()
			in.unharmed(in.followers()[0])
		}},
		{"forged HEARTBEATs, as if another led, each 200 ms", func(in *intruder) {
			forger := in.followers()[0]
			n := 0
			in.during(200*time.Millisecond, 20, func() {
				n++
				term := in.before.Term + proto.Term(n)
				in.speaks(forger, term, proto.Heartbeat{
					Leader: proto.Peer{ID: forger, Incarnation: proto.Incarnation{7}}, Nonce: 1, Remaining: attackLease,
					Voters: proto.VoterSet{},
				})
			}, in.followers()[1])
		}},
		{"two jumps of the term, then a HEARTBEAT", func(in *intruder) {
			for _, jump := range []proto.Term{1 << 20, 1<<20 - 1, 1} {
				in.speaks(in.followers()[0], in.before.Term+jump,
					proto.RequestVote{Incarnation: proto.Incarnation{7}, Nonce: 1},
					proto.Heartbeat{
						Leader: proto.Peer{ID: in.followers()[0], Incarnation: proto.Incarnation{7}}, Nonce: 1,
						Remaining: attackLease,
					})
			}
			in.unharmed(in.followers()[1])
		}},
		{"RELEASE and a hand-over in the leader's name", func(in *intruder) {
			leader := in.truly(in.before.Leader)
			for _, next := range in.followers() {
				in.speaks(leader.ID, in.before.Term,
					proto.Release{Incarnation: leader.Incarnation, Successor: next},
					proto.TakeOver{Incarnation: leader.Incarnation, To: in.truly(next).Incarnation},
					nomination.TimeoutNow{})
			}
			in.unharmed()
		}},
		{"a false member of another delegate version, each second", func(in *intruder) {
			other := madeUp(666)
			other.versions = []byte{1, 5, 2, 0, 9, 9}
			in.during(time.Second, 3, func() { in.gossip(in.alive(other)) }, in.followers()[0])
		}},
		{"5,000 false members", func(in *intruder) {
			rest := in.memory()
			packets := make([][]byte, 5000)
			for i := range packets {
				packets[i] = in.alive(madeUp(proto.NodeID(1000 + i)))
			}
			n := 0
			in.during(time.Millisecond, 6000, func() { in.gossip(packets[n%len(packets)]); n++ }, in.followers()...)
			in.arrived()
			for id, bytes := range in.memory() {
				if id == in.before.Leader && bytes > rest[id]+moreMemory && !underRace {
					in.Errorf("node %v has %d MiB, %d before", id, bytes>>20, rest[id]>>20)
				}
			}
			in.Logf("%d packets; memory before %v, after %v", n, rest, in.memory())
		}},
		{"1,024 valid HELLOs", func(in *intruder) {
			ids := []proto.NodeID{in.as}
			if in.as == 0 {
				ids = []proto.NodeID{9, 1001, 1002}
			}
			for i := range 1024 {
				in.check(in.ctx.Err())
				c, err := in.call(in.before.Leader)
				if err != nil {
					continue
				}
				answer, _ := c.hello(ids[i%len(ids)], in.before.Leader)
				if _, welcome := answer.(proto.Welcome); welcome && in.as == 0 {
					in.Fatal("the attacker was welcomed")
				}
			}
			in.unharmed(in.followers()[0])
		}},
		{"a wrong HELLO, and one to nobody", func(in *intruder) {
			for name, change := range map[string]func(*proto.Hello){
				"of another cluster":   func(h *proto.Hello) { h.Cluster = "x" },
				"of another algorithm": func(h *proto.Hello) { h.Agreement++ },
				"to node 9":            func(h *proto.Hello) { h.To = 9 },
				"to nobody":            func(h *proto.Hello) { h.To = 0 },
			} {
				c, err := in.call(1)
				in.check(err)
				answer, err := c.hello(9, 1, change)
				want := proto.Refuse{Reason: proto.NeedsCredentials, ID: 1}
				if in.as == 0 && answer != proto.LinkBody(want) || in.as != 0 && err == nil {
					in.Errorf("%s: answered with %+v, %v", name, answer, err)
				}
			}
			in.unharmed()
		}},
	}
}

// door is an election address at which the attacker answers as node id.
func (in *intruder) door(id proto.NodeID) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	in.check(err)
	in.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
				if in.keeper != nil {
					if conn, _, err = in.keeper.Accept(in.Context(), conn); err != nil {
						return
					}
				}
				kind, payload, _ := proto.MarshalLink(proto.Welcome{ID: id, Incarnation: proto.Incarnation{7}})
				b := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))
				_, _ = conn.Write(append(append(b, 6, byte(kind)), payload...))
				_, _ = io.Copy(io.Discard, conn)
			}()
		}
	}()
	return ln.Addr().String()
}

// arrived waits until each node has read gossip of the attacker: dropped or, with the key, taken.
func (in *intruder) arrived() {
	in.Helper()
	if in.key != nil {
		mark := proto.NodeID(5000000 + time.Now().UnixMicro()%1000000)
		last := madeUp(mark)
		last.versions = []byte{9, 9, 9, 9, 9, 9}
		for _, n := range in.Nodes() {
			in.eventually(func() string {
				in.gossip(in.alive(last), n.ID) // again: a node that is busy loses packets
				if words := fmt.Sprintf("refused node \\\"%v\\\"", mark); !strings.Contains(in.Log(n.ID), words) {
					return fmt.Sprintf("node %v never logged %q", n.ID, words)
				}
				return ""
			})
		}
		return
	}
	for _, n := range in.Nodes() {
		in.told(n.ID, func(s httpapi.Status) bool { return s.Counters["gossip_dropped_unencrypted"] > 0 })
	}
}

// memory is how much each node has, where the system tells.
func (in *intruder) memory() map[proto.NodeID]int {
	used := map[proto.NodeID]int{}
	for _, n := range in.Nodes() {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", in.PID(n.ID)))
		if errors.Is(err, os.ErrNotExist) {
			continue // another system
		}
		in.check(err)
		pages, err := strconv.Atoi(strings.Fields(string(text))[1])
		in.check(err)
		used[n.ID] = pages * os.Getpagesize()
	}
	return used
}

// "Nothing of it works without the secret that the threat model names": an attacker that has none.
func TestWithoutASecret(t *testing.T) {
	in := newIntruder(t)
	in.tries(rows())
}

// "With a stolen key of gossip, an attacker can at worst slow elections down": each row, and all that gossip can say
// about the nodes themselves.
func TestWithTheGossipKey(t *testing.T) {
	in := newIntruder(t)
	in.stealKey()
	in.tries(append(rows(), liesOfGossip()...))
}

// liesOfGossip are what the key of gossip is good for beyond the table.
func liesOfGossip() []row {
	lie := func(change func(*someone)) func(*intruder) {
		return func(in *intruder) {
			var lies [][]byte
			for id := range proto.NodeID(3) {
				s := in.truly(id + 1)
				change(&s)
				lies = append(lies, in.alive(s))
			}
			in.during(100*time.Millisecond, 20, func() {
				for _, l := range lies {
					in.gossip(l)
				}
			}, in.followers()[0])
			in.unharmed()
		}
	}
	return []row{
		{"false attributes, and nobody may lead", lie(func(s *someone) { s.Attr, s.flags = math.MaxInt64, 2 })},
		{"false voters, confirmed", lie(func(s *someone) { s.list, s.version, s.flags = "7-9", 99, 4 })},
		{"false addresses", lie(func(s *someone) { s.election = "127.0.0.1:9" })},
		{"a false process", lie(func(s *someone) { s.Incarnation = proto.Incarnation{9} })},
		{"false deaths", func(in *intruder) {
			number := uint32(1 << 20)
			in.during(100*time.Millisecond, 50, func() {
				for id := range proto.NodeID(3) {
					number++
					in.gossip(in.dead(id+1, number), without(id+1, 1, 2, 3)...)
				}
			}, in.followers()[1])
			in.unharmed()
		}},
		{"false goodbyes", func(in *intruder) {
			for id := range proto.NodeID(3) {
				in.gossip(goodbye(in.truly(id + 1).Peer))
			}
			in.arrived()
			in.unharmed(in.followers()[0])
		}},
		{"a description that cannot be contradicted, then a death", func(in *intruder) {
			var lies [][]byte
			for id := range proto.NodeID(3) {
				s := in.truly(id + 1)
				s.number, s.Incarnation, s.election = math.MaxUint32, proto.Incarnation{9}, "127.0.0.1:9"
				lies = append(lies, in.alive(s), in.dead(id+1, math.MaxUint32))
			}
			in.during(20*time.Millisecond, 200, func() {
				for _, l := range lies {
					in.gossip(l)
				}
			}, in.followers()[0])
			in.unharmed(in.followers()[1])
		}},
	}
}

// "What a stolen certificate can do is bounded": that of a node which does not vote does none of the rows. It can pause
// the cluster, as its node could, and an operator ends that at once.
func TestWithAnotherNodesCertificate(t *testing.T) {
	in := newIntruder(t)
	in.stealCertificate(4)
	in.stealKey()
	in.tries(append(rows(), row{"HEARTBEATs and requests for votes, by lists of its own", (*intruder).claims},
		row{"what was voted, to a voter that lost its disk", (*intruder).tellsOfVotes}))
	in.pauses()
}

// Whoever has the certificate of a node that does not vote, and a key of gossip, "keeps all others from leading" by a
// list of voters of its own, "until the certificate is revoked".
func TestWithVotersOfItsOwn(t *testing.T) {
	in := newIntruder(t)
	in.stealCertificate(4)
	in.stealKey()
	rival := madeUp(in.as)
	rival.Incarnation, rival.election = proto.Incarnation{7}, in.door(in.as)
	rival.list, rival.flags = "4", 4 // confirmed
	_, stop := again(200*time.Millisecond, func() { rival.number++; in.gossip(in.alive(rival)) })
	defer stop()
	for _, n := range in.Nodes() {
		in.told(n.ID, func(s httpapi.Status) bool { return strings.Contains(s.Ineligible, "node 4 has voter 4") })
	}
	a, err := credentials.OpenAuthority(in.Credentials())
	in.check(err)
	in.check(a.Revoke(in.as))
	in.settled()
}

// claims has the attacker say in its own name that it leads, or would, by lists of voters that no voter has.
func (in *intruder) claims() {
	lists := []proto.VoterSet{
		{Hash: 1},
		{Version: 1, Hash: 1, Changed: in.as},
		{Version: 1 << 20, Hash: 1, Committed: true},
		{Hash: proto.ListVoters([]proto.NodeID{1, 2, 3, in.as}).Hash(), Version: 1, Changed: in.as},
	}
	n := 0
	in.during(200*time.Millisecond, 20, func() {
		n++
		process, list := proto.Peer{ID: in.as, Incarnation: proto.Incarnation{7}}, lists[n%len(lists)]
		in.speaks(in.as, in.before.Term+proto.Term(n),
			proto.RequestVote{Incarnation: process.Incarnation, Nonce: 1, Voters: list},
			proto.Heartbeat{Leader: process, Nonce: 1, Remaining: attackLease, Voters: list})
	}, in.followers()[0])
}

// tellsOfVotes has the attacker tell a voter that lost its disk, and asks the others what they voted, that somebody
// voted in the highest of all terms. One of the others hangs meanwhile, so that too few answer.
func (in *intruder) tellsOfVotes() {
	id, hung := in.followers()[0], in.followers()[1]
	const anew = "-> vote again" // above which term depends on how long all this takes
	before := strings.Count(in.Log(id), anew)
	_, err := in.Kill(id)
	in.check(err)
	in.check(in.Pause(hung))
	in.check(os.RemoveAll(in.Node(id).DataDir))
	in.check(in.Start(id))
	process := in.truly(id).Incarnation
	in.logs(id, "ask the voters what they voted")
	told, stop := again(100*time.Millisecond, func() {
		c, err := in.call(id)
		if err != nil {
			return
		}
		defer c.Close()
		if _, err = c.hello(in.as, id); err == nil {
			_ = c.says(in.as, proto.MaxTerm, proto.VoterState{
				Incarnation: process, Nonce: 1, Voters: proto.VoterSet{Hash: 1},
			})
		}
	})
	defer stop()
	in.reaches(told, 5)
	in.check(in.Resume(hung))
	in.eventually(func() string {
		if strings.Count(in.Log(id), anew) == before {
			return fmt.Sprintf("node %v does not vote", id)
		}
		return ""
	})
	if lie := fmt.Sprintf("above %v %s", proto.MaxTerm, anew); strings.Contains(in.Log(id), lie) {
		in.Errorf("node %v believed what no voter told: %q", id, lie)
	}
	in.settled()
}

// pauses has the attacker pause the cluster by what it tells on a link of its own, and an operator resume it.
func (in *intruder) pauses() {
	in.Helper()
	text, process := "paused with a certificate", madeUp(in.as)
	news := binary.BigEndian.AppendUint64([]byte{'N'}, uint64(time.Now().UnixMicro()))
	news = binary.BigEndian.AppendUint64(news, uint64(in.as))
	news = append(binary.BigEndian.AppendUint16(news, uint16(len(text))), text...)
	news = append(append(news, byte(len(process.gossip))), process.gossip...)
	news = append(news, process.description()...)
	c, err := in.call(in.before.Leader)
	in.check(err)
	_, err = c.hello(in.as, in.before.Leader, func(h *proto.Hello) { h.Incarnation = process.Incarnation })
	in.check(err)
	kind, payload, err := proto.MarshalLink(proto.News{Bytes: string(news)})
	in.check(err)
	in.check(c.frame(byte(kind), payload))
	for _, n := range in.Nodes() {
		in.told(n.ID, func(s httpapi.Status) bool { return strings.HasSuffix(s.Ineligible, text) })
	}
	in.check(c.Close())
	_, err = in.client(in.followers()[0]).Do(in.Context(), httpapi.Resume, httpapi.Order{Cluster: true})
	in.check(err)
	in.settled()
}

// settled waits until nobody is paused and all nodes agree on a leader.
func (in *intruder) settled() {
	in.Helper()
	for _, n := range in.Nodes() {
		in.told(n.ID, func(s httpapi.Status) bool { return s.Ineligible == "" })
	}
	in.before = in.agreed()
}

// A voter's certificate lets its holder do what the voter could: vote, call elections, hand over what it leads. It
// neither speaks for the leader nor ends what its node keeps, and all of it ends when the certificate is revoked.
func TestWithAVotersCertificate(t *testing.T) {
	in := newIntruder(t)
	stolen := in.followers()[0]
	in.stealCertificate(stolen)
	in.stealKey()
	leader := in.truly(in.before.Leader)
	for _, next := range in.followers() {
		in.speaks(leader.ID, in.before.Term, proto.Release{Incarnation: leader.Incarnation, Successor: next},
			proto.TakeOver{Incarnation: leader.Incarnation, To: in.truly(next).Incarnation}, nomination.TimeoutNow{})
	}
	in.unharmed()
	in.pauses()
	in.lies(without(stolen, in.followers()...)[0])

	first, quit, ended := in.before, make(chan struct{}), make(chan struct{})
	var refused atomic.Int64
	liar := *in // for the goroutine alone
	go func() { // it disturbs as much as one voter can
		defer close(ended)
		for n := proto.Term(1); ; n++ {
			if c, err := liar.call(leader.ID); err == nil {
				answer, _ := c.hello(stolen, leader.ID)
				if _, welcome := answer.(proto.Welcome); !welcome {
					refused.Add(1)
				}
				_ = c.Close()
			}
			liar.speaks(stolen, first.Term+n, proto.RequestVote{Incarnation: proto.Incarnation{7}, Nonce: 1},
				proto.Heartbeat{
					Leader: proto.Peer{ID: stolen, Incarnation: proto.Incarnation{7}}, Nonce: 1, Remaining: attackLease,
				})
			select {
			case <-quit:
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	}()
	stop := sync.OnceFunc(func() { close(quit); <-ended })
	defer stop()
	a, err := credentials.OpenAuthority(in.Credentials())
	in.check(err)
	in.check(a.Revoke(stolen))
	_, err = a.Issue(credentials.Identity{Cluster: testcluster.ClusterLabel, ID: stolen}, nil, time.Hour)
	in.check(err)
	ctx, cancel := context.WithTimeout(in.Context(), revokedWithin)
	defer cancel()
	in.ctx = ctx
	in.eventually(func() string {
		if n := refused.Load(); n < 3 {
			return fmt.Sprintf("the attacker was refused %d times", n)
		}
		return ""
	})
	ctx, cancel = context.WithTimeout(in.Context(), revokedWithin+believedFor)
	defer cancel()
	in.ctx = ctx
	in.settled()
	in.unharmed()
	stop()

	in.patient() // and before it is revoked, with the key of gossip: whoever is node 3 ends node 3
	other := in.followers()[0]
	in.stealCertificate(other)
	rival := madeUp(other)
	rival.Incarnation, rival.flags, rival.number, rival.election = proto.Incarnation{7}, 1, 1<<20, in.door(other)
	in.ExpectEnd(other)
	in.eventually(func() string {
		in.gossip(in.alive(rival)) // again: a node that is busy loses packets
		if _, _, ended := in.Ended(other); !ended {
			return fmt.Sprintf("node %v goes on", other)
		}
		return ""
	})
	in.exits(other, exitConflict)
	in.agreed(without(other, 1, 2, 3)...)
}

// lies has the attacker tell one node, once, that it leads a term that it never won. That node follows the leader again
// within believedFor.
func (in *intruder) lies(to proto.NodeID) {
	in.patient()
	c, err := in.call(to)
	in.check(err)
	liar := proto.Peer{ID: in.as, Incarnation: proto.Incarnation{7}}
	_, err = c.hello(in.as, to, func(h *proto.Hello) { h.Incarnation = liar.Incarnation })
	in.check(err)
	in.check(c.says(in.as, in.before.Term+5, proto.Heartbeat{
		Leader: liar, Nonce: 1, Remaining: attackLease,
		Voters: proto.VoterSet{Hash: proto.ListVoters([]proto.NodeID{1, 2, 3}).Hash(), Committed: true},
	}))
	in.told(to, func(s httpapi.Status) bool { return s.Leader == in.as })
	in.check(c.Close())
	within, cancel := in.within(believedFor)
	defer cancel()
	within.told(to, func(s httpapi.Status) bool { return s.Leader == in.before.Leader })
	in.unharmed()
}

// A node that leaves in order is told from one that died also where links alone count.
func TestLeavesWithCredentials(t *testing.T) {
	in := newIntruder(t)
	told := in.leaves(in.before.Leader)
	in.agreed(in.followers()...)
	in.record("the leader having left", told, func(r trace.Record) bool {
		return strings.Contains(r.Evidence, "left "+in.before.Leader.String())
	})
}
