package kubernetes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/ringleader-dev/ringleader/store"
)

// tokenKey is the annotation with the token of the holder. Only an update that takes the lease writes it.
const tokenKey = "ringleader.dev/token"

// lease is a Lease object. What this package does not know of it stays in it when it is updated.
type lease struct {
	all, meta, spec map[string]json.RawMessage
	uid, token      string
	version         uint64
	record          record
}

// record is what an update of a candidate changes.
type record struct {
	Holder      string `json:"holderIdentity"`
	Seconds     int64  `json:"leaseDurationSeconds"`
	Acquired    string `json:"acquireTime"`
	Renewed     string `json:"renewTime"`
	Transitions int64  `json:"leaseTransitions"`
}

func parseLease(text []byte) (*lease, error) {
	l := &lease{}
	var known struct {
		Metadata struct {
			UID             string
			ResourceVersion string
			Annotations     map[string]string
		}
		Spec record
	}
	err := errors.Join(json.Unmarshal(text, &known), json.Unmarshal(text, &l.all))
	if err == nil {
		err = json.Unmarshal(l.all["metadata"], &l.meta)
	}
	if err == nil && l.all["spec"] != nil {
		err = json.Unmarshal(l.all["spec"], &l.spec)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: this is no Lease of Kubernetes: %w", store.ErrWrong, err)
	}
	l.uid, l.token, l.record = known.Metadata.UID, known.Metadata.Annotations[tokenKey], known.Spec
	l.version, err = strconv.ParseUint(known.Metadata.ResourceVersion, 10, 64)
	if err != nil || l.version == 0 || l.uid == "" {
		return nil, fmt.Errorf("%w: the resource version %.40q is no number above 0: this API server does not keep "+
			"its objects in etcd", store.ErrWrong, known.Metadata.ResourceVersion)
	}
	return l, nil
}

// change is what an update writes.
type change struct {
	spec  map[string]any
	token *string // nil to leave it as it is, "" to take it away
	promise
}

// with returns the text of the object with a change.
func (l *lease) with(c *change) []byte {
	all, meta, spec := maps.Clone(l.all), maps.Clone(l.meta), maps.Clone(l.spec)
	if spec == nil {
		spec = map[string]json.RawMessage{}
	}
	if c != nil {
		for name, value := range c.spec {
			spec[name] = text(value)
		}
		if c.token != nil {
			annotations := map[string]string{}
			_ = json.Unmarshal(meta["annotations"], &annotations) // they were read once
			if delete(annotations, tokenKey); *c.token != "" {
				annotations[tokenKey] = *c.token
			}
			meta["annotations"] = text(annotations)
		}
	}
	all["metadata"], all["spec"] = text(meta), text(spec)
	return text(all)
}

func text(value any) json.RawMessage {
	b, err := json.Marshal(value)
	if err != nil {
		panic(err) // of strings, numbers and maps of them
	}
	return b
}

// The answers on which an election goes on.
var (
	errConflict = errors.New("the Lease has changed meanwhile")
	errGone     = errors.New("there is no such Lease")
)

// api is the part of the API server that an election needs.
type api struct {
	access          access
	namespace, name string
	client          *http.Client
}

// dry is the query of a request that is only tried.
const dry = "dryRun=All"

func (a *api) collection() string {
	return "/apis/coordination.k8s.io/v1/namespaces/" + a.namespace + "/leases"
}

// fresh is an object that is not there yet.
func (a *api) fresh() *lease {
	return &lease{
		all:  map[string]json.RawMessage{"apiVersion": text("coordination.k8s.io/v1"), "kind": text("Lease")},
		meta: map[string]json.RawMessage{"name": text(a.name), "namespace": text(a.namespace)},
	}
}

// get reads the object; nil if there is none. The API server answers from a majority of etcd's members.
func (a *api) get(ctx context.Context) (*lease, error) {
	l, err := a.lease(ctx, http.MethodGet, a.collection()+"/"+a.name, "", nil)
	if errors.Is(err, errGone) {
		return nil, nil
	}
	return l, err
}

func (a *api) create(ctx context.Context, body []byte, query string) (*lease, error) {
	return a.lease(ctx, http.MethodPost, a.collection(), query, body)
}

func (a *api) update(ctx context.Context, body []byte, query string) (*lease, error) {
	return a.lease(ctx, http.MethodPut, a.collection()+"/"+a.name, query, body)
}

func (a *api) lease(ctx context.Context, method, path, query string, body []byte) (*lease, error) {
	text, err := a.read(ctx, method, path, query, body)
	if err != nil || query == dry {
		return nil, err
	}
	return parseLease(text)
}

// version asks what the server is.
func (a *api) version(ctx context.Context) error {
	body, err := a.read(ctx, http.MethodGet, "/version", "", nil)
	if errors.Is(err, errForbidden) {
		return nil // the requests for a Lease will tell
	}
	var is struct{ GitVersion, Major string }
	if err == nil && (json.Unmarshal(body, &is) != nil || is.GitVersion == "" || is.Major == "") {
		err = fmt.Errorf("%w: %s is no API server of Kubernetes", store.ErrWrong, a.access.server)
	}
	return err
}

// watch returns the events of the object. The first of them tells what is there.
func (a *api) watch(ctx context.Context) (io.ReadCloser, error) {
	query := url.Values{
		"watch": {"true"}, "fieldSelector": {"metadata.name=" + a.name}, "timeoutSeconds": {strconv.Itoa(watchSeconds)},
	}
	return a.do(ctx, http.MethodGet, a.collection(), query.Encode(), nil)
}

// watchSeconds ends a watch now and then, since a connection that is cut says nothing.
const watchSeconds = 60

// most is how large an answer may be.
const most = 1 << 20

func (a *api) read(ctx context.Context, method, path, query string, body []byte) ([]byte, error) {
	r, err := a.do(ctx, method, path, query, body)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, most))
}

// do makes a request, and returns the body of the answer if it is a success.
func (a *api) do(ctx context.Context, method, path, query string, body []byte) (io.ReadCloser, error) {
	at := a.access.server.JoinPath(path)
	at.RawQuery = query
	r, err := http.NewRequestWithContext(ctx, method, at.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	token, err := a.access.token()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrWrong, err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "ringleader")
	answer, err := a.client.Do(r)
	if err != nil {
		return nil, explain(err)
	}
	if answer.StatusCode/100 == 2 {
		return answer.Body, nil
	}
	defer answer.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(answer.Body, most))
	return nil, a.refused(answer.StatusCode, said)
}

// explain says what to do if the connection will not be better by itself.
func explain(err error) error {
	for _, wrong := range []struct{ text, do string }{
		{"certificate is valid for", "its certificate is for another name: name the server as its certificate does"},
		{"x509: ", "its certificate is not trusted: give the ca=FILE that signed it"},
		{"tls: certificate required", "it wants a certificate: give cert=FILE and key-file=FILE"},
		{"bad certificate", "it refuses our certificate: see cert"},
		{"server gave HTTP response to HTTPS client", "it does not speak TLS: write server=http://HOST:PORT"},
		{"first record does not look like a TLS handshake", "it does not speak TLS: write server=http://HOST:PORT"},
		{"malformed HTTP", "this is no API server of Kubernetes"},
	} {
		if strings.Contains(err.Error(), wrong.text) {
			return fmt.Errorf("%w: %s (%w)", store.ErrWrong, wrong.do, err)
		}
	}
	return err
}

var errForbidden = errors.New("forbidden")

// refused returns the error for an answer that is no success.
func (a *api) refused(code int, body []byte) error {
	var said struct {
		Kind, Message string
		Details       struct{ Kind string }
	}
	ours := json.Unmarshal(body, &said) == nil && said.Kind == "Status"
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s: %.300q", store.ErrWrong, fmt.Sprintf(format, args...), said.Message)
	}
	switch {
	case code == http.StatusUnauthorized:
		return wrong("%s does not know who we are: give a token-file=FILE or a kubeconfig=FILE that is valid",
			a.access.server)
	case code == http.StatusForbidden:
		return fmt.Errorf("%w; %w", wrong("grant the verbs get, create, update and watch on leases of "+
			"coordination.k8s.io in the namespace %s by a Role and a RoleBinding", a.namespace), errForbidden)
	case code == http.StatusBadRequest && strings.Contains(string(body), "HTTP request to an HTTPS server"):
		return fmt.Errorf("%w: it speaks TLS: write server=https://HOST:PORT", store.ErrWrong)
	case code == http.StatusTooManyRequests || code >= 500:
		return fmt.Errorf("the API server says %d: %.300q", code, said.Message)
	case !ours:
		return fmt.Errorf("%w: %s has no Leases: it is no API server of Kubernetes, or one before 1.14",
			store.ErrWrong, a.access.server)
	case code == http.StatusConflict:
		return errConflict
	case code == http.StatusNotFound && said.Details.Kind == "namespaces":
		return wrong("create the namespace %s, or name another", a.namespace)
	case code == http.StatusNotFound && said.Details.Kind != "":
		return errGone
	}
	return wrong("the API server says %d", code)
}
