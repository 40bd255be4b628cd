package daemon

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// recoveryWords say why a voter votes for nobody yet, and who has to answer.
func recoveryWords(r *algorithms.Recovery) string {
	lost := fmt.Sprintf("nothing is saved of %s", votersNamed(r.Lost))
	if !r.Asked {
		return lost + ": unless all voters say the same, it waits as long as a promise may run, and then " +
			"asks the others what it voted"
	}
	parts := []string{lost}
	if len(r.Told) > 0 {
		parts = append(parts, fmt.Sprintf("%s told what was voted, up to term %d, and %d have to",
			votersNamed(r.Told), r.Voted, r.Need))
	}
	if len(r.Others) > 0 {
		parts = append(parts,
			"what is told by "+votersNamed(r.Others)+" does not count, as other voters were given there")
	}
	if len(r.Silent) > 0 {
		parts = append(parts, votersNamed(r.Silent)+" has not answered")
		if len(r.Silent) > 1 {
			parts[len(parts)-1] = votersNamed(r.Silent) + " have not answered"
		}
	}
	way := fmt.Sprintf("start what is not there; if it cannot be, give --first-term %d", r.Voted+1)
	switch {
	case len(r.Others) > 0:
		way = "all are to have the same --voters: those of the cluster or, if this node is to be added, its own"
	case len(r.Told) > 0:
		way += " or higher, above all that this cluster ever voted in"
	case len(r.Silent) > 0:
		way = "start what is not there, or, if this cluster never ran, give --first-term 1"
	}
	return strings.Join(parts, "; ") + ": " + way
}

// withOthers is what a voter waits for, and of those who have not answered who never will: it
// is seen, and has voters with which this node exchanges no votes.
func (d *Daemon) withOthers(r algorithms.Recovery) *algorithms.Recovery {
	own := proto.ListVoters(d.Voters)
	for _, m := range d.group.Listed() {
		far, _ := own.Distance(m.Voters.List)
		if i := slices.Index(r.Silent, m.ID); i >= 0 && far == proto.OtherVoters {
			r.Silent, r.Others = slices.Delete(r.Silent, i, i+1), append(r.Others, m.ID)
		}
	}
	return &r
}

// votersNamed is "voter 3", or "voters 1 and 2".
func votersNamed(ids []proto.NodeID) string {
	words := make([]string, len(ids))
	for i, id := range slices.Sorted(slices.Values(ids)) {
		words[i] = id.String()
	}
	switch n := len(words); n {
	case 0:
		return "no voter"
	case 1:
		return "voter " + words[0]
	default:
		return "voters " + strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// recovery is what a voter of which nothing is saved waits for, in words. Only what answers
// the API reads it from another goroutine than the node's.
type recovery struct {
	words  atomic.Pointer[string] // nil once it votes
	since  time.Time              // of the words
	warned bool                   // of these words
}

// why is why this voter votes for nobody yet, "" if it does.
func (r *recovery) why() string {
	if words := r.words.Load(); words != nil {
		return *words
	}
	return ""
}

// recoveryPatience is how long answers may take before that is worth a warning.
const recoveryPatience = time.Second

// recovers notes what this voter waits for before it votes, says so when that has changed,
// and warns when it does not change any more.
func (d *Daemon) recovers(now *algorithms.Recovery) {
	r := &d.recovery
	if now == nil {
		r.words.Store(nil)
		d.log.Info().Msg("this voter votes from now on")
		return
	}
	switch words := recoveryWords(d.withOthers(*now)); {
	case words != r.why():
		r.since, r.warned = time.Now(), false
		r.words.Store(&words)
		d.log.Info().Msg("this voter does not vote: " + words)
	case now.Asked && !r.warned && time.Since(r.since) > recoveryPatience:
		r.warned = true
		d.log.Warn().Msg("this voter still does not vote: " + words)
	}
}
