package docker_test

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/fenceagent/docker"
)

// engine is a Docker engine of containers that all have the label node=5, each
// with its state; one that is killed exits after so many looks at it.
type engine struct {
	mu     sync.Mutex
	states map[string]string
	looks  int // until a kill shows
	killed []string
	refuse string
	// written is when the file of each container was.
	written time.Time
}

// started is when the containers were.
var started = time.Date(2026, 11, 21, 12, 0, 0, 123456789, time.UTC)

func (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	id, isOne := strings.CutPrefix(r.URL.Path, "/containers/")
	id, verb, _ := strings.Cut(id, "/")
	switch {
	case e.refuse != "":
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintf(w, `{"message":%q}`, e.refuse)
	case r.URL.Path == "/containers/json":
		var found []string
		for id := range e.states {
			if r.URL.Query().Get("filters") == `{"label":["node=5"]}` && r.URL.Query().Get("all") == "true" {
				found = append(found, fmt.Sprintf(`{"Id":%q}`, id))
			}
		}
		fmt.Fprintf(w, "[%s]", strings.Join(found, ","))
	case isOne && verb == "kill" && r.Method == http.MethodPost:
		e.killed = append(e.killed, id)
		w.WriteHeader(http.StatusNoContent)
	case isOne && verb == "archive":
		files := tar.NewWriter(w)
		_ = files.WriteHeader(&tar.Header{Name: "node.pid", Size: 3, Mode: 0o600, ModTime: e.written})
		_, _ = files.Write([]byte("123"))
		_ = files.Close()
	case isOne && verb == "json":
		if slices.Contains(e.killed, id) {
			if e.looks--; e.looks <= 0 {
				e.states[id] = "exited"
			}
		}
		state := e.states[id]
		fmt.Fprintf(w, `{"Id":%q,"State":{"Status":%q,"Running":%v,"StartedAt":%q}}`, id, state,
			state != "exited", started.Format(time.RFC3339Nano))
	}
}

func connect(t *testing.T, e *engine) *docker.Engine {
	t.Helper()
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	d, err := docker.Connect("tcp://" + strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// "It returns nil only if the container has stopped": it waits for that, and
// leaves alone what stopped before.
func TestOff(t *testing.T) {
	for state, want := range map[string]string{
		"running": "killed container abc", "paused": "killed container abc",
		"exited": "container abc was exited before",
	} {
		e := &engine{states: map[string]string{"abc": state}, looks: 3}
		text, err := connect(t, e).Off(t.Context(), []string{"node=5"})
		if err != nil || text != want || (len(e.killed) > 0) != (state != "exited") || e.states["abc"] != "exited" {
			t.Errorf("%s: %q, %v; killed %q", state, text, err, e.killed)
		}
	}
}

// Labels that name nobody, or several, an engine that refuses, or one that never
// stops the container: nothing is confirmed.
func TestNotConfirmed(t *testing.T) {
	for name, c := range map[string]struct {
		engine *engine
		err    error
	}{
		"nobody":  {&engine{}, docker.ErrContainer},
		"several": {&engine{states: map[string]string{"a": "running", "b": "exited"}}, docker.ErrContainer},
		"refused": {&engine{refuse: "no"}, docker.ErrEngine},
		"undying": {&engine{states: map[string]string{"a": "running"}, looks: 1 << 30}, nil},
	} {
		limit := time.Minute
		if c.err == nil {
			limit = 300 * time.Millisecond // it goes on for ever
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		text, err := connect(t, c.engine).Off(ctx, []string{"node=5"})
		cancel()
		if err == nil || c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if name == "several" && len(c.engine.killed) > 0 {
			t.Errorf("killed %q", c.engine.killed)
		}
	}
	if _, err := docker.Connect("/var/run/docker.sock"); !errors.Is(err, docker.ErrHost) {
		t.Errorf("%v", err)
	}
	d, err := docker.Connect("unix:///no/such/socket")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Status(t.Context(), []string{"node=5"}); !errors.Is(err, docker.ErrEngine) {
		t.Errorf("%v", err)
	}
}

// "If it was written since the container started": what an earlier process left
// on a volume tells nothing.
func TestFile(t *testing.T) {
	for name, c := range map[string]struct {
		state   string
		written time.Time
		err     error
	}{
		"of now":          {"running", started.Add(time.Second), nil},
		"within the tick": {"paused", started.Truncate(time.Second), nil},
		"of before":       {"running", started.Add(-2 * time.Second), docker.ErrFile},
		"not running":     {"exited", started.Add(time.Second), docker.ErrFile},
	} {
		e := &engine{states: map[string]string{"abc": c.state}, written: c.written}
		text, err := connect(t, e).File(t.Context(), []string{"node=5"}, "/data/node.pid")
		if !errors.Is(err, c.err) || err == nil && string(text) != "123" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
