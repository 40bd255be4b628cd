package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/storeprobe"
	"github.com/ringleader-dev/ringleader/store"
)

// Config says where an election is.
type Config struct {
	// Namespace and Name are those of the Lease. It is made if it is not there; the namespace is not.
	Namespace, Name string
	// Kubeconfig is a file as kubectl has it, and Context one of its contexts, if it is not the current one.
	Kubeconfig, Context string
	// Server is the URL of the API server, if there is no Kubeconfig. Without both, this process must be in a pod,
	// and is who the pod's service account says.
	Server string
	// TokenFile holds a bearer token. It is read for each request.
	TokenFile string
	// CA is a file of the certificates that the server's certificate is checked with. If it is empty, those
	// of the system are.
	CA string
	// Cert and Key are files of this client's certificate and its key. They are read for each connection.
	Cert, Key string
}

// options are the options of the URL, and what they set.
func (c *Config) options() map[string]*string {
	return map[string]*string{
		"kubeconfig": &c.Kubeconfig, "context": &c.Context, "server": &c.Server, "token-file": &c.TokenFile,
		"ca": &c.CA, "cert": &c.Cert, "key-file": &c.Key,
	}
}

// Parse reads kubernetes://NAMESPACE/NAME?kubeconfig=FILE, and kubernetes://NAMESPACE/NAME?server=URL&token-file=FILE.
func Parse(u *url.URL) (store.Store, error) {
	var c Config
	if u.Scheme != "kubernetes" || u.User != nil || u.Fragment != "" {
		return nil, errors.New("write kubernetes://NAMESPACE/NAME, and kubeconfig=FILE or token-file=FILE")
	}
	c.Namespace, c.Name = u.Host, strings.TrimPrefix(u.Path, "/")
	options := c.options()
	for name, values := range u.Query() {
		option, ok := options[name]
		if !ok {
			return nil, fmt.Errorf("there is no option %q: there are ca, cert, context, key-file, kubeconfig, server, "+
				"token-file", name)
		}
		if len(values) != 1 || values[0] == "" {
			return nil, fmt.Errorf("the option %s needs one value", name)
		}
		*option = values[0]
	}
	return New(c)
}

// names matches the names of objects.
var names = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// New returns the election. It reads the kubeconfig.
func New(c Config) (store.Store, error) {
	switch {
	case !names.MatchString(c.Namespace) || strings.Contains(c.Namespace, ".") || len(c.Namespace) > 63:
		return nil, fmt.Errorf("the namespace %q: write kubernetes://NAMESPACE/NAME", c.Namespace)
	case c.Name == "":
		return nil, errors.New("the name of the Lease is missing: write kubernetes://NAMESPACE/NAME")
	case !names.MatchString(c.Name) || len(c.Name) > 253:
		return nil, fmt.Errorf("the name %q of the Lease: want small letters, digits, dots and dashes", c.Name)
	case c.Context != "" && c.Kubeconfig == "":
		return nil, errors.New("a context is one of a kubeconfig: give kubeconfig=FILE")
	case c.Kubeconfig != "" && cmp.Or(c.Server, c.TokenFile, c.CA, c.Cert, c.Key) != "":
		return nil, errors.New("the kubeconfig names the server and who we are: give it alone")
	case c.Server == "" && cmp.Or(c.TokenFile, c.CA, c.Cert, c.Key) != "":
		return nil, errors.New("which server? Give server=URL, too")
	case (c.Cert == "") != (c.Key == ""):
		return nil, errors.New("cert and key-file go together: give both or none")
	}
	p := &place{Config: c}
	var err error
	switch {
	case c.Kubeconfig != "":
		p.access, err = fromKubeconfig(c.Kubeconfig, c.Context)
	case c.Server != "":
		p.access, err = accessBy(c.Server, identity{
			tokenFile: c.TokenFile, ca: inFile(c.CA), cert: inFile(c.Cert), key: inFile(c.Key),
		})
	default:
		p.access, err = fromPod(serviceAccount)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// place is a Store.
type place struct {
	Config
	access access
}

func (p *place) Name() string { return "kubernetes " + p.Namespace + "/" + p.Config.Name }

func (p *place) String() string {
	c, values := p.Config, url.Values{}
	for name, value := range c.options() {
		if *value != "" {
			values.Set(name, *value)
		}
	}
	u := url.URL{Scheme: "kubernetes", Host: c.Namespace, Path: "/" + c.Name, RawQuery: values.Encode()}
	return u.String()
}

// MinTTL is a whole number of seconds, of which client-go may not see one.
func (p *place) MinTTL() time.Duration { return 2 * tick }

func (p *place) Guarantee() algorithms.Guarantee { return algorithms.Lease }

func (p *place) Open(c store.Candidate) (store.Election, error) {
	if c.TTL < p.MinTTL() {
		return nil, fmt.Errorf("the TTL %v is below %v", c.TTL, p.MinTTL())
	}
	transport := &http.Transport{
		TLSClientConfig: p.access.tls, TLSHandshakeTimeout: c.TTL, IdleConnTimeout: time.Minute,
	}
	e := &election{
		Candidate: c, hint: store.NewHint(),
		api: &api{
			access: p.access, namespace: p.Namespace, name: p.Config.Name,
			client: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse // a token is for one server
			}},
		},
	}
	e.life, e.end = context.WithCancel(context.Background())
	e.expiry = time.AfterFunc(time.Hour, e.hint.Give)
	e.expiry.Stop()
	return e, nil
}

// Check asks for the version of Kubernetes, and tries each request that an election makes, without effect.
func (e *election) Check(ctx context.Context) error {
	at := e.api.access.server
	return storeprobe.Target{
		Product: storeprobe.Kubernetes, TLS: e.api.access.tls,
		Servers:  []string{net.JoinHostPort(at.Hostname(), cmp.Or(at.Port(), at.Scheme))},
		WantsTLS: "write server=https://HOST:PORT", HasNone: "write server=http://HOST:PORT",
	}.Check(ctx, e.check)
}

func (e *election) check(ctx context.Context) error {
	if err := e.api.version(ctx); err != nil {
		return err
	}
	l, err := e.api.get(ctx)
	if err != nil {
		return err
	}
	if l == nil {
		l = e.api.fresh()
	}
	for _, try := range []func() error{
		func() error { _, err := e.api.create(ctx, e.api.fresh().with(nobody(0)), dry); return err },
		func() error { _, err := e.api.update(ctx, l.with(nil), dry); return err },
	} {
		if err := try(); err != nil && !slices.Contains([]error{errConflict, errGone}, err) {
			return err
		}
	}
	events, err := e.api.watch(ctx)
	if err != nil {
		return err
	}
	return events.Close()
}
