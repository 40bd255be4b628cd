package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// Change is one change of the belief about who leads, as the Source tells it.
type Change struct {
	Seq    uint64 // of this process's changes, from 1
	At     time.Time
	Leader algorithms.Leader
	Missed uint64 // changes right before it that are lost
}

// Event is one change in the stream of /v1/events.
type Event struct {
	Leadership
	Seq uint64    `json:"seq"` // of this process's changes, from 1
	At  time.Time `json:"at"`
	// Missed is how many changes right before this one the reader did not get.
	Missed uint64 `json:"missed,omitempty"`
	// Restarted says that the reader came with the number of a former process of the
	// node: what that one told after it is lost, how much nobody knows.
	Restarted bool `json:"restarted,omitempty"`
}

const (
	// maxStreams bounds how many read /v1/events at once.
	maxStreams = 64
	// aliveEvery is how often a stream without news says that it lives, so that
	// neither end takes it for dead.
	aliveEvery = 10 * time.Second
)

// streams serves /v1/events.
type streams struct {
	source  Source
	changes func(ctx context.Context, after uint64) iter.Seq[Change]
	open    atomic.Int64
	done    context.Context // over when the server ends
}

// get streams the changes as server-sent events, those after the Last-Event-ID, or
// all that are kept.
func (s *streams) get(w http.ResponseWriter, r *http.Request) {
	if s.changes == nil {
		write(w, http.StatusNotFound, refusal{"this node tells no events"})
		return
	}
	snap := s.source.Snapshot()
	after, restarted, err := position(r, snap.Session.Short())
	if err != nil {
		write(w, http.StatusBadRequest, refusal{err.Error()})
		return
	}
	if s.open.Add(1) > maxStreams {
		s.open.Add(-1)
		w.Header().Set("Retry-After", "10")
		write(w, http.StatusServiceUnavailable, refusal{fmt.Sprintf(
			"%d read the events already: close one, or try again later", maxStreams)})
		return
	}
	defer s.open.Add(-1)

	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Accel-Buffering", "no")
	if r.Method == http.MethodHead {
		return
	}
	rc := http.NewResponseController(w)
	if rc.SetReadDeadline(time.Time{}) != nil { // the reader asks no more, and stays
		write(w, http.StatusInternalServerError, refusal{"this connection cannot stream"})
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	stop := context.AfterFunc(s.done, cancel)
	defer stop()
	s.stream(ctx, &sender{w: w, rc: rc}, after, restarted)
}

// stream sends until the reader is gone, too slow for one write, or the node ends.
func (s *streams) stream(ctx context.Context, to *sender, after uint64, restarted bool) {
	if !to.say(": the changes of who leads, as this node believes\n\n") {
		return
	}
	changes := make(chan Change)
	go func() {
		defer close(changes)
		for c := range s.changes(ctx, after) {
			select {
			case changes <- c:
			case <-ctx.Done():
				return
			}
		}
	}()
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	for {
		select {
		case c, ok := <-changes:
			if !ok || !to.event(s.source.Snapshot(), c, restarted) {
				return
			}
			restarted = false
		case <-alive.C:
			if !to.say(": still here\n\n") {
				return
			}
		}
	}
}

// sender writes to one reader.
type sender struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

func (s *sender) say(text string) bool {
	if s.rc.SetWriteDeadline(time.Now().Add(limits.Answer)) != nil {
		return false
	}
	_, err := s.w.Write([]byte(text))
	return err == nil && s.rc.Flush() == nil
}

func (s *sender) event(snap Snapshot, c Change, restarted bool) bool {
	e := Event{
		Leadership: snap.believed(c.Leader), Seq: c.Seq, At: c.At, Missed: c.Missed, Restarted: restarted,
	}
	data, err := json.Marshal(e)
	if err != nil {
		return false // an Event is always JSON
	}
	return s.say(fmt.Sprintf("id: %s-%d\nevent: leader\ndata: %s\n\n", snap.Session.Short(), c.Seq, data))
}

// position is after which change the reader wants to go on: "session-seq" in the
// header that browsers send, or in the query. A former process's tells that the
// node restarted.
func position(r *http.Request, session string) (after uint64, restarted bool, err error) {
	id := r.Header.Get("Last-Event-ID")
	if id == "" {
		id = r.URL.Query().Get("after")
	}
	if id == "" {
		return 0, false, nil
	}
	of, number, _ := strings.Cut(id, "-")
	after, err = strconv.ParseUint(number, 10, 64)
	if err != nil {
		return 0, false, fmt.Errorf("event %q: want the id of an event of this stream, as %s-12", id, session)
	}
	if of != session {
		return 0, true, nil
	}
	return after, false, nil
}
