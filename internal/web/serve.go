package web

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"
)

// Every client has this long, from the connection on, to send its header, and this
// many bytes for it.
const (
	HeaderLimit = 3 * time.Second
	MaxHeader   = 8 << 10
)

// Limits bound what a client may take. One that is slower loses its connection, so
// that many of them cannot use up the process's file descriptors.
type Limits struct {
	Request time.Duration // from the connection to the end of the request, and to the next one
	Answer  time.Duration // from the header to the end of the answer
	Stop    time.Duration // for the answers under way when the service is told to stop
}

// Serve answers on ln with handler until ctx is done, then lets the calls under
// way finish for a moment and returns nil. It closes ln. An error says why
// nobody can be answered any more. errorLog takes what goes wrong between a
// client and the server; nil is the standard logger.
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
