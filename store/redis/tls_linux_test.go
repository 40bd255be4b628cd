package redis

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

	"github.com/ringleader-dev/ringleader/store"
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
	port := free(t)
	s := start(t, "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert)
	address := "127.0.0.1:" + port
	mutual := "/k?ca=" + cert + "&cert=" + cert + "&key-file=" + key
	for url, want := range map[string]string{
		"rediss://" + address + mutual: "",
		"redis://" + address + mutual:  "",
		"redis://" + s.address + "/k":  "",
		"rediss://" + address + "/k":   "its certificate is not trusted",
	} {
		p, err := parse(url)
		if err != nil {
			t.Fatal(err)
		}
		err = storetest.Open(t, p, 1, ttl).Check(t.Context())
		if want == "" && err == nil {
			continue
		}
		if want == "" || !errors.Is(err, store.ErrWrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
}
