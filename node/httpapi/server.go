package httpapi

import (
	"context"
	"encoding/json"
	"iter"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/ringleader-dev/ringleader/internal/web"
)

// Config names the sources of the answers.
type Config struct {
	Source Source
	// Control carries out requests that change the node; nil refuses them.
	Control Control
	// Lender lends the node's lease; nil refuses requests for a lease.
	Lender Lender
	// Token allows a client on any machine to change the node. Without a Token only clients on this machine
	// may.
	Token string
	// Changes yields the changes of who leads, in order: the changes after the number after, and the changes
	// to come until ctx is done. Changes is nil if the node tells no changes.
	Changes func(ctx context.Context, after uint64) iter.Seq[Change]
	// Version is the answer of /version, as JSON.
	Version any
	// ErrorLog takes errors between a client and the server; nil means the standard logger.
	ErrorLog *log.Logger
}

var limits = web.Limits{Request: 5 * time.Second, Answer: 5 * time.Second, Stop: time.Second}

// Serve answers requests on ln until ctx is done. It then gives the requests under way a second to
// finish, and returns nil. It closes ln. An error says why the service ended by itself.
func Serve(ctx context.Context, ln net.Listener, cfg Config) error {
	return web.Serve(ctx, ln, handler(ctx, cfg), limits, cfg.ErrorLog)
}

// view makes the answer for one path: the HTTP code, and the value that becomes JSON.
type view func(s Snapshot, now time.Time) (code int, answer any)

var views = map[string]view{
	"/healthz": func(s Snapshot, now time.Time) (int, any) {
		return check(s, s.sick(now))
	},
	"/readyz": func(s Snapshot, now time.Time) (int, any) {
		return check(s, s.unready(now))
	},
	"/leader": func(s Snapshot, now time.Time) (int, any) {
		a := s.leadership(now)
		return okIf(a.IsLeader), a
	},
	"/v1/status": func(s Snapshot, now time.Time) (int, any) {
		return http.StatusOK, s.status(now)
	},
	"/v1/members": func(s Snapshot, _ time.Time) (int, any) {
		return http.StatusOK, Members{s.Self, append([]Member{}, s.Members...)}
	},
}

func check(s Snapshot, reason string) (int, any) {
	ok := reason == ""
	return okIf(ok), Health{s.Self, ok, reason, s.Ineligible}
}

func okIf(ok bool) int {
	if ok {
		return http.StatusOK
	}
	return http.StatusServiceUnavailable
}

// Handler returns the handler for the paths in the package's description.
func Handler(cfg Config) http.Handler { return handler(context.Background(), cfg) }

// handler does what Handler does. The streams of its handler end with ctx.
func handler(ctx context.Context, cfg Config) http.Handler {
	mux := http.NewServeMux()
	for path, view := range views {
		mux.HandleFunc(path, readOnly(func(w http.ResponseWriter, _ *http.Request) {
			code, answer := view(cfg.Source.Snapshot(), time.Now())
			write(w, code, answer)
		}))
	}
	if cfg.Control != nil {
		for _, v := range verbs {
			mux.Handle(v.path(), guard(cfg.Token, command(cfg.Control, v)))
		}
	}
	if cfg.Lender != nil {
		mux.Handle(leasePath, guard(cfg.Token, lend(cfg.Lender)))
		mux.Handle(leasePath+"/", guard(cfg.Token, giveBack(cfg.Lender)))
	}
	mux.HandleFunc("/version", readOnly(func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, cfg.Version)
	}))
	events := &streams{source: cfg.Source, changes: cfg.Changes, done: ctx}
	mux.HandleFunc("/v1/events", readOnly(events.get))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusNotFound, refusal{"no such path: there are /healthz, /readyz, " +
			"/leader, /v1/status, /v1/members, /v1/events and /version, and to POST to /v1/lease, " +
			"/v1/transfer, /v1/resign, /v1/pause, /v1/resume and /v1/elections"})
	})
	return mux
}

// readOnly refuses every method that could change something.
func readOnly(next http.HandlerFunc) http.HandlerFunc {
	const allowed = "GET, HEAD, OPTIONS"
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet, http.MethodHead:
		case http.MethodOptions:
			w.Header().Set("Allow", allowed)
		default:
			refuseMethod(w, r, allowed, "only "+allowed)
			return
		}
		next(w, r)
	}
}

// only refuses every method except the given one. In the refusal, the text instead says what the client
// should use.
func only(method, instead string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != method {
			refuseMethod(w, r, method, instead)
			return
		}
		next(w, r)
	}
}

func refuseMethod(w http.ResponseWriter, r *http.Request, allowed, instead string) {
	w.Header().Set("Allow", allowed)
	write(w, http.StatusMethodNotAllowed, refusal{r.Method + " is not allowed here: " + instead})
}

// write sends an answer.
func write(w http.ResponseWriter, code int, answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		code, body = http.StatusInternalServerError, []byte(`{"error":"the answer is no JSON"}`)
	}
	web.Answer(w, code, "application/json", append(body, '\n'))
}
