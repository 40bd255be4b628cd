package rounds

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// happening is what befell a process, apart from messages and timeouts: a new view of the other nodes, a proof
// that one of them is dead, an operator's request.
type happening struct {
	mark
	event    string
	alive    []uint64 // the view, of an event peers
	evidence string
	about    uint64 // the node that is proven dead, or was heard again
	detail   string // of an operator's request
	unfit    string // why the node is not eligible
}

// Of a request to hand over, refused is the event if nothing came of it at once, and declined that of a later record
// which says that nothing came of the one before.
const refused, declined = "transfer refused", "transfer declined"

// noteHappening keeps what rec tells about the process's surroundings.
func (l *life) noteHappening(rec *trace.Record, m mark) {
	about, unfit, event := rec.About, rec.Unfit, rec.Event
	switch event {
	case "gone", "eligible":
		about, unfit = formerFields(rec)
	case "peers", "heard", "resign", "campaign":
	case "transfer":
		if refusesTransfer(rec) {
			event = refused
		}
	default:
		if !refusesTransfer(rec) {
			return
		}
		event = declined
	}
	if n := len(l.happenings); n > 0 && l.happenings[n-1].seq > m.seq {
		l.unsorted = true
	}
	l.happenings = append(l.happenings, happening{
		mark: m, event: event, alive: rec.Alive, evidence: rec.Evidence, about: about, detail: rec.Detail, unfit: unfit,
	})
}

// allHappenings returns what befell the process, in the order of its records.
func (l *life) allHappenings() []happening {
	if l.unsorted {
		slices.SortFunc(l.happenings, func(a, b happening) int { return cmp.Compare(a.seq, b.seq) })
		l.unsorted = false
	}
	return l.happenings
}

// viewAt returns the last view that the process had by the record with the given number. It returns false if
// no record has that.
func (l *life) viewAt(seq uint64) (h happening, ok bool) {
	for _, h := range slices.Backward(l.allHappenings()) {
		if h.event == "peers" && h.seq <= seq {
			return h, true
		}
	}
	return h, false
}

// request says why a leader gave up leadership: an operator asked it, or it became ineligible.
type request struct {
	why string // empty if no record says so
	at  time.Time
	ref Ref
}

// request returns why the process last had to give up leadership before its record with the given number.
func (l *life) request(seq uint64, fix clockFix) (last request) {
	before := last // the last one that was no transfer
	for _, h := range l.allHappenings() {
		why := ""
		switch {
		case h.seq >= seq:
			return last
		case h.event == "resign":
			why = toldTo(h.detail)
		case h.event == "transfer":
			last = request{requested(h.detail), fix.at(l.node, h.wall), l.ref(h.seq)}
			continue
		case h.event == declined:
			last = before
			continue
		case h.event == "eligible":
			why = h.unfit
		default:
			continue
		}
		last = request{why, fix.at(l.node, h.wall), l.ref(h.seq)}
		before = last
	}
	return last
}

// refusesTransfer reports whether the record says that nothing comes of the request.
func refusesTransfer(rec *trace.Record) bool {
	return slices.ContainsFunc(rec.Reasons, func(r trace.Reason) bool {
		return strings.HasSuffix(r.Code, ".no-transfer")
	})
}

// requested words the detail of a transfer: "to 2: asked by 10.0.0.7". A node that resigns, leaves or is paused asks
// itself for one, to the best node.
func requested(detail string) string {
	to, why, _ := strings.Cut(strings.TrimPrefix(detail, "to "), ": ")
	switch {
	case to != "the best node":
		to = "node " + to
	case why == "this node resigns":
		return toldTo("")
	case why != "" && !strings.HasPrefix(why, "asked by "):
		return why
	}
	return strings.TrimSuffix("transfer to "+to+", "+why, ", ")
}

// toldTo words the detail of a resignation: "hand over to 2: told to stop by SIGTERM". Until 29 November 2026 no record
// said who asked for it.
func toldTo(detail string) string {
	if to, why, _ := strings.Cut(detail, ": "); strings.HasPrefix(to, "hand over to ") {
		detail = why
	}
	return cmp.Or(detail, "it was asked to resign")
}

// standing says by which record the process stands aside, and why it is not eligible by its last record. It stands
// aside once it was asked to resign, until it is asked to stand again.
func (l *life) standing() (aside Ref, ineligible string) {
	told := ""
	for _, h := range l.allHappenings() {
		switch h.event {
		case "resign":
			if aside = l.ref(h.seq); strings.HasPrefix(toldTo(h.detail), toldToStop) {
				told = toldTo(h.detail)
			}
		case "campaign":
			aside = Ref{}
		case "eligible":
			aside = Ref{}
		}
	}
	for _, s := range slices.Backward(l.allStances()) {
		if ineligible != "" && s.why != ineligible || s.why == "" {
			break
		}
		aside, ineligible = l.ref(s.first.seq), s.why
	}
	return aside, Quoted(cmp.Or(ineligible, told))
}

// quoted returns the request with the reason that an operator gave in quotation marks.
func (r request) quoted() request {
	r.why = Quoted(r.why)
	return r
}

// Quoted puts the reason that an operator gave in quotation marks: `paused by 10.0.0.7 because "an upgrade"`. Where it
// ends, what is told behind it would be read as a part of it.
func Quoted(text string) string {
	what, reason, found := strings.Cut(text, " because ")
	asked := found && strings.Contains(what, " by ") && !strings.HasPrefix(what, "unhealthy")
	if !asked || strings.HasPrefix(reason, `"`) {
		return text
	}
	return what + " because " + strconv.Quote(reason)
}

// drop is one process's evidence against another node. back is when that process saw the other alive again, by the
// record backRef, or when the next process of its node began, with a zero backRef; zero if it never did. since is when
// the other was still in view, if records are missing since, and nothing names the other: so it may have gone at any
// time from then on.
type drop struct {
	Detection
	about       uint64
	incarnation string // of the process that is proven dead; empty if the evidence names none
	since, back time.Time
	backRef     Ref
}

// isOf reports whether the evidence may be about this process of the node.
func (d *drop) isOf(l *life) bool { return d.incarnation == "" || d.incarnation == l.incarnation }

// isOfLeader reports whether the evidence may be about the process that led. Where that has no log, its followers name
// it.
func (d *drop) isOfLeader(r *Leadership) bool {
	if r.life != nil {
		return d.isOf(r.life)
	}
	return d.incarnation == "" || len(r.processes) == 0 || slices.Contains(r.processes, d.incarnation)
}

// way returns who has the evidence, and about whom.
func (d *drop) way() [2]uint64 { return [2]uint64{d.Node, d.about} }

// takenBack reports whether the process saw the other alive again before t.
func (d *drop) takenBack(t time.Time) bool { return !d.back.IsZero() && d.back.Before(t) }

// dropsBy returns the evidence of one process against others, in the order of its records.
func (l *life) dropsBy(fix clockFix) (drops []*drop) {
	var view happening
	gone, sees := map[uint64]*drop{}, map[uint64]bool{}
	add := func(id uint64, h happening, evidence, incarnation string) *drop {
		at := fix.at(l.node, h.wall)
		if d := gone[id]; d != nil && d.proven() && at.Sub(d.At) <= maxTransit {
			d.Evidence, d.Words = evidence, l.ref(h.seq) // a view without the node follows its proof at once
			return d
		}
		seen := Detection{Node: l.node, Evidence: evidence, Ref: l.ref(h.seq), At: at}
		d := &drop{Detection: seen, about: id, incarnation: incarnation}
		gone[id] = d
		drops = append(drops, d)
		return d
	}
	for _, h := range l.allHappenings() {
		switch h.event {
		case "gone":
			if h.about != 0 {
				_, incarnation, _ := strings.Cut(h.detail, " ")
				add(h.about, h, fmt.Sprint(provenDead, " ", h.about), incarnation)
			}
		case "peers":
			// At level info not every view is in the records. So a node may be dropped although no
			// record tells that it was back in the view. The evidence names it.
			clear(sees)
			for _, id := range h.alive {
				sees[id] = true
			}
			named := accused(h.evidence)
			for _, id := range union(view.alive, named) {
				if sees[id] || id == l.node {
					continue
				}
				d := add(id, h, h.evidence, "")
				if !slices.Contains(named, id) && l.rangeOf(h.seq) > view.seq {
					d.since = fix.at(l.node, view.wall)
				}
			}
			for _, id := range h.alive {
				if d := gone[id]; d != nil {
					d.back, d.backRef = fix.at(l.node, h.wall), l.ref(h.seq)
					delete(gone, id)
				}
			}
			view = h
		}
	}
	return drops
}

// proven reports whether the evidence is a proof of death that no view came after yet.
func (d *drop) proven() bool { return strings.HasPrefix(d.Evidence, provenDead) }

// against has the words of evidence that a process is dead or unreachable. Its node's id follows: "link-closed 5".
var against = []string{
	"gossip-dead", "dial-refused", "unreachable", "heartbeat-missed", "link-closed",
	"link-reset", "other-incarnation", "left", provenDead,
}

// provenDead is the word for the evidence that a process is proven dead. It comes from a "gone" step.
const provenDead = "proven-dead"

// EndedProcess reports whether the evidence says that the process of the node has ended, and not only that it is out of
// reach. A refused dial alone proves nothing, since a firewall refuses too; after a link that was closed it does.
func EndedProcess(evidence string, node uint64) bool {
	refused, cut := false, false
	for word, id := range piecesOf(evidence) {
		if id != node {
			continue
		}
		switch word {
		case "left", provenDead, "other-incarnation":
			return true
		case "dial-refused":
			refused = true
		case "link-closed", "link-reset":
			cut = true
		}
	}
	return refused && cut
}

// noticedLate reports whether the evidence may be of a process that had ended long before, when the next one of its
// node ran already: that is what answers, or nobody was told sooner that the process left.
func (d *drop) noticedLate() bool {
	told := names(d.Evidence, "other-incarnation", d.about) || saysLeft(d.Evidence, d.about)
	return told && !names(d.Evidence, "dial-refused", d.about)
}

// names reports whether the evidence has the word about the node.
func names(evidence, word string, node uint64) bool {
	for w, id := range piecesOf(evidence) {
		if w == word && id == node {
			return true
		}
	}
	return false
}

// accused returns the nodes that are gone, as the evidence says.
func accused(evidence string) (ids []uint64) {
	for word, id := range piecesOf(evidence) {
		if slices.Contains(against, word) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// piecesOf yields the words of the evidence, each with the node that it is about.
func piecesOf(evidence string) iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		for piece := range strings.SplitSeq(evidence, ", ") {
			word, id, _ := strings.Cut(piece, " ")
			if n, rest, ok := leadingNumber(id); ok && rest == "" && !yield(word, n) {
				return
			}
		}
	}
}

// union returns all of a, and then those elements of b that are not in a.
func union(a, b []uint64) []uint64 {
	all := a
	for _, id := range b {
		if !slices.Contains(all, id) {
			all = append(all[:len(all):len(all)], id)
		}
	}
	return all
}

// findDrops collects all evidence against each node, in the order of time. The last process of a node ends the
// evidence of the processes before it: a new process sees for itself.
func (g *group) findDrops() {
	g.drops, g.dropsBy, g.unlogged = map[uint64][]*drop{}, map[[2]uint64][]*drop{}, map[uint64][]*drop{}
	for _, id := range slices.Sorted(maps.Keys(g.nodes)) {
		for _, l := range g.nodes[id].lives {
			for _, d := range l.dropsBy(g.fix) {
				if g.mayBeFormer(d) {
					continue
				}
				if d.back.IsZero() && l.next != nil {
					d.back = g.fix.at(id, l.next.from)
				}
				g.drops[d.about] = append(g.drops[d.about], d)
			}
		}
	}
	for _, drops := range g.drops {
		slices.SortStableFunc(drops, func(a, b *drop) int { return a.At.Compare(b.At) })
		for _, d := range drops {
			g.dropsBy[d.way()] = append(g.dropsBy[d.way()], d)
		}
		g.noteUnlogged(drops)
	}
}

// mayBeFormer reports whether the node may have gone from view over missing records, before its present process began.
func (g *group) mayBeFormer(d *drop) bool {
	m := g.nodes[d.about]
	if d.since.IsZero() || m == nil {
		return false
	}
	l := m.at(d.At, g.fix)
	return l != nil && g.fix.at(l.node, l.from).After(d.since.Add(-g.apart(d.Node, d.about)))
}

// noteUnlogged keeps the first proof of the end of each process of a node that is in no log, of the evidence against
// that node.
func (g *group) noteUnlogged(drops []*drop) {
	m, known := g.nodes[drops[0].about], map[string]bool(nil)
	for _, d := range drops {
		if d.incarnation == "" || m == nil || m.byIncarnation[d.incarnation] != nil || known[d.incarnation] {
			continue // nearly always
		}
		if known == nil {
			known = map[string]bool{}
		}
		known[d.incarnation] = true
		if _, greeted := g.ups.at[Ref{Node: d.about, Incarnation: d.incarnation}]; !greeted {
			g.unlogged[d.about] = append(g.unlogged[d.about], d)
		}
	}
}

// dropsSince returns the evidence against a node from the time t on.
func (g *group) dropsSince(id uint64, t time.Time) []*drop {
	drops := g.drops[id]
	i, _ := slices.BinarySearchFunc(drops, t, func(d *drop, t time.Time) int { return d.At.Compare(t) })
	return drops[i:]
}

// dropAt returns the last evidence that a node had against another by the time t, nil if it had none, or had taken it
// back.
func (g *group) dropAt(node, other uint64, t time.Time) *drop {
	drops := g.dropsBy[[2]uint64{node, other}]
	i, _ := slices.BinarySearchFunc(drops, t, func(d *drop, t time.Time) int {
		if d.At.After(t) {
			return 1
		}
		return -1
	})
	if i == 0 || drops[i-1].takenBack(t) {
		return nil
	}
	return drops[i-1]
}
