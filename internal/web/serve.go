package web

import (
	"context"
	"crypto/tls"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"
)

// How long every client may take to send its header, counted from the connection, or from the end of its TLS
// handshake, which may take as long once more; and how many bytes the header may have.
const (
	HeaderLimit = 3 * time.Second
	MaxHeader   = 8 << 10
)

// Limits limit how long a client may take, and how many there may be. A slower client loses its connection, so
// that many of them cannot use up the process's file descriptors.
type Limits struct {
	Request time.Duration // to the end of the request, from the connection or from the request before
	Answer  time.Duration // from the header to the end of the answer
	Stop    time.Duration // for answers under way, when the service is told to stop
	// Connections is how many there may be at once; zero means any number. Above that a new one gets in all the same,
	// and the oldest one of the source that has the most is closed; see Keep. A source is an IPv4 address, or a /64
	// of IPv6.
	Connections int
}

// Service is an HTTP service.
type Service struct {
	Handler http.Handler
	Limits  Limits
	// TLS makes it a service of HTTPS, and of nothing else: it returns this end of a connection under TLS, without
	// waiting for the other end. Nil means plain HTTP.
	TLS func(net.Conn) *tls.Conn
	// Plain is the body of the answer to one who speaks plain HTTP to a service of HTTPS, as JSON.
	Plain []byte
	// ErrorLog takes errors between a client and the server; nil means the standard logger.
	ErrorLog *log.Logger
}

// Serve answers requests on ln until ctx is done. It then gives the requests under way a moment to finish, and
// returns nil. It closes ln. An error says why the service ended by itself.
func (s Service) Serve(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{
		Handler:           s.Handler,
		ReadHeaderTimeout: HeaderLimit,
		ReadTimeout:       s.Limits.Request,
		WriteTimeout:      s.Limits.Answer,
		MaxHeaderBytes:    MaxHeader,
		ErrorLog:          Seldom(s.ErrorLog),
		Protocols:         new(http.Protocols),

		DisableGeneralOptionsHandler: true, // the Handler answers everything
	}
	srv.Protocols.SetHTTP1(true) // the limits are those of HTTP/1.1: a connection has one request at a time
	serves := "HTTP"
	if s.Limits.Connections > 0 {
		c := newCrowd(s.Limits.Connections, s.ErrorLog)
		srv.ConnState, srv.ConnContext = c.watch, c.know
	}
	if s.TLS != nil {
		serves, ln = "HTTPS", encrypted{ln, s.TLS, s.Plain}
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve %s on %s: %w", serves, ln.Addr(), err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Limits.Stop)
	defer cancel()
	if srv.Shutdown(grace) != nil {
		_ = srv.Close() // the grace is over: whoever is not done is cut off
	}
	<-failed //nolint:errcheck // only that it has stopped matters
	return nil
}
