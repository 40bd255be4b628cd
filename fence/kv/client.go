package kv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/fence/fencehttp"
	"github.com/ringleader-dev/ringleader/fence/store"
)

// Client is a client of one service. Its methods may be called from any goroutine.
//
// For a stale token the methods return a *fence.StaleError with the highest token. Other answers of
// the service that are no success become errors that wrap store.ErrNotFound, store.ErrNoSpace or, for
// all the rest, ErrRefused. After any other error the caller does not know whether the call was done.
type Client struct {
	Base string // http://HOST:PORT
	HTTP *http.Client
}

// ErrRefused says that the service refused the call; the error's text says why.
var ErrRefused = errors.New("refused")

// clientTimeout is how long one call may take.
const clientTimeout = 30 * time.Second

// NewClient returns a client of the service at base, http://HOST:PORT. The client keeps its
// connections open.
func NewClient(base string) Client {
	return Client{Base: base, HTTP: &http.Client{
		Timeout:   clientTimeout,
		Transport: &http.Transport{}, // no proxy that the environment names
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // the service redirects nobody
		},
	}}
}

// Put stores data under key, as the leader that holds t.
func (c Client) Put(ctx context.Context, t fence.Token, key string, data []byte) error {
	_, _, err := c.call(ctx, t, http.MethodPut, keyURL(key), data)
	return err
}

// Delete removes key, as the leader that holds t.
func (c Client) Delete(ctx context.Context, t fence.Token, key string) error {
	_, _, err := c.call(ctx, t, http.MethodDelete, keyURL(key), nil)
	return err
}

// Seal makes t the highest token. A new leader calls it first.
func (c Client) Seal(ctx context.Context, t fence.Token) error {
	_, _, err := c.call(ctx, t, http.MethodPost, sealPath, nil)
	return err
}

// Get reads the value of key. It reads as the leader that holds t or, if t is the zero Token, without
// a token.
func (c Client) Get(ctx context.Context, t fence.Token, key string) (store.Value, error) {
	body, header, err := c.call(ctx, t, http.MethodGet, keyURL(key), nil)
	if err != nil {
		return store.Value{}, err
	}
	by, err := fence.Parse(header.Get(WrittenBy))
	return store.Value{Data: body, By: by}, err
}

// Status returns the highest token and the counts of the service.
func (c Client) Status(ctx context.Context) (s Status, err error) {
	body, _, err := c.call(ctx, fence.Token{}, http.MethodGet, statusPath, nil)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(body, &s)
}

func (c Client) call(
	ctx context.Context, t fence.Token, method, path string, body []byte,
) ([]byte, http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.Base+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	if !t.IsZero() {
		req.Header.Set(fencehttp.Header, t.String())
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, store.MaxValue+1))
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode/100 != 2 {
		return nil, nil, refusal(t, resp, answer)
	}
	return answer, resp.Header, nil
}

// refusal returns the error for an answer that is no success.
func refusal(t fence.Token, resp *http.Response, answer []byte) error {
	var p fencehttp.Problem
	if resp.Header.Get("Content-Type") != fencehttp.ProblemType ||
		json.Unmarshal(answer, &p) != nil {
		return fmt.Errorf("%s is not the answer of this service: does another program listen there?",
			resp.Status)
	}
	switch {
	case !p.Current.IsZero():
		return &fence.StaleError{Token: t, Highest: p.Current}
	case p.Status == http.StatusNotFound:
		return fmt.Errorf("%w: %s", store.ErrNotFound, p.Detail)
	case p.Status == http.StatusInsufficientStorage:
		return fmt.Errorf("%w: %s", store.ErrNoSpace, p.Detail)
	}
	return fmt.Errorf("%w: %s: %s", ErrRefused, p.Title, p.Detail)
}

// keyURL returns the path of a key. Slashes in the key stay slashes.
func keyURL(key string) string {
	parts := strings.Split(key, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return keyPath + strings.Join(parts, "/")
}
