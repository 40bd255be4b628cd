package fenceagent_test

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

	"github.com/ringleader-dev/ringleader/internal/fenceagent"
)

// engine is a Docker engine of containers that all have the label node=5, each
// with its state; one that is killed exits after so many looks at it.
type engine struct {
	mu     sync.Mutex
	states map[string]string
	looks  int // until a kill shows
	killed []string
	refuse string
	// file is the pid file in each container, and written when it was.
	file    string
	written time.Time
	first   bool // no process ran in the containers before
}

var (
	// ended is when the processes before the present ones did.
	ended = time.Date(2026, 11, 21, 12, 0, 0, 123456789, time.UTC)
	// made is when containers were in which no process ran before.
	made = ended.Add(time.Minute)
)

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
		_ = files.WriteHeader(&tar.Header{Name: "node.pid", Size: int64(len(e.file)), Mode: 0o600, ModTime: e.written})
		_, _ = files.Write([]byte(e.file))
		_ = files.Close()
	case isOne && verb == "json":
		if slices.Contains(e.killed, id) {
			if e.looks--; e.looks <= 0 {
				e.states[id] = "exited"
			}
		}
		state := e.states[id]
		created, finished := ended.Add(-time.Hour), ended
		if e.first {
			created, finished = made, time.Time{}
		}
		// A busy engine notes the start late.
		fmt.Fprintf(w, `{"Id":%q,"Created":%q,"State":{"Status":%q,"Running":%v,"StartedAt":%q,"FinishedAt":%q}}`,
			id, created.Format(time.RFC3339Nano), state, state != "exited",
			made.Add(time.Hour).Format(time.RFC3339Nano), finished.Format(time.RFC3339Nano))
	}
}

// act has the agent act on the containers of an engine that have the label node=5.
func act(ctx context.Context, t *testing.T, e *engine, a fenceagent.Action) (string, error) {
	t.Helper()
	server := httptest.NewServer(e)
	defer server.Close()
	d := fenceagent.Docker{
		Host: "tcp://" + strings.TrimPrefix(server.URL, "http://"), Labels: []string{"node=5"},
		PIDFile: "/data/node.pid",
	}
	return d.Act(ctx, a, target())
}

// "It returns nil only if the container has stopped": it waits for that, and
// leaves alone what stopped before.
func TestDocker(t *testing.T) {
	for state, want := range map[string]string{
		"running": "killed container abc", "paused": "killed container abc",
		"exited": "container abc was exited before",
	} {
		e := &engine{states: map[string]string{"abc": state}, looks: 3}
		text, err := act(t.Context(), t, e, fenceagent.Status)
		if err != nil || text != "container abc is "+state || len(e.killed) > 0 {
			t.Errorf("%s: %q, %v; killed %q", state, text, err, e.killed)
		}
		text, err = act(t.Context(), t, e, fenceagent.Off)
		if err != nil || text != want || (len(e.killed) > 0) != (state != "exited") || e.states["abc"] != "exited" {
			t.Errorf("%s: %q, %v; killed %q", state, text, err, e.killed)
		}
	}
}

// Labels that name nobody, or several, an engine that refuses, or one that never
// stops the container: nothing is confirmed.
func TestDockerDoesNotConfirm(t *testing.T) {
	for name, c := range map[string]struct {
		engine *engine
		err    error
	}{
		"nobody":  {&engine{}, fenceagent.ErrContainer},
		"several": {&engine{states: map[string]string{"a": "running", "b": "exited"}}, fenceagent.ErrContainer},
		"refused": {&engine{refuse: "no"}, fenceagent.ErrEngine},
		"undying": {&engine{states: map[string]string{"a": "running"}, looks: 1 << 30}, context.DeadlineExceeded},
	} {
		limit := time.Minute
		if name == "undying" {
			limit = 300 * time.Millisecond // it goes on for ever
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		text, err := act(ctx, t, c.engine, fenceagent.Off)
		cancel()
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if name == "several" && len(c.engine.killed) > 0 {
			t.Errorf("killed %q", c.engine.killed)
		}
	}
	for host, want := range map[string]error{
		"/var/run/docker.sock": fenceagent.ErrHost, "unix:///no/such/socket": fenceagent.ErrEngine,
	} {
		d := fenceagent.Docker{Host: host, Labels: []string{"node=5"}}
		if _, err := d.Act(t.Context(), fenceagent.Status, target()); !errors.Is(err, want) {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// "One that runs a later process of the node already is left alone": if the pid file was
// written since the process before ended, or since the container was made. What was left on a volume
// by then tells nothing.
func TestDockerOfALaterProcess(t *testing.T) {
	const later = "123\nstart 7\nboot b\nmachine m\nnamespace n\nnode 5\nincarnation cd\n"
	for name, c := range map[string]struct {
		state, file string
		written     time.Time
		first       bool
		spared      bool
	}{
		"of now":          {"running", later, ended.Add(time.Second), false, true},
		"within the tick": {"paused", later, ended.Truncate(time.Second), false, true},
		"of before":       {"running", later, ended.Add(-2 * time.Second), false, false},
		"of the first":    {"running", later, made.Add(time.Second), true, true},
		"of a volume":     {"running", later, made.Add(-2 * time.Second), true, false},
		"not running":     {"exited", later, ended.Add(time.Second), false, false},
		"of the target":   {"running", strings.Replace(later, "cd", incarnation.String(), 1), ended, false, false},
		"another node's":  {"running", strings.Replace(later, "node 5", "node 6", 1), ended, false, false},
		"no pid file":     {"running", "123", ended, false, false},
	} {
		e := &engine{states: map[string]string{"abc": c.state}, written: c.written, file: c.file, first: c.first}
		text, err := act(t.Context(), t, e, fenceagent.Off)
		spared := strings.Contains(text, "node 5 has been started again since")
		if err != nil || spared != c.spared || c.spared && len(e.killed) > 0 ||
			!c.spared && e.states["abc"] != "exited" {
			t.Errorf("%s: %q, %v; killed %q", name, text, err, e.killed)
		}
	}
}
