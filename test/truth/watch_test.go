//go:build realtruth

package truth_test

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/node/httpapi"
)

const (
	// sampled is the time between two questions to a node.
	sampled = 20 * time.Millisecond
	// prompt is how long an answer may take. What a node says later may have been true long before.
	prompt = 100 * time.Millisecond
	// late is how much later than it should this test wakes up if the machine stalls.
	late = 100 * time.Millisecond
)

// watcher asks each node again and again who leads.
type watcher struct {
	mu        sync.Mutex
	sightings []*sighting
	stalls    []span
	done      sync.WaitGroup
	end       context.CancelFunc
}

// watch begins to ask the nodes.
func watch(ctx context.Context, nodes []testcluster.Node) *watcher {
	w := &watcher{}
	ctx, w.end = context.WithCancel(ctx)
	w.done.Go(func() { w.clock(ctx) })
	for _, n := range nodes {
		w.done.Go(func() { w.node(ctx, n) })
	}
	return w
}

// finish ends the questions, and writes the answers into the story.
func (w *watcher) finish(s *story) {
	w.end()
	w.done.Wait()
	s.Sightings, s.Stalls = w.sightings, w.stalls
}

// clock notes when this process itself got no processor.
func (w *watcher) clock(ctx context.Context) {
	const tick = 5 * time.Millisecond
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := time.Now()
		if now.Sub(last) > tick+late {
			w.stalls = append(w.stalls, span{last.Round(0), now.Round(0)})
		}
		last = now
	}
}

// node asks one node.
func (w *watcher) node(ctx context.Context, n testcluster.Node) {
	caller := &http.Client{Transport: &http.Transport{}, Timeout: prompt}
	defer caller.CloseIdleConnections()
	ticker := time.NewTicker(sampled)
	defer ticker.Stop()
	var last *sighting
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		at := time.Now().Round(0)
		said, ok := ask(ctx, caller, n.HTTP)
		if took := (span{at, time.Now().Round(0)}); ok && took.length() <= prompt {
			last = w.see(last, sighting{
				Node: uint64(n.ID), Leads: said.IsLeader, Leader: uint64(said.Leader), Term: uint64(said.Term),
				First: took, Last: took,
			})
		} else {
			last = nil
		}
	}
}

// see notes an answer. It returns the sighting that the answer belongs to.
func (w *watcher) see(last *sighting, now sighting) *sighting {
	if last != nil && last.Leads == now.Leads && last.Leader == now.Leader && last.Term == now.Term &&
		now.First.From.Sub(last.Last.Until) <= prompt {
		last.Last = now.Last
		return last
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sightings = append(w.sightings, &now)
	return &now
}

// ask asks a node who leads.
func ask(ctx context.Context, caller *http.Client, addr string) (said httpapi.Leadership, ok bool) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/leader", nil)
	if err != nil {
		return said, false
	}
	resp, err := caller.Do(req)
	if err != nil {
		return said, false
	}
	defer resp.Body.Close()
	return said, json.NewDecoder(resp.Body).Decode(&said) == nil && said.Self != 0
}
