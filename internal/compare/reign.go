package compare

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// span is a time during which one process leads, by its own records.
type span struct {
	node        proto.NodeID
	from, until time.Time // until is zero while nothing has ended it
	lease       time.Time // when it ends by itself; zero without a lease
}

// Death is the end of a node's process.
type Death struct {
	Node proto.NodeID
	At   time.Time
}

// Led sums up how long nobody led, and more than one process did, from one instant to
// another, by records in causal order that lease renewals are in.
func Led(records []trace.Record, deaths []Death, from, to time.Time) (nobody, two time.Duration) {
	return leading(reigns(records, deaths, to), from, to)
}

// reigns are who led when, of records in causal order. What nothing has ended goes on
// until end.
func reigns(records []trace.Record, deaths []Death, end time.Time) []span {
	open := map[string]*span{} // by session
	var done []span
	finish := func(session string, at time.Time) {
		s := open[session]
		delete(open, session)
		s.until = at
		if !s.lease.IsZero() && s.lease.Before(at) {
			s.until = s.lease
		}
		done = append(done, *s)
	}
	for _, rec := range records {
		s := open[rec.Session]
		lapsed := s != nil && !s.lease.IsZero() && s.lease.Before(rec.Time)
		if s != nil && (rec.Role != trace.Leading || lapsed) {
			finish(rec.Session, rec.Time)
			s = nil
		}
		if rec.Role != trace.Leading {
			continue
		}
		if s == nil {
			s = &span{node: proto.NodeID(rec.Node), from: rec.Time}
			open[rec.Session] = s
		}
		s.lease = rec.ValidUntil
	}
	for session, s := range open {
		at := end
		for _, d := range deaths {
			if d.Node == s.node && !d.At.Before(s.from) && d.At.Before(at) {
				at = d.At
			}
		}
		finish(session, at)
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
		begin, end := later(s.from, from), earlier(s.until, to)
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

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
