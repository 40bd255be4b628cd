package compare

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// span is a time during which one process leads, by its own records.
type span struct {
	node        proto.NodeID
	from, until time.Time // until is zero while the process leads
	lease       time.Time // when the lease ends by itself; zero without a lease
}

// Death is the end of a node's process.
type Death struct {
	Node proto.NodeID
	At   time.Time
}

// Led sums up how long nobody led between the times from and to, and how long more than one process
// did. The records must be in causal order, and contain the renewals of leases.
func Led(records []trace.Record, deaths []Death, from, to time.Time) (nobody, two time.Duration) {
	return leading(leaderships(records, deaths, to), from, to)
}

// leaderships returns the spans in which processes led. The records must be in causal order. A span
// that nothing has ended lasts until end.
func leaderships(records []trace.Record, deaths []Death, end time.Time) []span {
	open := map[string]*span{} // by incarnation
	var done []span
	finish := func(incarnation string, at time.Time) {
		s := open[incarnation]
		delete(open, incarnation)
		s.until = at
		if !s.lease.IsZero() && s.lease.Before(at) {
			s.until = s.lease
		}
		done = append(done, *s)
	}
	for _, rec := range records {
		s := open[rec.Incarnation]
		lapsed := s != nil && !s.lease.IsZero() && s.lease.Before(rec.Time)
		if s != nil && (rec.Role != trace.Leading || lapsed) {
			finish(rec.Incarnation, rec.Time)
			s = nil
		}
		if rec.Role != trace.Leading {
			continue
		}
		if s == nil {
			s = &span{node: proto.NodeID(rec.Node), from: rec.Time}
			open[rec.Incarnation] = s
		}
		s.lease = rec.ValidUntil
	}
	for incarnation, s := range open {
		at := end
		for _, d := range deaths {
			if d.Node == s.node && !d.At.Before(s.from) && d.At.Before(at) {
				at = d.At
			}
		}
		finish(incarnation, at)
	}
	return done
}

// leading sums up, from one instant to another, how long nobody led and how long more
// than one process did.
func leading(spans []span, from, to time.Time) (nobody, two time.Duration) {
	type edge struct {
		at    time.Time
		delta int
	}
	var edges []edge
	for _, s := range spans {
		begin, end := testcluster.Later(s.from, from), testcluster.Earlier(s.until, to)
		if begin.Before(end) {
			edges = append(edges, edge{begin, 1}, edge{end, -1})
		}
	}
	edges = append(edges, edge{to, 0})
	slices.SortFunc(edges, func(a, b edge) int { return a.at.Compare(b.at) })
	at, leaders := from, 0
	for _, e := range edges {
		switch passed := e.at.Sub(at); {
		case leaders == 0:
			nobody += passed
		case leaders > 1:
			two += passed
		}
		at, leaders = e.at, leaders+e.delta
	}
	return nobody, two
}
