package httpapi

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"iter"
	"log"
	"net"
	"net/http"
	"path"
	"time"

	"github.com/ringleader-dev/ringleader/internal/web"
	"github.com/ringleader-dev/ringleader/proto"
)

// Config names the sources of the answers.
type Config struct {
	Source Source
	// Control carries out requests that change the node; nil refuses them.
	Control Control
	// Lender lends the node's lease; nil refuses requests for a lease.
	Lender Lender
	// Security is said by every answer, in the header Ringleader-Security and the field security, unless it is empty.
	Security string
	// Keys has the keys of gossip; nil means that gossip is not encrypted.
	Keys Keys
	// TLS makes the API one of HTTPS, and of nothing else: then everything but /healthz and /readyz needs a token. It
	// returns this end of a connection under TLS, without waiting for the other end. Nil means plain HTTP.
	TLS func(net.Conn) *tls.Conn
	// Tokens returns the tokens that the node takes now; any goroutine may call it. Nil means none. Over plain HTTP
	// they allow a client on any machine to change the node; without them only clients on this machine may.
	Tokens func() Tokens
	// Changes yields the changes of who leads, in order: the changes after the number after, and the changes
	// to come until ctx is done. Changes is nil if the node tells no changes.
	Changes func(ctx context.Context, after uint64) iter.Seq[Change]
	// Version is the answer of /version, as JSON.
	Version any
	// ErrorLog takes errors between a client and the server; nil means the standard logger.
	ErrorLog *log.Logger
}

var limits = web.Limits{
	Request: 5 * time.Second, Answer: 5 * time.Second, Stop: time.Second, Connections: 256,
}

// Serve answers requests on ln until ctx is done. It then gives the requests under way a second to
// finish, and returns nil. It closes ln. An error says why the service ended by itself.
func Serve(ctx context.Context, ln net.Listener, cfg Config) error {
	plain, err := json.Marshal(notHTTPS)
	if err != nil {
		return err
	}
	return web.Service{
		Handler: handler(ctx, cfg), Limits: limits, TLS: cfg.TLS, Plain: append(plain, '\n'), ErrorLog: cfg.ErrorLog,
	}.Serve(ctx, ln)
}

// view makes the answer for one path: the HTTP code, and the value that becomes JSON.
type view func(s Snapshot, now time.Time) (code int, answer any)

var views = map[string]view{
	"/leader": func(s Snapshot, now time.Time) (int, any) {
		a := s.leadership(now)
		return okIf(a.IsLeader), a
	},
	"/v1/status": func(s Snapshot, now time.Time) (int, any) {
		return http.StatusOK, s.status(now)
	},
	"/v1/members": func(s Snapshot, _ time.Time) (int, any) {
		return http.StatusOK, Members{Self: s.Self, Members: append([]Member{}, s.Members...)}
	},
}

// probes make the answers to the probes of supervisors and load balancers: why the node is not well.
var probes = map[string]func(s Snapshot, now time.Time) (reason string){
	"/healthz": Snapshot.sick,
	"/readyz":  Snapshot.unready,
}

// check answers a probe. Only the answer to one who may know all says why the node is not eligible: that can be the
// words of an operator, or of a check.
func check(s Snapshot, reason string, all bool) (int, Health) {
	h := Health{Self: s.Self, OK: reason == "", Reason: reason}
	if all {
		h.Ineligible = s.Ineligible
	}
	return okIf(h.OK), h
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
	all := routes{}
	doors := newGuard(cfg)
	for path, probe := range probes {
		all[path] = readOnly(doors.probe(func(w http.ResponseWriter, _ *http.Request, tellAll bool) {
			s, now := cfg.Source.Snapshot(), time.Now()
			code, answer := check(s, probe(s, now), tellAll)
			write(w, code, answer)
		}))
	}
	for path, view := range views {
		all[path] = doors.read(readOnly(func(w http.ResponseWriter, _ *http.Request) {
			code, answer := view(cfg.Source.Snapshot(), time.Now())
			write(w, code, answer)
		}))
	}
	if cfg.Control != nil {
		for _, v := range verbs {
			all[v.path()] = doors.change(command(cfg.Control, v))
		}
	}
	if cfg.Lender != nil {
		all[leasePath] = doors.change(lend(cfg.Lender))
		all[leasePath+"/"] = doors.change(giveBack(cfg.Lender))
	}
	self := func() proto.NodeID { return cfg.Source.Snapshot().Self }
	all[keysPath] = doors.change(changeKeys(self, cfg.Keys))
	all["/version"] = doors.read(readOnly(func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, cfg.Version)
	}))
	events := &streams{source: cfg.Source, changes: cfg.Changes, done: ctx, guard: doors, security: cfg.Security}
	all["/v1/events"] = doors.read(readOnly(events.get))
	all["/"] = doors.read(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusNotFound, refusal{"no such path: there are /healthz, /readyz, " +
			"/leader, /v1/status, /v1/members, /v1/events and /version, and to POST to /v1/lease, " +
			"/v1/transfer, /v1/resign, /v1/pause, /v1/resume, /v1/elections and /v1/keys"})
	}))
	return saying(cfg.Security, all)
}

// routes has the handler of each path, of all below a path that ends with /, and of all others as that of /. It answers
// nothing itself, as http.ServeMux does: that would redirect a path with // in it whoever asks.
type routes map[string]http.Handler

func (all routes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	above, _ := path.Split(r.URL.Path)
	for _, at := range []string{r.URL.Path, above, "/"} {
		if next := all[at]; next != nil {
			next.ServeHTTP(w, r)
			return
		}
	}
}

// securityHeader says what Config.Security says.
const securityHeader = "Ringleader-Security"

// saying makes every answer of next say what authenticates the node.
func saying(security string, next http.Handler) http.Handler {
	if security == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(securityHeader, security)
		next.ServeHTTP(w, r)
	})
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
	if security := w.Header().Get(securityHeader); security != "" && len(body) > 2 && body[0] == '{' {
		body = append(fmt.Appendf(nil, `{"security":%q,`, security), body[1:]...)
	}
	web.Answer(w, code, "application/json", append(body, '\n'))
}
