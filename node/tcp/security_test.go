package tcp

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/proto"
)

// authority makes credentials for the cluster "demo".
type authority struct {
	t testing.TB
	*credentials.Authority
}

func newAuthority(t testing.TB) authority {
	t.Helper()
	a, err := credentials.NewAuthority(t.TempDir(), "demo")
	if err != nil {
		t.Fatal(err)
	}
	return authority{t, a}
}

// issue makes the credentials of a node, and returns their directory.
func (a authority) issue(id proto.NodeID) string {
	a.t.Helper()
	dir, err := a.Issue(credentials.Identity{Cluster: "demo", ID: id}, nil, time.Hour)
	if err != nil {
		a.t.Fatal(err)
	}
	return dir
}

// keeper returns new credentials of a node.
func (a authority) keeper(id proto.NodeID) *credentials.Keeper {
	a.t.Helper()
	k, err := credentials.Open(a.issue(id), credentials.Identity{Cluster: "demo", ID: id})
	if err != nil {
		a.t.Fatal(err)
	}
	return k
}

func with(k *credentials.Keeper) func(*Config) { return func(c *Config) { c.Security = k } }

// "A message from node 5 comes on a link of node 5's certificate": messages pass both ways under TLS.
func TestSecuredLinks(t *testing.T) {
	ca := newAuthority(t)
	a, b := start(t, 1, with(ca.keeper(1))), start(t, 2, with(ca.keeper(2)))
	connect(t, a, b)
	for i := range uint64(100) {
		a.Send(message(1, 2, i+1))
		b.Send(message(2, 1, i+1))
	}
	eventually(t, "all messages are there", func() bool { return len(a.received())+len(b.received()) == 200 })
}

// "… or not at all": with node 3's certificate nobody is node 2.
func TestWhoGetsNoLink(t *testing.T) {
	ca, others := newAuthority(t), newAuthority(t)
	for name, c := range map[string]struct {
		liar func(*Config)
		says string // by the honest node
	}{
		"another node's certificate":      {with(ca.keeper(3)), "its credentials are node 3's"},
		"another authority's certificate": {with(others.keeper(2)), "no authority of ca.crt vouches for"},
	} {
		t.Run(name, func(t *testing.T) {
			honest, liar := start(t, 1, with(ca.keeper(1))), start(t, 2, c.liar)
			liar.SetPeers([]Peer{honest.asPeer()})
			eventually(t, "the liar is refused, again and again", func() bool {
				return honest.Stats().Rejected["unproven"] > 2
			})
			liar.SetPeers(nil)
			honest.SetPeers([]Peer{liar.asPeer()})
			eventually(t, "the liar is not believed where it is dialled", func() bool {
				return honest.Stats().Rejected["unproven"] > 5
			})
			if honest.logged(c.says) == 0 || len(honest.received()) != 0 || honest.linked() != 0 {
				t.Errorf("%d links, log:\n%s", honest.linked(), &honest.log)
			}
		})
	}
}

// "TLS on one side only (both sides say so in words)": and the one that has credentials tells nothing of itself.
func TestCredentialsOnOneSideOnly(t *testing.T) {
	ca := newAuthority(t)
	for _, plainDials := range []bool{true, false} {
		plain, sealed := start(t, 1), start(t, 2, with(ca.keeper(2)))
		if plainDials {
			plain.SetPeers([]Peer{sealed.asPeer()})
		} else {
			sealed.SetPeers([]Peer{plain.asPeer()})
		}
		eventually(t, "both say so", func() bool {
			return plain.logged("runs without credentials") > 0 && sealed.logged("runs without credentials") > 0
		})
		dialler := sealed
		if plainDials {
			dialler = plain
		}
		if p := dialler.Stats().Peers[0]; !strings.Contains(p.Mistrust, "runs without credentials") {
			t.Errorf("it says of its peer %+v", p)
		}
		if got := plain.logged("demo"); got > 0 {
			t.Errorf("the cluster's label was told %d times:\n%s", got, &plain.log)
		}
	}
}

// "A wrong HELLO is answered with the label and the voters' list; one with To: 0 with the session": not without
// credentials.
func TestStrangersLearnNothing(t *testing.T) {
	ca := newAuthority(t)
	b := start(t, 2, with(ca.keeper(2)), func(c *Config) { c.Voters = "1-3" })
	for _, to := range []proto.NodeID{0, 2} {
		r := dialRaw(t, b)
		r.say(proto.Hello{ID: 7, Incarnation: proto.NewIncarnation(), To: to, Cluster: "x"})
		want := proto.Refuse{Reason: proto.NeedsCredentials, ID: 2}
		if got := r.hear(); got != proto.LinkBody(want) {
			t.Errorf("to %v: %+v", to, got)
		}
	}
	// Nor does a client of TLS that has no certificate, or speaks an older TLS.
	for name, c := range map[string]*tls.Config{
		"no certificate": {NextProtos: []string{"ringleader-link/1"}}, "TLS 1.2": {MaxVersion: tls.VersionTLS12},
		"another protocol": {NextProtos: []string{"h2"}},
	} {
		c.InsecureSkipVerify = true
		conn, err := tls.Dial("tcp", b.Addr().String(), c)
		if err != nil {
			continue
		}
		if n, err := conn.Read(make([]byte, 1)); err == nil {
			t.Errorf("%s: it answers %d bytes", name, n)
		}
		_ = conn.Close()
	}
}

// "Revoked identities are refused and cut off", and the others' links stay.
func TestTheRevokedAreCutOff(t *testing.T) {
	ca := newAuthority(t)
	one := ca.keeper(1)
	a, b, c := start(t, 1, with(one), hurried), start(t, 2, with(ca.keeper(2))), start(t, 3, with(ca.keeper(3)))
	connect(t, a, b, c)
	a.Recheck()
	if a.linked() != 2 || a.Stats().Rejected["unproven"] != 0 {
		t.Fatal("a check of who is believed ends links")
	}
	if err := ca.Revoke(2); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Reload(); err != nil {
		t.Fatal(err)
	}
	up := a.peer(3).link.Load()
	a.Recheck()
	eventually(t, "node 2 is without links, and learns why", func() bool {
		return a.linked() == 1 && a.logged("was revoked") > 0 && b.logged("does not believe this node's") > 0
	})
	eventually(t, "node 2 counts as unreachable", func() bool {
		return slices.ContainsFunc(a.events(), func(e string) bool {
			return strings.HasPrefix(e, proto.Unreachable.String()+" "+b.cfg.Incarnation.Short())
		})
	})
	if a.peer(3).link.Load() != up {
		t.Error("the link to node 3 is another one")
	}
}

// outdated is the Security of a node to which the certificate of a link has expired.
type outdated struct {
	Security
	link atomic.Pointer[net.Conn]
}

func (o *outdated) Check(conn net.Conn) error {
	if old := o.link.Load(); old != nil && *old == conn {
		return expiredError{}
	}
	return o.Security.Check(conn)
}

type expiredError struct{}

func (expiredError) Error() string { return "its certificate expired on Sunday" }
func (expiredError) Expired() bool { return true }

// A link may be older than the certificate that the other end has now: it is made anew, and nobody is warned of a
// certificate that was renewed in time.
func TestALinkOfAFormerCertificate(t *testing.T) {
	ca := newAuthority(t)
	sees := &outdated{Security: ca.keeper(1)}
	a := start(t, 1, func(c *Config) { c.Security = sees })
	b := start(t, 2, with(ca.keeper(2)))
	connect(t, a, b)
	was := a.peer(2).link.Load()
	former := was.conn.(secured).sealed
	sees.link.Store(&former)
	a.Recheck()
	eventually(t, "the link is another one", func() bool {
		l := a.peer(2).link.Load()
		return l != nil && l != was
	})
	const says = "its certificate expired on Sunday; if it was renewed in time, the link is made anew with the new one"
	if a.logged(says) != 1 || a.logged(`"level":"warn"`) > 0 || a.Stats().Rejected["unproven"] > 0 {
		t.Errorf("it says\n%s", &a.log)
	}
}

// A living process that closes does not look dead: nothing in TLS may say a good-bye.
func TestClosedSecuredLinksProveNothing(t *testing.T) {
	ca := newAuthority(t)
	everybody := func(c *Config) { c.SilentToAll = true }
	a, b := start(t, 1, with(ca.keeper(1)), everybody), start(t, 2, with(ca.keeper(2)), everybody)
	connect(t, a, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the links are lost", func() bool {
		return a.linked() == 0 && a.Stats().Rejected["not-listening"] > 0
	})
	if a.proven() {
		t.Errorf("a proof of death: %q", a.events())
	}
}

// "Dials that never finish their handshake": they hold a place no longer than any other that says nothing.
func TestHalfAHandshakeOfTLS(t *testing.T) {
	ca := newAuthority(t)
	b := start(t, 2, with(ca.keeper(2)), hurried)
	r := dialRaw(t, b)
	r.send([]byte{0x16, 0x03, 0x01, 0x02, 0x00, 0x01})
	r.untilClosed()
	eventually(t, "it is counted as too slow", func() bool { return b.Stats().Rejected["too-slow"] == 1 })
}

// A dial to a node of TLS ends with its context.
func TestProbeUnderTLSEnds(t *testing.T) {
	ca := newAuthority(t)
	a := start(t, 1, with(ca.keeper(1)))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := a.Probe(ctx, ln.Addr().String()); err == nil {
		t.Error("somebody answered")
	}
}
