package trace

import (
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// Split is the report of a split brain, as records and answers carry it.
type Split struct {
	By    uint64 `json:"by"`    // the node that recovers from the split
	Stage string `json:"stage"` // stopping, reconciling, electing, recovered, left
	// Leaders are the processes that led at the same time, in the order of their leaderships.
	Leaders []Leadership `json:"leaders"`
	// OverlapMS is how long two processes led at the same time, by the hybrid clock, in milliseconds.
	OverlapMS float64 `json:"overlap_ms"`
	// Messages is how many messages the node that recovers sent and received for the recovery.
	Messages int `json:"messages,omitempty"`
	// Reconcile says how reconciling ended. It is absent before the end, and if there is no command.
	Reconcile *Reconcile `json:"reconcile,omitempty"`
	// Leader leads Term now. Both are 0 before the stage recovered.
	Leader uint64 `json:"leader"`
	Term   uint64 `json:"term,omitempty"`
}

// Leadership is the time for which one process led. Since and Until are readings of the hybrid
// clock of the node that writes the record. They are absent if that node does not know them.
type Leadership struct {
	Leader      uint64 `json:"leader"`
	Term        uint64 `json:"term"`
	Incarnation string `json:"incarnation"` // the first digits
	Since       string `json:"since,omitempty"`
	Until       string `json:"until,omitempty"`
}

// Reconcile says how reconciling ended.
type Reconcile struct {
	Tries   int    `json:"tries"`
	Exit    int    `json:"exit"` // the exit code of the last run; -1 if it has none
	Problem string `json:"problem,omitempty"`
}

// splitOf returns s in the form of records. The parameter now is the reading of the Recorder's clock.
func splitOf(s algorithms.Split, now proto.HLC) Split {
	t := Split{
		By: uint64(s.By), Stage: string(s.Stage), Messages: s.Messages,
		OverlapMS: millis(s.Overlap), Leader: uint64(s.Leader.ID), Term: uint64(s.Leader.Term),
	}
	if s.Leader.ID == 0 {
		t.Term = 0
	}
	for _, r := range s.Leaderships {
		leadership := Leadership{
			Leader: uint64(r.Leadership.Leader), Term: uint64(r.Leadership.Term),
			Incarnation: r.Leadership.Incarnation.Short(),
		}
		if r.Led > 0 {
			leadership.Since = before(now, r.Led+r.Ago).String()
			leadership.Until = before(now, r.Ago).String()
		}
		t.Leaders = append(t.Leaders, leadership)
	}
	if o := s.Outcome; o.Tries > 0 {
		t.Reconcile = &Reconcile{Tries: o.Tries, Exit: o.Exit, Problem: o.Problem}
	}
	return t
}

// before returns the reading of the clock d before now.
func before(now proto.HLC, d time.Duration) proto.HLC {
	return proto.HLC{Micros: now.Micros - d.Microseconds()}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// String returns the report as one line.
func (s Split) String() string {
	var b strings.Builder
	for i, r := range s.Leaders {
		if i > 0 {
			b.WriteString(" and ")
		}
		b.WriteString(number(r.Leader) + " (term " + number(r.Term) + ")")
	}
	b.WriteString(" led at once for " + strconv.FormatFloat(s.OverlapMS, 'f', -1, 64) + " ms, ")
	switch {
	case s.Stage == string(algorithms.Recovered):
		b.WriteString("recovered by " + number(s.By))
	default:
		b.WriteString(s.Stage + " at " + number(s.By))
	}
	if r := s.Reconcile; r != nil && r.Problem != "" {
		b.WriteString(", reconciling failed: " + r.Problem)
	} else if r != nil {
		b.WriteString(", reconciled")
	}
	if s.Leader != 0 {
		b.WriteString(", " + number(s.Leader) + " leads term " + number(s.Term))
	}
	return b.String()
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }
