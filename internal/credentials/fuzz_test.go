package credentials

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What is read as a node's name has one form, and is written as it was read: two texts never name one node.
func FuzzParseIdentity(f *testing.F) {
	for _, text := range []string{
		"ringleader:///demo/node/1", "ringleader:///a%20b/node/2", "ringleader:////node/1", "ringleader:///a/b/node/1",
		"ringleader:///demo/node/01", "ringleader://host/demo/node/1", "ringleader:///demo/node/1?x#y", "%zz", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		i, err := ParseIdentity(text)
		if err == nil && (i.String() != text || i.ID == 0 || i.Cluster == "") {
			t.Errorf("%q names %+v", text, i)
		}
	})
}

// Whatever stands in the files of credentials: no panic. What is taken has an authority, a key that fits its
// certificate, keys of gossip of a length that memberlist takes, and a list that one of its authorities signed.
func FuzzMaterial(f *testing.F) {
	home := f.TempDir()
	a, err := NewAuthority(home, "demo")
	if err != nil {
		f.Fatal(err)
	}
	for _, id := range []Identity{{"demo", 1}, {"demo", 2}} {
		if _, err := a.Issue(id, nil, time.Hour); err != nil {
			f.Fatal(err)
		}
	}
	if err := a.Revoke(2); err != nil {
		f.Fatal(err)
	}
	good := map[string][]byte{}
	for _, name := range []string{caFile, revokedFile, keyFile, certFile, gossipFile} {
		if good[name], err = os.ReadFile(filepath.Join(home, "node-1", name)); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(good[caFile], good[revokedFile], good[keyFile], good[certFile], good[gossipFile])
	f.Add(good[certFile], []byte{}, good[keyFile], good[caFile], []byte("# no key\n"))
	f.Add(bytes.Repeat(good[caFile], 2), good[certFile], good[caFile], good[keyFile], bytes.Repeat(good[gossipFile], 9))
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"),
		[]byte("-----BEGIN X509 CRL-----\n"),
		[]byte{}, []byte{}, []byte("AAAA\n"))
	f.Fuzz(func(t *testing.T, ca, revoked, key, cert, gossip []byte) {
		m := &material{files: map[string][]byte{keyFile: key}, pool: x509.NewCertPool()}
		if m.parseRoots(ca) == nil && len(m.roots) == 0 {
			t.Error("no authority is taken for some")
		}
		if err := m.parseRevoked(revoked); err == nil && len(m.revoked) > 0 && len(m.roots) == 0 {
			t.Error("a list of which no authority is known revokes")
		}
		if m.parseOwn(cert) == nil {
			if m.own == nil || m.self.String() == "" {
				t.Errorf("a certificate of nobody: %+v", m.self)
			}
			if i, err := m.verify(m.chain, x509.ExtKeyUsageClientAuth, time.Now()); err == nil && i != m.self {
				t.Errorf("%v proves %v", m.self, i)
			}
		}
		if m.parseKeys(gossip) == nil {
			for _, k := range m.keys {
				if ValidateGossipKey(k) != nil {
					t.Errorf("a key of %d bytes", len(k))
				}
			}
			again := &material{}
			if err := again.parseKeys(formatKeys(m.keys)); err != nil || len(again.keys) != len(m.keys) {
				t.Errorf("%d keys are written so that %d are read, %v", len(m.keys), len(again.keys), err)
			}
		}
	})
}

// Whatever certificate the other end shows: no panic, and nobody is believed for whom no authority vouches.
func FuzzVerify(f *testing.F) {
	home, other := f.TempDir(), f.TempDir()
	var chains [][]byte
	for _, dir := range []string{home, other} {
		a, err := NewAuthority(dir, "demo")
		if err != nil {
			f.Fatal(err)
		}
		issued, err := a.Issue(Identity{"demo", 1}, nil, time.Hour)
		if err != nil {
			f.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(issued, certFile))
		if err != nil {
			f.Fatal(err)
		}
		b, _ := pem.Decode(text)
		chains = append(chains, b.Bytes)
	}
	m, err := read(filepath.Join(home, "node-1"), true)
	if err != nil {
		f.Fatal(err)
	}
	for _, leaf := range chains {
		for _, between := range chains {
			f.Add(leaf, between)
		}
	}
	f.Fuzz(func(t *testing.T, leaf, between []byte) {
		var chain []*x509.Certificate
		for _, der := range [][]byte{leaf, between} {
			c, err := x509.ParseCertificate(der)
			if err != nil {
				break
			}
			chain = append(chain, c)
		}
		_, err := m.verify(chain, x509.ExtKeyUsageClientAuth, time.Now())
		if err == nil && chain[0].CheckSignatureFrom(m.roots[0]) != nil {
			t.Errorf("believed: %x", leaf)
		}
	})
}
