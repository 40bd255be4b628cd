package httpapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// Why a Client got no usable answer.
var (
	// ErrUnreachable: nothing answered at the address.
	ErrUnreachable = errors.New("no answer")
	// ErrNotANode: something answered, but not as a node does.
	ErrNotANode = errors.New("not the answer of a node")
)

// Client sends requests to one node. Any goroutine may call its methods. Methods that only ask wait for
// Patience at most; methods that change the node wait for DoPatience more. Errors wrap ErrUnreachable,
// ErrNotANode, ErrHTTPS, ErrPlainHTTP, ErrTokenInClear, ErrUntrusted or, if the node refuses the token, ErrForbidden.
type Client struct {
	Addr string // host:port of the node's HTTP API
	// TLS is how to ask a node that serves HTTPS; nil means plain HTTP.
	TLS *tls.Config
	// Token is the node's token; it may be empty. With TLS it goes with every request. Without TLS it goes only with
	// one that changes the node: a Client needs it for that from another machine than the node's own.
	Token string
	// InClear lets the Token go to another machine without TLS. Whoever is on the way can read it, and use it.
	InClear bool
	// Exposed is called with Addr for each answer, a refusal too, that says that the node believes whoever can send
	// packets to it; nil means that nobody wants to know. Any goroutine may call it.
	Exposed func(addr string)
}

const (
	// Patience is how long a Client waits for the answer to a request that changes nothing.
	Patience = 5 * time.Second
	// maxAnswer is the longest answer, in bytes: a few hundred for each member of the largest
	// cluster.
	maxAnswer = 4 << 20
)

// caller asks the node directly, even if the environment names a proxy. It keeps no connection,
// since a Client asks only now and then. It follows no redirections: nodes send none.
var caller = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Health asks whether the node is healthy. An answer that the node is not healthy is no error.
func (c Client) Health(ctx context.Context) (Health, error) {
	return get[Health](ctx, c, "/healthz", http.StatusServiceUnavailable)
}

// Leader asks the node who leads. An answer that nobody leads is no error.
func (c Client) Leader(ctx context.Context) (Leadership, error) {
	return get[Leadership](ctx, c, "/leader", http.StatusServiceUnavailable)
}

// Status asks the node about itself.
func (c Client) Status(ctx context.Context) (Status, error) {
	return get[Status](ctx, c, "/v1/status")
}

// Members asks the node who is alive.
func (c Client) Members(ctx context.Context) (Members, error) {
	return get[Members](ctx, c, "/v1/members")
}

// Do makes the node carry out a request, and waits until the node has done so. Errors wrap ErrUnreachable,
// ErrNotANode, ErrConflict, ErrForbidden, ErrNoLeader or context.DeadlineExceeded. If the node said why, they
// also wrap a Told.
func (c Client) Do(ctx context.Context, v Verb, o Order) (Done, error) {
	done, err := change[Done](ctx, c, v.path(), o)
	if err != nil {
		return Done{}, fmt.Errorf("%s: ask %s: %w", v, c.Addr, err)
	}
	return done, nil
}

// Told says why a node did not carry out a request, in the node's own words.
type Told struct {
	Words string
	kind  error
}

func (t Told) Error() string { return t.Words }
func (t Told) Unwrap() error { return t.kind }

// told returns the reason that a node gave, as a Told that wraps the error kind.
func told(status int, body []byte, kind error) error {
	var said notLent
	switch {
	case json.Unmarshal(body, &said) != nil, said.Error == "":
		return notANode(statusText(status))
	case said.NotLeader:
		kind = ErrNotLeader
	}
	return Told{said.Error, kind}
}

// answer is an answer of a node. from names the node.
type answer interface{ from() proto.NodeID }

// get asks the node for path. An answer with the code 200, or with one of the given codes, is no error.
func get[T answer](ctx context.Context, c Client, path string, codes ...int) (T, error) {
	status, body, err := c.exchange(ctx, http.MethodGet, path, nil)
	if err == nil && status != http.StatusOK && !slices.Contains(codes, status) {
		if err = notANode(statusText(status)); errors.Is(errorOf(status), ErrForbidden) {
			err = told(status, body, ErrForbidden)
		}
	}
	var said T
	if err == nil {
		said, err = read[T](body)
	}
	if err != nil {
		return said, fmt.Errorf("ask %s for %s: %w", c.Addr, path, err)
	}
	return said, nil
}

// change posts a request that changes the node.
func change[T answer](ctx context.Context, c Client, path string, request any) (T, error) {
	status, body, err := c.exchange(ctx, http.MethodPost, path, request)
	if err == nil && status != http.StatusOK {
		err = told(status, body, errorOf(status))
	}
	if err != nil {
		return *new(T), err
	}
	return read[T](body)
}

// read decodes an answer. The answer must name a node.
func read[T answer](body []byte) (T, error) {
	var said T
	err := json.Unmarshal(body, &said)
	if err == nil {
		err = said.from().Validate()
	}
	if err != nil {
		return *new(T), notANode(err)
	}
	return said, nil
}

const askHint = "is the node running, and is this where it serves HTTP?"

// exchange sends one request and returns the code and the body of the answer. Errors wrap
// ErrUnreachable, ErrHTTPS, ErrPlainHTTP or ErrUntrusted.
func (c Client) exchange(ctx context.Context, method, path string, request any) (status int, body []byte, err error) {
	if _, _, err := net.SplitHostPort(c.Addr); err != nil {
		return 0, nil, unreachable(err, "want host:port")
	}
	patience := Patience
	var content bytes.Buffer
	if method != http.MethodGet {
		patience += DoPatience
		if err := json.NewEncoder(&content).Encode(request); err != nil {
			return 0, nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	u := url.URL{Scheme: "http", Host: c.Addr, Path: path}
	if c.TLS != nil {
		u.Scheme = "https"
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), &content)
	if err != nil {
		return 0, nil, unreachable(err, askHint)
	}
	if method != http.MethodGet {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Token != "" && (c.TLS != nil || method != http.MethodGet) {
		if c.TLS == nil && !c.InClear && !OnThisMachine(c.Addr) {
			return 0, nil, ErrTokenInClear
		}
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	resp, err := c.http().Do(req)
	if err != nil {
		return 0, nil, unanswered(err)
	}
	defer resp.Body.Close()
	if c.Exposed != nil && resp.Header.Get(securityHeader) != "" {
		c.Exposed(c.Addr)
	}
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return 0, nil, unreachable(err, "the answer was cut short, try again")
	}
	if c.TLS == nil && wantsHTTPS(resp.StatusCode, body) {
		return 0, nil, ErrHTTPS
	}
	return resp.StatusCode, body, nil
}

// OnThisMachine reports whether an address, as HOST:PORT, is one of this machine alone.
func OnThisMachine(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "" || host == "localhost" || err == nil && (ip.Unmap().IsLoopback() || ip.IsUnspecified())
}

func unreachable(cause error, hint string) error {
	if wrapped, ok := errors.AsType[*url.Error](cause); ok {
		cause = wrapped.Err // the rest of it repeats the address
	}
	return fmt.Errorf("%w: %w: %s", ErrUnreachable, cause, hint)
}

func notANode(cause error) error {
	return fmt.Errorf("%w: %w: does another program listen there?", ErrNotANode, cause)
}

func statusText(status int) error { return fmt.Errorf("%d %s", status, http.StatusText(status)) }
