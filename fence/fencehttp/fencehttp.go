// Package fencehttp checks fencing tokens on HTTP requests.
//
// A request that changes something shows its token in a header:
//
//	Ringleader-Token: 7;node=3;incarnation=9f86d081884c7d659a2feaa0c55ad015
//
// The token has the term, the node, and the incarnation in hexadecimal, in exactly
// this spelling. `ringleader exec` gives it to a command as RINGLEADER_TOKEN.
//
// A refusal is problem JSON (RFC 9457), and nothing has changed:
//
//	400 Bad Request             the header is no token, or the request has it twice
//	412 Precondition Failed     the token is stale; "current" is the highest one,
//	                            also given as the answer's own Ringleader-Token
//	428 Precondition Required   the request has no token
//	503 Service Unavailable     writes of the former leader are still under way
//
// A GET or HEAD needs no token. With a token it is a read as leader, which is
// refused unless the token is the highest and sealed: see fence.AdmitRead.
package fencehttp

import (
	"errors"
	"net/http"

	"github.com/ringleader-dev/ringleader/fence"
)

// Header is the name of the header with the token.
const Header = "Ringleader-Token"

// FromRequest returns the request's token. Errors wrap fence.ErrNoToken or fence.ErrMalformedToken.
func FromRequest(r *http.Request) (fence.Token, error) {
	switch shown := r.Header.Values(Header); len(shown) {
	case 0:
		return fence.Token{}, fence.ErrNoToken
	case 1:
		return fence.Parse(shown[0])
	default:
		// Which of them counts is a guess, and a proxy may guess otherwise.
		return fence.Token{}, fence.ErrMalformedToken
	}
}

// Protect returns a handler that passes requests on to next. It passes on a request that changes
// something only after guard.Enter has let it in. It passes on any other request if the request has
// no token, or if guard.CheckRead accepts its token. The guard's Meter counts the requests that
// change something.
//
// Protect does not protect against work that next leaves running after it returned, nor against work
// that a client does without a request.
func Protect(guard *fence.Guard, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		leave, err := enter(guard, r)
		if err != nil {
			Refuse(w, err)
			return
		}
		defer leave()
		next.ServeHTTP(w, r)
	})
}

func enter(guard *fence.Guard, r *http.Request) (leave func(), err error) {
	t, err := FromRequest(r)
	if safe(r.Method) {
		switch {
		case errors.Is(err, fence.ErrNoToken):
			err = nil // anybody may read
		case err == nil:
			err = guard.CheckRead(t)
		}
		return func() {}, err
	}
	if err != nil {
		guard.Meter.Record(err)
		return nil, err
	}
	return guard.Enter(r.Context(), t)
}

// safe reports whether requests with this method change nothing.
func safe(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}
