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

// Config is what the answers come from.
type Config struct {
	Source Source
	// Control carries out what changes the node; nil for nothing.
	Control Control
	// Lender lends the node's lease; nil for never.
	Lender Lender
	// Token lets whoever bears it change the node from anywhere. Without one only
	// this machine may.
	Token string
	// Changes are the changes of who leads after number after, in order, and those to
	// come, until ctx is done; nil when the Source tells none.
	Changes func(ctx context.Context, after uint64) iter.Seq[Change]
	// Version is what /version answers, as JSON.
	Version any
	// ErrorLog takes what goes wrong between a client and the server; nil for
	// the standard logger.
	ErrorLog *log.Logger
}

var limits = web.Limits{Request: 5 * time.Second, Answer: 5 * time.Second, Stop: time.Second}

// Serve answers on ln until ctx is done, then lets answers under way finish for
// a moment and returns nil. It closes ln. An error says why nobody can be
// answered any more.
func Serve(ctx context.Context, ln net.Listener, cfg Config) error {
	return web.Serve(ctx, ln, handler(ctx, cfg), limits, cfg.ErrorLog)
}

// view answers one path: the HTTP code and the value that becomes JSON.
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

// Handler answers the paths of the package's description.
func Handler(cfg Config) http.Handler { return handler(context.Background(), cfg) }

// handler is Handler, whose streams end with ctx.
func handler(ctx context.Context, cfg Config) http.Handler {
	mux := http.NewServeMux()
	for path, view := range views {
		mux.HandleFunc(path, readOnly(func(w http.ResponseWriter) {
			code, answer := view(cfg.Source.Snapshot(), time.Now())
			write(w, code, answer)
		}))
	}
	if cfg.Control != nil {
		for _, v := range verbs {
			mux.Handle("/v1/"+string(v), guard(cfg.Token, command(cfg, v)))
		}
	}
	if cfg.Lender != nil {
		mux.Handle(leasePath, guard(cfg.Token, lend(cfg.Lender)))
		mux.Handle(leasePath+"/", guard(cfg.Token, giveBack(cfg.Lender)))
	}
	mux.HandleFunc("/version", readOnly(func(w http.ResponseWriter) {
		write(w, http.StatusOK, cfg.Version)
	}))
	events := &streams{source: cfg.Source, changes: cfg.Changes, done: ctx}
	mux.HandleFunc("/v1/events", func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet, http.MethodHead:
			events.get(w, r)
		default:
			readOnly(func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK) })(w, r)
		}
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusNotFound, refusal{"no such path: there are /healthz, /readyz, " +
			"/leader, /v1/status, /v1/members, /v1/events and /version, and to POST to /v1/lease, " +
			"/v1/transfer, /v1/resign, /v1/pause and /v1/resume"})
	})
	return mux
}

// readOnly refuses every method that means to change something.
func readOnly(answer func(http.ResponseWriter)) http.HandlerFunc {
	const allowed = "GET, HEAD, OPTIONS"
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodOptions:
			w.Header().Set("Allow", allowed)
			answer(w)
		case http.MethodGet, http.MethodHead:
			answer(w)
		default:
			w.Header().Set("Allow", allowed)
			write(w, http.StatusMethodNotAllowed,
				refusal{r.Method + " is not allowed here: only " + allowed})
		}
	}
}

// write sends an answer.
func write(w http.ResponseWriter, code int, answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		code, body = http.StatusInternalServerError, []byte(`{"error":"the answer is no JSON"}`)
	}
	web.Answer(w, code, "application/json", append(body, '\n'))
}
