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

	"github.com/ringleader-dev/ringleader/internal/durable"
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
	operatorDir   = "operator"
	nodeDirs      = "node-*"
	authorityKey  = "ca.key"
	authorityLife = 10 * 365 * 24 * time.Hour
	// early is how long before it is made a certificate is valid, for machines whose clock is late.
	early = time.Hour
)

// ErrAuthority says that a directory has an authority already, or has none.
var ErrAuthority = errors.New("authority")

// NewAuthority makes an authority for a cluster in dir. It fails where there is one, where the nodes have credentials
// of another one, which may be kept elsewhere, and in a directory of credentials.
func NewAuthority(dir, cluster string) (*Authority, error) {
	home := filepath.Join(dir, authorityDir)
	switch nodes, err := filepath.Glob(filepath.Join(dir, nodeDirs, caFile)); {
	case err != nil:
		return nil, err
	case len(nodes) > 0:
		return nil, fmt.Errorf("%w: there is none in %s, and %s is of one: bring back %s, or make another cluster's "+
			"credentials in a directory of their own", ErrAuthority, dir, nodes[0], home)
	}
	for _, name := range []string{caFile, certFile, keyFile, tokenFile} {
		if path := filepath.Join(dir, name); has(path) {
			return nil, fmt.Errorf("%w: there is %s, so that is a directory of credentials: name the one above it",
				ErrAuthority, path)
		}
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
	for _, f := range []struct {
		name    string
		content []byte
		mode    fs.FileMode
	}{
		{caFile, encode("CERTIFICATE", der), 0o644},
		{gossipFile, formatKeys([][]byte{NewGossipKey()}), 0o600},
		{tokenFile, newTokens(), 0o600},
		{issuedFile, nil, 0o600},
		{authorityKey, encode("PRIVATE KEY", secret), 0o600}, // last: before, there is no authority
	} {
		if err := durable.WriteFile(filepath.Join(home, f.name), f.content, f.mode); err != nil {
			return nil, err
		}
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
	if len(secret) == 0 {
		return nil, fmt.Errorf("%s is empty: it had the key of the authority: bring back a copy, or replace the "+
			"authority by ringleader certs make with another --dir", filepath.Join(home, authorityKey))
	}
	public, err := ReadFile(filepath.Join(home, caFile))
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

// Expires returns until when the authority is valid. No certificate that it makes is valid for longer.
func (a *Authority) Expires() time.Time { return a.cert.NotAfter }

// hosts returns the names and addresses in the certificate that a node's directory has; none if it has none.
func (a *Authority) hosts(id proto.NodeID) (hosts []string) {
	c := certIn(a.nodeDir(id))
	if c == nil {
		return nil
	}
	for _, ip := range c.IPAddresses {
		hosts = append(hosts, ip.String())
	}
	return append(hosts, c.DNSNames...)
}

// certIn returns the certificate that a node's directory has; nil if it has none.
func certIn(dir string) *x509.Certificate {
	text, err := ReadFile(filepath.Join(dir, certFile))
	if err != nil {
		return nil
	}
	all, err := certificates(text)
	if err != nil {
		return nil
	}
	return all[0]
}

// Issue makes the credentials of a node in dir/node-ID, and returns that directory. Hosts are names and addresses
// for browsers and curl; without any, those of the last certificate go on. What the directory has of another time is
// replaced, keys of gossip and tokens apart.
func (a *Authority) Issue(who Identity, hosts []string, life time.Duration) (string, error) {
	_, err := a.issue(who, hosts, life)
	return a.nodeDir(who.ID), err
}

// issue does what Issue does, and returns the names of the files that it wrote.
func (a *Authority) issue(who Identity, hosts []string, life time.Duration) (wrote []string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	t := a.template(who, hosts, life)
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	dir := a.nodeDir(who.ID)
	if err := errors.Join(a.note(who.ID.String(), t.SerialNumber), makeDir(dir)); err != nil {
		return nil, err
	}
	shared, err := a.share(dir, caFile, revokedFile)
	if err != nil {
		return nil, err
	}
	once, err := a.shareOnce(dir, gossipFile, tokenFile)
	if err != nil {
		return nil, err
	}
	if err := durable.WriteFile(filepath.Join(dir, keyFile), encode("PRIVATE KEY", secret), 0o600); err != nil {
		return nil, err
	}
	return slices.Concat([]string{certFile, keyFile}, shared, once),
		durable.WriteFile(filepath.Join(dir, certFile), encode("CERTIFICATE", der), 0o644)
}

// template returns a certificate that is still to be signed.
func (a *Authority) template(who Identity, hosts []string, life time.Duration) *x509.Certificate {
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
	return t
}

// Operator makes the directory of those who ask nodes, dir/operator, and returns it.
func (a *Authority) Operator() (string, error) {
	dir := filepath.Join(a.dir, operatorDir)
	if err := makeDir(dir); err != nil {
		return "", err
	}
	_, err1 := a.share(dir, caFile, revokedFile)
	_, err2 := a.shareOnce(dir, tokenFile)
	return dir, errors.Join(err1, err2)
}

func (a *Authority) home(name string) string { return filepath.Join(a.dir, authorityDir, name) }

func (a *Authority) nodeDir(id proto.NodeID) string { return filepath.Join(a.dir, "node-"+id.String()) }

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
