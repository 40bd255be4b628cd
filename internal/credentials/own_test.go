package credentials_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/internal/credentials"
)

// ownAuthority is one that ringleader certs has not made.
type ownAuthority struct {
	t    *testing.T
	cert *x509.Certificate
	key  crypto.Signer
}

func newOwnAuthority(t *testing.T, life time.Duration) ownAuthority {
	a := ownAuthority{t: t, key: newKey(t, elliptic.P256())}
	a.cert = a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "own authority"}, NotAfter: time.Now().Add(life), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, a.key)
	return a
}

func newKey(t *testing.T, curve elliptic.Curve) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sign makes the certificate of a key. The first one that it makes is its own.
func (a ownAuthority) sign(c *x509.Certificate, key crypto.Signer) *x509.Certificate {
	a.t.Helper()
	c.SerialNumber, c.NotBefore = big.NewInt(1), time.Now()
	parent := a.cert
	if parent == nil {
		parent = c
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return made
}

// node makes the credentials of node 1, whose certificate is for this use.
func (a ownAuthority) node(curve elliptic.Curve, usages ...x509.ExtKeyUsage) (dir string) {
	a.t.Helper()
	key := newKey(a.t, curve)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	cert := a.sign(&x509.Certificate{
		NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: usages, URIs: []*url.URL{node(1).URI()},
	}, key)
	dir = a.t.TempDir()
	for name, content := range map[string][]byte{
		"ca.crt": block("CERTIFICATE", a.cert.Raw), "tls.crt": block("CERTIFICATE", cert.Raw),
		"tls.key":    block("PRIVATE KEY", secret),
		"gossip.key": []byte(base64.StdEncoding.EncodeToString(credentials.NewGossipKey())),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	return dir
}

func block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

var both = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}

// docs/SECURITY.md: "Files that it cannot use change nothing, and the log says why". Links are TLS 1.3, and that has no
// use for a key on another curve: a node which took one would have no link and answer nobody, and each end would blame
// the other.
func TestAKeyThatLinksCannotUseIsRefused(t *testing.T) {
	a := newOwnAuthority(t, time.Hour)
	dir := a.node(elliptic.P384(), both...)
	k := open(t, dir, node(1))
	other := a.node(elliptic.P224(), both...)
	for _, name := range []string{"tls.crt", "tls.key"} {
		if err := os.Rename(filepath.Join(other, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	changed, err := k.Reload()
	_, shown := credentials.Show(dir)
	_, started := credentials.Open(dir, node(1))
	for what, err := range map[string]error{"a node that runs": err, "certs show": shown, "a start": started} {
		if err == nil || !strings.Contains(err.Error(), "want a key of RSA, of Ed25519, or on the curve") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if changed {
		t.Error("the key was taken")
	}
}

// docs/SECURITY.md: "Certificates of your own authority work, if each … may be used for both servers and clients": for
// one that may not, the error says what to write.
func TestACertificateForOneUseAlone(t *testing.T) {
	a := newOwnAuthority(t, time.Hour)
	for _, usage := range both {
		_, err := credentials.Open(a.node(elliptic.P256(), usage), node(1))
		if err == nil || !strings.Contains(err.Error(), "extendedKeyUsage = serverAuth, clientAuth") {
			t.Errorf("usage %v: %v", usage, err)
		}
	}
}

// "Expiry shown", also that of the authority alone: which certificate it is that has expired, since when, and what this
// machine's clock says. Whoever logs it knows the error again a second later.
func TestTheAuthorityExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newOwnAuthority(t, time.Minute)
		k := open(t, a.node(elliptic.P256(), both...), node(1))
		time.Sleep(time.Minute + time.Second) // of the bubble
		err := k.Refused()
		untimely, ok := errors.AsType[credentials.UntimelyError](err)
		want := `the certificate of its authority "CN=own authority" expired on ` +
			a.cert.NotAfter.UTC().Format(time.RFC3339)
		if !ok || !untimely.Expired() || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	})
}
