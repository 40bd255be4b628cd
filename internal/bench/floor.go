package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/internal/chart"
)

// floor is one failover of the bare mesh.
type floor struct {
	First float64 `json:"first_ms"` // from the signal to the first end of stream
	All   float64 `json:"all_ms"`   // from the signal until the last survivor knows the new leader
	// Hop is one hop of a message round bare processes; zero if the algorithm is no ring.
	Hop float64 `json:"hop_ms,omitempty"`
}

// allowed returns the time to aim for with n nodes: twice the floor and, on a ring, the 3n hops
// that the lecture notes give a round.
func (f floor) allowed(n int) float64 { return 2*f.All + 3*float64(n)*f.Hop }

// floor measures the bare mesh and, for a ring, how long a hop takes.
func (o Options) floor(ctx context.Context) (*floor, error) {
	f, err := measureFloor(ctx, o.Nodes)
	if err != nil || o.Entry.Name != "ring" {
		return &f, err
	}
	f.Hop, err = measureHop(ctx, o.Nodes)
	return &f, err
}

// measureHop sends a message round n bare processes twice. The result is the time of one hop on the
// second trip: the first warms up caches and connections.
func measureHop(ctx context.Context, n int) (hop float64, err error) {
	g, err := startBare(ctx, roleRelay, n)
	if err != nil {
		return 0, fmt.Errorf("build the bare ring: %w", err)
	}
	defer func() { err = errors.Join(err, g.close()) }()
	if _, err := g.trip(ctx); err != nil {
		return 0, err
	}
	trip, err := g.trip(ctx)
	return trip / float64(n), err
}

// measureFloor builds a mesh of n bare processes, kills the highest, and tears
// the mesh down again.
func measureFloor(ctx context.Context, n int) (f floor, err error) {
	g, err := startBare(ctx, roleMesh, n)
	if err != nil {
		return f, fmt.Errorf("build the floor's mesh: %w", err)
	}
	defer func() { err = errors.Join(err, g.close()) }()
	at := time.Now()
	if err := g.members[n-1].Signal(syscall.SIGKILL); err != nil {
		return f, fmt.Errorf("kill the highest of the mesh: %w", err)
	}
	var gone, known []time.Time
	for len(known) < n-1 {
		select {
		case s := <-g.said:
			switch {
			case s.word == "gone":
				gone = append(gone, time.Unix(0, s.nanoseconds))
			case s.word == "known":
				known = append(known, time.Unix(0, s.nanoseconds))
			case s.id != n:
				return f, fmt.Errorf("process %d of the mesh: %w", s.id, errBare)
			}
		case <-ctx.Done():
			return f, fmt.Errorf("wait for the mesh to agree: %w", context.Cause(ctx))
		}
	}
	first := slices.MinFunc(append(gone, known[0]), time.Time.Compare)
	last := slices.MaxFunc(known, time.Time.Compare)
	return floor{First: chart.Millis(first.Sub(at)), All: chart.Millis(last.Sub(at))}, nil
}
