package httpapi

import (
	"cmp"
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
	"github.com/ringleader-dev/ringleader/internal/web"
)

// Change is one change of the node's belief about who leads.
type Change struct {
	Seq    uint64 // numbers the changes of this process, from 1
	At     time.Time
	Leader algorithms.Leader
	Missed uint64 // how many changes just before this one are lost
}

// Event is one change in the stream of /v1/events.
type Event struct {
	Leadership
	Seq uint64    `json:"seq"` // numbers the changes of this process, from 1
	At  time.Time `json:"at"`
	// Missed is how many changes just before this one the reader did not get.
	Missed uint64 `json:"missed,omitempty"`
	// Restarted says that the reader came with the number of an event of an earlier process of the
	// node. The changes after that event in that process are lost; nobody knows how many there
	// were.
	Restarted bool `json:"restarted,omitempty"`
}

const (
	// maxStreams is how many readers /v1/events may have at once.
	maxStreams = 64
	// aliveEvery is how often a stream without events sends a comment, so that neither end takes
	// the connection for dead.
	aliveEvery = 10 * time.Second
)

// streams serves /v1/events.
type streams struct {
	source   Source
	changes  func(ctx context.Context, after uint64) iter.Seq[Change]
	open     atomic.Int64
	done     context.Context // ends when the server ends
	guard    *guard
	security string // Config.Security
}

// get sends changes as server-sent events: the changes after the Last-Event-ID, or all changes that the node
// keeps.
func (s *streams) get(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodOptions {
		return
	}
	if s.changes == nil {
		write(w, http.StatusNotFound, refusal{"this node tells no events"})
		return
	}
	snap := s.source.Snapshot()
	after, restarted, err := position(r, snap.Incarnation.Short())
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
	web.Keep(r.Context())
	rc := http.NewResponseController(w)
	if rc.SetReadDeadline(time.Time{}) != nil { // the reader asks no more, and stays
		write(w, http.StatusInternalServerError, refusal{"this connection cannot stream"})
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	stop := context.AfterFunc(s.done, cancel)
	defer stop()
	s.stream(ctx, &sender{w: w, rc: rc}, after, restarted, func() bool { return s.guard.still(r, RoleRead) })
}

// stream sends events until the reader is gone, may not read any more, a write takes too long, or the node ends.
func (s *streams) stream(ctx context.Context, to *sender, after uint64, restarted bool, may func() bool) {
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
			if !ok || !may() || !to.event(s.source.Snapshot(), c, restarted, s.security) {
				return
			}
			restarted = false
		case <-alive.C:
			if !may() || !to.say(": still here\n\n") {
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

func (s *sender) event(snap Snapshot, c Change, restarted bool, security string) bool {
	e := Event{
		Leadership: snap.believed(c.Leader), Seq: c.Seq, At: c.At, Missed: c.Missed, Restarted: restarted,
	}
	e.Security = security
	data, err := json.Marshal(e)
	if err != nil {
		return false // an Event is always JSON
	}
	return s.say(fmt.Sprintf("id: %s-%d\nevent: leader\ndata: %s\n\n", snap.Incarnation.Short(), c.Seq, data))
}

// position returns the number of the last event that the reader got. The reader sends "incarnation-seq", in
// the header that browsers send or in the query. The result restarted says that the reader named the
// incarnation of an earlier process of the node; then the number is 0.
func position(r *http.Request, incarnation string) (after uint64, restarted bool, err error) {
	id := cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after"))
	if id == "" {
		return 0, false, nil
	}
	of, number, _ := strings.Cut(id, "-")
	after, err = strconv.ParseUint(number, 10, 64)
	if err != nil {
		return 0, false, fmt.Errorf("event %q: want the id of an event of this stream, as %s-12", id, incarnation)
	}
	if of != incarnation {
		return 0, true, nil
	}
	return after, false, nil
}
