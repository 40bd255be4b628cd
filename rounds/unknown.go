package rounds

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/words"
)

// unreadCodes returns the codes of the entries' reasons that this version does not know, in order. Each
// stands there once.
func unreadCodes(entries []*entry) (codes []string) {
	for _, e := range entries {
		for i := range e.reasons {
			if code := e.reasons[i].code; code != "" {
				codes = append(codes, code)
			}
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// findUnknown lists what the records do not tell about the round. unread are the codes that this version
// does not know.
func (r *Round) findUnknown(entries []*entry, unread []string) {
	if len(unread) > 0 {
		r.unknown("What the reasons with %s decided: this version of ringleader does not know %s. Read the "+
			"records with the version that wrote them, or a later one.", codes(unread),
			words.Either(len(unread), "it", "them"))
	} else if len(r.Initiators) == 0 && r.Cause.Kind != Readmitted && r.question.why == "" {
		elsewhere := ""
		if leased(r.Guarantee) { // who is asked to take over is in the term before, the next leader maybe in a later
			elsewhere = ", or the record of it is of another term"
		}
		untold := "Who called the election, and why"
		if asked, ok := r.FirstAsked(); ok {
			untold = fmt.Sprintf("Why node %d asked for term %d, and whether another one called before",
				asked.Candidate, r.Term)
		}
		r.unknown(untold+": no record of term %d says so. The records "+
			"begin later, or the log of a node is missing%s.", r.Term, elsewhere)
	}
	if r.Winner != nil && r.Winner.Ref.IsZero() {
		r.unknown("How node %d won: its own records of term %d are not here.", r.Winner.Node, r.Term)
	}
	unlogged := r.parts(PartUnlogged)
	if n := len(unlogged); n > mostSentences {
		r.unknown("What %d nodes did: the winner believed them alive, and no record of them is here.", n)
		unlogged = nil
	}
	for _, id := range unlogged {
		r.unknown("What node %d did: the winner believed it alive, and no record of it is here.", id)
	}
	if n := len(r.Untold); n > mostSentences {
		r.unknown("Whether %d nodes followed: their records end, or are missing.", n)
	} else {
		for _, s := range r.Untold {
			r.unknown("Whether node %d followed: %s.", s.Node, s.Reason)
		}
	}
	r.findUnsent()
	unseen := 0
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Delivery == Unseen && m.Counted {
			unseen++
		}
	}
	if unseen > 0 {
		r.unknown("Whether %s arrived: %s records end before, have a gap, or leave out "+
			"what decided nothing, as at log level info.", words.Plural(unseen, "message"),
			words.Either(unseen, "its receiver's", "their receivers'"))
	}
	r.gaps(entries)
}

// findUnsent lists the messages of which no record tells why they were sent.
func (r *Round) findUnsent() {
	unsent, quiet := 0, 0
	for i := range r.Messages {
		m := &r.Messages[i]
		switch {
		case m.Delivery != Unsent || m.ReceiveStep >= r.Aftermath:
		case m.quiet:
			quiet++
		default:
			unsent++
		}
	}
	if quiet > 0 {
		r.unknown("Why %s %s sent: the %s that sent %s decided nothing, and %s no reason.",
			words.Plural(quiet, "message"), words.Either(quiet, "was", "were"),
			words.Either(quiet, "record", "records"), words.Either(quiet, "it", "them"),
			words.Either(quiet, "gives", "give"))
	}
	if unsent > 0 {
		level := ""
		if r.Terse {
			level = ", as at log level info"
		}
		r.unknown("Why %s %s sent: %s received, and the records of sending %s are not here%s, or of another term.",
			words.Plural(unsent, "message"), words.Either(unsent, "was", "were"),
			words.Either(unsent, "it was", "they were"), words.Either(unsent, "it", "them"), level)
	}
}

// mostSentences is how many nodes have a sentence each, or are named in one.
const mostSentences = 16

// parts returns the nodes that had this part.
func (r *Round) parts(part Part) (ids []uint64) {
	for _, p := range r.Participants {
		if p.Part == part {
			ids = append(ids, p.Node)
		}
	}
	return ids
}

// codes names the codes of reasons, the first six of them.
func codes(list []string) string {
	const most = 6
	named := fmt.Sprintf("the %s %s", words.Either(len(list), "code", "codes"),
		strings.Join(list[:min(len(list), most)], ", "))
	if more := len(list) - most; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return named
}

func (r *Round) unknown(format string, args ...any) {
	r.Unknown = append(r.Unknown, fmt.Sprintf(format, args...))
}

// gaps lists the records that are missing between a process's records of the round, or just
// before them.
func (r *Round) gaps(entries []*entry) {
	wrote := map[*life]*span{}
	var lives []*life // in causal order of their first entries
	for _, e := range entries {
		own := wrote[e.life]
		switch {
		case e.life.complete(): // nearly always
			continue
		case own == nil:
			own = &span{e.Ref.Seq, e.Ref.Seq}
			wrote[e.life] = own
			lives = append(lives, e.life)
		}
		own.first, own.last = min(own.first, e.Ref.Seq), max(own.last, e.Ref.Seq)
	}
	var missing []string
	for _, l := range lives {
		lost, places, first := 0, 0, Ref{}
		for gap := range l.gapsBefore(*wrote[l]) {
			if lost, places = lost+int(gap.Lost), places+1; places == 1 {
				first = l.ref(gap.After.Seq + gap.Lost + 1)
			}
		}
		if lost > 0 {
			where := "before " + l.name(first)
			if places > 1 {
				where = fmt.Sprintf("in %d places, the first %s", places, where)
			}
			missing = append(missing, fmt.Sprintf("%d of node %d %s", lost, l.node, where))
		}
	}
	if len(missing) > 0 {
		r.unknown("What nodes did in records that are missing: %s.", strings.Join(missing, "; "))
	}
}

// name names a record of the process, with its incarnation if it is not the only process of its node.
func (l *life) name(ref Ref) string {
	if l.incarnation == "" || l.place == 0 && l.next == nil {
		return ref.String()
	}
	return ref.String() + "@" + l.incarnation
}

// unknowns lists what the records of the group do not tell. apart are the nodes whose clocks are not compared.
func (g *group) unknowns(out *Group, apart []uint64) []string {
	unknown := []string{}
	var missing []uint64
	var holes []string
	text := false
	for _, n := range out.Nodes {
		if n.lost > 0 {
			holes = append(holes, fmt.Sprintf("%d of node %d", n.lost, n.ID))
		}
		if n.Records == 0 {
			missing = append(missing, n.ID)
		}
		text = text || n.text
	}
	switch n := len(missing); {
	case n > mostSentences:
		unknown = append(unknown, fmt.Sprintf("The logs of %d nodes are not here, the first of them %s: "+
			"only other nodes tell of them.", n, words.Nodes(missing[:mostSentences])))
	case n > 0:
		unknown = append(unknown, fmt.Sprintf("The logs of %s are not here: only other nodes tell of %s.",
			words.Nodes(missing), words.Either(n, "it", "them")))
	}
	if len(holes) > 0 {
		unknown = append(unknown, fmt.Sprintf("Records are missing between others: %s; the rounds that they are of "+
			"say where.", strings.Join(holes, ", ")))
	}
	if len(apart) > 0 {
		unknown = append(unknown, fmt.Sprintf("No messages compare the %s of %s with the others': %s.",
			words.Either(len(apart), "clock", "clocks"), words.Nodes(apart), g.timesOf(apart)))
	}
	if unread := slices.Sorted(maps.Keys(g.unread)); len(unread) > 0 {
		unknown = append(unknown, fmt.Sprintf("This version of ringleader does not know the reasons with %s: what "+
			"they decided is in no story and no finding. Read the records with the version that wrote them, or a "+
			"later one.", codes(unread)))
	}
	if text {
		unknown = append(unknown, "Some records are text for people: they have no numbers, so that "+
			"missing ones do not show, their terms are read out of their reasons, and their messages are paired by "+
			"order. Where messages were lost or came twice, what is counted is an estimate: as JSON it is exact.")
	}
	return unknown
}

// unlinkedClocks returns the nodes with records whose clocks no messages in both directions compare with those of
// most others, where that matters: other clocks are wrong, or its records are of another time.
func (g *group) unlinkedClocks(out *Group) (apart []uint64) {
	if g.key.run > 0 {
		return nil
	}
	wrote := writers(out)
	var most []uint64 // the nodes of the largest set that messages compare
	for _, id := range wrote {
		var with []uint64
		for _, other := range wrote {
			if g.paths.linked(id, other) {
				with = append(with, other)
			}
		}
		if len(with) > len(most) {
			most = with
		}
	}
	none := len(most) == 1 && len(g.nodes) > 1 // messages compare no two clocks
	if len(most) == 0 || len(g.nodes) < 2 {
		return nil
	}
	if none { // then nobody knows which of them is right
		if g.fix.differ() || g.scattered(wrote) || len(g.early) > 0 || slices.ContainsFunc(wrote, g.ahead) {
			return wrote
		}
		return nil
	}
	for _, n := range out.Nodes {
		other := !slices.Contains(most, n.ID)
		if n.Records > 0 && other && (g.fix.differ() || !g.meet(n.ID, most[0])) {
			apart = append(apart, n.ID)
		}
	}
	return apart
}

// timesOf says what the times are of nodes whose clocks are not compared. Messages in one direction may prove a clock
// wrong nevertheless, and its times are then corrected by the least that they prove.
func (g *group) timesOf(apart []uint64) string {
	asShown := fmt.Sprintf("times are as %s showed them", words.Either(len(apart), "it", "they"))
	var least []uint64
	for _, id := range apart {
		if g.fix[id].Differs() {
			least = append(least, id)
		}
	}
	if len(least) == 0 {
		return asShown
	}
	proven := "corrected as far as messages prove them wrong"
	if len(least) == len(apart) {
		return "times are " + proven
	}
	return fmt.Sprintf("%s, but those of %s are %s", asShown, words.Nodes(least), proven)
}

// scattered reports whether the records of some two of the nodes are further apart, by their own clocks, than what the
// nodes of one cluster write at about the same time.
func (g *group) scattered(ids []uint64) bool {
	var began, ended time.Time // of the last to begin, and of the first to end
	for i, id := range ids {
		lives := g.nodes[id].lives
		from, until := lives[0].from, lives[len(lives)-1].until
		if i == 0 || from.After(began) {
			began = from
		}
		if i == 0 || until.Before(ended) {
			ended = until
		}
	}
	return began.Sub(ended) > time.Second
}
