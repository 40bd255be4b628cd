package kv

import (
	"context"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/ringleader-dev/ringleader/internal/web"
)

// A value of a MiB may take its time.
var limits = web.Limits{Request: 10 * time.Second, Answer: 20 * time.Second, Stop: 5 * time.Second}

// Serve answers on ln with handler until ctx is done, then lets the calls under
// way finish for a moment and returns nil. It closes ln. An error says why
// nobody can be answered any more. errorLog takes what goes wrong between a
// client and the server.
func Serve(ctx context.Context, ln net.Listener, handler http.Handler, errorLog *log.Logger) error {
	return web.Serve(ctx, ln, handler, limits, errorLog)
}
