package httpapi

import (
	"log"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/web"
)

// guard decides who may ask for what. Over TLS everything but probes needs a token. Over plain HTTP anybody may
// read, and who may change the node has a token, or is on its machine.
type guard struct {
	tls      bool
	tokens   func() Tokens
	failed   failures
	errorLog *log.Logger
}

func newGuard(cfg Config) *guard {
	g := &guard{tls: cfg.TLS != nil, tokens: cfg.Tokens, errorLog: web.Seldom(cfg.ErrorLog)}
	if g.tokens == nil {
		g.tokens = func() Tokens { return Tokens{} }
	}
	return g
}

// read passes on requests of those who may read.
func (g *guard) read(next http.Handler) http.Handler {
	if !g.tls {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.admit(w, r, RoleRead) {
			next.ServeHTTP(w, r)
		}
	})
}

// change passes on requests of those who may change the node. A web page of another site may make requests in the
// browser of somebody who may change the node: change refuses them.
func (g *guard) change(next http.Handler) http.Handler {
	var browsers http.CrossOriginProtection // Origin and Sec-Fetch-Site
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := browsers.Check(r); err != nil {
			write(w, http.StatusForbidden, refusal{"a page of another site may not change this node"})
			return
		}
		if g.admit(w, r, RoleOperate) {
			web.Keep(r.Context())
			next.ServeHTTP(w, r)
		}
	})
}

// probe passes on everybody's request, unless it has a token that is wrong. It says whether the answer may tell all.
func (g *guard) probe(next func(w http.ResponseWriter, r *http.Request, all bool)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, sent := bearer(r); !g.tls || !sent {
			next(w, r, !g.tls)
		} else if g.admit(w, r, RoleRead) {
			next(w, r, true)
		}
	}
}

// still reports whether a request that was admitted would be so now: its token may have been taken back.
func (g *guard) still(r *http.Request, wanted Role) bool {
	if !g.tls {
		return true
	}
	given, _ := bearer(r)
	role, ok := g.tokens().role(given)
	return ok && role.allows(wanted)
}

// admit reports whether a request may do what the wanted role allows. If not, it has answered. A right token is
// taken however many wrong ones came from its source: otherwise whoever shares an address could lock the others out.
func (g *guard) admit(w http.ResponseWriter, r *http.Request, wanted Role) bool {
	given, sent := bearer(r)
	tokens := g.tokens()
	switch role, ok := tokens.role(given); {
	case ok && role.allows(wanted):
		return true
	case ok:
		write(w, http.StatusForbidden, refusal{"this token may only read: changing a node needs one of the role " +
			string(RoleOperate)})
	case sent && len(tokens.all) == 0 && g.tls:
		unauthorized(w, "this node has no token: there is none in the file api.token of its credentials")
	case sent && len(tokens.all) == 0:
		unauthorized(w, "this node has no token: start it with --api-token-file, or ask it from "+
			"its own machine, without one")
	case sent:
		g.wrong(w, r)
	case g.tls:
		unauthorized(w, "this needs a token of the role "+string(wanted)+
			", as in the file api.token of the credentials: send Authorization: Bearer TOKEN")
	case local(r):
		return true
	default:
		unauthorized(w, "changing a node from elsewhere than its own machine needs its token: "+
			"start it with --api-token-file, and send Authorization: Bearer TOKEN")
	}
	return false
}

// wrong answers a request with a wrong token.
func (g *guard) wrong(w http.ResponseWriter, r *http.Request) {
	from := web.Source(r.RemoteAddr)
	wait := g.failed.add(from, time.Now())
	w.Header().Set("Connection", "close") // the next one costs a new connection
	if wait == 0 {
		unauthorized(w, "the token is not this node's")
		return
	}
	seconds := int(math.Ceil(wait.Seconds()))
	g.errorLog.Printf("wrong tokens from %s: more than %d at once, or one in %v", from, failuresAtOnce, failureEvery)
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	write(w, http.StatusTooManyRequests, refusal{"too many wrong tokens came from this address: try again later"})
}

func unauthorized(w http.ResponseWriter, why string) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="ringleader"`)
	write(w, http.StatusUnauthorized, refusal{why})
}

func bearer(r *http.Request) (token string, ok bool) {
	header := r.Header.Get("Authorization")
	if header == "" {
		return "", false
	}
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", true // some other credential: wrong, whatever it is
	}
	return strings.TrimSpace(token), true
}

// local reports whether the request was made on this machine, for this machine. A host name that somebody
// else's DNS resolves to this machine does not count as this machine. A request that a proxy passes on does
// not count as made on this machine, since through a proxy every client looks local.
func local(r *http.Request) bool {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !from.Addr().Unmap().IsLoopback() {
		return false
	}
	for _, passedOn := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header.Get(passedOn) != "" {
			return false
		}
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}

// requester returns, for the record, who makes a request: the address from which it came. If the request is
// passed on for somebody, whom the text by names, that name comes first: "10.0.0.7 through node 1 (10.0.0.1)".
func requester(r *http.Request, by string) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if by == "" {
		return host
	}
	return by + " (" + host + ")"
}
