package docker

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

// What keeps the agent from confirming anything.
var (
	// ErrHost: the engine's address is none.
	ErrHost = errors.New("no address of a Docker engine")
	// ErrContainer: none, or more than one, has the labels.
	ErrContainer = errors.New("the labels do not name one container")
	// ErrEngine: the engine refused, or was not reached.
	ErrEngine = errors.New("the Docker engine")
)

// DefaultHost is where an engine listens.
const DefaultHost = "unix:///var/run/docker.sock"

// Engine is a Docker engine.
type Engine struct {
	client *http.Client
	base   string
}

// Connect returns the engine at host, unix://PATH or tcp://HOST:PORT, without
// asking it anything.
func Connect(host string) (*Engine, error) {
	scheme, rest, ok := strings.Cut(host, "://")
	switch {
	case !ok || rest == "":
	case scheme == "unix":
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", rest)
		}
		transport := &http.Transport{DialContext: dial, DisableKeepAlives: true}
		return &Engine{&http.Client{Transport: transport}, "http://docker"}, nil
	case scheme == "tcp":
		return &Engine{&http.Client{}, "http://" + rest}, nil
	}
	return nil, fmt.Errorf("%w: %q: want unix://PATH or tcp://HOST:PORT", ErrHost, host)
}

// container is what the engine tells of one.
type container struct {
	ID    string `json:"Id"`
	State struct {
		Status  string
		Running bool
		// StartedAt is when its present process started.
		StartedAt time.Time
	}
}

func (c container) String() string { return "container " + c.ID[:min(len(c.ID), 12)] }

// Off kills the one container with all these labels, KEY=VALUE each, waits until
// it has stopped, and returns in words what it found. It returns nil only if the
// container has stopped.
func (e *Engine) Off(ctx context.Context, labels []string) (string, error) {
	c, err := e.find(ctx, labels)
	if err != nil {
		return "", err
	}
	if !c.State.Running {
		return fmt.Sprintf("%v was %s before", c, c.State.Status), nil
	}
	// A container that stopped in between cannot be killed: look again, then.
	killed := e.call(ctx, http.MethodPost, "/containers/"+c.ID+"/kill?signal=KILL", nil)
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

// Status says how the container is, and changes nothing.
func (e *Engine) Status(ctx context.Context, labels []string) (string, error) {
	c, err := e.find(ctx, labels)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%v is %s", c, c.State.Status), nil
}

// ErrFile says that a container has no such file, or none of its present process.
var ErrFile = errors.New("no file of the container's present process")

// File returns a file of the one running container with all these labels, if it
// was written since the container started: by what runs in it now.
func (e *Engine) File(ctx context.Context, labels []string, path string) ([]byte, error) {
	c, err := e.find(ctx, labels)
	if err != nil {
		return nil, err
	}
	if !c.State.Running {
		return nil, fmt.Errorf("%w: %v is %s", ErrFile, c, c.State.Status)
	}
	body, err := e.ask(ctx, http.MethodGet, "/containers/"+c.ID+"/archive?path="+url.QueryEscape(path))
	if err != nil {
		return nil, err
	}
	files := tar.NewReader(bytes.NewReader(body))
	head, err := files.Next()
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %s: %w", ErrFile, path, err)
	case head.ModTime.Before(c.State.StartedAt.Truncate(time.Second)):
		return nil, fmt.Errorf("%w: %s is older than what runs in %v", ErrFile, path, c)
	}
	return io.ReadAll(files)
}

// find returns the one container with all the labels, running or not.
func (e *Engine) find(ctx context.Context, labels []string) (container, error) {
	filters, err := json.Marshal(map[string][]string{"label": labels})
	if err != nil {
		return container{}, err
	}
	var found []struct {
		ID string `json:"Id"`
	}
	path := "/containers/json?all=true&filters=" + url.QueryEscape(string(filters))
	if err := e.call(ctx, http.MethodGet, path, &found); err != nil {
		return container{}, err
	}
	if len(found) != 1 {
		return container{}, fmt.Errorf("%w: %d have %s", ErrContainer, len(found), strings.Join(labels, ", "))
	}
	return e.inspect(ctx, found[0].ID)
}

func (e *Engine) inspect(ctx context.Context, id string) (c container, err error) {
	err = e.call(ctx, http.MethodGet, "/containers/"+id+"/json", &c)
	return c, err
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 4 << 20

// call asks the engine for something and reads its answer into the value that
// into points to.
func (e *Engine) call(ctx context.Context, method, path string, into any) error {
	body, err := e.ask(ctx, method, path)
	if err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%w: %w", ErrEngine, err)
	}
	return nil
}

// ask returns the engine's answer.
func (e *Engine) ask(ctx context.Context, method, path string) ([]byte, error) {
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
		var problem struct {
			Message string `json:"message"`
		}
		_ = json.Unmarshal(body, &problem)
		return nil, fmt.Errorf("%w: %s: %s", ErrEngine, resp.Status, problem.Message)
	}
	return body, nil
}
