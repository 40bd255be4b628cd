package credentials

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// Authority makes the credentials of one cluster's nodes. It is a directory, with the authority's own key in it:
// whoever has that can be any node. It belongs on no machine that runs a node. One goroutine at a time may use it.
type Authority struct {
	dir  string
	cert *x509.Certificate
	key  crypto.Signer
}

const (
	authorityDir  = "authority" // with ca.crt, ca.key and the list of revoked certificates
	authorityKey  = "ca.key"
	authorityLife = 10 * 365 * 24 * time.Hour
	// early is how long before it is made a certificate is valid, for machines whose clock is late.
	early = time.Hour
)

// ErrAuthority says that a directory has an authority already, or has none.
var ErrAuthority = errors.New("authority")

// NewAuthority makes an authority for a cluster in dir. It fails where there is one, and where the nodes have
// credentials of another one, which may be kept elsewhere.
func NewAuthority(dir, cluster string) (*Authority, error) {
	home := filepath.Join(dir, authorityDir)
	switch nodes, err := filepath.Glob(filepath.Join(dir, "node-*", caFile)); {
	case err != nil:
		return nil, err
	case len(nodes) > 0:
		return nil, fmt.Errorf("%w: there is none in %s, and %s is of one: bring back %s, or make another cluster's "+
			"credentials in a directory of their own", ErrAuthority, dir, nodes[0], home)
	}
	if _, err := os.Stat(filepath.Join(home, authorityKey)); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("%w: %s is there already", ErrAuthority, home), err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	t := &x509.Certificate{
		SerialNumber: number(), Subject: pkix.Name{CommonName: commonName + cluster},
		NotBefore: now.Add(-early), NotAfter: now.Add(authorityLife),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	err = errors.Join(
		writeFile(filepath.Join(home, caFile), encode("CERTIFICATE", der), 0o644),
		writeFile(filepath.Join(home, authorityKey), encode("PRIVATE KEY", secret), 0o600),
		writeFile(filepath.Join(home, gossipFile), formatKeys([][]byte{NewGossipKey()}), 0o600),
		writeFile(filepath.Join(home, tokenFile), newTokens(), 0o600),
	)
	if err != nil {
		return nil, err
	}
	return OpenAuthority(dir)
}

// OpenAuthority reads the authority in dir.
func OpenAuthority(dir string) (*Authority, error) {
	home := filepath.Join(dir, authorityDir)
	secret, err := ReadSecret(filepath.Join(home, authorityKey), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is none in %s: make one with ringleader certs make", ErrAuthority, dir)
	}
	if err != nil {
		return nil, err
	}
	public, err := readPublic(filepath.Join(home, caFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no %s: it has the authority's certificate: copy it from a directory that "+
			"ringleader certs make wrote", filepath.Join(home, caFile))
	}
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(public, secret)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", home, err)
	}
	cert, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", home, err)
	}
	return &Authority{dir: dir, cert: cert, key: pair.PrivateKey.(crypto.Signer)}, nil
}

// commonName is what the subject of an authority's certificate begins with; the cluster's label follows.
const commonName = "Ringleader cluster "

// Cluster returns the label of the cluster for which the authority was made.
func (a *Authority) Cluster() string {
	return strings.TrimPrefix(a.cert.Subject.CommonName, commonName)
}

// Made reports whether the authority has made a certificate for the node.
func (a *Authority) Made(id proto.NodeID) bool {
	made, err := a.issued(id)
	return err == nil && len(made) > 0
}

// hosts returns the names and addresses in the certificate that a node's directory has; none if it has none.
func (a *Authority) hosts(id proto.NodeID) (hosts []string) {
	text, err := readPublic(filepath.Join(a.nodeDir(id), certFile))
	if err != nil {
		return nil
	}
	all, err := certificates(text)
	if err != nil {
		return nil
	}
	for _, ip := range all[0].IPAddresses {
		hosts = append(hosts, ip.String())
	}
	return append(hosts, all[0].DNSNames...)
}

// Issue makes the credentials of a node in dir/node-ID, and returns that directory. Hosts are names and addresses
// for browsers and curl; without any, those of the last certificate go on. What the directory has of another time is
// replaced, keys of gossip and tokens apart.
func (a *Authority) Issue(who Identity, hosts []string, life time.Duration) (string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	now := time.Now()
	t := &x509.Certificate{
		SerialNumber: number(), Subject: pkix.Name{CommonName: "node " + who.ID.String()},
		NotBefore: now.Add(-early), NotAfter: now.Add(life),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: usages, BasicConstraintsValid: true,
		URIs: []*url.URL{who.URI()},
	}
	if len(hosts) == 0 {
		hosts = a.hosts(who.ID)
	}
	hosts = append([]string{"localhost", "127.0.0.1", "::1"}, hosts...)
	slices.Sort(hosts)
	for _, h := range slices.Compact(hosts) {
		if ip := net.ParseIP(h); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, h)
		}
	}
	if t.NotAfter.After(a.cert.NotAfter) {
		t.NotAfter = a.cert.NotAfter
	}
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, key.Public(), a.key)
	if err != nil {
		return "", err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", err
	}
	dir := a.nodeDir(who.ID)
	if err := errors.Join(a.note(who.ID, t.SerialNumber), os.MkdirAll(dir, 0o700)); err != nil {
		return "", err
	}
	return dir, errors.Join(
		a.share(dir, caFile, revokedFile),
		a.shareOnce(dir, gossipFile, tokenFile),
		writeFile(filepath.Join(dir, keyFile), encode("PRIVATE KEY", secret), 0o600),
		writeFile(filepath.Join(dir, certFile), encode("CERTIFICATE", der), 0o644),
	)
}

// GossipKey returns the fingerprint of the key with which a new node seals gossip at first: that which the authority
// made, or the first of TakeGossipKeys.
func (a *Authority) GossipKey() (string, error) {
	keys, err := gossipKeysIn(a.home(gossipFile))
	if err != nil {
		return "", err
	}
	return Fingerprint(keys[0]), nil
}

// TakeGossipKeys gives the keys in a file, which is like gossip.key, to these nodes, as far as they have a directory,
// and to all that are new from now on.
func (a *Authority) TakeGossipKeys(file string, ids []proto.NodeID) error {
	keys, err := gossipKeysIn(file)
	if err != nil {
		return err
	}
	if err := writeFile(a.home(gossipFile), formatKeys(keys), 0o600); err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := os.Stat(a.nodeDir(id)); err == nil {
			if err := a.share(a.nodeDir(id), gossipFile); err != nil {
				return err
			}
		}
	}
	return nil
}

// Operator makes the directory of those who ask nodes, dir/operator, and returns it.
func (a *Authority) Operator() (string, error) {
	dir := filepath.Join(a.dir, "operator")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return dir, errors.Join(a.share(dir, caFile, revokedFile), a.shareOnce(dir, tokenFile))
}

// Revoke takes back all certificates of a node that the authority has made so far, and writes the list of all that
// were taken back into every directory. A later Issue makes one that is believed.
func (a *Authority) Revoke(id proto.NodeID) error {
	made, err := a.issued(id)
	if err != nil {
		return err
	}
	entries, count, err := a.revoked()
	if err != nil {
		return err
	}
	for _, n := range made {
		if !slices.ContainsFunc(entries, func(e x509.RevocationListEntry) bool { return e.SerialNumber.Cmp(n) == 0 }) {
			entries = append(entries, x509.RevocationListEntry{SerialNumber: n, RevocationTime: time.Now()})
		}
	}
	der, err := x509.CreateRevocationList(rand.Reader, &x509.RevocationList{
		Number: count.Add(count, big.NewInt(1)), RevokedCertificateEntries: entries,
		ThisUpdate: time.Now(), NextUpdate: a.cert.NotAfter,
	}, a.cert, a.key)
	if err != nil {
		return err
	}
	if err := writeFile(a.home(revokedFile), encode("X509 CRL", der), 0o644); err != nil {
		return err
	}
	all, err := filepath.Glob(filepath.Join(a.dir, "node-*"))
	for _, dir := range append(all, filepath.Join(a.dir, "operator")) {
		if _, err := os.Stat(dir); err == nil {
			if err := a.share(dir, revokedFile); err != nil {
				return err
			}
		}
	}
	return err
}

// issuedFile has a line for each certificate that the authority made: the node's id, and the certificate's number.
const issuedFile = "issued"

// note writes down that a certificate was made, before anybody has it.
func (a *Authority) note(id proto.NodeID, number *big.Int) error {
	before, err := ifThere(os.ReadFile(a.home(issuedFile)))
	if err != nil {
		return err
	}
	return writeFile(a.home(issuedFile), fmt.Appendf(before, "%v %v\n", id, number), 0o600)
}

// issued returns the numbers of all certificates that were made for a node.
func (a *Authority) issued(id proto.NodeID) (numbers []*big.Int, err error) {
	text, err := ifThere(os.ReadFile(a.home(issuedFile)))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		of, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, ok := new(big.Int).SetString(number, 10)
		if !ok {
			return nil, fmt.Errorf("%s: %.100q: want the id of a node and the number of its certificate",
				a.home(issuedFile), line)
		}
		if of == id.String() {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) == 0 {
		return nil, fmt.Errorf("no certificate was made for node %v in %s: %w", id, a.dir, fs.ErrNotExist)
	}
	return numbers, nil
}

// revoked returns what was taken back before, and the number of that list.
func (a *Authority) revoked() (entries []x509.RevocationListEntry, number *big.Int, err error) {
	text, err := ifThere(readPublic(a.home(revokedFile)))
	if err != nil || text == nil {
		return nil, new(big.Int), err
	}
	ders, err := blocks(text, "X509 CRL")
	if err != nil {
		return nil, nil, err
	}
	list, err := x509.ParseRevocationList(ders[0])
	if err != nil {
		return nil, nil, err
	}
	return list.RevokedCertificateEntries, list.Number, nil
}

func (a *Authority) home(name string) string { return filepath.Join(a.dir, authorityDir, name) }

func (a *Authority) nodeDir(id proto.NodeID) string { return filepath.Join(a.dir, "node-"+id.String()) }

// share copies files of the authority into dir, as far as they are there.
func (a *Authority) share(dir string, names ...string) error {
	for _, name := range names {
		content, err := ifThere(os.ReadFile(a.home(name)))
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if name == gossipFile || name == tokenFile {
			mode = 0o600
		}
		if content == nil {
			continue
		}
		if err := writeFile(filepath.Join(dir, name), content, mode); err != nil {
			return err
		}
	}
	return nil
}

// shareOnce does what share does for the files that dir does not have.
func (a *Authority) shareOnce(dir string, names ...string) error {
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			continue
		}
		if err := a.share(dir, name); err != nil {
			return err
		}
	}
	return nil
}

// newTokens returns the text of a file with a token for each role.
func newTokens() []byte {
	var b bytes.Buffer
	for _, role := range []string{"operate", "read"} {
		fmt.Fprintf(&b, "%s %s\n", role, base64.RawURLEncoding.EncodeToString(NewGossipKey()))
	}
	return b.Bytes()
}

func number() *big.Int {
	n, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)) // never fails: see crypto/rand
	return n.Add(n, big.NewInt(1))
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// Certificate describes one certificate for people.
type Certificate struct {
	Path      string
	Identity  Identity // zero for an authority's
	Issuer    string
	NotBefore time.Time
	NotAfter  time.Time
	Revoked   bool // by the list beside it
}

// Invalid returns why nobody believes the certificate at the time now, in words; "" if it is valid.
func (c Certificate) Invalid(now time.Time) string {
	switch {
	case c.Revoked:
		return "revoked"
	case now.After(c.NotAfter):
		return "expired"
	case now.Before(c.NotBefore):
		return "not yet valid, from " + stamp(c.NotBefore) + " on"
	}
	return ""
}

// Show returns the certificates in a directory of credentials.
func Show(dir string) (found []Certificate, err error) {
	m := material{pool: x509.NewCertPool()}
	var own []*x509.Certificate
	for _, f := range []struct {
		name  string
		parse func([]byte) error
	}{
		{caFile, m.parseRoots},
		{revokedFile, m.parseRevoked},
		{certFile, func(text []byte) (err error) { own, err = certificates(text); return err }},
	} {
		path := filepath.Join(dir, f.name)
		text, err := ifThere(readPublic(path))
		if err == nil && text != nil {
			if err = f.parse(text); err != nil {
				err = fmt.Errorf("%s: %w", path, err)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	for i, c := range slices.Concat(own, m.roots) {
		path := filepath.Join(dir, caFile)
		if i < len(own) {
			path = filepath.Join(dir, certFile)
		}
		who, err := identityOf(c)
		if err != nil && !c.IsCA {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		revoked := m.revoked[serialOf(c.RawIssuer, c.SerialNumber)]
		found = append(found, Certificate{path, who, c.Issuer.CommonName, c.NotBefore, c.NotAfter, revoked})
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("there is neither %s nor %s in %s", certFile, caFile, dir)
	}
	return found, nil
}
