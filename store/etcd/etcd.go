// Package etcd puts leadership on an etcd cluster, by the recipe of etcd's own elections: "etcdctl elect
// PREFIX" and package concurrency of etcd's client for Go take part in the same election.
//
// # The recipe
//
// A candidate has a lease with a TTL, and attached to it a key whose name is the prefix, a slash, and the id of
// the lease in hexadecimal. The key that was created first leads. The revision at which it was created is
// the token: etcd counts all changes by it, and never goes back. When the lease ends, etcd deletes the key.
//
//	look    the keys, in the order of their creation; in the meantime, a lease is got ready for standing
//	stand   one transaction: delete the key of a dead process if it is still as it was read; create the
//	        own key if it is not there; read. In the meantime, the lease is renewed
//	renew   renew the lease, then read whether the key is there still
//	leave   revoke the lease: this deletes the key
//
// # What it does not promise
//
// A member of etcd that no longer leads the others and has not noticed may renew a lease. The member that
// leads instead of it has begun the TTL of all leases again, and added the time that the former may take to
// notice. So such a renewal makes no harm while the members notice in time. A member that cannot keep that
// time, because its disk or processor stalls, may end leases too early in releases before the end of 2023.
package etcd

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/store"
)

// Options say where an election is. The files are read when the election is opened; certificates again for
// each connection.
type Options struct {
	// Endpoints are the members of the etcd cluster, each as HOST:PORT.
	Endpoints []string
	// Prefix is the name of the election, as in "etcdctl elect PREFIX".
	Prefix string
	// TLS says that connections are encrypted. CA and Cert imply it.
	TLS bool
	// CA is a file of the certificates that the members' certificates are checked with. If it is empty, those
	// of the system are.
	CA string
	// Cert and Key are files of this client's certificate and its key, if etcd asks for one.
	Cert, Key string
	// User and PasswordFile are for etcd's own authentication. White space round the password is no part of
	// it.
	User, PasswordFile string
}

// minTTL is the shortest TTL that etcd grants with its own default timing.
const minTTL = 2 * time.Second

// etcd is an election in etcd.
type etcd struct{ Options }

// New returns the election that o names.
func New(o Options) (store.Store, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	return etcd{o}, nil
}

// validate returns an error if o names no election.
func (o Options) validate() error {
	if len(o.Endpoints) == 0 {
		return errors.New("no address of etcd: want HOST:PORT")
	}
	for _, e := range o.Endpoints {
		host, port, err := net.SplitHostPort(e)
		if err != nil || host == "" {
			return fmt.Errorf("address %q of etcd: want HOST:PORT", e)
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return fmt.Errorf("port %q of etcd: want a number from 1 to 65535", port)
		}
	}
	switch {
	case strings.Trim(o.Prefix, "/") == "" || strings.HasSuffix(o.Prefix, "/"):
		return fmt.Errorf("prefix %q of etcd: want the name of an election, as /NAME", o.Prefix)
	case (o.Cert == "") != (o.Key == ""):
		return errors.New("etcd: a certificate needs its key, and a key its certificate: cert=FILE&key=FILE")
	case (o.User == "") != (o.PasswordFile == ""):
		return errors.New("etcd: a user needs a password, and a password a user: user=NAME&password-file=FILE")
	}
	return nil
}

func (s etcd) Name() string                    { return "etcd " + s.Prefix }
func (s etcd) MinTTL() time.Duration           { return minTTL }
func (s etcd) Guarantee() algorithms.Guarantee { return algorithms.Lease }

// String returns what Parse reads.
func (s etcd) String() string {
	values := url.Values{}
	for name, value := range map[string]string{
		"ca": s.CA, "cert": s.Cert, "key": s.Key, "user": s.User, "password-file": s.PasswordFile,
	} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if s.TLS {
		values.Set("tls", "true")
	}
	path := s.Prefix
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	u := url.URL{Scheme: "etcd", Host: strings.Join(s.Endpoints, ","), Path: path, RawQuery: values.Encode()}
	return u.String()
}

// Open makes the client. It connects by itself, when it is first used.
func (s etcd) Open(c store.Candidate) (store.Election, error) {
	secure, err := s.tls()
	if err != nil {
		return nil, err
	}
	password, err := s.password()
	if err != nil {
		return nil, err
	}
	scheme := "http://"
	if secure != nil {
		scheme = "https://"
	}
	endpoints := make([]string, len(s.Endpoints))
	for i, e := range s.Endpoints {
		endpoints[i] = scheme + e
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: endpoints,
		TLS:       secure,
		Username:  s.User,
		Password:  password,
		Logger:    zap.NewNop(),
		// Less than etcd's servers, which refuse who pings more often than every 5 s.
		DialKeepAliveTime:    10 * time.Second,
		DialKeepAliveTimeout: max(time.Second, c.TTL/3),
		MaxUnaryRetries:      2, // the second is for a new token of the user
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay: c.TTL / 40, Multiplier: 1.6, Jitter: 0.2, MaxDelay: min(c.TTL/4, 5*time.Second),
			},
			MinConnectTimeout: max(time.Second, c.TTL/3),
		})},
	})
	if err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	return open(c, s.Options, client), nil
}

// tls returns how connections are encrypted; nil if they are not.
func (o Options) tls() (*tls.Config, error) {
	if !o.TLS && o.CA == "" && o.Cert == "" {
		return nil, nil
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CA != "" {
		text, err := os.ReadFile(o.CA)
		if err != nil {
			return nil, fmt.Errorf("the certificates for etcd: %w", err)
		}
		secure.RootCAs = x509.NewCertPool()
		if !secure.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("the certificates for etcd: %s has none in the format PEM", o.CA)
		}
	}
	if o.Cert != "" {
		read := func() (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
			if err != nil {
				return nil, fmt.Errorf("the certificate for etcd: %w", err)
			}
			return &pair, nil
		}
		if _, err := read(); err != nil {
			return nil, err
		}
		secure.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return read() }
	}
	return secure, nil
}

func (o Options) password() (string, error) {
	if o.PasswordFile == "" {
		return "", nil
	}
	text, err := os.ReadFile(o.PasswordFile)
	if err != nil {
		return "", fmt.Errorf("the password for etcd: %w", err)
	}
	password := strings.TrimSpace(string(text))
	if password == "" {
		return "", fmt.Errorf("the password for etcd: %s is empty", o.PasswordFile)
	}
	return password, nil
}
