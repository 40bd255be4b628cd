package fenceagent

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Why the agent for containers could not confirm that the process stopped.
var (
	// ErrHost: the text is not the address of a Docker engine.
	ErrHost = errors.New("no address of a Docker engine")
	// ErrContainer: no container has the labels, or more than one has them.
	ErrContainer = errors.New("the labels do not name one container")
	// ErrEngine: the engine returned an error, or could not be reached.
	ErrEngine = errors.New("the Docker engine")
)

// DefaultHost is where a Docker engine listens by default.
const DefaultHost = "unix:///var/run/docker.sock"

// Docker is the fence agent of a node in a container. It talks to the engine's socket itself, so it
// also works in a container that holds only one static binary. It reaches one engine, and confirms
// nothing about containers of other hosts.
type Docker struct {
	Host   string   // unix://PATH or tcp://HOST:PORT
	Labels []string // each is KEY=VALUE; they mean the one container that has them all
	// PIDFile is the path of the node's pid file in the container. Without it the agent cannot tell
	// one process of a container from the next, so it may kill a node that was restarted meanwhile.
	PIDFile string
}

// engine talks to a Docker engine.
type engine struct {
	client *http.Client
	base   string
}

func connect(host string) (engine, error) {
	scheme, rest, ok := strings.Cut(host, "://")
	switch {
	case !ok || rest == "":
	case scheme == "unix":
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", rest)
		}
		transport := &http.Transport{DialContext: dial, DisableKeepAlives: true}
		return engine{&http.Client{Transport: transport}, "http://docker"}, nil
	case scheme == "tcp":
		return engine{&http.Client{}, "http://" + rest}, nil
	}
	return engine{}, fmt.Errorf("%w: %q: want unix://PATH or tcp://HOST:PORT", ErrHost, host)
}

// container is the engine's description of a container.
type container struct {
	ID      string `json:"Id"`
	Created time.Time
	State   struct {
		Status  string
		Running bool
		// FinishedAt is when the container's process before the present one ended. It is zero if
		// there was none.
		FinishedAt time.Time
	}
}

// before returns an instant before the start of the container's present process and after the end of
// all its earlier processes. The engine's own StartedAt is no such instant: a busy engine sets it long
// after the process has begun.
func (c container) before() time.Time {
	if c.State.FinishedAt.After(c.Created) {
		return c.State.FinishedAt
	}
	return c.Created
}

func (c container) String() string { return "container " + c.ID[:min(len(c.ID), 12)] }

// Act carries out the action, and describes what it found. For Off it returns nil only if the
// container has stopped, or runs a later process of the node. For Status it changes nothing. Errors
// wrap ErrHost, ErrContainer, ErrEngine, or ctx's error.
func (d Docker) Act(ctx context.Context, a Action, t Target) (string, error) {
	e, err := connect(d.Host)
	if err != nil {
		return "", err
	}
	c, err := e.find(ctx, d.Labels)
	if err != nil {
		return "", err
	}
	if d.PIDFile != "" {
		p, err := e.process(ctx, c, d.PIDFile)
		if err == nil && p.ID == t.ID && p.follows(t) {
			return p.again(), nil
		}
	}
	switch {
	case a == Status:
		return fmt.Sprintf("%v is %s", c, c.State.Status), nil
	case !c.State.Running:
		return fmt.Sprintf("%v was %s before", c, c.State.Status), nil
	}
	return e.kill(ctx, c)
}

// kill kills the container, and returns when it has stopped.
func (e engine) kill(ctx context.Context, c container) (string, error) {
	// A container that stopped in between cannot be killed: look again, then.
	_, killed := e.ask(ctx, http.MethodPost, "/containers/"+c.ID+"/kill?signal=KILL")
	for {
		now, err := e.inspect(ctx, c.ID)
		switch {
		case err != nil:
			return "", errors.Join(killed, err)
		case !now.State.Running:
			return fmt.Sprintf("killed %v", c), nil
		case killed != nil:
			return "", killed
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return "", fmt.Errorf("%v has not stopped yet: %w", c, context.Cause(ctx))
		}
	}
}

// process reads the pid file at path in the container. It refuses a file that an earlier process left
// there, for example on a volume. Errors wrap ErrPIDFile or ErrEngine.
func (e engine) process(ctx context.Context, c container, path string) (p Process, err error) {
	if !c.State.Running {
		return p, fmt.Errorf("%w: %v is %s", ErrPIDFile, c, c.State.Status)
	}
	body, err := e.ask(ctx, http.MethodGet, "/containers/"+c.ID+"/archive?path="+url.QueryEscape(path))
	if err != nil {
		return p, err
	}
	files := tar.NewReader(bytes.NewReader(body))
	head, err := files.Next()
	switch {
	case err != nil:
		return p, fmt.Errorf("%w: %s: %w", ErrPIDFile, path, err)
	case head.ModTime.Before(c.before().Truncate(time.Second)):
		return p, fmt.Errorf("%w: %s is older than what runs in %v", ErrPIDFile, path, c)
	}
	text, err := io.ReadAll(files)
	if err != nil {
		return p, fmt.Errorf("%w: %s: %w", ErrPIDFile, path, err)
	}
	return parsePIDFile(text, path)
}

// find returns the one container with all the labels, running or not.
func (e engine) find(ctx context.Context, labels []string) (c container, err error) {
	filters, err := json.Marshal(map[string][]string{"label": labels})
	if err != nil {
		return c, err
	}
	var found []struct {
		ID string `json:"Id"`
	}
	if err := e.get(ctx, "/containers/json?all=true&filters="+url.QueryEscape(string(filters)), &found); err != nil {
		return c, err
	}
	if len(found) != 1 {
		return c, fmt.Errorf("%w: %d have %s", ErrContainer, len(found), strings.Join(labels, ", "))
	}
	return e.inspect(ctx, found[0].ID)
}

func (e engine) inspect(ctx context.Context, id string) (c container, err error) {
	err = e.get(ctx, "/containers/"+id+"/json", &c)
	return c, err
}

// get reads the engine's answer into the value that into points to.
func (e engine) get(ctx context.Context, path string, into any) error {
	body, err := e.ask(ctx, http.MethodGet, path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%w: %w", ErrEngine, err)
	}
	return nil
}

// maxAnswer is how much of an engine's answer is read at most, in bytes.
const maxAnswer = 4 << 20

// ask sends a request to the engine and returns its answer.
func (e engine) ask(ctx context.Context, method, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, e.base+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEngine, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEngine, err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return nil, fmt.Errorf("%w: %s: %s", ErrEngine, resp.Status, bytes.TrimSpace(body))
	}
	return body, nil
}
