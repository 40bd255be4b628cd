package daemon

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// recoveryWords describes why a voter votes for nobody yet, and which nodes have to answer. The
// parameter apart has the voters that run but will never answer, by the settings in which they differ. With the
// first term that an operator gave, 0 for none, enough voters have to answer, this one included.
func recoveryWords(r *algorithms.Recovery, apart map[string][]proto.NodeID, first proto.Term, enough int) string {
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
	for _, settings := range slices.Sorted(maps.Keys(apart)) {
		does := " exchanges no votes with this node, and differs in "
		if len(apart[settings]) > 1 {
			does = " exchange no votes with this node, and differ in "
		}
		parts = append(parts, votersNamed(apart[settings])+does+settings)
	}
	if len(r.Silent) > 0 {
		parts = append(parts, votersNamed(r.Silent)+" has not answered")
		if len(r.Silent) > 1 {
			parts[len(parts)-1] = votersNamed(r.Silent) + " have not answered"
		}
	}
	way := fmt.Sprintf("start what is not there; if it cannot be, set first-term to %d", r.Voted+1)
	switch {
	case len(r.Others) > 0:
		way = "all are to have the same voters: those of the cluster or, if this node is to be added, its own"
	case len(apart) > 0 && len(r.Silent) > 0:
		way = "start what is not there, and the one that is wrong again, with what the others have"
	case len(apart) > 0:
		way = "start the one that is wrong again, with what the others have"
	case first > r.Voted:
		way = fmt.Sprintf("with first-term %d, %d voters are enough: start what is not there", first, enough)
	case len(r.Told) > 0:
		way += " or higher, above all that this cluster ever voted in"
	case len(r.Silent) > 0:
		way = "start what is not there, or, if this cluster never ran, set first-term to 1"
	}
	return strings.Join(parts, "; ") + ": " + way
}

// withOthers returns r with silent voters moved to Others if they will never answer: this node sees
// them, but exchanges no votes with them, because their list of voters is another one.
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

// apart takes out of r the silent voters that run, and exchange no votes with this node because of
// their settings. It returns them by these settings.
func (d *Daemon) apart(r *algorithms.Recovery) map[string][]proto.NodeID {
	differs := map[proto.NodeID]string{}
	for _, m := range d.others.lately(time.Now()) {
		differs[m.ID] = "the setting algorithm"
		if m.Voters.List == "" {
			differs[m.ID] = "the setting voters"
		}
	}
	for _, p := range d.links.Stats().Peers {
		if p.Differs != "" {
			differs[p.ID] = p.Differs
		}
	}
	apart := map[string][]proto.NodeID{}
	for id, settings := range differs {
		if i := slices.Index(r.Silent, id); i >= 0 {
			r.Silent, apart[settings] = slices.Delete(r.Silent, i, i+1), append(apart[settings], id)
		}
	}
	return apart
}

// votersNamed returns a text like "voter 3" or "voters 1 and 2".
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

// recovery says in words what a voter without a saved vote waits for. The node's goroutine writes
// it; the goroutines of the HTTP API read it.
type recovery struct {
	words  atomic.Pointer[string] // nil once the voter votes
	since  time.Time              // when words was set
	warned bool                   // whether these words were logged as a warning
}

// why says why this voter votes for nobody yet; it is "" if the voter votes.
func (r *recovery) why() string {
	if words := r.words.Load(); words != nil {
		return *words
	}
	return ""
}

// recoveryPatience is how long the answers may take before the node logs a warning.
const recoveryPatience = time.Second

// recovers takes what this voter still waits for before it votes. It logs that when it has changed,
// and as a warning when it has not changed for recoveryPatience.
func (d *Daemon) recovers(now *algorithms.Recovery) {
	r := &d.recovery
	if now == nil {
		r.words.Store(nil)
		d.log.Info().Msg("this voter votes from now on")
		return
	}
	seen := d.withOthers(*now)
	switch words := recoveryWords(seen, d.apart(seen), d.FirstTerm, d.Voters.Majority()); {
	case words != r.why():
		r.since, r.warned = time.Now(), false
		r.words.Store(&words)
		d.log.Info().Msg("this voter does not vote: " + words)
	case now.Asked && !r.warned && time.Since(r.since) > recoveryPatience:
		r.warned = true
		d.log.Warn().Msg("this voter still does not vote: " + words)
	}
}
