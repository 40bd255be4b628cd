package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// feeding is a stream of changes that a test feeds.
func feeding(feed <-chan Change, asked *atomic.Uint64) func(context.Context, uint64) iter.Seq[Change] {
	return func(ctx context.Context, after uint64) iter.Seq[Change] {
		asked.Store(after)
		return func(yield func(Change) bool) {
			for {
				select {
				case c := <-feed:
					if !yield(c) {
						return
					}
				case <-ctx.Done():
					return
				}
			}
		}
	}
}

// nextEvent reads one event, past the comments.
func nextEvent(t *testing.T, r *bufio.Reader) (id string, e Event) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.HasPrefix(line, "id: "):
			id = strings.TrimSpace(line[4:])
		case strings.HasPrefix(line, "data: "):
			if err := json.Unmarshal([]byte(line[6:]), &e); err != nil {
				t.Fatal(err)
			}
			return id, e
		}
	}
}

// Promise: each change "in order", with its guarantee, what was
// missed, and an id to resume by; and a stream outlives the limits of a request.
func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Uint64
		feed := make(chan Change)
		in := with(func(s *Snapshot) { s.Guarantee = algorithms.Lease })
		dial, stop := inMemoryWith(t, Config{
			Source: fixed(in), Changes: feeding(feed, &asked), Security: "unauthenticated",
		})
		conn := dial()
		if _, err := io.WriteString(conn, "GET /v1/events HTTP/1.1\r\nHost: x\r\nLast-Event-ID: "+
			in.Incarnation.Short()+"-41\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("%v, %+v", err, resp)
		}
		go func() {
			feed <- Change{42, noon, algorithms.Leader{
				ID: 3, Incarnation: in.Incarnation, Term: 8, Until: noon.Add(time.Second),
			}, 0}
			time.Sleep(time.Minute)
			feed <- Change{50, noon, algorithms.Leader{Term: 9}, 7}
		}()
		r := bufio.NewReader(resp.Body)
		id, e := nextEvent(t, r)
		want := Event{Seq: 42, At: noon, Leadership: Leadership{
			Self: 3, IsLeader: true, Leader: 3, LeaderAddr: "h3:2", Term: 8,
			Guarantee: algorithms.Lease, Algorithm: "bully", Security: "unauthenticated",
		}}
		if id != in.Incarnation.Short()+"-42" || e != want || asked.Load() != 41 {
			t.Errorf("event %s after %d: %+v\nwant %+v", id, asked.Load(), e, want)
		}
		if _, e = nextEvent(t, r); e.Seq != 50 || e.Missed != 7 || e.Leader != 0 || e.Guarantee == "" {
			t.Errorf("%+v", e)
		}
		stop() // ends the stream
		if _, err := io.ReadAll(r); err != nil && err != io.ErrUnexpectedEOF {
			t.Error(err)
		}
	})
}

// Promise: a reader that comes with the number of a former process is told so, one
// with nonsense is refused, and there are no more streams than a node can serve.
func TestEventsResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Uint64
		feed := make(chan Change)
		cfg := Config{Source: fixed(well()), Changes: feeding(feed, &asked)}
		dial, stop := inMemoryWith(t, cfg)
		defer stop()
		ask := func(query string) (*http.Response, *bufio.Reader) {
			conn := dial()
			t.Cleanup(func() { _ = conn.Close() })
			if _, err := io.WriteString(conn, "GET /v1/events"+query+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			return resp, bufio.NewReader(resp.Body)
		}
		_, r := ask("?after=" + proto.Incarnation{9}.Short() + "-7")
		go func() { feed <- Change{Seq: 1, Leader: algorithms.Leader{ID: 5, Term: 1}} }()
		if _, e := nextEvent(t, r); !e.Restarted || asked.Load() != 0 {
			t.Errorf("after %d: %+v", asked.Load(), e)
		}
		for _, bad := range []string{"?after=x", "?after=7", "?after=ab-", "?after=ab--1"} {
			if resp, _ := ask(bad); resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%s: %s", bad, resp.Status)
			}
		}
		for range maxStreams - 1 {
			if resp, _ := ask(""); resp.StatusCode != http.StatusOK {
				t.Fatal(resp.Status)
			}
		}
		if resp, _ := ask(""); resp.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("one more than %d: %s", maxStreams, resp.Status)
		}
	})
}
