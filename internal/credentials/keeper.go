package credentials

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/internal/durable"
	"github.com/ringleader-dev/ringleader/proto"
)

// Dir returns the directory of a node's credentials: {id} in the setting stands for its id.
func Dir(setting string, id proto.NodeID) string {
	return strings.ReplaceAll(setting, "{id}", id.String())
}

// Keeper keeps the credentials of one node, or of somebody who asks nodes. Any goroutine may call its methods.
type Keeper struct {
	dir   string
	node  bool
	now   atomic.Pointer[material]
	turns turns
	mu    sync.Mutex // held while files are read or written
}

// Open reads the credentials of a node, which must name this node, and be valid now.
func Open(dir string, self Identity) (*Keeper, error) {
	k := &Keeper{dir: dir, node: true, turns: newTurns()}
	m, err := read(dir, true)
	if err != nil {
		return nil, err
	}
	if err := m.fits(self); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, certFile), err)
	}
	k.now.Store(m)
	return k, nil
}

// fits returns an error unless the certificate names self, and others who have the same files accept it.
func (m *material) fits(self Identity) error {
	if m.self != self {
		return fmt.Errorf("the certificate is of node %v of cluster %q, and this is node %v of cluster %q: "+
			"give each node its own", m.self.ID, m.self.Cluster, self.ID, self.Cluster)
	}
	return m.refused()
}

// refused returns why others who have the same files refuse the certificate; nil if they accept it.
func (m *material) refused() error {
	for _, usage := range usages {
		if _, err := m.verify(m.chain, usage, time.Now()); err != nil {
			return fmt.Errorf("the others would refuse a new link of this node: %w", err)
		}
	}
	return nil
}

// Asking reads what one needs who asks nodes: ca.crt, and maybe revoked.crl. The directory of a node will do.
func Asking(dir string) (*Keeper, error) {
	m, err := read(dir, false)
	if err != nil {
		return nil, err
	}
	k := &Keeper{dir: dir}
	k.now.Store(m)
	return k, nil
}

// Reload reads the files again. It reports whether the credentials have changed. On an error they mostly stay as they
// were: a file may just be written. But what a list says that was taken back counts whatever the other files are, and
// a list that cannot be used keeps no other file from being taken: an authority that is out of ca.crt is out.
func (k *Keeper) Reload() (changed bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.now.Load()
	m, err := readMost(k.dir, k.node)
	if err == nil {
		changed = !m.same(before)
	}
	if changed && k.node {
		if err = m.fits(before.self); err != nil {
			changed, err = false, fmt.Errorf("%s: %w", filepath.Join(k.dir, certFile), err)
		}
	}
	// Who was taken back stays so while this process runs, also if the list is gone, or an older one is back.
	revoked := maps.Clone(m.revoked)
	if revoked == nil {
		revoked = map[serial]bool{}
	}
	maps.Copy(revoked, before.revoked)
	if err == nil {
		err = m.unread
	}
	latest := before.latest
	if len(m.roots) > 0 {
		latest = m.pool
	}
	if !changed {
		as := *before
		m = &as
	}
	m.revoked, m.latest = revoked, latest
	k.now.Store(m)
	return changed, err
}

// Refused returns why the others would refuse a new link of this node now, if they have the ca.crt of its directory,
// and know of who was taken back what it knows; nil if they would accept one. Reload may have refused that ca.crt for
// this node. A link lasts as long as the certificate that it was made with.
func (k *Keeper) Refused() error {
	m := *k.now.Load()
	m.pool = m.latest
	return m.refused()
}

// Dir returns the directory.
func (k *Keeper) Dir() string { return k.dir }

// Token returns the path of the file with tokens, which need not be there.
func (k *Keeper) Token() string { return filepath.Join(k.dir, tokenFile) }

// Expires returns until when the node's certificate is valid.
func (k *Keeper) Expires() time.Time { return k.now.Load().own.Leaf.NotAfter }

// GossipKeys returns the keys of gossip. The first one is to seal with.
func (k *Keeper) GossipKeys() [][]byte { return slices.Clone(k.now.Load().keys) }

// ErrNotRead says that somebody else has written a file, and that Reload has not read it yet.
var ErrNotRead = errors.New("somebody else has changed the file, and it has not been read yet")

// SaveGossipKeys writes the keys of gossip, durably. If somebody else has written the file, the error wraps ErrNotRead.
func (k *Keeper) SaveGossipKeys(keys [][]byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	text := formatKeys(keys)
	m := *k.now.Load()
	m.keys = nil
	if err := m.parseKeys(text); err != nil {
		return err
	}
	path := filepath.Join(k.dir, gossipFile)
	if there, err := ReadFile(path); err == nil && !bytes.Equal(there, m.files[gossipFile]) {
		return fmt.Errorf("%s: the keys are not saved: %w", path, ErrNotRead)
	}
	if err := durable.WriteFile(path, text, 0o600); err != nil {
		return notSaved(k.dir, err)
	}
	m.files = maps.Clone(m.files)
	m.files[gossipFile] = text
	k.now.Store(&m)
	return nil
}

// notSaved says why the keys of gossip are not written into a directory.
func notSaved(dir string, err error) error {
	err = fmt.Errorf("%s: the keys are not saved: %w", dir, err)
	if errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w: this node may not write there; if it is a Secret of Kubernetes, rotate the keys by "+
			"changing %s in the Secrets of all nodes", err, gossipFile)
	}
	return err
}

// linkProtocol is what links speak inside TLS. It keeps a client of HTTPS from talking to a link, and the other way
// round.
const linkProtocol = "ringleader-link/1"

// judge verifies the other end of a connection. A wanted id of zero is any.
func (k *Keeper) judge(chain []*x509.Certificate, usage x509.ExtKeyUsage, wanted proto.NodeID) (Identity, error) {
	m := k.now.Load()
	i, err := m.verify(chain, usage, time.Now())
	switch {
	case err != nil:
		return Identity{}, err
	case m.own != nil && i.Cluster != m.self.Cluster:
		return Identity{}, fmt.Errorf("its certificate is of cluster %q, this node's of cluster %q",
			i.Cluster, m.self.Cluster)
	case wanted != 0 && i.ID != wanted:
		return Identity{}, fmt.Errorf("its certificate is of node %v, and node %v was dialled", i.ID, wanted)
	}
	return i, nil
}

// settings returns the TLS configuration that all connections share.
func (k *Keeper) settings() *tls.Config {
	c := &tls.Config{
		MinVersion: tls.VersionTLS13,
		// Each connection shows its certificate anew: one that was taken back must not live on in a ticket.
		SessionTicketsDisabled: true,
	}
	if own := k.now.Load().own; own != nil {
		c.Certificates = []tls.Certificate{*own}
	}
	return c
}

// Accept does the handshake of a link that a peer dialled, and returns which node it is. When ctx is done, it waits
// no longer, and closes conn.
func (k *Keeper) Accept(ctx context.Context, conn net.Conn) (net.Conn, proto.NodeID, error) {
	c := k.settings()
	c.NextProtos = []string{linkProtocol}
	c.ClientAuth = tls.RequireAnyClientCert // VerifyConnection judges it
	return k.shake(ctx, k.turns.serve(conn, k.judged(c, x509.ExtKeyUsageClientAuth, 0)))
}

// Dial does the handshake of a link that this node dialled. Unless wanted is zero, the node there must be it. It waits
// for the node until the deadline of conn.
func (k *Keeper) Dial(conn net.Conn, wanted proto.NodeID) (net.Conn, proto.NodeID, error) {
	c := k.settings()
	c.NextProtos = []string{linkProtocol}
	return k.shake(context.Background(), tls.Client(conn, k.judged(c, x509.ExtKeyUsageServerAuth, wanted)))
}

// judged makes c verify the other end as judge does.
func (k *Keeper) judged(c *tls.Config, usage x509.ExtKeyUsage, wanted proto.NodeID) *tls.Config {
	c.InsecureSkipVerify = true // of the name of the host; judge verifies the rest
	c.VerifyConnection = func(s tls.ConnectionState) error {
		_, err := k.judge(s.PeerCertificates, usage, wanted)
		return err
	}
	return c
}

func (k *Keeper) shake(ctx context.Context, conn *tls.Conn) (net.Conn, proto.NodeID, error) {
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, 0, err
	}
	s := conn.ConnectionState()
	if s.NegotiatedProtocol != linkProtocol {
		return nil, 0, errors.New("it is no node: it does not speak the protocol of links")
	}
	i, err := identityOf(s.PeerCertificates[0])
	return conn, i.ID, err
}

// Check returns why the other end of a connection, that Accept or Dial returned, is not believed any more; nil if it
// still is.
func (k *Keeper) Check(conn net.Conn) error {
	t, ok := conn.(*tls.Conn)
	if !ok {
		return errors.New("it is not encrypted")
	}
	chain := t.ConnectionState().PeerCertificates
	for _, usage := range usages { // whoever dialled: a node's certificate is for both
		if _, err := k.judge(chain, usage, 0); err != nil {
			return err
		}
	}
	return nil
}

// Web returns the node's end of a connection of HTTPS. Those who ask show a token, no certificate.
func (k *Keeper) Web(conn net.Conn) *tls.Conn {
	c := k.settings()
	c.NextProtos = []string{"http/1.1"}
	return k.turns.serve(conn, c)
}

// Ask returns the configuration of one who asks a node over HTTPS. A node may have any address, so its certificate
// says who it is; an address that is in the certificate need not be the one that was dialled.
func (k *Keeper) Ask() *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true, NextProtos: []string{"http/1.1"}}
	return k.judged(c, x509.ExtKeyUsageServerAuth, 0)
}
