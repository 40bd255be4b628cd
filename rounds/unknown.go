package rounds

import (
	"fmt"
	"slices"
	"strings"
)

// findUnknown says what the records do not tell about the round.
func (r *Round) findUnknown(entries []*entry) {
	if len(r.Initiators) == 0 && r.Cause.Kind != Readmitted {
		elsewhere := ""
		if r.Guarantee == lease { // whoever takes the office may nominate in a later term already
			elsewhere = ", or that node wrote in a later term"
		}
		r.unknown("Who called the election, and why: no record of term %d says so. The records "+
			"begin later, or the log of a node is missing%s.", r.Term, elsewhere)
	}
	if r.Winner != nil && r.Winner.Ref.IsZero() {
		r.unknown("How node %d won: its own records of term %d are not here.", r.Winner.Node, r.Term)
	}
	for _, p := range r.Participants {
		if p.Part == PartSilent {
			r.unknown("What node %d did: the winner believed it alive, and no record of it is here.", p.Node)
		}
	}
	unsent := 0
	for _, m := range r.Messages {
		if m.Fate == Unsent && m.ReceiveStep < r.Aftermath {
			unsent++
		}
	}
	if unsent > 0 {
		r.unknown("Why %s sent: they were received, and the senders' records of them are not here, or of "+
			"another term.", wereWas(unsent, "message"))
	}
	unseen := 0
	for _, m := range r.Messages {
		if m.Fate == Unseen && m.Counted {
			unseen++
		}
	}
	if unseen > 0 {
		r.unknown("Whether %s arrived: their receivers' records end before, have a gap, or leave out "+
			"what decided nothing, as at log level info.", plural(unseen, "message"))
	}
	r.gaps(entries)
}

func (r *Round) unknown(format string, args ...any) {
	r.Unknown = append(r.Unknown, fmt.Sprintf(format, args...))
}

// gaps tells of the holes in the counts of processes between their records of
// the round, or just before.
func (r *Round) gaps(entries []*entry) {
	wrote := map[*life]span{}
	var lives []*life // in causal order of their first entries
	for _, e := range entries {
		own, known := wrote[e.life]
		if !known {
			own = span{e.seq, e.seq}
			lives = append(lives, e.life)
		}
		wrote[e.life] = span{min(own.first, e.seq), max(own.last, e.seq)}
	}
	for _, l := range lives {
		for _, gap := range l.gaps() {
			behind := gap.After.Seq + gap.Lost + 1
			if own := wrote[l]; behind >= own.first && behind <= own.last {
				r.unknown("What node %d did in %s missing before %v.",
					l.node, areIs(int(gap.Lost), "record"), l.ref(behind))
			}
		}
	}
}

func wereWas(n int, word string) string {
	if n == 1 {
		return "1 " + word + " was"
	}
	return fmt.Sprintf("%d %ss were", n, word)
}

func areIs(n int, word string) string {
	if n == 1 {
		return "1 " + word + " that is"
	}
	return fmt.Sprintf("%d %ss that are", n, word)
}

// unknowns says what the records of the group do not tell.
func (s *story) unknowns(g *group, out *Group) []string {
	unknown := []string{}
	var missing []uint64
	var holes []string
	text := false
	for _, n := range out.Nodes {
		if lost := n.lost(); lost > 0 {
			holes = append(holes, fmt.Sprintf("%d of node %d", lost, n.ID))
		}
		if n.Records == 0 {
			missing = append(missing, n.ID)
		}
		if m := g.nodes[n.ID]; m != nil {
			text = text || slices.ContainsFunc(m.lives, func(l *life) bool { return l.text })
		}
	}
	if len(missing) > 0 {
		unknown = append(unknown, fmt.Sprintf("The logs of %s are not here: others name them.", nodes(missing)))
	}
	if len(holes) > 0 {
		unknown = append(unknown, fmt.Sprintf("Records are missing: %s; the rounds that they are of say where.",
			strings.Join(holes, ", ")))
	}
	if text {
		unknown = append(unknown, "Some records are text for people: they have no numbers, so that "+
			"missing ones do not show, their terms are read out of their reasons, and their messages are paired by "+
			"order. Where messages were lost or came twice, what is counted is an estimate: as JSON it is exact.")
	}
	return unknown
}

// lost is how many records are missing between those that are here: a log may
// well begin late.
func (n *Node) lost() (lost uint64) {
	for _, l := range n.Lives {
		for _, gap := range l.Gaps {
			if gap.After.Seq > 0 {
				lost += gap.Lost
			}
		}
	}
	return lost
}

// nodes lists ids: "node 3", "nodes 3 and 4", "nodes 1, 2 and 3".
func nodes(ids []uint64) string {
	if len(ids) == 1 {
		return fmt.Sprintf("node %d", ids[0])
	}
	text := "nodes "
	for i, id := range ids {
		switch {
		case i == len(ids)-1:
			text += " and "
		case i > 0:
			text += ", "
		}
		text += fmt.Sprint(id)
	}
	return text
}
