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
// notice. So such a renewal does no harm while the members notice in time.
package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/storeurl"
	"github.com/ringleader-dev/ringleader/store"
)

// Config says where an election is.
type Config struct {
	// Servers are the addresses, HOST:PORT, of the members of the etcd cluster.
	Servers []string
	// Prefix is the name of the election, as in "etcdctl elect PREFIX".
	Prefix string
	// User and PasswordFile are for etcd's own authentication. The file is read whenever the user logs in.
	User, PasswordFile string
	TLS                *tls.Config // nil without TLS
}

// Parse reads etcd://SERVER,SERVER/PREFIX. The slash before PREFIX is part of it, as in "etcdctl elect /PREFIX".
func Parse(u *url.URL) (store.Store, error) {
	if u.Scheme != "etcd" {
		return nil, fmt.Errorf("%s: write etcd://SERVER/PREFIX", u.Scheme)
	}
	p, err := storeurl.Read(u, "2379", false)
	if err != nil {
		return nil, err
	}
	return New(Config{
		Servers: p.Servers, Prefix: u.Path, User: p.User, PasswordFile: p.PasswordFile, TLS: p.TLS,
	})
}

// minTTL is the shortest TTL that etcd grants with its own default timing.
const minTTL = 2 * time.Second

// etcd is an election in etcd.
type etcd struct{ Config }

// New returns the election that c names.
func New(c Config) (store.Store, error) {
	switch {
	case len(c.Servers) == 0:
		return nil, errors.New("no server is named")
	case strings.Trim(c.Prefix, "/") == "" || strings.HasSuffix(c.Prefix, "/"):
		return nil, fmt.Errorf("the prefix %q: write etcd://SERVER/PREFIX", c.Prefix)
	case (c.User == "") != (c.PasswordFile == ""):
		return nil, errors.New("a user needs a password, and a password a user: give user=NAME and password-file=FILE")
	}
	for _, server := range c.Servers {
		if host, _, err := net.SplitHostPort(server); err != nil || host == "" {
			return nil, fmt.Errorf("the server %q: write HOST:PORT", server)
		}
	}
	return etcd{c}, nil
}

// Secret implements store.Secretive.
func (s etcd) Secret() string { return s.PasswordFile }

func (s etcd) Name() string                    { return "etcd " + s.Prefix }
func (s etcd) MinTTL() time.Duration           { return minTTL }
func (s etcd) Guarantee() algorithms.Guarantee { return algorithms.Lease }

func (s etcd) String() string {
	path := s.Prefix
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	u := url.URL{Scheme: "etcd", Host: strings.Join(s.Servers, ","), Path: path}
	if s.TLS != nil {
		u.RawQuery = "tls=true"
	}
	return u.String()
}

// Open makes the client. It connects by itself, when it is first used. It is told of no user, since it would log
// in at once, and without a bound.
func (s etcd) Open(c store.Candidate) (store.Election, error) {
	scheme := "http://"
	if s.TLS != nil {
		scheme = "https://"
	}
	endpoints := make([]string, len(s.Servers))
	for i, server := range s.Servers {
		endpoints[i] = scheme + server
	}
	who := &user{name: s.User, file: s.PasswordFile}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: endpoints,
		TLS:       s.TLS,
		Logger:    zap.NewNop(),
		// etcd's servers refuse who pings more often than every 5 s, and gRPC pings no more often than this.
		DialKeepAliveTime:    10 * time.Second,
		DialKeepAliveTimeout: max(time.Second, c.TTL/3),
		MaxUnaryRetries:      2,
		DialOptions: []grpc.DialOption{
			grpc.WithPerRPCCredentials(who),
			grpc.WithChainUnaryInterceptor(tellCause),
			grpc.WithConnectParams(grpc.ConnectParams{
				Backoff: backoff.Config{
					BaseDelay: c.TTL / 40, Multiplier: 1.6, Jitter: 0.2, MaxDelay: min(c.TTL/4, 5*time.Second),
				},
				MinConnectTimeout: max(time.Second, c.TTL/3),
			}),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	who.remote = pb.NewAuthClient(client.ActiveConnection())
	return open(c, s.Config, client, who), nil
}

// tellCause lets a request fail while no server can be connected to. The client would have it wait for the
// connection, and its error would say nothing but that time is up.
func tellCause(
	ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, next grpc.UnaryInvoker,
	options ...grpc.CallOption,
) error {
	return next(ctx, method, req, reply, conn, append(options, grpc.WaitForReady(false))...)
}
