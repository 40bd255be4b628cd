package kv

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"
)

// A client that is slow to ask or to listen loses its connection, so that many
// of them cannot use up the process's file descriptors.
const (
	headerTimeout  = 3 * time.Second  // from the connection to the end of the header
	requestTimeout = 10 * time.Second // to the end of the request, and to the next one
	answerTimeout  = 20 * time.Second // from the header to the end of the answer
	maxHeader      = 8 << 10          // bytes
	shutdownGrace  = 5 * time.Second
)

// Serve answers on ln with handler until ctx is done, then lets the calls under
// way finish for a moment and returns nil. It closes ln. An error says why
// nobody can be answered any more. errorLog takes what goes wrong between a
// client and the server.
func Serve(ctx context.Context, ln net.Listener, handler http.Handler, errorLog *log.Logger) error {
	srv := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      answerTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          errorLog,
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve HTTP on %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	if srv.Shutdown(grace) != nil {
		_ = srv.Close() // the grace is over: whoever is not done is cut off
	}
	<-failed //nolint:errcheck // only that it has stopped matters
	return nil
}
