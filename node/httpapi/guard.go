package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// guard passes on requests that have the token, and requests from this machine that have none. A web page of
// another site may make requests in the browser of somebody who may change the node: guard refuses them.
func guard(token string, next http.Handler) http.Handler {
	var browsers http.CrossOriginProtection // Origin and Sec-Fetch-Site
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := browsers.Check(r); err != nil {
			write(w, http.StatusForbidden, refusal{"a page of another site may not change this node"})
			return
		}
		given, has := bearer(r)
		switch {
		case has && token == "":
			unauthorized(w, "this node has no token: start it with --api-token-file, or ask it from "+
				"its own machine, without one")
		case has && !equal(given, token):
			unauthorized(w, "the token is not this node's")
		case has, local(r):
			next.ServeHTTP(w, r)
		default:
			unauthorized(w, "changing a node from elsewhere than its own machine needs its token: "+
				"start it with --api-token-file, and send Authorization: Bearer TOKEN")
		}
	})
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

// equal reports whether two tokens are equal. The time that it takes does not depend on the tokens.
func equal(given, want string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
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
// passed on for somebody, whom the text by names, that name comes first.
func requester(r *http.Request, by string) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if by == "" {
		return host
	}
	return by + " through " + host
}
