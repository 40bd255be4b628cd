package etcd

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/storeurl"
	"github.com/ringleader-dev/ringleader/store/storetest"
)

// pair writes a certificate for this machine that signs itself, and its key.
func pair(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	signed, err := x509.CreateCertificate(rand.Reader, about, about, private.Public(), private)
	secret, bad := x509.MarshalPKCS8PrivateKey(private)
	cert, key = filepath.Join(t.TempDir(), "cert"), filepath.Join(t.TempDir(), "key")
	if err := errors.Join(err, bad,
		os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), 0o600),
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// A server that wants TLS, and a certificate of the client.
func TestTLS(t *testing.T) {
	cert, key := pair(t)
	s, secure := start(t), freePort(t)
	s.kill()
	urls := "http://" + s.addr + ",https://" + secure
	s.args = append(s.args, "--listen-client-urls", urls, "--advertise-client-urls", urls,
		"--cert-file", cert, "--key-file", key, "--trusted-ca-file", cert, "--client-cert-auth")
	s.run(t)
	for url, want := range map[string]string{
		"etcd://" + secure + "/k?ca=" + cert + "&cert=" + cert + "&key-file=" + key: "",
		// The server tells why, and ends the connection: which of them is noticed first is chance.
		"etcd://" + secure + "/k?ca=" + cert: "Unavailable",
		"etcd://" + secure + "/k?tls=true":   "is not trusted: give ca=FILE",
		"etcd://" + secure + "/k":            "give tls=true",
		"etcd://" + s.addr + "/k":            "",
	} {
		u, err := storeurl.Split(url)
		if err != nil {
			t.Fatal(err)
		}
		e, err := Parse(u)
		if err != nil {
			t.Fatal(err)
		}
		p := storetest.Open(t, e, 1, ttl)
		err = p.Check(t.Context())
		switch {
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", url, err, want)
		case want == "" && err != nil:
			t.Errorf("%s: %v", url, err)
		case want == "":
			p.Leads(p.Stand())
			p.Leave()
		}
	}
}
