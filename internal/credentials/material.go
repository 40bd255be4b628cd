package credentials

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// material is what a directory held when it was read. It never changes.
type material struct {
	files   map[string][]byte // to see that a file has changed
	own     *tls.Certificate  // nil if the directory has none, as that of an operator
	chain   []*x509.Certificate
	self    Identity // of own
	roots   []*x509.Certificate
	pool    *x509.CertPool // of roots
	latest  *x509.CertPool // of the ca.crt that was read last, which may have been refused for this node
	revoked map[serial]bool
	unread  error    // why revoked has not all that was taken back; nil if it has
	keys    [][]byte // of gossip; the first one seals
}

// serial names a certificate: its issuer, as in the certificate, and its number.
type serial struct{ issuer, number string }

func serialOf(issuer []byte, number *big.Int) serial { return serial{string(issuer), number.String()} }

// read reads the files of dir. Without node, the directory need not have a certificate, nor keys of gossip.
func read(dir string, node bool) (*material, error) {
	m, err := readMost(dir, node)
	if err == nil {
		err = m.unread
	}
	return m, err
}

// readMost does what read does, but takes what can be read of the lists of who was taken back. With an error it returns
// what it has read until then; the authorities and what they took back come first.
func readMost(dir string, node bool) (*material, error) {
	m := &material{files: map[string][]byte{}, pool: x509.NewCertPool()}
	m.latest = m.pool
	for _, f := range []struct {
		name   string
		secret bool
		needed bool
		parse  func([]byte) error
	}{
		{caFile, false, true, m.parseRoots},
		{revokedFile, false, false, m.parseRevoked},
		{keyFile, true, node, nil},
		{certFile, false, node, m.parseOwn},
		{gossipFile, true, node, m.parseKeys},
	} {
		path := filepath.Join(dir, f.name)
		get := ReadFile
		if f.secret {
			get = func(path string) ([]byte, error) { return ReadSecret(path, maxFile) }
		}
		content, err := get(path)
		switch {
		case !f.needed:
			content, err = ifThere(content, err)
		case errors.Is(err, fs.ErrNotExist):
			err = missing(path)
		case err == nil && len(content) == 0:
			err = fmt.Errorf("%s is empty: %s", path, purpose[f.name])
		}
		if err != nil {
			return m, err
		}
		m.files[f.name] = content
		if content == nil || f.parse == nil {
			continue
		}
		if err := f.parse(content); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
			if f.name != revokedFile {
				return m, err
			}
			m.unread = err
		}
	}
	return m, nil
}

// missing returns the error that a file is not there which must be.
func missing(path string) error {
	dir, name := filepath.Split(path)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no directory %s: ringleader certs make makes one for each node, and one for "+
			"operators", filepath.Clean(dir))
	}
	return fmt.Errorf("there is no %s: %s", path, purpose[name])
}

// purpose says of each file that must be there what it has, and where it comes from.
var purpose = map[string]string{
	caFile:   "it has the authorities that are believed: ringleader certs make and renew write it",
	certFile: "it has this node's certificate: ringleader certs make --nodes ID makes one",
	keyFile:  "it has the private key of " + certFile + ": ringleader certs renew --nodes ID makes both",
	gossipFile: "it has the keys of gossip, the same on all nodes: copy it from another node, or from where " +
		"ringleader certs make wrote it",
}

// same reports whether the files of two materials are equal.
func (m *material) same(other *material) bool {
	for name, content := range m.files {
		if !bytes.Equal(content, other.files[name]) {
			return false
		}
	}
	return true
}

// blocks returns the contents of the PEM blocks of one type. With an error it returns those that can be read.
func blocks(text []byte, kind string) (found [][]byte, err error) {
	begun := bytes.Count(text, []byte("-----BEGIN "))
	for b, rest := pem.Decode(text); b != nil; b, rest = pem.Decode(rest) {
		begun--
		if b.Type == kind {
			found = append(found, b.Bytes)
		}
	}
	switch {
	case begun != 0:
		err = errors.New("a PEM block in it is not whole, or does not begin at the beginning of a line")
	case len(found) == 0:
		err = fmt.Errorf("there is no PEM block of type %s in it", kind)
	}
	return found, err
}

// certificates reads the certificates in a text of PEM blocks, of which there must be one.
func certificates(text []byte) (all []*x509.Certificate, err error) {
	ders, err := blocks(text, "CERTIFICATE")
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificates(bytes.Join(ders, nil))
}

func (m *material) parseRoots(text []byte) error {
	all, err := certificates(text)
	for _, c := range all {
		if !c.IsCA {
			return fmt.Errorf("the certificate of %q is no authority's", c.Subject)
		}
	}
	for _, c := range all {
		m.pool.AddCert(c)
	}
	m.roots = all
	return err
}

// parseRevoked reads lists of certificates that authorities took back. A list that no authority of ca.crt signed is
// refused, since it would revoke nothing.
func (m *material) parseRevoked(text []byte) error {
	m.revoked = map[serial]bool{}
	ders, err := blocks(text, "X509 CRL")
	for _, der := range ders {
		list, wrong := x509.ParseRevocationList(der)
		if wrong != nil {
			err = wrong
			continue
		}
		signed := slices.ContainsFunc(m.roots, func(c *x509.Certificate) bool {
			return bytes.Equal(c.RawSubject, list.RawIssuer) && list.CheckSignatureFrom(c) == nil
		})
		if !signed {
			err = fmt.Errorf("no authority of %s signed the list of %q: take that list out of the file, or delete "+
				"the file, if that authority is believed no more", caFile, list.Issuer)
			continue
		}
		for _, e := range list.RevokedCertificateEntries {
			m.revoked[serialOf(list.RawIssuer, e.SerialNumber)] = true
		}
	}
	return err
}

// parseOwn reads the node's certificate and its key, which must have been read before.
func (m *material) parseOwn(text []byte) error {
	if m.files[keyFile] == nil {
		return fmt.Errorf("there is no %s beside it", keyFile)
	}
	chain, err := certificates(text)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(text, m.files[keyFile])
	if err != nil {
		return fmt.Errorf("with %s: %w", keyFile, err)
	}
	if err := links.SupportsCertificate(&pair); err != nil {
		return fmt.Errorf("links, which are TLS 1.3, cannot use its key: %w: want a key of RSA, of Ed25519, or on the "+
			"curve P-256, P-384 or P-521", err)
	}
	pair.Leaf = chain[0]
	m.own, m.chain = &pair, chain
	m.self, err = identityOf(chain[0])
	return err
}

// links are what a link asks of a certificate.
var links = tls.ClientHelloInfo{
	SupportedVersions: []uint16{tls.VersionTLS13},
	SignatureSchemes: []tls.SignatureScheme{
		tls.ECDSAWithP256AndSHA256, tls.ECDSAWithP384AndSHA384, tls.ECDSAWithP521AndSHA512, tls.Ed25519,
		tls.PSSWithSHA256, tls.PSSWithSHA384, tls.PSSWithSHA512,
	},
}

// usages are what a node uses its certificate for: it dials, and is dialled.
var usages = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}

// verify returns the node that a chain of certificates names, if an authority of ca.crt vouches for it at the time
// now, for this usage, and none has taken it back.
func (m *material) verify(chain []*x509.Certificate, usage x509.ExtKeyUsage, now time.Time) (Identity, error) {
	if len(chain) == 0 {
		return Identity{}, errors.New("it shows no certificate")
	}
	leaf := chain[0]
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	chains, err := leaf.Verify(x509.VerifyOptions{
		Roots: m.pool, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{usage},
	})
	if err != nil {
		return Identity{}, notBelieved(err, leaf, now)
	}
	for _, c := range chains[0] {
		if m.revoked[serialOf(c.RawIssuer, c.SerialNumber)] {
			return Identity{}, fmt.Errorf("its certificate, number %s, was revoked", c.SerialNumber)
		}
	}
	i, err := identityOf(leaf)
	return i, err
}

// notBelieved says why x509 does not verify a certificate at the time now.
func notBelieved(err error, leaf *x509.Certificate, now time.Time) error {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return fmt.Errorf("no authority of %s vouches for its certificate, which %q issued", caFile, leaf.Issuer)
	}
	invalid, _ := errors.AsType[x509.CertificateInvalidError](err)
	switch c := invalid.Cert; {
	case c != nil && invalid.Reason == x509.Expired: // x509's words name another time each second
		e := UntimelyError{From: c.NotBefore, Until: c.NotAfter, Now: now}
		if c != leaf {
			e.Authority = c.Subject.String()
		}
		return e
	case c != nil && invalid.Reason == x509.IncompatibleUsage:
		return fmt.Errorf("its certificate is not for both servers and clients: want extendedKeyUsage = serverAuth, "+
			"clientAuth (%w)", err)
	}
	return fmt.Errorf("its certificate: %w", err)
}

// UntimelyError says that a certificate is not valid now: it has expired, or is of a later time.
type UntimelyError struct {
	From, Until, Now time.Time
	Authority        string // whose certificate it is; "" for that of a node
}

func (e UntimelyError) Error() string {
	is := "is valid from " + stamp(e.From) + " on"
	if e.Expired() {
		is = "expired on " + stamp(e.Until)
	}
	whose := "its certificate"
	if e.Authority != "" {
		whose = fmt.Sprintf("the certificate of its authority %q", e.Authority)
	}
	return fmt.Sprintf("%s %s; this machine's clock says %s", whose, is, stamp(e.Now))
}

// Expired reports whether the certificate has expired.
func (e UntimelyError) Expired() bool { return e.Now.After(e.Until) }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
