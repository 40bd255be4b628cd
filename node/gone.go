package node

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// Gone is a process that left the view of this node and has not come back, nor has another process of its node.
type Gone struct {
	ID          proto.NodeID
	Incarnation proto.Incarnation
	// Evidence is what made this node drop the process: "link-closed 5, dial-refused 5".
	Evidence string
	At       time.Time // of the first evidence, by the wall clock
}

// maxGone is how many processes that are gone are remembered at most: the last ones.
const maxGone = 100

// provenDead is the evidence that a process is proven dead, as in the records.
const provenDead = "proven-dead"

// gone is what a Node remembers of processes that are gone, in the order of At.
type gone []Gone

// view notes who left the view, and forgets who is back.
func (g *gone) view(before []proto.Peer, ev algorithms.PeersChanged, now time.Time) {
	*g = slices.DeleteFunc(*g, func(was Gone) bool { return has(ev.Alive, was.ID) })
	for _, p := range before {
		if !has(ev.Alive, p.ID) {
			g.add(p, about(ev.Evidence, p.ID), now)
		}
	}
	for i := range *g {
		(*g)[i].learn(about(ev.Evidence, (*g)[i].ID))
	}
}

// proof notes the proof that a process is dead, or forgets it if the process was heard again.
func (g *gone) proof(alive []proto.Peer, p proto.Peer, dead bool, now time.Time) {
	word := fmt.Sprint(provenDead, " ", p.ID)
	i := slices.IndexFunc(*g, func(was Gone) bool { return was.ID == p.ID && was.Incarnation == p.Incarnation })
	switch {
	case i >= 0 && dead:
		(*g)[i].learn([]string{word})
	case i >= 0:
		(*g)[i].Evidence = strings.Join(slices.DeleteFunc(strings.Split((*g)[i].Evidence, ", "),
			func(piece string) bool { return piece == word }), ", ")
	case dead && !has(alive, p.ID): // a process that is still in the view leaves it soon
		g.add(p, []string{word}, now)
	}
}

// add notes that p is gone. Of each node only the last process counts.
func (g *gone) add(p proto.Peer, evidence []string, now time.Time) {
	*g = slices.DeleteFunc(*g, func(was Gone) bool { return was.ID == p.ID })
	*g = append(*g, Gone{p.ID, p.Incarnation, strings.Join(evidence, ", "), now})
	if extra := len(*g) - maxGone; extra > 0 {
		*g = slices.Delete(*g, 0, extra)
	}
}

// sorted returns a copy in the order of ids.
func (g gone) sorted() []Gone {
	return slices.SortedFunc(slices.Values(g), func(a, b Gone) int { return cmp.Compare(a.ID, b.ID) })
}

// learn adds those pieces of evidence that are new. The evidence has few kinds, so it stays short.
func (g *Gone) learn(evidence []string) {
	for _, piece := range evidence {
		switch {
		case g.Evidence == "":
			g.Evidence = piece
		case !slices.Contains(strings.Split(g.Evidence, ", "), piece):
			g.Evidence += ", " + piece
		}
	}
}

// about returns the pieces of evidence that are about a node.
func about(evidence string, id proto.NodeID) (pieces []string) {
	for piece := range strings.SplitSeq(evidence, ", ") {
		if strings.HasSuffix(piece, fmt.Sprint(" ", id)) {
			pieces = append(pieces, piece)
		}
	}
	return pieces
}

// has reports whether a node is in a view, which is usually in the order of ids.
func has(alive []proto.Peer, id proto.NodeID) bool {
	_, ok := slices.BinarySearchFunc(alive, id, func(p proto.Peer, id proto.NodeID) int {
		return cmp.Compare(p.ID, id)
	})
	return ok || slices.ContainsFunc(alive, func(p proto.Peer) bool { return p.ID == id })
}
