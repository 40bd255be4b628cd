package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringleader-dev/ringleader/internal/chart"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// AlarmsOptions say for how long healthy nodes are starved and paused.
type AlarmsOptions struct {
	Options
	For time.Duration
}

// AlarmsReport is the result of Alarms. No node failed, so each election, and each node that was
// believed dead, is a false alarm.
type AlarmsReport struct {
	Machine   Machine `json:"machine"`
	Algorithm string  `json:"algorithm"`
	Profile   string  `json:"profile"`
	Nodes     int     `json:"nodes"`
	Asked     float64 `json:"seconds_asked"`
	Seconds   float64 `json:"seconds"`
	Loops     int     `json:"busy_loops"`
	Pauses    int     `json:"pauses"`
	Missed    int     `json:"nodes_missed"` // views without a node, because its heartbeats were late
	Elections int     `json:"elections"`    // elections, counted by the terms that began
}

const (
	// loopsPerCore is how many goroutines keep each core busy.
	loopsPerCore = 2
	// niceness is the nodes' scheduling priority: the lowest, so that all else on the machine runs
	// first.
	niceness = "19"
	// pauseEvery is how often a random node is stopped for pauseFor, like a long garbage
	// collection.
	pauseEvery, pauseFor = time.Second, 100 * time.Millisecond
)

// Alarms starves healthy nodes of processors, pauses them one by one, and counts
// the elections that are held all the same. When it ends early it returns what
// it has with the error.
func Alarms(ctx context.Context, o AlarmsOptions) (report AlarmsReport, err error) {
	report = AlarmsReport{
		Machine: ThisMachine(), Algorithm: o.Entry.Name, Profile: o.Profile, Nodes: o.Nodes,
		Asked: o.For.Seconds(), Loops: loopsPerCore * runtime.NumCPU(),
	}
	if o.For < pauseEvery {
		return report, fmt.Errorf("%w: %v is too short: give %v or more", ErrOptions, o.For, pauseEvery)
	}
	if err := o.validate(); err != nil {
		return report, err
	}
	o.enter = []string{"nice", "-n", niceness}
	r, err := o.Start(false)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	first, _, err := r.Settle(ctx, quiet)
	if err != nil {
		return report, fmt.Errorf("no first leader: %w", err)
	}
	stop := burn(report.Loops)
	defer stop()
	began := time.Now()
	defer func() {
		report.Seconds = time.Since(began).Seconds()
		report.count(r.Records(), began, first.Term)
	}()
	for time.Since(began) < o.For {
		id := proto.NodeID(1 + rand.IntN(o.Nodes))
		if err := r.stutter(ctx, id); err != nil {
			return report, err
		}
		report.Pauses++
		o.progress(int(time.Since(began)/time.Second), int(o.For/time.Second))
	}
	return report, nil
}

// stutter stops a node for pauseFor, and then waits until the next pause is due.
func (c *Cluster) stutter(ctx context.Context, id proto.NodeID) error {
	if err := c.Pause(id); err != nil {
		return err
	}
	slept := Pause(ctx, pauseFor)
	if err := c.Resume(id); err != nil {
		return err
	}
	if slept != nil {
		return slept
	}
	return Pause(ctx, pauseEvery-pauseFor)
}

// burn keeps this many goroutines busy until stop is called.
func burn(loops int) (stop func()) {
	var done atomic.Bool
	var burning sync.WaitGroup
	for range loops {
		burning.Go(func() {
			runtime.LockOSThread()
			for !done.Load() {
				continue
			}
		})
	}
	return func() { done.Store(true); burning.Wait() }
}

// count counts the false alarms in the records that are later than since: the nodes missed, and the
// terms that are higher than term.
func (r *AlarmsReport) count(records []trace.Record, since time.Time, term proto.Term) {
	terms := map[uint64]bool{}
	for _, rec := range records {
		if !rec.Time.After(since) {
			continue
		}
		if rec.Term > uint64(term) {
			terms[rec.Term] = true
		}
		if rec.Event == "peers" && strings.Contains(rec.Evidence, "heartbeat-missed") {
			r.Missed++
		}
	}
	r.Elections = len(terms)
}

// Count returns for how many seconds Alarms ran, and how many seconds were asked for.
func (r AlarmsReport) Count() (done, of int) { return int(r.Seconds + 0.5), int(r.Asked) }

// Report describes the measurement and its results.
func (r AlarmsReport) Report() chart.Report {
	done, of := r.Count()
	return chart.Report{
		Title: fmt.Sprintf("alarms: %s, %d healthy nodes, profile %s, %.0f s",
			r.Algorithm, r.Nodes, r.Profile, r.Seconds),
		Lines: []string{r.Machine.String()}, Partial: chart.Partial(done, of, ""),
		Tables: []chart.Table{{After: []string{
			fmt.Sprintf("  %d busy loops, the nodes at nice %s, a random node paused for %v each %v: %d pauses",
				r.Loops, niceness, pauseFor, pauseEvery, r.Pauses),
			fmt.Sprintf("  nodes missed  %d", r.Missed),
			fmt.Sprintf("  elections     %d", r.Elections),
		}}},
	}
}
