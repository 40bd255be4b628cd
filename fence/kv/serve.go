package kv

import (
	"context"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/ringleader-dev/ringleader/internal/web"
)

// limits allow for the time that a value of a MiB takes.
var limits = web.Limits{Request: 10 * time.Second, Answer: 20 * time.Second, Stop: 5 * time.Second}

// Serve answers requests on ln with handler until ctx is done. It then gives the requests under way
// a moment to finish, and returns nil. It closes ln. An error says why the service ended by itself.
// errorLog takes errors between a client and the server.
func Serve(ctx context.Context, ln net.Listener, handler http.Handler, errorLog *log.Logger) error {
	return web.Serve(ctx, ln, handler, limits, errorLog)
}
