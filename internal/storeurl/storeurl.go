// Package storeurl reads what the URLs of stores have in common: several servers, a place in the store, a
// password that is in a file, and TLS.
package storeurl

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
)

// Split reads a URL that may name several servers, each with a port or without, as in
// "redis://a:1,b,c:3/key". url.Parse refuses most of these.
func Split(text string) (*url.URL, error) {
	scheme, after, found := strings.Cut(text, "://")
	if !found || scheme == "" {
		return nil, errors.New("not a URL: write KIND://SERVER/PLACE, like redis://localhost/leader")
	}
	end := len(after)
	if i := strings.IndexAny(after, "/?#"); i >= 0 {
		end = i
	}
	at := strings.LastIndexByte(after[:end], '@') + 1
	u, err := url.Parse(scheme + "://" + after[:at] + "servers" + after[end:])
	if err != nil { // the error quotes of the URL, and a password may be in it
		return nil, errors.New("the URL of the store is not well formed: a % stands before two hexadecimal digits, " +
			"and %25 for a % itself")
	}
	u.Host = after[at:end]
	return u, nil
}

// Redact returns the URL for people: without what stands before the servers, and without the values of
// options. Either may be a password. The text need not be a URL that can be read.
func Redact(text string) string {
	scheme, after, found := strings.Cut(text, "://")
	if !found {
		return text
	}
	if i := strings.LastIndexByte(after, '@'); i >= 0 {
		after = "xxxxx" + after[i:]
	}
	if before, _, has := strings.Cut(after, "?"); has {
		after = before + "?xxxxx"
	}
	return scheme + "://" + after
}

// Place is one place in one store.
type Place struct {
	Servers []string // each with its port
	Path    string   // without the first slash
	// User and PasswordFile are empty if the store asks for none.
	User, PasswordFile string
	TLS                *tls.Config // nil without TLS

	options url.Values
}

// errInURL is the error for a password in a URL.
var errInURL = errors.New("a password in a URL is seen by all who list processes: " +
	"write it to a file, and give password-file=FILE")

// The options that every kind of store has.
var common = []string{"user", "password-file", "tls", "ca", "cert", "key-file"}

// Read reads a URL in which a server without a port has this one, and which may have these options more
// than the common ones. If secure, there is TLS without an option, too.
func Read(u *url.URL, port string, secure bool, options ...string) (*Place, error) {
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil { // it may hold a password, so nothing of it is told
		return nil, errors.New("the options are no NAME=VALUE, with & between them: write %3B for ; in a value")
	}
	p := &Place{Path: strings.TrimPrefix(u.Path, "/"), options: values}
	if _, set := u.User.Password(); set {
		return nil, errInURL
	}
	if u.Fragment != "" { // it may be a part of a password
		return nil, errors.New("nothing may follow #")
	}
	options = append(options, common...)
	for name, values := range p.options {
		if name == "password" {
			return nil, errInURL
		}
		if !slices.Contains(options, name) {
			slices.Sort(options)
			return nil, fmt.Errorf("there is no option %q: there are %s", name, strings.Join(options, ", "))
		}
		if len(values) != 1 || values[0] == "" {
			return nil, fmt.Errorf("the option %s needs one value", name)
		}
	}
	for server := range strings.SplitSeq(u.Host, ",") {
		full, err := withPort(server, port)
		switch {
		case err != nil && strings.Contains(u.Path+u.RawQuery, "@"): // a password with / or ? in it
			return nil, errInURL
		case err != nil:
			return nil, err
		}
		if slices.Contains(p.Servers, full) {
			return nil, fmt.Errorf("the server %s is named twice", full)
		}
		p.Servers = append(p.Servers, full)
	}
	p.User, p.PasswordFile = p.Option("user"), p.Option("password-file")
	if name := u.User.Username(); name != "" {
		if p.User != "" {
			return nil, errors.New("the user is named twice")
		}
		p.User = name
	}
	return p, p.readTLS(secure)
}

func withPort(server, port string) (string, error) {
	wrong := fmt.Errorf("the server %q: write HOST, HOST:PORT or [IPv6]:PORT, and a comma between two", server)
	host, own, err := net.SplitHostPort(server)
	if err != nil {
		host, own = strings.TrimSuffix(strings.TrimPrefix(server, "["), "]"), port
		if strings.Contains(host, ":") && !strings.HasPrefix(server, "[") {
			return "", wrong
		}
	}
	if n, err := net.LookupPort("tcp", own); host == "" || err != nil || n == 0 || strings.ContainsAny(host, " ;") {
		return "", wrong
	}
	return net.JoinHostPort(host, own), nil
}

// Option returns the value of an option, or "".
func (p *Place) Option(name string) string { return p.options.Get(name) }

// Password reads the password file, which may change while we run. Without one it returns "".
func Password(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	password := strings.TrimRight(string(text), "\r\n")
	if password == "" {
		return "", fmt.Errorf("the password file %s is empty: write the password into it, or leave it out", file)
	}
	return password, nil
}

// Exposed says who else may read a password file; "" if nobody may but its owner.
func Exposed(file string) string {
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return ""
	}
	return fmt.Sprintf("the password file %s has the mode %#o, so that others than its owner may read it: "+
		"chmod 600, unless nobody else is on this machine, as in a container", file, info.Mode().Perm())
}

func (p *Place) readTLS(secure bool) error {
	ca, cert, key := p.Option("ca"), p.Option("cert"), p.Option("key-file")
	switch p.Option("tls") {
	case "":
		secure = secure || ca != "" || cert != "" || key != ""
	case "true":
		secure = true
	case "false":
		if secure || ca != "" || cert != "" || key != "" {
			return errors.New("tls=false contradicts the rest of the URL")
		}
	default:
		return fmt.Errorf("tls=%s: write tls=true or tls=false", p.Option("tls"))
	}
	switch {
	case !secure:
		return nil
	case (cert == "") != (key == ""):
		return errors.New("cert and key-file go together: give both or none")
	}
	p.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		text, err := os.ReadFile(ca)
		if err != nil {
			return fmt.Errorf("read the CA: %w", err)
		}
		p.TLS.RootCAs = x509.NewCertPool()
		if !p.TLS.RootCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("no certificate in the CA file %s", ca)
		}
	}
	if cert == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(cert, key); err != nil {
		return fmt.Errorf("read the certificate: %w", err)
	}
	// Read anew for each connection: certificates are renewed while we run.
	p.TLS.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(cert, key)
		return &pair, err
	}
	return nil
}
