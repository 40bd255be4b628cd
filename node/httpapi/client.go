package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// Why a Client got no answer.
var (
	// ErrUnreachable: nothing answered at the address.
	ErrUnreachable = errors.New("no answer")
	// ErrNotANode: something answered, but not as a node does.
	ErrNotANode = errors.New("not the answer of a node")
)

// Client asks one node. Its methods may be called from any goroutine; each but Do
// waits for Patience at most. Errors wrap ErrUnreachable or ErrNotANode.
type Client struct {
	Addr string // host:port of the node's HTTP API
	// Token is the node's, to change it from elsewhere than its own machine; may be
	// empty.
	Token string
}

const (
	// Patience is how long a Client waits for an answer.
	Patience = 5 * time.Second
	// maxAnswer bounds an answer, in bytes: a few hundred for each of the
	// largest cluster's members.
	maxAnswer = 4 << 20
)

// caller asks the node itself, whatever proxy the environment names, and keeps
// no connection: a Client asks once in a while.
var caller = &http.Client{
	Timeout:   Patience,
	Transport: &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // no node redirects
	},
}

// Health asks whether the node is well. An unwell one is no error.
func (c Client) Health(ctx context.Context) (Health, error) {
	return get[Health](ctx, c.Addr, "/healthz", http.StatusServiceUnavailable)
}

// Leader asks the node who leads. Nobody is no error.
func (c Client) Leader(ctx context.Context) (Leadership, error) {
	return get[Leadership](ctx, c.Addr, "/leader", http.StatusServiceUnavailable)
}

// Status asks the node about itself.
func (c Client) Status(ctx context.Context) (Status, error) {
	return get[Status](ctx, c.Addr, "/v1/status")
}

// Members asks the node who is alive.
func (c Client) Members(ctx context.Context) (Members, error) {
	return get[Members](ctx, c.Addr, "/v1/members")
}

// Do has the node carry out a wish, and waits for that. Errors wrap
// ErrUnreachable, ErrNotANode, ErrConflict, ErrForbidden, ErrNoLeader or
// context.DeadlineExceeded, and a Told where the node said why.
func (c Client) Do(ctx context.Context, v Verb, o Order) (Done, error) {
	var said struct {
		Done
		Error string `json:"error"`
	}
	status, err := c.change(ctx, http.MethodPost, "/v1/"+string(v), o, &said)
	switch {
	case err != nil:
	case status == http.StatusOK && said.Self.Validate() == nil:
		return said.Done, nil
	case status == http.StatusOK, said.Error == "":
		err = fmt.Errorf("%w: %d: does another program listen there?", ErrNotANode, status)
	default:
		err = Told{said.Error, errorOf(status)}
	}
	return Done{}, fmt.Errorf("%s: ask %s: %w", v, c.Addr, err)
}

// change makes a request that changes the node, and reads its answer into said.
func (c Client) change(ctx context.Context, method, path string, body, said any) (status int, err error) {
	if _, _, err := net.SplitHostPort(c.Addr); err != nil {
		return 0, fmt.Errorf("%w: %w: want host:port", ErrUnreachable, err)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	u := url.URL{Scheme: "http", Host: c.Addr, Path: path}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(text))
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	req.Header.Set("Content-Type", "application/json")
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	resp, err := doer.Do(req)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		return 0, fmt.Errorf("%w: %w: is the node running, and is this where it serves HTTP?",
			ErrUnreachable, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return 0, fmt.Errorf("%w: %w: the answer was cut short", ErrUnreachable, err)
	}
	if len(answer) > 0 && json.Unmarshal(answer, said) != nil {
		return 0, fmt.Errorf("%w: %s: does another program listen there?", ErrNotANode, resp.Status)
	}
	return resp.StatusCode, nil
}

// Told is why a node did not carry a wish out, in its own words.
type Told struct {
	Words string
	kind  error
}

func (t Told) Error() string { return t.Words }
func (t Told) Unwrap() error { return t.kind }

// doer is caller with the patience that carrying something out takes.
var doer = &http.Client{
	Timeout: DoPatience + Patience, Transport: caller.Transport, CheckRedirect: caller.CheckRedirect,
}

// get asks addr for path. The answer comes with the code 200 or one of codes.
func get[T interface{ from() proto.NodeID }](
	ctx context.Context, addr, path string, codes ...int,
) (T, error) {
	var answer T
	fail := func(kind, cause error, hint string) (T, error) {
		return *new(T), fmt.Errorf("ask %s for %s: %w: %w: %s", addr, path, kind, cause, hint)
	}
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return fail(ErrUnreachable, err, "want host:port")
	}
	resp, err := fetch(ctx, addr, path)
	if err != nil {
		return fail(ErrUnreachable, err,
			"is the node running, and is this where it serves HTTP?")
	}
	defer resp.Body.Close()
	const hint = "does another program listen there?"
	if resp.StatusCode != http.StatusOK && !slices.Contains(codes, resp.StatusCode) {
		return fail(ErrNotANode, errors.New(resp.Status), hint)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fail(ErrUnreachable, err, "the answer was cut short, try again")
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return fail(ErrNotANode, err, hint)
	}
	if err := answer.from().Validate(); err != nil {
		return fail(ErrNotANode, err, hint)
	}
	return answer, nil
}

func fetch(ctx context.Context, addr, path string) (*http.Response, error) {
	u := url.URL{Scheme: "http", Host: addr, Path: path}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := caller.Do(req)
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // the rest of it repeats the address
	}
	return resp, err
}
