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
	By    uint64 `json:"by"`    // the node that mends it
	Stage string `json:"stage"` // stopping, reconciling, electing, mended, left
	// Leaders are those who led at once, in the order of their epochs.
	Leaders []Reign `json:"leaders"`
	// OverlapMS is for how long two of them led, by the hybrid clock.
	OverlapMS float64 `json:"overlap_ms"`
	// Messages of the mending, sent and received by the node that mends.
	Messages int `json:"messages,omitempty"`
	// Reconcile is how reconciling went; absent before, and where there was nothing
	// to run.
	Reconcile *Reconcile `json:"reconcile,omitempty"`
	// Leader is who leads now, in which term; 0 before the stage mended.
	Leader uint64 `json:"leader"`
	Term   uint64 `json:"term,omitempty"`
}

// Reign is one time for which one process led. Its ends are readings of the hybrid
// clock of the node that tells of it, absent where that does not know them.
type Reign struct {
	Leader  uint64 `json:"leader"`
	Term    uint64 `json:"term"`
	Session string `json:"session"` // first digits
	Since   string `json:"since,omitempty"`
	Until   string `json:"until,omitempty"`
}

// Reconcile is how reconciling went.
type Reconcile struct {
	Tries   int    `json:"tries"`
	Exit    int    `json:"exit"` // of the last try; -1 when it had none
	Problem string `json:"problem,omitempty"`
}

// splitOf is s as the Recorder whose clock reads now tells it.
func splitOf(s algorithms.Split, now proto.HLC) Split {
	t := Split{
		By: uint64(s.By), Stage: string(s.Stage), Messages: s.Messages,
		OverlapMS: millis(s.Overlap), Leader: uint64(s.Leader.ID), Term: uint64(s.Leader.Term),
	}
	if s.Leader.ID == 0 {
		t.Term = 0
	}
	for _, r := range s.Reigns {
		reign := Reign{
			Leader: uint64(r.Epoch.Leader), Term: uint64(r.Epoch.Term), Session: r.Epoch.Session.Short(),
		}
		if r.Led > 0 {
			reign.Since = before(now, r.Led+r.Ago).String()
			reign.Until = before(now, r.Ago).String()
		}
		t.Leaders = append(t.Leaders, reign)
	}
	if o := s.Outcome; o.Tries > 0 {
		t.Reconcile = &Reconcile{Tries: o.Tries, Exit: o.Exit, Problem: o.Problem}
	}
	return t
}

// before is the reading that the clock showed so long before now.
func before(now proto.HLC, d time.Duration) proto.HLC {
	return proto.HLC{Micros: now.Micros - d.Microseconds()}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// String is the report in one line.
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
	case s.Stage == string(algorithms.Mended):
		b.WriteString("mended by " + number(s.By))
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
