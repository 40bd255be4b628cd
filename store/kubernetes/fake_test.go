package kubernetes

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// fake is an API server that has only Leases. It counts resource versions over all objects, refuses updates of
// what has changed, and tells those who watch.
type fake struct {
	*httptest.Server
	// before is called with each request, and refuses it by an answer of its own.
	before hook[func(w http.ResponseWriter, r *http.Request) (refused bool)]
	// after is called when a change was carried out, before its reply.
	after hook[func(r *http.Request)]
	stop  func()

	stopped chan struct{}

	mu       sync.Mutex
	version  int
	objects  map[string]map[string]any
	watching map[chan map[string]any]string
}

// hook is a function that a test sets while requests may be under way.
type hook[F any] struct{ f atomic.Pointer[F] }

func (h *hook[F]) set(f F) { h.f.Store(&f) }
func (h *hook[F]) get() F  { return *h.f.Load() }

func newFake(t *testing.T) *fake {
	f := &fake{
		stopped: make(chan struct{}), version: 100,
		objects: map[string]map[string]any{}, watching: map[chan map[string]any]string{},
	}
	f.before.set(func(http.ResponseWriter, *http.Request) bool { return false })
	f.after.set(func(*http.Request) {})
	f.Server = httptest.NewServer(f)
	f.stop = sync.OnceFunc(func() {
		close(f.stopped)
		f.Close()
	})
	t.Cleanup(f.stop)
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.before.get()(w, r) {
		return
	}
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/apis/coordination.k8s.io/v1/namespaces/"), "/")
	switch {
	case r.URL.Path == "/version":
		reply(w, http.StatusOK, map[string]any{"major": "1", "minor": "34", "gitVersion": "v1.34.2"})
	case len(parts) < 2 || parts[1] != "leases":
		http.NotFound(w, r)
	case parts[0] != "default":
		status(w, http.StatusNotFound, "namespaces", "there is no such namespace")
	case r.URL.Query().Has("watch"):
		f.watch(w, r, strings.TrimPrefix(r.URL.Query().Get("fieldSelector"), "metadata.name="))
	default:
		f.mu.Lock()
		code, object := f.change(r)
		f.mu.Unlock()
		if r.Method != http.MethodGet {
			f.after.get()(r)
		}
		if object == nil {
			status(w, code, "leases", http.StatusText(code))
			return
		}
		reply(w, code, object)
	}
}

// change carries out a request. The caller holds f.mu.
func (f *fake) change(r *http.Request) (int, map[string]any) {
	name := path.Base(r.URL.Path)
	var is map[string]any
	if r.Method != http.MethodGet {
		if json.NewDecoder(r.Body).Decode(&is) != nil {
			return http.StatusBadRequest, nil
		}
		name = is["metadata"].(map[string]any)["name"].(string)
	}
	old, found := f.objects[name]
	switch r.Method {
	case http.MethodGet:
		if !found {
			return http.StatusNotFound, nil
		}
		return http.StatusOK, old
	case http.MethodPost:
		if found {
			return http.StatusConflict, nil
		}
	case http.MethodPut:
		if !found {
			return http.StatusNotFound, nil
		}
		meta, has := is["metadata"].(map[string]any), old["metadata"].(map[string]any)
		if meta["resourceVersion"] != has["resourceVersion"] || meta["uid"] != has["uid"] {
			return http.StatusConflict, nil
		}
	}
	if r.URL.Query().Get("dryRun") != "" {
		return http.StatusOK, is
	}
	return http.StatusOK, f.put(name, is, !found)
}

// put keeps an object, and tells. The caller holds f.mu.
func (f *fake) put(name string, is map[string]any, created bool) map[string]any {
	f.version++
	meta := maps.Clone(is["metadata"].(map[string]any))
	meta["resourceVersion"] = strconv.Itoa(f.version)
	if created {
		meta["uid"] = fmt.Sprintf("uid-%d", f.version)
	}
	is = maps.Clone(is)
	is["metadata"] = meta
	f.objects[name] = is
	f.tell(name, "MODIFIED", is)
	return is
}

// remove deletes an object, as somebody with kubectl may.
func (f *fake) remove(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	is := f.objects[name]
	f.put(name, is, false)
	is = f.objects[name]
	delete(f.objects, name)
	f.tell(name, "DELETED", is)
}

// edit changes an object as another program would.
func (f *fake) edit(name string, do func(meta, spec map[string]any)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	text, _ := json.Marshal(f.objects[name])
	var is map[string]any
	_ = json.Unmarshal(text, &is)
	do(is["metadata"].(map[string]any), is["spec"].(map[string]any))
	f.put(name, is, false)
}

// spec returns what is in an object.
func (f *fake) spec(name string) map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.objects[name]["spec"].(map[string]any)
}

func (f *fake) tell(name, what string, is map[string]any) {
	for c, of := range f.watching {
		if of == name {
			c <- map[string]any{"type": what, "object": is}
		}
	}
}

func (f *fake) watch(w http.ResponseWriter, r *http.Request, name string) {
	c := make(chan map[string]any, 10_000)
	f.mu.Lock()
	f.watching[c] = name
	if is, found := f.objects[name]; found {
		c <- map[string]any{"type": "ADDED", "object": is}
	}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		delete(f.watching, c)
		f.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "application/json")
	for {
		_ = http.NewResponseController(w).Flush()
		select {
		case <-f.stopped:
			return
		case <-r.Context().Done():
			return
		case event := <-c:
			_ = json.NewEncoder(w).Encode(event)
		}
	}
}

func reply(w http.ResponseWriter, code int, what any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(what)
}

func status(w http.ResponseWriter, code int, kind, message string) {
	reply(w, code, map[string]any{
		"kind": "Status", "status": "Failure", "code": code, "message": message,
		"details": map[string]any{"kind": kind},
	})
}
