package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
)

// upAndDown says which nodes had ended or were silent when the records end, as far as they tell.
func upAndDown(g *rounds.Group) string {
	ids, by, rest := map[condition][]uint64{}, map[condition][]rounds.Ref{}, 0
	var refused []uint64
	var quiet []string
	lost := lostStill(g)
	for _, n := range g.Nodes {
		e := lastEvent(&n)
		is, refs := condition{"ended", "ended", e.Known}, []rounds.Ref{e.Ref}
		if n.Refused != nil && !n.Refused.Taken && e.Kind == rounds.Ended {
			refused = append(refused, n.ID)
		}
		switch {
		case n.Records == 0:
			is, refs = withoutLog(g, &n, lost[n.ID])
		case e.Kind == rounds.Ended && e.Why != "":
			is = failed
		case e.Kind == rounds.Silent || e.Kind == rounds.Paused:
			is = condition{"is silent", "are silent", e.Known}
			if to, by := silentTo(g, n.ID, lost[n.ID], e.Ref); to != "" && e.Known == rounds.PeersSaw {
				is.is, is.are, refs = is.is+to, is.are+to, by
			}
		case e.Kind != rounds.Ended && unheardOf(g, &n):
			l := lastLife(&n)
			quiet = append(quiet, fmt.Sprintf("node %d has no record here since %s%s", n.ID, when(g, l.Until),
				cite(g.Names, l.Last)))
			continue
		case e.Kind != rounds.Ended:
			rest++
			continue
		}
		ids[is], by[is] = append(ids[is], n.ID), append(by[is], refs...)
	}
	parts, all := conditions(g, ids, by)
	const most = 3
	if n := len(quiet) - most; n > 0 {
		quiet = append(quiet[:most], fmt.Sprintf("%d more %s none since the leader began to lead", n,
			words.Either(n, "has", "have")))
	}
	parts = append(parts, quiet...)
	if len(refused) > 0 {
		parts = append(parts, fmt.Sprintf("%s refused to run when started again", shortIDs(refused)))
	}
	tell := fmt.Sprintf("as far as the records tell, which end at %s%s", when(g, lastLine(g)), laterLines(g))
	switch {
	case len(parts) == 0:
		return fmt.Sprintf("%s %s, %s.", words.Upper(everyNode(g)), words.Either(rest, "runs", "run"), tell)
	case all:
		return words.Upper(words.And(parts...)) + "."
	case rest > 0:
		others := words.Either(rest, "the other runs", fmt.Sprintf("the other %d run", rest))
		parts = append(parts, others+", "+tell)
	}
	return fmt.Sprintf("Of %s, %s.", words.Plural(len(g.Nodes), "node"), words.And(parts...))
}

// silentTo says to whom a node is silent, and by which records, where others did not miss it that are not known to have
// ended: it or they may be cut off. lost is how those lost it that are not known to have seen it since, first is the
// record that tells of it.
func silentTo(g *rounds.Group, id uint64, lost []rounds.Dropped, first rounds.Ref) (to string, refs []rounds.Ref) {
	var by []uint64
	others := 0
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.ID == id || n.Records == 0 || lastEvent(n).Kind == rounds.Ended {
			continue
		}
		others++
		if d := slices.IndexFunc(lost, func(d rounds.Dropped) bool { return d.Node == n.ID }); d >= 0 {
			by, refs = append(by, n.ID), append(refs, lost[d].Ref)
		}
	}
	if len(by) == 0 { // one of the others believed it alive later
		by, refs = []uint64{first.Node}, []rounds.Ref{first}
	}
	if len(by) == others {
		return "", nil
	}
	return " to " + words.Nodes(by), refs
}

// conditions says which nodes are in each condition, and by which records, and whether all nodes of the group are in
// one.
func conditions(
	g *rounds.Group, ids map[condition][]uint64, by map[condition][]rounds.Ref,
) (parts []string, all bool) {
	order := []condition{
		{"ended", "ended", rounds.OwnWord},
		failed,
		{"ended", "ended", rounds.PeersSaw},
		{"is silent", "are silent", rounds.OwnWord},
		{"is silent", "are silent", rounds.PeersSaw},
	}
	for _, is := range slices.SortedFunc(maps.Keys(ids), func(a, b condition) int { return cmp.Compare(a.is, b.is) }) {
		if strings.HasPrefix(is.is, "is silent to ") {
			order = append(order, is)
		}
	}
	for _, is := range append(order, endedUnlogged, silentUnlogged, unlogged) {
		if len(ids[is]) > 0 {
			who := shortIDs(ids[is])
			if all = len(ids[is]) == len(g.Nodes); all {
				who = everyNode(g)
			}
			parts = append(parts, fmt.Sprintf("%s %s%s", who, words.Either(len(ids[is]), is.is, is.are),
				proof(g.Names, is.known, by[is]...)))
		}
	}
	return parts, all
}

// everyNode names all nodes of the group together: "all 5 nodes".
func everyNode(g *rounds.Group) string {
	switch n := len(g.Nodes); n {
	case 1:
		return shortIDs([]uint64{g.Nodes[0].ID})
	case 2:
		return "both nodes"
	default:
		return fmt.Sprintf("all %d nodes", n)
	}
}

// lastLine returns the time of the last record, or of a later line with which a process ended.
func lastLine(g *rounds.Group) time.Time {
	last := g.Until
	for i := range g.Nodes {
		if e := lastEvent(&g.Nodes[i]); e.At.After(last) {
			last = e.At
		}
	}
	return last
}

// laterLines says until when the logs go on behind the last record, if nobody leads: for so long nobody led.
func laterLines(g *rounds.Group) string {
	in := vacancy(g)
	if in == nil || in.Until.Sub(lastLine(g)) < time.Millisecond {
		return ""
	}
	return ", and other lines at " + when(g, in.Until)
}

// condition says how nodes are, and whose word that is.
type condition struct {
	is, are string
	known   rounds.Confidence
}

// The conditions of nodes of which no record is here.
var (
	failed         = condition{"ended with an error", "ended with an error", rounds.OwnWord}
	endedUnlogged  = condition{"ended and has no log here", "ended and have no log here", rounds.PeersSaw}
	silentUnlogged = condition{"is silent and has no log here", "are silent and have no log here", rounds.PeersSaw}
	unlogged       = condition{"has no log here", "have no log here", ""}
)

// withoutLog says how a node of which no record is here is, by how its peers lost it, and by which records.
func withoutLog(g *rounds.Group, n *rounds.Node, lost []rounds.Dropped) (is condition, by []rounds.Ref) {
	is = unlogged
	losses, _ := lossesOf(g, n, lost)
	for _, l := range losses {
		switch {
		case rounds.EndedProcess(l.Evidence, n.ID):
			return endedUnlogged, l.Refs[:1]
		case is == unlogged:
			is, by = silentUnlogged, l.Refs[:1]
		}
	}
	return is, by
}

// lostStill returns how nodes lost other ones that nobody is known to have believed alive since.
func lostStill(g *rounds.Group) map[uint64][]rounds.Dropped {
	lost := departures(g)
	for id, at := range believedAlive(g) {
		lost[id] = slices.DeleteFunc(lost[id], func(d rounds.Dropped) bool { return !d.At.After(at) })
	}
	return lost
}

// believedAlive returns whom a node that is not known to have ended believes alive, and until when by its last record:
// who was lost before is back.
func believedAlive(g *rounds.Group) map[uint64]time.Time {
	alive := map[uint64]time.Time{}
	for _, n := range g.Nodes {
		if lastEvent(&n).Kind == rounds.Ended || len(n.Lives) == 0 {
			continue
		}
		until := lastLife(&n).Until
		for _, id := range n.Alive {
			if until.After(alive[id]) {
				alive[id] = until
			}
		}
	}
	return alive
}

// unheardOf reports whether the node wrote nothing since somebody else began to lead: who follows a leader writes that.
// Or it wrote nothing since nobody leads, and the reason for that is that there is no sign of life of it.
func unheardOf(g *rounds.Group, n *rounds.Node) bool {
	last, _ := leading(g)
	if last == nil {
		last = ledLast(g)
	}
	wrote := lastLife(n).Until
	if last != nil && last.Leader != n.ID && wrote.Before(last.From) {
		return true
	}
	in := vacancy(g)
	return in != nil && wrote.Before(in.From) && in.Unheard(n.ID)
}

// ledLast returns the last leadership that another node followed, nil if there is none.
func ledLast(g *rounds.Group) *rounds.Leadership {
	for i := len(g.Leaderships) - 1; i >= 0; i-- {
		if r := &g.Leaderships[i]; len(r.Followers) > 0 {
			return r
		}
	}
	return nil
}

// lastEvent returns the last thing that happened to the node's last process, the zero event if nothing did.
func lastEvent(n *rounds.Node) (last rounds.LifeEvent) {
	if len(n.Lives) == 0 {
		return last
	}
	events := n.Lives[len(n.Lives)-1].Events
	if len(events) == 0 {
		return last
	}
	return events[len(events)-1]
}
