package kv

import (
	"context"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/ringleader-dev/ringleader/internal/web"
)

// limits has the time limits of the service. They leave enough time to transfer a value of 1 MiB.
var limits = web.Limits{Request: 10 * time.Second, Answer: 20 * time.Second, Stop: 5 * time.Second}

// Serve answers requests on ln with handler until ctx is done. It then gives the requests under way
// a moment to finish, and returns nil. It closes ln. If Serve ends for another reason, it returns an
// error. It writes errors between a client and the server to errorLog.
func Serve(ctx context.Context, ln net.Listener, handler http.Handler, errorLog *log.Logger) error {
	return web.Service{Handler: handler, Limits: limits, ErrorLog: errorLog}.Serve(ctx, ln)
}
