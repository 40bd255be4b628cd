package credentials

import (
	"cmp"
	"crypto/x509/pkix"
	"path/filepath"
	"slices"
	"time"
)

// Certificate describes one certificate for people.
type Certificate struct {
	Path      string
	Identity  Identity // zero for one that names no node
	Authority bool     // it is an authority's
	Subject   string   // its common name, or all of it
	Issuer    string   // likewise
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

// nameOf returns a name for people: the common name, or all of it where there is none.
func nameOf(n pkix.Name) string { return cmp.Or(n.CommonName, n.String()) }

// Show returns the certificates in a directory of credentials, as far as they can be read. The error says why a node
// does not start with the directory or, if it is no node's, why nobody can ask nodes with it. It does not look at
// tokens.
func Show(dir string) (found []Certificate, err error) {
	node := has(filepath.Join(dir, certFile)) || has(filepath.Join(dir, keyFile))
	m, err := read(dir, node)
	text, _ := ReadFile(filepath.Join(dir, certFile)) // why not, read says
	own, _ := certificates(text)
	for i, c := range slices.Concat(own, m.roots) {
		path := filepath.Join(dir, caFile)
		if i < len(own) {
			path = filepath.Join(dir, certFile)
		}
		who, _ := identityOf(c)
		revoked := m.revoked[serialOf(c.RawIssuer, c.SerialNumber)]
		found = append(found, Certificate{
			path, who, c.IsCA, nameOf(c.Subject), nameOf(c.Issuer), c.NotBefore, c.NotAfter, revoked,
		})
	}
	if err == nil && m.own != nil && found[0].Invalid(time.Now()) == "" {
		err = m.refused()
	}
	return found, err
}
