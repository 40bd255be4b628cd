package kv

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/fence/fencehttp"
	"github.com/ringleader-dev/ringleader/fence/store"
	"github.com/ringleader-dev/ringleader/internal/web"
)

// WrittenBy is a header of the answer to GET: the token with which the value was written.
const WrittenBy = "Ringleader-Written-By"

const (
	keyPath    = "/v1/kv/"
	sealPath   = "/v1/seal"
	statusPath = "/v1/status"
	healthPath = "/healthz"
)

// Status answers GET /v1/status. Fields are added over time, never renamed.
type Status struct {
	// Token is the highest token that the service has seen. It is empty if there is none.
	Token fence.Token `json:"token"`
	// Since is the time when the process started to count.
	Since time.Time `json:"since"`
	// Calls counts the writes and seals since that time.
	Calls fence.Counts `json:"calls"`
}

// service answers requests from a store. Any goroutine may use it.
type service struct {
	store *store.Store
	meter fence.Meter
	since time.Time
	// refused is called for each write and seal that was refused or failed.
	refused func(r *http.Request, err error)
}

// NewHandler returns the handler for the paths in the package's description. It calls refused, from
// any goroutine, for each write and seal that was refused or failed.
func NewHandler(s *store.Store, refused func(r *http.Request, err error)) http.Handler {
	local := http.NewCrossOriginProtection()
	local.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		problem(http.StatusForbidden, "cross-origin request",
			"a page of another site asks this through a browser").Write(w)
	}))
	return local.Handler(&service{store: s, since: time.Now(), refused: refused})
}

// endpoint maps the methods of a path to their handlers.
type endpoint map[string]http.HandlerFunc

// ServeHTTP answers a request. It finds the endpoint by the path exactly as the client sent it:
// http.ServeMux would change a key like "a//b" and redirect the client.
func (h *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := h.endpoint(r)
	if at == nil {
		problem(http.StatusNotFound, "no such path", "there are "+keyPath+"KEY, "+
			sealPath+", "+statusPath+" and "+healthPath).Write(w)
		return
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet // net/http keeps the body back
	}
	if do, ok := at[method]; ok {
		do(w, r)
		return
	}
	w.Header().Set("Allow", at.allowed())
	if method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	problem(http.StatusMethodNotAllowed, "method not allowed",
		r.Method+" is not allowed here: only "+at.allowed()).Write(w)
}

func (h *service) endpoint(r *http.Request) endpoint {
	switch path := r.URL.EscapedPath(); {
	case strings.HasPrefix(path, keyPath):
		return endpoint{
			http.MethodGet: h.get, http.MethodPut: h.write(h.put), http.MethodDelete: h.write(h.remove),
		}
	case path == sealPath:
		return endpoint{http.MethodPost: h.write(h.seal)}
	case path == statusPath:
		return endpoint{http.MethodGet: h.status}
	case path == healthPath:
		return endpoint{http.MethodGet: h.health}
	}
	return nil
}

// allowed returns the value of the header Allow.
func (e endpoint) allowed() string {
	methods := "OPTIONS"
	for _, m := range []string{http.MethodDelete, http.MethodGet, http.MethodPost, http.MethodPut} {
		if _, ok := e[m]; ok {
			methods += ", " + m
		}
	}
	if _, ok := e[http.MethodGet]; ok {
		methods += ", HEAD"
	}
	return methods
}

// write returns the handler for a call that needs a token. The handler reads the token, calls do,
// counts the result and answers.
func (h *service) write(
	do func(http.ResponseWriter, *http.Request, fence.Token) error,
) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		t, err := fencehttp.FromRequest(r)
		if err == nil {
			err = do(w, r, t)
		}
		h.meter.Record(err)
		if err != nil {
			h.refused(r, err)
			refuse(w, err)
			return
		}
		w.Header().Set(fencehttp.Header, t.String())
		w.WriteHeader(http.StatusNoContent)
	}
}

func (h *service) put(w http.ResponseWriter, r *http.Request, t fence.Token) error {
	key, err := keyOf(r)
	if err != nil {
		return err
	}
	value, err := io.ReadAll(http.MaxBytesReader(w, r.Body, store.MaxValue))
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return errors.Join(store.ErrTooLarge, tooLarge)
	}
	if err != nil {
		return errors.Join(errCutShort, err)
	}
	return h.store.Put(t, key, value)
}

func (h *service) remove(_ http.ResponseWriter, r *http.Request, t fence.Token) error {
	key, err := keyOf(r)
	if err != nil {
		return err
	}
	return h.store.Delete(t, key)
}

func (h *service) seal(_ http.ResponseWriter, _ *http.Request, t fence.Token) error {
	return h.store.Seal(t)
}

func (h *service) get(w http.ResponseWriter, r *http.Request) {
	v, err := h.read(r)
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set(WrittenBy, v.By.String())
	web.Answer(w, http.StatusOK, "application/octet-stream", v.Data)
}

func (h *service) read(r *http.Request) (store.Value, error) {
	key, err := keyOf(r)
	if err != nil {
		return store.Value{}, err
	}
	t, err := fencehttp.FromRequest(r)
	switch {
	case errors.Is(err, fence.ErrNoToken):
		return h.store.Get(key)
	case err != nil:
		return store.Value{}, err
	}
	return h.store.GetAs(t, key)
}

func (h *service) status(w http.ResponseWriter, _ *http.Request) {
	t, err := h.store.Highest()
	if err != nil {
		refuse(w, err)
		return
	}
	sendJSON(w, Status{Token: t, Since: h.since, Calls: h.meter.Counts()})
}

func (h *service) health(w http.ResponseWriter, _ *http.Request) {
	if _, err := h.store.Highest(); err != nil {
		refuse(w, err)
		return
	}
	sendJSON(w, map[string]bool{"ok": true})
}

// keyOf returns the key in the request's path.
func keyOf(r *http.Request) (string, error) {
	key, err := url.PathUnescape(strings.TrimPrefix(r.URL.EscapedPath(), keyPath))
	if err != nil {
		return "", errors.Join(store.ErrKey, err)
	}
	return key, store.CheckKey(key)
}

func sendJSON(w http.ResponseWriter, answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		refuse(w, err)
		return
	}
	web.Answer(w, http.StatusOK, "application/json", append(body, '\n'))
}
