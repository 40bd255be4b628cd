package web

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"
)

// How long every client may take to send its header, counted from the connection, and how many
// bytes the header may have.
const (
	HeaderLimit = 3 * time.Second
	MaxHeader   = 8 << 10
)

// Limits limit how long a client may take. A slower client loses its connection, so that many of
// them cannot use up the process's file descriptors.
type Limits struct {
	Request time.Duration // to the end of the request, from the connection or from the request before
	Answer  time.Duration // from the header to the end of the answer
	Stop    time.Duration // for answers under way, when the service is told to stop
}

// Serve answers requests on ln with handler until ctx is done. It then gives the requests under way
// a moment to finish, and returns nil. It closes ln. An error says why the service ended by itself.
// errorLog takes errors between a client and the server; nil means the standard logger.
func Serve(
	ctx context.Context, ln net.Listener, handler http.Handler, limits Limits, errorLog *log.Logger,
) error {
	srv := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: HeaderLimit,
		ReadTimeout:       limits.Request,
		WriteTimeout:      limits.Answer,
		MaxHeaderBytes:    MaxHeader,
		ErrorLog:          errorLog,
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve HTTP on %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.Stop)
	defer cancel()
	if srv.Shutdown(grace) != nil {
		_ = srv.Close() // the grace is over: whoever is not done is cut off
	}
	<-failed //nolint:errcheck // only that it has stopped matters
	return nil
}
